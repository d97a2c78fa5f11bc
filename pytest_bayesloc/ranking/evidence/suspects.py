"""What of the tests themselves may be at fault: the test, its fixtures, and what they use."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from pytest_bayesloc.domain.failure import Failure, Frame, Role
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import ScopeNode, SourceMap, Unit

Read = Callable[[str], SourceMap | None]

MAX_HOPS = 2
SET_UP = frozenset(
    {"setUp", "setUpClass", "tearDown", "setup", "setup_class", "setup_method", "asyncSetUp"}
)


def test_suspects(failures: Sequence[Failure], read: Read) -> dict[Location, Role]:
    """The test code that failing tests stand on, in the order of the failures.

    Args:
        failures: Of one group.
        read: Finds the locations of a file.
    """
    used = cache(lambda where: tuple(_used(where, read)))
    of_each = [_suspects(failure, read, used) for failure in failures]
    found: dict[Location, Role] = {}
    for own in of_each:
        for where, role in own.items():
            found.setdefault(where, role)
    return {
        where: role if all(where in own for own in of_each) else Role.PART
        for where, role in found.items()
    }


test_suspects.__test__ = False  # type: ignore[attr-defined]  # not a test for pytest


def _suspects(
    failure: Failure, read: Read, used: Callable[[Location], Sequence[tuple[Location, Role]]]
) -> dict[Location, Role]:
    found: dict[Location, Role] = {}
    for n, where in enumerate(failure.test_locations):
        found.setdefault(where, Role.FIXTURE if n else Role.TEST)
    for where in _in_traceback(failure, read):
        found.setdefault(where, Role.HELPER)
    for test in failure.test_locations:
        for where, role in used(test):
            found.setdefault(where, role)
    return found


def _in_traceback(failure: Failure, read: Read) -> Iterator[Location]:
    for frames in (failure.frames, *failure.cause_frames):
        for frame in frames:
            where = _located(frame, read) if frame.in_app and frame.is_test else None
            if where is not None:
                yield where


def _located(frame: Frame, read: Read) -> Location | None:
    source = read(frame.file)
    return None if source is None else source.unit_of_code(frame.first_line, frame.name).location


def _used(test: Location, read: Read) -> Iterator[tuple[Location, Role]]:
    """What of its file ``test`` uses: helpers, those of helpers, and data of the module."""
    source = read(test.file)
    unit = None if source is None else source.unit(test)
    if source is None or unit is None:
        return
    by_name = {u.location.qualname: u for u in source.units if u.is_function}
    data = _module_data(source.module.node)
    seen = {unit.location}
    pending = [(unit, 0), *((method, 1) for method in _set_ups(unit, by_name))]
    while pending:
        current, hops = pending.pop(0)
        if current.location not in seen:
            seen.add(current.location)
            yield current.location, Role.HELPER
        if not data.isdisjoint(_names(current.node)):
            yield source.module.location, Role.DATA
        if hops < MAX_HOPS:
            called = (by_name.get(name) for name in _callees(current))
            pending += [(u, hops + 1) for u in called if u is not None and u.location not in seen]


def _set_ups(unit: Unit, by_name: dict[str, Unit]) -> list[Unit]:
    owner = unit.location.qualname.rpartition(".")[0]
    return [by_name[name] for n in sorted(SET_UP) if owner and (name := f"{owner}.{n}") in by_name]


def _callees(unit: Unit) -> list[str]:
    """Qualified names of what it may call in its own file: functions, and methods of its class."""
    owner = unit.location.qualname.rpartition(".")[0]
    found: dict[str, None] = {}
    for node in ast.walk(unit.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in {"self", "cls"}:
                found.setdefault(f"{owner}.{node.attr}")
        elif isinstance(node, ast.Name):
            found.setdefault(node.id)
    return list(found)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _module_data(module: ast.AST) -> set[str]:
    """Names that statements of a module assign."""
    statements = (s for s in getattr(module, "body", ()) if not isinstance(s, ScopeNode))
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
