"""Answers questions about calls, and edits their arguments and parameters."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.project import Project
from pytest_bayesloc.fixes.side_effects import aliases, full_name
from pytest_bayesloc.syntax.nodes import (
    attributes_in,
    base_texts,
    called_name,
    defaults,
    dotted,
    every_parameter,
    functions_in,
    holds,
    names_in,
    nodes_of,
    parameters,
    targets,
    visible,
)
from pytest_bayesloc.syntax.text import Text, TextEdit, indent_of

MAX_MODULES = 3
_OWNERS = (["self"], ["cls"], ["mcs"], ["mcls"], ["metacls"], ["_"])


def is_placed(text: Text, node: ast.expr) -> bool:
    """Whether ``node`` is where it says: in an f-string it may not be, before Python 3.12."""
    with suppress(SyntaxError, ValueError, RecursionError):
        found = ast.parse(f"({text.of(node)}\n)", mode="eval").body
        return ast.dump(found) == ast.dump(node)
    return False


def calls_among(nodes: Sequence[ast.AST], name: str) -> list[ast.Call]:
    """The calls of what is called ``name``, or of its class, among the nodes of a statement.

    The only call stands for it as well, since a function may have another name where it is called;
    but not if it passes the function on, as ``sorted(key=name)`` does.
    """
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    own, _, method = name.rpartition(".")
    wanted = {method, own.rpartition(".")[2]} if method == "__init__" else {method}
    named = [call for call in calls if called_name(call) in wanted]
    if named or len(calls) != 1:
        return named
    passed = arguments(calls[0])
    return [] if method in names_in(*passed) | attributes_in(*passed) else calls


def picked(node: ast.AST, roles: str) -> list[ast.expr]:
    """The expressions that have one of ``roles`` in ``node``, such as ``left|index``.

    What is passed to ``f`` has the role ``f()`` as well.
    """
    found = _in_operation(node) or _in_display(node)
    return [part for role in roles.split("|") for part in found.get(role, ())]


def _in_operation(node: ast.AST) -> Mapping[str, Sequence[ast.expr]]:
    """The operands of ``node`` by their roles."""
    found: Mapping[str, Sequence[ast.expr]] = {}
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            divisors = [right] if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)) else []
            shown = right.elts if isinstance(right, ast.Tuple) else [right]
            found = {"left": [left], "right": [right], "sides": [right, left], "divisor": divisors}
            found = {**found, "shown": shown} if isinstance(op, ast.Mod) else found
        case ast.AugAssign(op=op, value=value):
            divisors = [value] if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)) else []
            found = {"right": [value], "sides": [value], "divisor": divisors}
        case ast.Compare(left=left, comparators=others):
            every = [left, *others]
            found = {"sides": every, "less": every[:-1], "more": others, "key": [left]}
        case ast.Subscript(value=value, slice=index):
            plain = [] if isinstance(index, (ast.Slice, ast.Tuple)) else [index]
            found = {"indexed": [value], "index": plain, "key": plain}
        case ast.Slice(lower=lower, upper=upper, step=step):
            found = {"bound": [bound for bound in (upper, lower, step) if bound is not None]}
        case ast.Call():
            found = _in_call(node)
    return found


def _in_call(call: ast.Call) -> Mapping[str, Sequence[ast.expr]]:
    name, first = called_name(call), call.args[:1]
    every = [*call.args, *(keyword.value for keyword in call.keywords)]
    passed = [argument for argument in every if not isinstance(argument, ast.Starred)]
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    taken = first if name in {"choice", "heappop", "sample"} else []
    return {
        "function": [call.func],
        "formatted": passed if name == "format" else [],
        "owner": owner,
        "passed": passed,
        f"{name}()": passed,
        "given": call.args[:2],
        "divisor": call.args[1:2] if name in {"divmod", "fmod"} else [],
        "taken from": owner if owner and name in {"pop", "popleft"} else taken,
        "summed": [
            part.elt
            for part in (first if name == "sum" else ())
            if isinstance(part, (ast.GeneratorExp, ast.ListComp))
        ],
    }


def _in_display(node: ast.AST) -> Mapping[str, Sequence[ast.expr]]:
    """The parts of a loop, a star or a display by their roles."""
    found: Mapping[str, Sequence[ast.expr]] = {}
    match node:
        case ast.For(iter=part) | ast.comprehension(iter=part):
            found = {"looped": [part]}
        case ast.FormattedValue(value=part):
            found = {"formatted": [part]}
        case (
            ast.Starred(value=part) | ast.Assign(targets=[ast.Tuple() | ast.List(), *_], value=part)
        ):
            found = {"given": [part]}
        case ast.DictComp(key=part) | ast.SetComp(elt=part):
            found = {"key": [part]}
        case ast.Set(elts=parts):
            found = {"key": parts}
        case ast.Dict(keys=keys):
            found = {"key": [key for key in keys if key is not None]}
    return found


def arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """All arguments in the order in which they are written."""
    every: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(every, key=lambda part: (part.lineno, part.col_offset))


def methods(tree: ast.Module) -> Iterator[tuple[FunctionNode, ast.ClassDef]]:
    """The functions that stand in classes, each with its class."""
    for node in nodes_of(tree, ast.ClassDef):
        yield from ((inner, node) for inner in node.body if isinstance(inner, FunctionNode))


def takes_owner(method: FunctionNode, owner: ast.ClassDef) -> bool:
    """Whether a method takes its object, under whatever name, or needs none."""
    decorators = {ast.unparse(decorator) for decorator in method.decorator_list}
    first = parameters(method.args)[:1]
    if "staticmethod" in decorators or first in _OWNERS:
        return True
    if not names_in(method).isdisjoint({"self", "cls"}):
        return False
    given = [*method.args.posonlyargs, *method.args.args]
    used = {
        node.attr for node in nodes_of(method, ast.Attribute) if first == [ast.unparse(node.value)]
    }
    return bool(given) and bool(used & attributes([owner], {*first, "self", "cls"}))


def attributes(owners: Sequence[ast.ClassDef], objects: Iterable[str]) -> set[str]:
    """Returns the names that classes define, and the attributes that methods set on ``objects``."""
    found: set[str] = set()
    for owner in owners:
        found |= {node.name for node in owner.body if isinstance(node, FunctionNode)}
        found |= {target.id for node in owner.body for target in targets(node)}
        for node in nodes_of(owner, ast.Attribute):
            if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) in objects:
                found.add(node.attr)
    return found


def family(tree: ast.Module, name: str) -> list[ast.ClassDef]:
    """The class called ``name`` and those of the file that it inherits from, itself first."""
    classes = {n.name: n for n in nodes_of(tree, ast.ClassDef)}
    found: dict[str, ast.ClassDef] = {}
    pending = [name]
    while pending:
        own = classes.get(pending.pop(0))
        if own is not None and own.name not in found:
            found[own.name] = own
            pending += [base.rpartition(".")[2] for base in base_texts(own)]
    return list(found.values())


def heads(tree: ast.Module, name: str) -> list[FunctionNode]:
    """The functions that a call of ``name``, such as ``f`` or ``C.__init__``, may run."""
    owner, _, method = name.rpartition(".")
    owners = family(tree, owner.rpartition(".")[2])
    own = [f for c in owners for f in c.body if isinstance(f, FunctionNode) and f.name == method]
    if own or method == "__init__":
        return own
    return [n for n in functions_in(tree) if n.name == method]


def trees(tree: ast.Module, name: str, project: Project) -> Iterator[ast.Module]:
    """The file itself, then the files of the project that define ``name`` or its class."""
    yield tree
    for wanted in dict.fromkeys(part for part in name.split(".") if part.isidentifier()):
        yield from filter(None, map(project.tree, project.defined_in(wanted)[:MAX_MODULES]))


def accepted(tree: ast.Module, call: ast.Call, name: str, project: Project) -> list[str]:
    """The keywords that what is called takes: of the project, or of a module that is loaded."""
    for other in trees(tree, name, project):
        found = [p for head in heads(other, name) for p in parameters(head.args)]
        if name.endswith(".__init__") and not found:  # of a dataclass
            owners = family(other, name.rpartition(".")[0].rpartition(".")[2])
            fields = [n for c in owners for n in c.body if isinstance(n, ast.AnnAssign)]
            found = [target.id for field in fields for target in targets(field)]
        if found:
            return [parameter for parameter in found if parameter not in {"self", "cls"}]
    return _of_installed(tree, call)


def in_scope(tree: ast.Module, call: ast.Call) -> list[str]:
    """Names and attributes of ``self`` that could be passed, the innermost scope's first."""
    names = visible(tree, call.lineno)
    around = [owner for owner in nodes_of(tree, ast.ClassDef) if holds(owner, call.lineno)]
    owner = max(around, key=lambda node: node.lineno, default=None)
    uses = nodes_of(owner, ast.Attribute) if owner is not None and "self" in names else []
    own = (use for use in uses if isinstance(use.ctx, ast.Store))
    said = [f"self.{use.attr}" for use in own if ast.unparse(use.value) == "self"]
    return [*names, *dict.fromkeys(said)]


