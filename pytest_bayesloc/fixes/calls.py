"""Answers questions about calls, and edits their arguments and parameters."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.project import Project
from pytest_bayesloc.fixes.syntax import (
    Text,
    TextEdit,
    bound_name,
    every_parameter,
    functions_in,
    holds,
    indent_of,
    nodes_of,
    parameters,
    targets,
    visible,
)

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
    named = [call for call in calls if called(call) in wanted]
    if named or len(calls) != 1:
        return named
    passed = [node for part in arguments(calls[0]) for node in ast.walk(part)]
    names = {n.id for n in passed if isinstance(n, ast.Name)}
    names |= {n.attr for n in passed if isinstance(n, ast.Attribute)}
    return [] if method in names else calls


def called(call: ast.Call) -> str:
    """The last part of the name of what is called; empty where it has none."""
    return ast.unparse(call.func).rpartition(".")[2]


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
    if any(isinstance(n, ast.Name) and n.id in {"self", "cls"} for n in ast.walk(method)):
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
            pending += [ast.unparse(base).rpartition(".")[2] for base in own.bases]
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


def without(text: Text, call: ast.Call, index: int, words: str) -> TextEdit:
    """The call without one of its arguments, and without the comma that goes with it."""
    layout = _layout(text, call)
    if len(layout.spans) == 1 or layout.is_shared:
        start, end = layout.opening + 1, layout.closing
        return text.cut(start, end, "", words)
    start, end = layout.spans[index]
    behind = max(end, layout.commas[index] + 1)
    rest = text.between(behind, layout.closing)
    line, newline, _ = rest.partition("\n")
    lead = text.between(layout.opening, start).rpartition("\n")
    if newline and lead[1] and not lead[2].strip() and not _blank(line.encode()).strip():
        start, end = start - len(lead[2]), behind + len(line.encode()) + 1
    elif index == 0:
        end = layout.spans[1][0]
    elif "#" not in text.between(layout.spans[index - 1][1], start):
        start = layout.spans[index - 1][1]
    return text.cut(start, end, "", words)


def adding(text: Text, call: ast.Call, written: str, words: str) -> TextEdit:
    """The call with one argument more: behind the others, but before keywords if it is none."""
    layout = _layout(text, call)
    is_keyword = re.match(r"\w+=", written) is not None
    at, said = layout.opening + 1, written
    if layout.is_shared:
        generator = text.between(layout.opening, layout.closing + 1)
        start, end = layout.opening, layout.closing + 1
        said = f"({generator}, {written})"
        return text.cut(start, end, said, words)
    if call.keywords and not is_keyword:
        at, said = layout.spans[len(call.args)][0], f"{written}, "
    elif layout.spans:
        return _behind(text, layout, written, words)
    return text.insert(at, said, words)


def with_parameter(text: Text, function: FunctionNode, written: str, words: str) -> TextEdit:
    """The function with one parameter more, the last."""
    return _behind(text, _head(text, function), written, words)


def with_owner(text: Text, function: FunctionNode, name: str, words: str) -> TextEdit:
    """The method with one parameter more, the first."""
    layout = _head(text, function)
    at = layout.opening + 1
    lead = text.between(at, layout.spans[0][0]) if layout.spans else ""
    said = f"{name}, " if _blank(text.between(at, layout.closing).encode()).strip() else name
    if "\n" in lead and said != name:
        indent = indent_of(lead.rpartition("\n")[2])
        said = f"\n{indent}{name},"
    return text.insert(at, said, words)


def _behind(text: Text, layout: _Layout, written: str, words: str) -> TextEdit:
    """One thing more behind the last: on a line of its own if that has one."""
    if not layout.spans:
        at = layout.opening + 1
        return text.insert(at, written, words)
    start, end = layout.spans[-1]
    comma = layout.commas[-1]
    lead = text.between(layout.opening, start)
    is_own = "\n" in lead and not lead.rpartition("\n")[2].strip()
    behind = max(end, comma + 1)
    rest = text.between(behind, layout.closing)
    if is_own and "\n" in rest:
        note = rest.partition("\n")[0]
        indent = indent_of(lead.rpartition("\n")[2])
        said = f",{note}\n{indent}{written}{',' if comma >= 0 else ''}"
        stop = behind + len(note.encode())
        return text.cut(behind - (comma >= 0), stop, said, words)
    return text.insert(end, f", {written}", words)


def _layout(text: Text, call: ast.Call) -> _Layout:
    parts = arguments(call)
    opening, closing = text.end(call.func), text.end(call) - 1
    first = text.start(parts[0]) if parts else closing + 1
    opening += _blank(text.between(opening, first).encode()).find(b"(")
    if opening < text.end(call.func):
        return _Layout(first, closing, [(first, closing + 1)], [-1], is_shared=True)
    return _spread(text, opening, closing, [(text.start(p), text.end(p)) for p in parts])


def _head(text: Text, function: FunctionNode) -> _Layout:
    """The layout of parameters, each with its default; what separates them counts as one."""
    given = function.args
    parts: list[ast.expr | ast.arg] = [*every_parameter(given)]
    parts += [d for d in (*given.defaults, *given.kw_defaults) if d is not None]
    types: list[ast.expr] = getattr(function, "type_params", [])
    begin = max([text.start(function), *(text.end(kind) for kind in types)])
    first = min((text.start(part) for part in parts), default=-1)
    last = max((text.end(part) for part in parts), default=begin)
    head = _blank(text.between(last, text.start(function.body[0])).encode())
    closing = last + re.split(rb"->|:", head, maxsplit=1)[0].rindex(b")")
    bound = first if parts else closing
    opening = begin + _blank(text.between(begin, bound).encode()).rindex(b"(")
    return _spread(text, opening, closing, [(first, last)] if parts else [])


def _spread(text: Text, opening: int, closing: int, places: list[tuple[int, int]]) -> _Layout:
    spans, commas = [], []
    left = opening + 1
    for i, (start, end) in enumerate(places):
        bound = places[i + 1][0] if i + 1 < len(places) else closing
        gap = _blank(text.between(end, bound).encode())
        at = gap.rfind(b",") if bound == closing else gap.find(b",")
        if bound == closing and gap[at + 1 :].strip():  # such as the slash of positional-only ones
            at = -1
        own = gap[:at] if at >= 0 else gap
        before = _blank(text.between(left, start).encode())
        outer = left + len(before) - len(before.lstrip())
        spans.append((outer, end + len(own.rstrip())))
        commas.append(end + at if at >= 0 else -1)
        left = end + at + 1
    return _Layout(opening, closing, spans, commas)


def _blank(data: bytes) -> bytes:
    """The text between arguments with its comments blank; there are no strings in it."""
    return re.sub(rb"#[^\n]*|\\", lambda found: b" " * len(found[0]), data)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Holds the places of arguments, in bytes; brackets around an argument are its own."""

    opening: int
    closing: int
    spans: Sequence[tuple[int, int]]
    commas: Sequence[int]  # behind each argument; -1: none
    is_shared: bool = False  # the brackets are those of a generator, its only argument


def _of_installed(tree: ast.Module, call: ast.Call) -> list[str]:
    """The parameters of a function of a module that something has imported already."""
    root, _, rest = ast.unparse(call.func).partition(".")
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        for alias in node.names:
            if bound_name(alias) != root:
                continue
            if isinstance(node, ast.ImportFrom):
                path = [*(node.module or "").split("."), alias.name, *rest.split(".")]
            else:
                path = [*(alias.name if alias.asname else root).split("."), *rest.split(".")]
            return _signature([part for part in path if part])
    return []


def _signature(path: Sequence[str]) -> list[str]:
    for n in range(len(path) - 1, 0, -1):
        value: object = sys.modules.get(".".join(path[:n]))
        if value is None:
            continue
        try:
            for part in path[n:]:
                value = inspect.getattr_static(value, part)
            value = getattr(value, "__func__", value)  # of a class method
            return list(inspect.signature(value).parameters)  # type: ignore[arg-type]  # or raises
        except Exception:  # noqa: BLE001 - it is anybody's object
            return []
    return []
