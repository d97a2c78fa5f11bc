"""What of a function that somebody else rewrote may be run: added assertions, nothing else.

The syntax trees of both are laid beside each other. Every statement of the original has to be
there, unchanged and in its place; what is added may only look. The rewritten text itself is never
compiled: what passes is written into the original.
"""

from __future__ import annotations

import ast
import builtins
import sys
from dataclasses import dataclass, field
from textwrap import dedent
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import FunctionNode, parse
from pytest_bayesloc.inspection.proposals.assertions import SEE_LOCALS
from pytest_bayesloc.inspection.proposals.world import METHODS, MODULES, aliases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_ASSERTIONS = 16
MAX_NODES = 600  # of all that is added
#: Modules of the standard library that only compute.
PURE = frozenset(
    {"abc", "array", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses",
     "datetime", "decimal", "difflib", "enum", "fractions", "functools", "heapq", "itertools",
     "json", "math", "numbers", "operator", "re", "statistics", "string", "textwrap", "typing",
     "unicodedata", "uuid"}
)  # fmt: skip
#: Built-ins that run text, reach out, or change what is not theirs.
DENIED = frozenset(
    {"__import__", "breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr",
     "globals", "help", "input", "locals", "memoryview", "open", "quit", "setattr", "super",
     "vars"}
)  # fmt: skip
#: Methods that change what they are called on, or reach out, whatever that is.
CHANGING = METHODS | frozenset(
    {"__setattr__", "acquire", "add", "append", "appendleft", "cancel", "clear", "close",
     "commit", "connect", "delete", "difference_update", "discard", "execute", "executemany",
     "exec_module", "extend", "flush", "get_nowait", "import_module", "insert",
     "intersection_update", "kill", "move_to_end", "next", "pop", "popen", "popitem", "popleft",
     "post", "put", "read", "readline", "readlines", "recv", "release", "remove", "reverse",
     "rotate", "rollback", "run", "save", "send", "sendall", "set", "setdefault", "shuffle",
     "sleep", "sort", "start", "stop", "submit", "symmetric_difference_update", "system",
     "terminate", "truncate", "update", "wait", "write", "writelines"}
)  # fmt: skip
_ITERATION = frozenset({"iter", "next"})  # what they take is gone for the function itself
#: Names that lead out of the process, however they were come by.
RISKY = MODULES | frozenset(
    {"asyncio", "builtins", "ctypes", "environ", "importlib", "multiprocessing", "pathlib",
     "pickle", "sys", "threading"}
)  # fmt: skip
#: Expressions that do more than compute a value, or wait.
_ACTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)


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


def admitted(original: FunctionNode, text: str, module: ast.AST) -> list[Addition]:
    """What ``text`` adds to the function ``original``, in the order of the text.

    Args:
        original: The function as it stands in its file.
        text: The function as somebody else gave it back.
        module: The syntax tree of the file.

    Raises:
        PatchError: If it does anything else than add assertions, or adds none.
    """
    rewritten = _only_function(text)
    if _header(rewritten) != _header(original):
        raise _refused("changes the signature or the decorators")
    has_docstring = ast.get_docstring(original, clean=False) is not None
    walk = _Walk(first=original.body[min(int(has_docstring), len(original.body) - 1)])
    walk.align(original.body, rewritten.body)
    added = [statement for addition in walk.additions for statement in addition.statements]
    nodes = [node for statement in added for node in ast.walk(statement)]
    n = sum(isinstance(node, ast.Assert) for node in nodes)
    if not n:
        raise _refused("adds no assertion")
    if n > MAX_ASSERTIONS or len(nodes) > MAX_NODES:
        raise _refused(
            f"adds {n} assertions of {len(nodes)} parts, more than can be looked through"
        )
    _Rules(original, aliases(module)).check(walk.additions)
    return walk.additions


