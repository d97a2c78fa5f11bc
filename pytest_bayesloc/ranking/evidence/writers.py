"""Finds where functions set variables and attributes, as far as their text shows.

One question is which function changes a variable of a module or a class. The other is which
``__init__`` leaves unset what another function is right to read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, ReadMap, Unit, unit_of_frame
from pytest_bayesloc.ranking.evidence.provenance import argument_names

#: Methods of built-in containers that change them, and of cached functions.
MUTATING = frozenset(
    {
        *("add", "append", "appendleft", "cache_clear", "clear", "discard", "extend", "extendleft"),
        *("insert", "intersection_update", "difference_update", "symmetric_difference_update"),
        *("pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort", "update"),
    }
)
_SETTERS = frozenset({"setattr", "delattr"})


def line_that_writes(node: ast.AST, name: str) -> int:
    """Return the first line in which a function changes the variable ``name``; 0 if none does.

    The variable is known by the last part of its dotted name. A local variable of that name is
    another one.
    """
    last = name.rpartition(".")[2]
    inside = list(ast.walk(node))
    is_local = _is_local(inside, last)

    def is_it(part: ast.AST) -> bool:
        while isinstance(part, ast.Subscript):
            part = part.value
        return _name_of(part) == last and not (is_local and isinstance(part, ast.Name))

    lines = [n.lineno for n in inside if isinstance(n, ast.expr) and _writes(n, last, is_it)]
    return min(lines, default=0)


def mentions(node: ast.AST, name: str) -> bool:
    """Return whether ``node`` names the variable ``name``, by its last part."""
    last = name.rpartition(".")[2]
    return any(_name_of(inner) == last for inner in ast.walk(node))


def _is_local(inside: list[ast.AST], last: str) -> bool:
    if any(isinstance(n, ast.Global) and last in n.names for n in inside):
        return False
    return any(
        (isinstance(n, ast.arg) and n.arg == last)
        or (isinstance(n, ast.Name) and n.id == last and not isinstance(n.ctx, ast.Load))
        for n in inside
    )


def _writes(node: ast.expr, last: str, is_it: Callable[[ast.AST], bool]) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return not isinstance(node.ctx, ast.Load) and is_it(node)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATING:
        return is_it(node.func.value)
    texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return _name_of(node.func) in _SETTERS and last in texts


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


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
        lineage = list(_lineage(cls, classes))
        alone = ((i, u) for i, (_, u) in enumerate(lineage) if u and not _calls_base(u.node))
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
    names = (n for n in ast.walk(init) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    arguments = argument_names(init) if isinstance(init, FunctionNode) else []
    if name in arguments or any(stored.id == name for stored in names):
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


def _lineage(name: str, classes: Mapping[str, _Class | None]) -> Iterator[_Class]:
    """Yield a class and its first bases, as far as they are known."""
    for _ in range(MAX_BASES):
        known = classes.get(name)
        if known is None:
            return
        yield known
        base = next(iter(known[0].bases), None)
        if not isinstance(base, (ast.Name, ast.Attribute)):
            return
        name = base.id if isinstance(base, ast.Name) else base.attr


def _calls_base(init: ast.AST) -> bool:
    """Whether an ``__init__`` calls another one."""
    return any(isinstance(n, ast.Attribute) and n.attr == "__init__" for n in ast.walk(init))


def _sets(init: ast.AST, name: str) -> bool:
    """Whether a function sets the attribute ``name`` of anything."""
    return any(
        isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Store)
        for n in ast.walk(init)
    )
