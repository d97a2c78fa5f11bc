"""The gate for a function that a language model rewrote: it lets added assertions pass, no more.

The syntax trees of both are laid beside each other. Every statement of the original has to be
there, unchanged and in its place; what is added may only look. The rewritten text itself is never
compiled: what passes is written into the original.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pytest_bayesloc.domain.source import FunctionNode, ScopeNode
from pytest_bayesloc.domain.texts import count
from pytest_bayesloc.fixes.side_effects import (
    CHANGING,
    DENIED,
    INNER,
    PURE,
    RISKY,
    OnceOnly,
    is_pure,
    meanings,
)
from pytest_bayesloc.inspection.edits import dump_of, gate_error, only_function, same_header, short
from pytest_bayesloc.syntax.nodes import attributes_in, children, walk

MAX_ASSERTIONS = 16
MAX_NODES = 600  # of all that is added
#: Expressions that do more than compute a value, or wait.
_ACTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
#: Built-ins that tell something of their arguments, and neither call nor give them back.
_TELLING = frozenset(
    {"abs", "all", "any", "bool", "callable", "float", "format", "hasattr", "int", "isinstance",
     "issubclass", "len", "range", "repr", "str", "type"}
)  # fmt: skip
#: Built-ins that see all local names: a function that uses them must get no new one.
SEE_LOCALS = frozenset({"dir", "eval", "exec", "locals", "vars"})
_FRAMES = frozenset({"_getframe", "currentframe", "f_locals"})
#: Arguments that make a method change what it is called on.
_OUTPUTS = frozenset({"inplace", "out"})


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


def admit(original: FunctionNode, text: str, module: ast.AST) -> list[Addition]:
    """Return what ``text``, a model's, adds to the function ``original``, in the order of the text.

    ``module`` is the syntax tree of the file.

    Raises:
        PatchError: If it does anything else than add assertions, or adds none.
    """
    try:
        found = additions(original, only_function(text))
        added = [statement for addition in found for statement in addition.statements]
        nodes = [node for statement in added for node in walk(statement)]
        n = sum(isinstance(node, ast.Assert) for node in nodes)
        if n > MAX_ASSERTIONS or len(nodes) > MAX_NODES:
            raise gate_error(
                f"adds {count(n, 'assertion')} of {len(nodes)} parts, which is too much to check"
            )
        Rules(original, module).check(found)
        if not n:
            raise gate_error("adds no assertion")
    except (ValueError, RecursionError, MemoryError) as error:  # the parser takes more than we do
        raise gate_error(f"can't be looked through ({error})") from error
    return found


def additions(original: FunctionNode, rewritten: FunctionNode) -> list[Addition]:
    """Return what ``rewritten`` has that ``original`` does not, in the order of the text.

    Decorators may be left out, since they are not shown; white space around the line breaks of a
    text is not compared, since it moves with the function.

    Raises:
        PatchError: If a statement of ``original`` is missing or changed, or the signature is.
    """
    same_header(original, rewritten)
    walk = _Walk(original)
    walk.align(original.body, rewritten.body)
    return walk.found


class _Walk:
    """Lays statements beside those of ``original``, and collects what is new."""

    def __init__(self, original: FunctionNode) -> None:
        has_docstring = ast.get_docstring(original, clean=False) is not None
        self._first = original.body[min(int(has_docstring), len(original.body) - 1)]
        self._docstring = original.body[0] if has_docstring else None
        self.found: list[Addition] = []

    def align(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> None:
        """Take ``new`` for ``old`` with additions."""
        rest, at = list(new), 0
        for statement in old:
            start = at
            while at < len(rest) and not self._is_same(statement, rest[at]):
                end = _checked_return(statement, rest, at)
                if end:
                    self._add(statement, "before", rest[start:at])
                    self._add(statement, "return", rest[at + 1 : end], _target(rest[at]))
                    at = end + 1
                    break
                at += 1
            else:
                if at == len(rest):
                    raise gate_error(f"lacks or changes `{short(statement)}`")
                self._add(statement, "before", rest[start:at])
                self._blocks(statement, rest[at])
                at += 1
        self._add(old[-1], "end", rest[at:])

    def _add(
        self, anchor: ast.stmt, where: str, statements: Iterable[ast.stmt], name: str = ""
    ) -> None:
        if anchor is self._docstring and where == "before":  # it has to stay first
            anchor, where = self._first, "end" if self._first is self._docstring else "before"
        kept = tuple(_kept(statements))
        if not kept:
            return
        if self.found and (self.found[-1].anchor, self.found[-1].where) == (anchor, where):
            kept = (*self.found.pop().statements, *kept)
        is_entry = where == "before" and anchor is self._first
        self.found.append(Addition(anchor, where, kept, name=name, is_entry=is_entry))

    def _is_same(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Say whether they are one statement, blocks inside them aside."""
        if type(old) is not type(new):
            return False
        if isinstance(old, ScopeNode) or not any(_blocks(old)):
            return dump_of(old) == dump_of(new)
        return _heads(old) == _heads(new)

    def _blocks(self, old: ast.stmt, new: ast.stmt) -> None:
        if isinstance(old, ScopeNode):
            return
        for before, after in zip(_blocks(old), _blocks(new), strict=True):
            if before and after:
                self.align(before, after)
            elif before or after:
                raise gate_error(f"changes `{short(old)}`")


