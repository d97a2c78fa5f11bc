"""The rules for assertions that a language model added: they only look."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import FunctionNode, parse
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