class Row:
    """Arguments or parameters between their brackets: one goes, or one more comes.

    Args:
        text: The file's.
        opening: Byte of the opening bracket.
        closing: Byte of the closing one.
        places: First byte of each, and the byte behind it; brackets around it are its own.
    """

    def __init__(
        self, text: Text, opening: int, closing: int, places: Sequence[tuple[int, int]]
    ) -> None:
        self._text, self._opening, self._closing = text, opening, closing
        self.spans: list[tuple[int, int]] = []
        self._commas: list[int] = []  # behind each; -1: none
        left = opening + 1
        for (start, end), bound in zip(
            places, [*(place[0] for place in places[1:]), closing], strict=False
        ):
            gap = _blank(text.between(end, bound))
            at = gap.rfind(b",") if bound == closing else gap.find(b",")
            if bound == closing and gap[at + 1 :].strip():  # such as the slash of positional ones
                at = -1
            own = gap[:at] if at >= 0 else gap
            before = _blank(text.between(left, start))
            outer = left + len(before) - len(before.lstrip())
            self.spans.append((outer, end + len(own.rstrip())))
            self._commas.append(end + at if at >= 0 else -1)
            left = end + at + 1

    def without(self, index: int, words: str) -> TextEdit:
        """One less, and the comma that goes with it."""
        text = self._text
        if len(self.spans) == 1:
            return text.cut(self._opening + 1, self._closing, "", words)
        start, end = self.spans[index]
        behind = max(end, self._commas[index] + 1)
        line, newline, _ = text.between(behind, self._closing).partition("\n")
        _, is_own, indent = text.between(self._opening, start).rpartition("\n")
        if newline and is_own and not indent.strip() and not _blank(line).strip():
            start, end = start - len(indent), behind + len(line.encode()) + 1
        elif index == 0:
            end = self.spans[1][0]
        elif "#" not in text.between(self.spans[index - 1][1], start):
            start = self.spans[index - 1][1]
        return text.cut(start, end, "", words)

    def with_last(self, written: str, words: str) -> TextEdit:
        """One more behind the last: on a line of its own if that has one."""
        if not self.spans:
            return self._text.insert(self._opening + 1, written, words)
        start, end = self.spans[-1]
        comma = self._commas[-1]
        behind = max(end, comma + 1)
        _, is_own, lead = self._text.between(self._opening, start).rpartition("\n")
        note, newline, _ = self._text.between(behind, self._closing).partition("\n")
        if not (is_own and newline) or lead.strip():
            return self._text.insert(end, f", {written}", words)
        said = f",{note}\n{indent_of(lead)}{written}{',' if comma >= 0 else ''}"
        return self._text.cut(behind - (comma >= 0), behind + len(note.encode()), said, words)

    def with_first(self, name: str, words: str) -> TextEdit:
        """One more before the others."""
        at = self._opening + 1
        lead = self._text.between(at, self.spans[0][0]) if self.spans else ""
        said = f"{name}, " if _blank(self._text.between(at, self._closing)).strip() else name
        if "\n" in lead and said != name:
            indent = indent_of(lead.rpartition("\n")[2])
            said = f"\n{indent}{name},"

        return self._text.insert(at, said, words)


