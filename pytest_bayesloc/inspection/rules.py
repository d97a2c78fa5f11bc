"""The rules for code that a language model wrote: assertions only look, fixes reach no further."""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pytest_bayesloc.domain.dialogue import ProposedCode
from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, lines_of, parse
from pytest_bayesloc.fixes.side_effects import (
    CHANGING,
    DENIED,
    INNER,
    METHODS,
    PURE,
    RISKY,
    OnceOnly,
    aliases,
    calls_out,
    is_pure,
    meanings,
)
from pytest_bayesloc.inspection.writing import SEE_LOCALS

#: Expressions that do more than compute a value, or wait.
_ACTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
#: Built-ins that tell something of their arguments, and neither call nor give them back.
_TELLING = frozenset(
    {"abs", "all", "any", "bool", "callable", "float", "format", "hasattr", "int", "isinstance",
     "issubclass", "len", "range", "repr", "str", "type"}
)  # fmt: skip
_FRAMES = frozenset({"_getframe", "currentframe", "f_locals"})
#: Arguments that make a method change what it is called on.
_OUTPUTS = frozenset({"inplace", "out"})
MAX_LINES = 400
#: Formatted ones come in parts from Python 3.12 on.
_TEXTS = frozenset({tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)})
#: Built-ins that only the careful need to be kept from: a fix may iterate and call its parent.
_HARMLESS = frozenset({"iter", "next", "super", "getattr", "memoryview", "anext", "aiter"})
#: Attributes that lead out whatever they are taken from.
_LEADS_OUT = frozenset(
    {"FileHandler", "Popen", "connect", "execv", "execve", "execvp", "fork", "kill", "killpg",
     "popen", "putenv", "removedirs", "sendall", "spawnl", "spawnv", "system", "unsetenv",
     "urlopen", "urlretrieve"}
)  # fmt: skip
_FORBIDDEN = (DENIED - _HARMLESS) | RISKY | INNER | METHODS | _LEADS_OUT


@dataclass(frozen=True, slots=True)
class Addition:
    """Statements that are to be added at one place.

    Attributes:
        anchor: A statement of the original.
        where: ``before`` it; ``end``: behind it, at the end of its block; ``return``: between the
            value that it returns, which is called ``name``, and its return.
        statements: Assertions, assignments and ``if`` with such.
        name: What the value is called in ``statements``.
        is_entry: Whether nothing of the function ran before.
    """

    anchor: ast.stmt
    where: str
    statements: tuple[ast.stmt, ...]
    name: str = ""
    is_entry: bool = False


class Rules:
    """The rules for added statements: they may look, and do nothing else.

    Args:
        original: The function that they are added to.
        module: The syntax tree of its file.
    """

    def __init__(self, original: FunctionNode, module: ast.AST) -> None:
        self._meanings = meanings(original, module)
        self._taken = _names(original)
        attributes = {n.attr for n in ast.walk(original) if isinstance(n, ast.Attribute)}
        self._sees_locals = not (SEE_LOCALS | _FRAMES).isdisjoint(self._taken | attributes)
        self._taken |= {*dir(builtins), *self._meanings}
        self._once_only = OnceOnly(original, module)
        self._once = self._once_only.names

    def check(self, found: Sequence[Addition]) -> None:
        """Check that nothing does more than look.

        Raises:
            PatchError: If something does.
        """
        for addition in found:
            taken, once = self._taken, self._once
            if addition.name:
                self._new_name(ast.Name(addition.name))
                self._taken = taken | {addition.name}
                if self._once_only.is_made_by(getattr(addition.anchor, "value", None)):
                    self._once = once | {addition.name}
            for statement in addition.statements:
                self._check(statement)
            self._taken, self._once = taken, once

    def _check(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.If):
            self._look(statement.test, is_kept=False)
            for inner in (*statement.body, *statement.orelse):
                self._check(inner)
        elif isinstance(statement, ast.Assert):
            self._look(statement.test, is_kept=False)
            if statement.msg is not None:
                self._look(statement.msg, is_kept=False)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._new_name(target)
            self._look(statement.value, is_kept=True)
        elif not isinstance(statement, ast.Pass):
            raise gate_error(f"adds `{short(statement)}`")

    def _new_name(self, target: ast.expr) -> None:
        if not isinstance(target, ast.Name) or target.id in self._taken:
            raise gate_error(f"gives `{ast.unparse(target)}` another value")
        if target.id.startswith("_") or self._sees_locals:
            raise gate_error(f"makes up the name `{target.id}`")

    def _look(self, expression: ast.expr, *, is_kept: bool) -> None:
        seen = _only_seen(expression, is_kept=is_kept)
        for node in ast.walk(expression):
            if isinstance(node, _ACTS) or getattr(node, "is_async", False):
                raise gate_error(f"adds `{short(node)}`")
            if isinstance(node, ast.Name):
                self._name(node)
            elif isinstance(node, ast.Attribute):
                self._attribute(node, seen)
            elif isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Subscript):
                self._read(node)

    def _read(self, node: ast.Name | ast.Attribute | ast.Subscript) -> None:
        text = ast.unparse(node)
        if text in self._once:
            raise gate_error(f"uses up `{text}`")
        if not isinstance(node.ctx, ast.Load) and not isinstance(node, ast.Name):
            raise gate_error(f"gives `{text}` another value")

    def _name(self, node: ast.Name) -> None:
        name = node.id
        if name in DENIED or name in RISKY or name.startswith("__"):
            raise gate_error(f"uses `{name}`")
        if self._sees_locals and name not in self._taken:
            raise gate_error(f"makes up the name `{name}`")
        self._read(node)
        self._stands_for(self._meanings.get(name, ()))

    def _attribute(self, node: ast.Attribute, seen: Collection[int]) -> None:
        if node.attr.startswith("__") or node.attr in RISKY or node.attr in INNER:
            raise gate_error(f"looks at `{node.attr}`")
        self._read(node)
        root, _, rest = ast.unparse(node).partition(".")
        known = self._meanings.get(root, set())
        self._stands_for(f"{meaning}.{rest}" for meaning in known)
        is_function = bool(known) and known <= PURE and "." not in rest  # operator.add
        if node.attr in CHANGING and id(node) not in seen and not is_function:
            raise gate_error(f"uses `{node.attr}`")

    def _stands_for(self, names: Iterable[str]) -> None:
        for name in names:
            if not is_pure(name):
                raise gate_error(f"uses `{name}`")

    def _call(self, call: ast.Call) -> None:
        outputs = _OUTPUTS.intersection(keyword.arg or "" for keyword in call.keywords)
        if outputs:
            raise gate_error(f"asks for a change with `{min(outputs)}`")
        is_type = isinstance(call.func, ast.Name) and call.func.id == "type"
        if is_type and (len(call.args) != 1 or isinstance(call.args[0], ast.Starred)):
            raise gate_error("makes a class")