def _blocks(statement: ast.AST) -> list[list[ast.stmt]]:
    """Return the blocks of a compound statement, in a fixed order, empty ones too."""
    found: list[list[ast.stmt]] = []
    for name, value in ast.iter_fields(statement):
        if name in {"body", "orelse", "finalbody"} and isinstance(value, list):
            found.append(value)
        elif name in {"handlers", "cases"}:
            for part in value:
                found += _blocks(part)
    return found


def _heads(statement: ast.AST) -> list[str]:
    """Return all of a compound statement but its blocks."""
    found = [type(statement).__name__]
    for name, value in ast.iter_fields(statement):
        if name in {"handlers", "cases"}:
            for part in value:
                found += _heads(part)
        elif name not in {"body", "orelse", "finalbody"}:
            values = value if isinstance(value, list) else [value]
            found += [f"{name}={len(values)}"]
            found += [dump_of(v) if isinstance(v, ast.AST) else repr(v) for v in values]
    return found


def _checked_return(old: ast.stmt, rest: Sequence[ast.stmt], at: int) -> int:
    """Return the index of ``return name``, if ``old`` became ``name = value``, checks, and it.

    Zero if it did not.
    """
    name = _target(rest[at])
    if not name or not isinstance(old, ast.Return):
        return 0
    value = old.value or ast.Constant(None)
    if dump_of(value) != dump_of(getattr(rest[at], "value", value)):
        return 0
    ends = (i for i in range(at + 1, len(rest)) if isinstance(rest[i], ast.Return))
    end = next(ends, 0)
    given = getattr(rest[end], "value", None)
    return end if isinstance(given, ast.Name) and given.id == name else 0


def _target(statement: ast.stmt) -> str:
    """Return the one name that ``statement`` gives a value; empty if it does anything else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _kept(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Drop heartbeats, which are added anyway, prints and texts: they are not run."""
    kept: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, ast.If):
            body, orelse = _kept(statement.body), _kept(statement.orelse)
            if body or orelse:
                kept.append(ast.If(statement.test, body or [ast.Pass()], orelse))
            continue
        value = statement.value if isinstance(statement, ast.Expr) else None
        is_text = isinstance(statement, ast.Pass) or isinstance(value, ast.Constant)
        is_call = isinstance(value, ast.Call) and ast.unparse(value.func) in _SAYING
        if not is_text and not is_call:
            kept.append(statement)
    return kept


_SAYING = frozenset({"__bayesloc__.heartbeat", "print"})


# -- what is added only looks


class Rules:
    """The rules for statements that are added to a function: they may look, and do nothing else."""

    def __init__(self, original: FunctionNode, module: ast.AST) -> None:
        self._meanings = meanings(original, module)
        self._taken: set[str] = set()
        for node in walk(original):
            for kind, value in () if isinstance(node, ast.keyword) else ast.iter_fields(node):
                if kind in {"arg", "asname", "id", "name", "names", "rest"}:
                    values = value if isinstance(value, list) else [value]
                    self._taken |= {v for v in values if isinstance(v, str)}
        used = self._taken | attributes_in(original)
        self._sees_locals = not (SEE_LOCALS | _FRAMES).isdisjoint(used)
        self._taken |= {*dir(builtins), *self._meanings}
        self._once_only = OnceOnly(original, module)
        self._once = self._once_only.names

    def check(self, found: Sequence[Addition]) -> None:
        """Check that nothing does more than look."""
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
        # Parts that are used only by value: their value can't be called later.
        seen = set() if is_kept else {id(expression)}
        for node in walk(expression):  # from the outside to the inside
            seen |= {id(part) for part in _seen_by(node, is_seen=id(node) in seen)}
        for node in walk(expression):
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
        return [part for part in children(node) if isinstance(part, ast.Attribute)]
    return []