def in_call(text: Text, call: ast.Call) -> Row:
    """The arguments of a call in the order in which they are written."""
    opening = text.end(call.func)
    opening += _blank(text.between(opening, text.end(call))).find(b"(")
    places = [(text.start(part), text.end(part)) for part in arguments(call)]
    return Row(text, opening, text.end(call) - 1, places)


def in_head(text: Text, function: FunctionNode) -> Row:
    """The parameters, each with its default; what separates them counts as one."""
    given = function.args
    parts: list[ast.expr | ast.arg] = [*every_parameter(given)]
    parts += [value for _, value in defaults(given)]
    types: list[ast.expr] = getattr(function, "type_params", [])
    begin = max([text.start(function), *(text.end(kind) for kind in types)])
    first = min((text.start(part) for part in parts), default=-1)
    last = max((text.end(part) for part in parts), default=begin)
    head = _blank(text.between(last, text.start(function.body[0])))
    closing = last + re.split(rb"->|:", head, maxsplit=1)[0].rindex(b")")
    opening = begin + _blank(text.between(begin, first if parts else closing)).rindex(b"(")
    return Row(text, opening, closing, [(first, last)] if parts else [])


def adding(text: Text, call: ast.Call, written: str, words: str) -> TextEdit:
    """The call with one argument more: behind the others, but before keywords if it is none."""
    end = text.end(call)
    row = in_call(text, call)
    if any(text.end(part) == end for part in call.args):  # a generator has the brackets of the call
        start = text.start(call.args[0])
        return text.cut(start, end, f"({text.between(start, end)}, {written})", words)
    if call.keywords and not re.match(r"\w+=", written):
        return text.insert(row.spans[len(call.args)][0], f"{written}, ", words)
    return row.with_last(written, words)


