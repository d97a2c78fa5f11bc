"""Reads off a function's text what its values are made of, and which variables it sets.

So it is known whose value a guard refused, which function changes a variable of a module or a
class, and which ``__init__`` leaves unset what another function is right to read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, ReadMap, Unit, unit_of_frame
from pytest_bayesloc.syntax.expressions import CHANGING
from pytest_bayesloc.syntax.nodes import (
    BUILT_IN,
    RECEIVERS,
    attributes_in,
    bound_name,
    last_name,
    names_in,
    nodes_of,
    stored_names,
    walk,
)

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
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
        for node in walk(value)
    )


def is_plain_call(function: ast.expr, methods: frozenset[str]) -> bool:
    """Return whether calling ``function`` runs no code of the project, as far as one can see."""
    if isinstance(function, ast.Attribute):
        return function.attr in methods and not is_self(function.value)
    return isinstance(function, ast.Name) and function.id in BUILT_IN


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
        attributes = nodes_of(value, ast.Attribute)
        of_self = [n for n in attributes if is_self(n.value)]
        n_bare = sum(isinstance(n, ast.expr) and is_self(n) for n in walk(value))
        if n_bare > len(of_self):
            return None
        names = names_in(value) - RECEIVERS - (BUILT_IN - self.arguments - set(self._made))
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
                others = names_in(value) - {name} - BUILT_IN
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
    for node in walk(function):
        for target, value in _assigned(node):
            attributes = (
                n for n in walk(target) if isinstance(n, ast.Attribute) and is_self(n.value)
            )
            for name in (names_in(target) - RECEIVERS) | {f"self.{n.attr}" for n in attributes}:
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


def _foreign(module: ast.AST) -> set[str]:
    """Return names of a module that are no constants and no types, as far as one can see."""
    found: set[str] = set()
    for node in walk(module):
        if isinstance(node, FunctionNode):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {name for name in map(bound_name, node.names) if name[:1].islower()}
        elif isinstance(node, ast.Global):
            found |= set(node.names)
        else:
            found |= _filled(node)
    for node in getattr(module, "body", ()):
        if any(not is_plain(value, BUILDS) for _, value in _assigned(node)):
            found |= names_in(node) - BUILT_IN
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
    return all(isinstance(node, _LITERAL) for node in walk(value))


# -- where variables and attributes are set

#: Methods of built-in containers that change them, and of cached functions.
MUTATING = CHANGING | {
    *("cache_clear", "intersection_update", "difference_update", "symmetric_difference_update"),
}
_SETTERS = frozenset({"setattr", "delattr"})


def line_that_writes(node: ast.AST, name: str) -> int:
    """Return the first line in which a function changes the variable ``name``; 0 if none does.

    The variable is known by the last part of its dotted name. A local variable of that name is
    another one.
    """
    last = name.rpartition(".")[2]
    is_global = any(last in statement.names for statement in nodes_of(node, ast.Global))
    is_local = not is_global and (
        last in stored_names(node) or any(a.arg == last for a in nodes_of(node, ast.arg))
    )

    def is_it(part: ast.AST) -> bool:
        while isinstance(part, ast.Subscript):
            part = part.value
        return last_name(part) == last and not (is_local and isinstance(part, ast.Name))

    lines = [n.lineno for n in nodes_of(node, ast.expr) if _writes(n, last, is_it)]
    return min(lines, default=0)


def mentions(node: ast.AST, name: str) -> bool:
    """Return whether ``node`` names the variable ``name``, by its last part."""
    last = name.rpartition(".")[2]
    return any(last_name(inner) == last for inner in walk(node))


def _writes(node: ast.expr, last: str, is_it: Callable[[ast.AST], bool]) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return not isinstance(node.ctx, ast.Load) and is_it(node)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATING:
        return is_it(node.func.value)
    texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return last_name(node.func) in _SETTERS and last in texts


MAX_BASES = 8  # that are followed from a class upward
_LACKS = re.compile(r"'(?P<cls>\w+)' object has no attribute '(?P<name>\w+)'")


#: Per ``__init__`` that leaves an attribute unset, the function whose statement misses it, and why
#: in words.
Unset: TypeAlias = Mapping[Location, tuple[Location, str]]
#: A class with its ``__init__``, if it has one.
_Class: TypeAlias = tuple[ast.ClassDef, Unit | None]


def unset_attributes(
    failures: Iterable[Failure], executed: Collection[Location], read: ReadMap
) -> Unset:
    """Find each ``__init__`` that leaves an attribute unset that one of ``failures`` misses.

    It is the first of the object's class and its bases that does not call the next one, if that
    one sets the attribute, or if it has a variable of that name which it does not keep. One that
    is not ``executed`` did not run. Equal failures are read once.
    """
    missed: dict[tuple[str, str, Location], None] = {}
    for failure in failures:
        lacks = _LACKS.search(failure.message) if failure.exc_type == "AttributeError" else None
        frame = failure.raise_frame
        unit = unit_of_frame(frame, read) if lacks and frame and frame.in_app else None
        if lacks is not None and unit is not None:
            missed[lacks["cls"], lacks["name"], unit.location] = None
    if not missed:
        return {}
    classes = _classes({where.file for where in executed if not where.is_test}, read)
    unset: dict[Location, tuple[Location, str]] = {}
    for cls, name, missed_in in missed:
        lineage: list[_Class] = []  # the class and its first bases, as far as they are known
        upper = cls
        while len(lineage) < MAX_BASES and (known := classes.get(upper)) is not None:
            lineage.append(known)
            base = next(iter(known[0].bases), None)
            upper = last_name(base) if isinstance(base, (ast.Name, ast.Attribute)) else ""
        inits = ((i, u) for i, (_, u) in enumerate(lineage) if u)
        alone = ((i, u) for i, u in inits if "__init__" not in attributes_in(u.node))
        i, init = next(alone, (0, None))
        why = "" if init is None else _reason(init.node, name, lineage[i + 1 :])
        if init is not None and init.location in executed and why:
            unset[init.location] = missed_in, why
    return unset


def _reason(init: ast.AST, name: str, bases: Iterable[_Class]) -> str:
    """Return in words why an ``__init__`` leaves ``name`` unset; empty if that is not plain."""
    if _sets(init, name):
        return ""
    for node, base_init in bases:
        is_field = any(
            isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.target.id == name
            for s in node.body
        )
        if is_field or (base_init is not None and _sets(base_init.node, name)):
            return f"leaves `{name}` unset: it does not call the `__init__` of {node.name}"
    arguments = argument_names(init) if isinstance(init, FunctionNode) else []
    if name in arguments or name in stored_names(init):
        return f"leaves `{name}` unset: it does not keep its variable of that name"
    return ""


def _classes(files: Iterable[str], read: ReadMap) -> Mapping[str, _Class | None]:
    """Return the classes by their names; None where several have one name."""
    found: dict[str, _Class | None] = {}
    for source in filter(None, map(read, sorted(files))):
        inits = {
            u.location.qualname.rpartition(".")[0]: u
            for u in source.units
            if u.location.qualname.endswith(".__init__")
        }
        for unit in source.units:
            if isinstance(unit.node, ast.ClassDef):
                own = unit.node, inits.get(unit.location.qualname)
                found[unit.node.name] = None if unit.node.name in found else own
    return found


def _sets(init: ast.AST, name: str) -> bool:
    """Whether a function sets the attribute ``name`` of anything."""
    return any(
        isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Store)
        for n in walk(init)
    )