def _names(function: FunctionNode) -> set[str]:
    """Return every name that it reads or binds, in whatever way."""
    found: set[str] = set()
    for node in ast.walk(function):
        for kind, value in () if isinstance(node, ast.keyword) else ast.iter_fields(node):
            if kind in {"arg", "asname", "id", "name", "names", "rest"}:
                values = value if isinstance(value, list) else [value]
                found |= {v for v in values if isinstance(v, str)}
    return found


def _only_seen(expression: ast.expr, *, is_kept: bool) -> set[int]:
    """Return the parts whose value goes no further: nothing can be called later that it is."""
    found = set() if is_kept else {id(expression)}
    for node in ast.walk(expression):  # from the outside to the inside
        found |= {id(part) for part in _seen_by(node, is_seen=id(node) in found)}
    return found


def _seen_by(node: ast.AST, *, is_seen: bool) -> list[ast.expr]:
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call):
        is_telling = isinstance(node.func, ast.Name) and node.func.id in _TELLING
        return node.args if is_telling else []
    if isinstance(node, ast.FormattedValue):
        return [node.value]
    if isinstance(node, (ast.BoolOp, ast.Tuple)) and is_seen:
        return node.values if isinstance(node, ast.BoolOp) else node.elts
    if isinstance(node, (ast.Attribute, ast.BinOp, ast.Slice, ast.Subscript, ast.UnaryOp)):
        return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.Attribute)]
    return []


def short(node: ast.AST) -> str:
    """Return the text of a piece of code, on one line."""
    first = ast.unparse(node).strip().partition("\n")[0]
    return first if len(first) <= 80 else f"{first[:77]}..."


def gate_error(why: str) -> PatchError:
    """Return the error of a rewritten function that is not run; ``why`` goes on after "it"."""
    return PatchError(f"it {why}", slug="llm-gate")


# -- the shape of a rewritten function


def same_header(original: FunctionNode, rewritten: FunctionNode) -> None:
    """Check that a function has the name, signature and, if it has any, decorators of another.

    Raises:
        PatchError: If it has not.
    """
    decorators = _heads_of(rewritten.decorator_list)
    if _header(rewritten) != _header(original) or (
        decorators and decorators != _heads_of(original.decorator_list)
    ):
        raise gate_error("changes the signature or the decorators")