def _blank(between: str) -> bytes:
    """The text between arguments with its comments blank; there are no strings in it."""
    return re.sub(rb"#[^\n]*|\\", lambda found: b" " * len(found[0]), between.encode())


def _of_installed(tree: ast.Module, call: ast.Call) -> list[str]:
    """The parameters of a built-in function, or of one of a module that is imported already."""
    imported, first = aliases(tree), dotted(call.func, unknown="?").partition(".")[0]
    name = full_name(call.func, imported)
    if first in imported:
        return _signature(name.split("."))
    return [] if "." in name else _signature(["builtins", name])


def signature_of(value: object) -> Sequence[inspect.Parameter]:
    """The parameters of anybody's function or class; none of what does not tell them.

    Annotations, which are evaluated late from 3.14 on, stay texts.
    """
    try:
        if sys.version_info >= (3, 14):
            import annotationlib

            texts = annotationlib.Format.STRING
            found = inspect.signature(value, annotation_format=texts)  # type: ignore[arg-type]
        else:
            found = inspect.signature(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - it is anybody's object
        return ()
    return [*found.parameters.values()]


def _signature(path: Sequence[str]) -> list[str]:
    for n in range(len(path) - 1, 0, -1):
        value: object = sys.modules.get(".".join(path[:n]))
        if value is None:
            continue
        for part in path[n:]:
            value = inspect.getattr_static(value, part, None)
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        return [parameter.name for parameter in signature_of(function)]
    return []