def _only_function(text: str) -> FunctionNode:
    try:
        body = parse(dedent(text.strip("\n"))).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _refused(f"does not parse ({error})") from error
    if len(body) != 1 or not isinstance(body[0], FunctionNode):
        kinds = ", ".join(sorted({type(node).__name__ for node in body})) or "nothing"
        raise _refused(f"is not the one function that was asked for, but {kinds}")
    return body[0]


def _header(function: FunctionNode) -> list[str]:
    parts = (function.args, *function.decorator_list, function.returns)
    dumped = (ast.dump(part) if part is not None else "" for part in parts)
    return [type(function).__name__, function.name, *dumped]


@dataclass
class _Walk:
    """Lays statements beside those of the original, and collects what is new."""

    first: ast.stmt
    additions: list[Addition] = field(default_factory=list)

    def align(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> None:
        """Take ``new`` for ``old`` with additions.

        Raises:
            PatchError: If a statement of ``old`` is missing or changed.
        """
        rest, at = list(new), 0
        pending: list[ast.stmt] = []
        for statement in old:
            while at < len(rest) and not self._is_same(statement, rest[at]):
                name = _named_value(statement, rest[at])
                if name:
                    self._add(statement, "before", pending)
                    at = self._checked_return(statement, rest, at, name)
                    pending = []
                    break
                pending.append(rest[at])
                at += 1
            else:
                if at == len(rest):
                    raise _refused(f"lacks or changes `{_short(statement)}`")
                self._add(statement, "before", pending)
                pending = []
                self._blocks(statement, rest[at])
                at += 1
        self._add(old[-1], "end", rest[at:])

    def _add(self, anchor: ast.stmt, where: str, statements: Iterable[ast.stmt]) -> None:
        kept = tuple(s for s in statements if not _says_nothing(s))
        if kept:
            is_entry = where == "before" and anchor is self.first
            self.additions.append(Addition(anchor, where, kept, is_entry=is_entry))

    def _checked_return(
        self, statement: ast.stmt, rest: Sequence[ast.stmt], at: int, name: str
    ) -> int:
        """``name = value``, checks, ``return name`` for ``return value``; where to go on."""
        for end in range(at + 1, len(rest)):
            found = rest[end]
            if isinstance(found, ast.Return):
                if not (isinstance(found.value, ast.Name) and found.value.id == name):
                    break
                kept = tuple(s for s in rest[at + 1 : end] if not _says_nothing(s))
                if kept:
                    self.additions.append(Addition(statement, "return", kept, name=name))
                return end + 1
        raise _refused(f"changes `{_short(statement)}`")

    def _is_same(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Whether they are one statement, blocks inside them aside."""
        if type(old) is not type(new):
            return False
        if isinstance(old, _SCOPES) or not any(_blocks(old)):
            return ast.dump(old) == ast.dump(new)
        return _heads(old) == _heads(new)

    def _blocks(self, old: ast.stmt, new: ast.stmt) -> None:
        if isinstance(old, _SCOPES):
            return
        for before, after in zip(_blocks(old), _blocks(new), strict=True):
            if before and after:
                self.align(before, after)
            elif before or after:
                raise _refused(f"changes `{_short(old)}`")


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _blocks(statement: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in a fixed order, empty ones too."""
    found: list[list[ast.stmt]] = []
    for name, value in ast.iter_fields(statement):
        if name in {"body", "orelse", "finalbody"} and isinstance(value, list):
            found.append(value)
        elif name in {"handlers", "cases"}:
            for part in value:
                found += _blocks(part)
    return found


def _heads(statement: ast.AST) -> list[str]:
    """All of a compound statement but its blocks."""
    found = [type(statement).__name__]
    for name, value in ast.iter_fields(statement):
        if name in {"handlers", "cases"}:
            for part in value:
                found += _heads(part)
        elif name not in {"body", "orelse", "finalbody"}:
            values = value if isinstance(value, list) else [value]
            found += [f"{name}={len(values)}"]
            found += [ast.dump(v) if isinstance(v, ast.AST) else repr(v) for v in values]
    return found


def _named_value(old: ast.stmt, new: ast.stmt) -> str:
    """The name that ``new`` gives to what ``old`` returns; empty if it does not."""
    if not isinstance(old, ast.Return) or not isinstance(new, ast.Assign):
        return ""
    target = new.targets[0]
    if len(new.targets) != 1 or not isinstance(target, ast.Name):
        return ""
    value = old.value if old.value is not None else ast.Constant(None)
    return target.id if ast.dump(value) == ast.dump(new.value) else ""


def _says_nothing(statement: ast.stmt) -> bool:
    """Heartbeats, which are added anyway, prints and texts: they are left out, not run."""
    if isinstance(statement, ast.Pass):
        return True
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) in {"__bayesloc__.heartbeat", "print"}
    return isinstance(value, ast.Constant)


class _Rules:
    """What added statements may do.

    Args:
        original: The function that they are added to.
        imported: What names of imports in its file stand for.
    """

    def __init__(self, original: FunctionNode, imported: Mapping[str, str]) -> None:
        self._taken = {n.id for n in ast.walk(original) if isinstance(n, ast.Name)}
        self._taken |= {n.arg for n in ast.walk(original) if isinstance(n, ast.arg)}
        self._sees_locals = not SEE_LOCALS.isdisjoint(self._taken)
        self._taken |= {*dir(builtins), *imported, original.name}
        self._imported = {**imported, **aliases(original)}

    def check(self, additions: Sequence[Addition]) -> None:
        """See that nothing does more than look.

        Raises:
            PatchError: If something does.
        """
        for addition in additions:
            if addition.name:
                self._new_name(ast.Name(addition.name))
            for statement in addition.statements:
                self._check(statement)

    def _check(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.If):
            self._look(statement.test)
            for inner in (*statement.body, *statement.orelse):
                if not _says_nothing(inner):
                    self._check(inner)
        elif isinstance(statement, ast.Assert):
            self._look(statement.test)
            if statement.msg is not None:
                self._look(statement.msg)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._new_name(target)
            self._look(statement.value)
        else:
            raise _refused(f"adds `{_short(statement)}`")

    def _new_name(self, target: ast.expr) -> None:
        if not isinstance(target, ast.Name) or target.id in self._taken:
            raise _refused(f"gives `{ast.unparse(target)}` another value")
        if target.id.startswith("_") or self._sees_locals:
            raise _refused(f"makes up the name `{target.id}`")

    def _look(self, expression: ast.expr) -> None:
        for node in ast.walk(expression):
            if isinstance(node, _ACTS):
                raise _refused(f"adds `{_short(node)}`")
            if isinstance(node, ast.Name):
                self._name(node.id)
            elif isinstance(node, ast.Attribute) and (
                node.attr.startswith("__") or node.attr in RISKY
            ):
                raise _refused(f"looks at `{node.attr}`")
            elif isinstance(node, ast.Call):
                self._call(node)

    def _name(self, name: str) -> None:
        if name in DENIED or name in RISKY or name.startswith("__"):
            raise _refused(f"uses `{name}`")
        stands_for = self._imported.get(name, "")
        top = stands_for.partition(".")[0]
        if top in RISKY or (top in sys.stdlib_module_names and top not in PURE):
            raise _refused(f"uses `{stands_for}`")

    def _call(self, call: ast.Call) -> None:
        called = call.func
        if isinstance(called, ast.Attribute) and called.attr in CHANGING:
            raise _refused(f"calls `{called.attr}`")
        if isinstance(called, ast.Name) and called.id in _ITERATION:
            raise _refused(f"calls `{called.id}`")


def _short(node: ast.AST) -> str:
    return _one_line(ast.unparse(node))


def _one_line(text: str) -> str:
    first = text.strip().partition("\n")[0]
    return first if len(first) <= 80 else f"{first[:77]}..."


def _refused(why: str) -> PatchError:
    return PatchError(f"it {why}", slug="llm-gate")
