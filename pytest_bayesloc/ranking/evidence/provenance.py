"""The provenance of the values in a function, read off its text."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from pytest_bayesloc.domain.source import FunctionNode, ReadMap, Unit

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
RECEIVERS = frozenset({"self", "cls"})
BUILTINS = frozenset(dir(builtins))
MAX_HOPS = 8
# Methods that ask built-in text for something; too plain to be where a fault is.
ASKS = frozenset(
    {
        "casefold", "endswith", "isalnum", "isalpha", "isdecimal", "isdigit", "isidentifier",
        "islower", "isnumeric", "isspace", "isupper", "lower", "lstrip", "rstrip", "startswith",
        "strip", "title", "upper",
    }
)  # fmt: skip
# Methods that change built-in containers, and all that a test or fixture builds its data with.
CHANGES = frozenset(
    {"add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "sort", "update"}
)
BUILDS = ASKS | CHANGES | {"copy", "encode", "format", "get", "items", "join", "keys", "split"}


def names_in(node: ast.AST) -> set[str]:
    """Return the names that ``node`` speaks of."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def argument_names(function: FunctionNode) -> list[str]:
    """Return named parameters, ``*args`` and ``**kwargs`` left out."""
    a = function.args
    return [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


def is_self(node: ast.expr) -> bool:
    """Return whether it is the object or class that a method belongs to."""
    return isinstance(node, ast.Name) and node.id in RECEIVERS


def is_plain(value: ast.AST, methods: frozenset[str]) -> bool:
    """Return whether ``value`` calls nothing but built-in functions and types, and ``methods``."""
    acts = (ast.Await, ast.Yield, ast.YieldFrom)
    return not any(
        isinstance(node, acts)
        or (isinstance(node, ast.Call) and not is_plain_call(node.func, methods))
        for node in ast.walk(value)
    )


def is_plain_call(function: ast.expr, methods: frozenset[str]) -> bool:
    """Return whether calling ``function`` runs no code of the project, as far as one can see."""
    if isinstance(function, ast.Attribute):
        return function.attr in methods and not is_self(function.value)
    return isinstance(function, ast.Name) and function.id in BUILTINS


class Values:
    """Traces the values in a function, or a module body, to what they are made of.

    With ``own_only``, a name that the file does not assign is somebody else's value, as it is in a
    test.
    """

    def __init__(self, unit: Unit, read: ReadMap, *, own_only: bool = False) -> None:
        node = unit.node
        self.arguments = set(argument_names(node)) if isinstance(node, FunctionNode) else set()
        self._made = assignments(node)
        self._is_constructor = unit.location.qualname.rpartition(".")[2] in CONSTRUCTORS
        self._fields = unit.location.qualname.endswith("__post_init__")
        source = read(unit.location.file)
        module = source.module.node if source is not None else ast.Module(body=[], type_ignores=[])
        self._foreign = _foreign(module)
        self._known = set(assignments(module)) if own_only else None

    def roots_of(self, values: Sequence[ast.expr], methods: frozenset[str]) -> set[str] | None:
        """Return what ``values`` together are made of, as ``roots`` does of one."""
        return self.roots(ast.Tuple([*values], ast.Load()), methods)

    def roots(self, value: ast.expr, methods: frozenset[str], hops: int = 0) -> set[str] | None:
        """Return the parameters that ``value`` is made of by built-ins alone; None if by more."""
        if hops > MAX_HOPS or not is_plain(value, methods):
            return None
        found: set[str] = set()
        attributes = [n for n in ast.walk(value) if isinstance(n, ast.Attribute)]
        of_self = [n for n in attributes if is_self(n.value)]
        n_bare = sum(isinstance(n, ast.expr) and is_self(n) for n in ast.walk(value))
        if n_bare > len(of_self):
            return None
        names = names_in(value) - RECEIVERS - (BUILTINS - self.arguments - set(self._made))
        for roots in (
            *(self._of_attribute(name, methods, hops) for name in {n.attr for n in of_self}),
            *(self._of_name(name, methods, hops) for name in names),
        ):
            if roots is None:
                return None
            found |= roots
        return found

    def _of_name(self, name: str, methods: frozenset[str], hops: int) -> set[str] | None:
        if name not in self.arguments and name not in self._made:
            is_known = self._known is None or name in self._known
            return set() if is_known and name not in self._foreign else None  # constant or type
        return self._of_made(name, methods, hops, {name} & self.arguments)

    def _of_attribute(self, name: str, methods: frozenset[str], hops: int) -> set[str] | None:
        """Resolve ``self.x``: in a constructor a value that was set, else a parameter."""
        if not self._is_constructor:
            return None
        if f"self.{name}" not in self._made:
            return {name} if self._fields or name in self.arguments else None
        return self._of_made(f"self.{name}", methods, hops, set())

    def _of_made(
        self, name: str, methods: frozenset[str], hops: int, roots: set[str]
    ) -> set[str] | None:
        found = set(roots)
        for value in self._made.get(name, ()):
            if name not in names_in(value):
                deeper = self.roots(value, methods, hops + 1)
            else:  # it goes on from its own value: the other names count
                others = names_in(value) - {name} - BUILTINS
                parts = [self._of_name(other, methods, hops + 1) for other in others]
                plain = is_plain(value, methods) and None not in parts
                deeper = set().union(*(p for p in parts if p)) if plain else None
            if deeper is None:
                return None
            found |= deeper
        return found


_UNKNOWN = ast.parse("unknown()()", mode="eval").body


def assignments(function: ast.AST) -> dict[str, list[ast.expr]]:
    """Return per local name (or ``self.name``) the expressions that it is made of."""
    made: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        for target, value in _assigned(node):
            for name in _bound(target):
                made.setdefault(name, []).append(value)
        if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            made.setdefault(node.name, []).append(_UNKNOWN)
    return made


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield targets with what they are assigned, or what their value is taken from."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        if node.value is not None:
            yield node.target, node.value
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr


def _bound(target: ast.expr) -> set[str]:
    """Return ``x`` and ``self.x`` that an assignment to ``target`` sets or changes."""
    attributes = (n for n in ast.walk(target) if isinstance(n, ast.Attribute) and is_self(n.value))
    return (names_in(target) - RECEIVERS) | {f"self.{n.attr}" for n in attributes}


def _foreign(module: ast.AST) -> set[str]:
    """Return names of a module that are no constants and no types, as far as one can see."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, FunctionNode):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imported = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            found |= {name for name in imported if name[:1].islower()}
        elif isinstance(node, ast.Global):
            found |= set(node.names)
        else:
            found |= _filled(node)
    for node in getattr(module, "body", ()):
        if any(not is_plain(value, BUILDS) for _, value in _assigned(node)):
            found |= names_in(node) - BUILTINS
    return found


def _filled(node: ast.AST) -> set[str]:
    """Return names of containers that ``node`` fills or empties."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return names_in(node.value)
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in CHANGES:
        return names_in(node.func)
    return set()


_LITERAL = (ast.Constant, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.Tuple, ast.Load)


def is_immutable(value: ast.expr, unit: Unit) -> bool:
    """Return whether ``value`` is a literal, or a name for some, that nobody can change."""
    if isinstance(value, ast.Name):
        made = assignments(unit.node).get(value.id, [])
        return bool(made) and all(
            not isinstance(v, ast.Name) and is_immutable(v, unit) for v in made
        )
    return all(isinstance(node, _LITERAL) for node in ast.walk(value))