def only_function(text: str) -> FunctionNode:
    """Return the one function that a text is.

    Raises:
        PatchError: If it is anything else.
    """
    text = text.strip("\r\n")
    is_indented = text[:1] in {" ", "\t"}
    try:
        body = parse(f"if 1:\n{text}" if is_indented else text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise gate_error(f"does not parse ({error})") from error
    if is_indented and len(body) == 1 and isinstance(body[0], ast.If):
        body = [*body[0].body, *body[0].orelse]
    if len(body) != 1 or not isinstance(body[0], FunctionNode):
        kinds = ", ".join(sorted({type(node).__name__ for node in body})) or "nothing"
        raise gate_error(f"is not the one function that was asked for, but {kinds}")
    return body[0]


def _header(function: FunctionNode) -> list[str]:
    parts = [function.args, *getattr(function, "type_params", [])]
    returns = "" if function.returns is None else dump_of(function.returns)
    return [type(function).__name__, function.name, returns, *map(dump_of, parts)]


def _heads_of(decorators: Iterable[ast.expr]) -> list[str]:
    return [dump_of(decorator) for decorator in decorators]


def dump_of(node: ast.AST) -> str:
    """Dump a syntax tree, without white space around the line breaks of its texts."""
    return re.sub(r"(?: |\\t)*\\n(?: |\\t)*", r"\\n", ast.dump(node))


# -- a rewritten function as a fix


def checked_fix(
    source: SourceMap, unit: Unit, answer: ProposedCode, named: Collection[str] = ()
) -> str:
    """Return the text of the file with the function as the answer has it.

    Other than an inspection, a fix may change statements. So its text is held to what the function
    did already: the same signature, no new way out of the process, nothing that runs text or looks
    behind the scenes. Then tests decide, as of every other candidate.

    Args:
        source: The file.
        unit: A function of it, which does not reach out.
        answer: The function, rewritten.
        named: What else must not be called.

    Raises:
        PatchError: If it is another function, or does what the function did not do before.
    """
    if not isinstance(unit.node, FunctionNode):
        raise gate_error("is for code that is no function")
    text = lines_at(answer.text.strip("\r\n"), "")
    new = only_function(text)
    same_header(unit.node, new)
    _look_through(unit.node, new)
    _see_roots(unit.node, new, source.module.node)
    if calls_out(new, aliases(source.module.node), named):
        raise gate_error("reaches out of the process")
    lines, own = lines_of(source.text), lines_of(text)
    if len(own) > MAX_LINES:
        raise gate_error(f"has {len(own)} lines")
    start, end = unit.location.start_line - 1, unit.location.end_line
    blanks = lines[unit.node.lineno - 1][: unit.node.col_offset]
    body = lines_at("".join(own[new.lineno - 1 : new.end_lineno]).rstrip("\n") + "\n", blanks)
    changed = "".join([*lines[:start], body, *lines[end:]])
    twin = SourceMap(changed, source.file)
    if twin.is_broken or len(twin.units) < source.units.index(unit):
        raise gate_error("can't be put in place")
    return changed


def lines_at(text: str, blanks: str) -> str:
    """Return a function's text with ``blanks`` as the indentation of its first line.

    Lines within a text over several lines stay as they are: their blanks are part of it.

    Raises:
        PatchError: If the text does not parse.
    """
    given = text[: len(text) - len(text.lstrip(" \t"))]
    try:
        within = _within_texts(f"if 1:\n{text}" if given else text, 1 + bool(given))
    except (SyntaxError, tokenize.TokenError) as error:
        raise gate_error(f"does not parse ({error})") from error
    return "".join(
        line if n in within or not line.strip() else blanks + line.removeprefix(given)
        for n, line in enumerate(lines_of(text))
    )


def _within_texts(text: str, first: int) -> set[int]:
    """Return the lines that begin within a text, counted from line ``first``."""
    return {
        line - first
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in _TEXTS
        for line in range(token.start[0] + 1, token.end[0] + 1)
    }


def _look_through(old: FunctionNode, new: FunctionNode) -> None:
    """Check that nothing is named that was not, and leads out.

    Raises:
        PatchError: If something is.
    """
    found = _named(new) - _named(old)
    bad = {name for name in found if name in _FORBIDDEN or name.startswith("__")}
    if bad:
        raise gate_error(f"uses `{min(bad)}`")
    kinds = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.ClassDef)
    before = {ast.dump(node) for node in ast.walk(old) if isinstance(node, kinds)}
    for node in ast.walk(new):
        if isinstance(node, kinds) and ast.dump(node) not in before:
            raise gate_error(f"adds `{ast.unparse(node).partition(chr(10))[0]}`")


def _see_roots(old: FunctionNode, new: FunctionNode, tree: ast.AST) -> None:
    """Check that what is imported is used as it was, or only computes.

    Names of imported modules and classes lead anywhere: ``os.path`` to ``os.system``, and what is
    not called at once, as in ``map(os.remove, names)``, is used all the same.

    Raises:
        PatchError: If it is not.
    """
    imported = {
        alias.asname or alias.name.partition(".")[0]: alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    meant = aliases(tree)
    known = set(_chains(old))
    for chain in _chains(new):
        root, _, rest = chain.partition(".")
        if chain in known or root not in imported:
            continue
        full = f"{meant[root]}.{rest}".rstrip(".") if root in meant else ""
        if not (full.partition(".")[0] in PURE and is_pure(full)):
            raise gate_error(f"uses `{chain}` in a new way")


def _chains(function: ast.AST) -> list[str]:
    """Return the dotted names in a function, each as long as it is written: ``os.path.join``."""
    inner = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    found = []
    for node in ast.walk(function):
        if isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inner:
            base = node
            while isinstance(base, ast.Attribute):
                base = base.value  # type: ignore[assignment]  # any expression
            if isinstance(base, ast.Name):
                found.append(ast.unparse(node))
    return found


def _named(function: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
