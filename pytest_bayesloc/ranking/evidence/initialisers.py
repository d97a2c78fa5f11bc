"""An ``__init__`` that leaves unset what another function is right to read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, ReadMap, Unit

MAX_BASES = 8  # that are followed from a class upward
_LACKS = re.compile(r"'(?P<cls>\w+)' object has no attribute '(?P<name>\w+)'")


class Unset(NamedTuple):
    """An ``__init__`` that leaves an attribute unset.

    Attributes:
        function: The ``__init__``.
        missed_in: The function whose statement misses the attribute.
        why: In words.
    """

    function: Location
    missed_in: Location
    why: str


class _Class(NamedTuple):
    node: ast.ClassDef
    init: Unit | None


def unset_attribute(failure: Failure, files: Iterable[str], read: ReadMap) -> Unset | None:
    """Return the ``__init__`` that leaves the attribute unset that ``failure`` misses.

    It is the first of the object's class and its bases that does not call the next one, if that
    one sets the attribute, or if it has a variable of that name which it does not keep.

    Args:
        failure: Of a test.
        files: That may hold the class and its bases.
        read: The locations of a file.
    """
    lacks = _LACKS.search(failure.message) if failure.exc_type == "AttributeError" else None
    frame = failure.raise_frame
    source = None if frame is None or not frame.in_app else read(frame.file)
    if lacks is None or frame is None or source is None:
        return None
    name, missed_in = lacks["name"], source.unit_of_code(frame.first_line, frame.name).location
    lineage = list(_lineage(lacks["cls"], _classes(files, read)))
    for i, (_, init) in enumerate(lineage):
        if init is None or _calls_base(init.node):
            continue
        why = _reason(init.node, name, lineage[i + 1 :])
        return Unset(init.location, missed_in, why) if why else None
    return None


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
    if name in _own_names(init):
        return f"leaves `{name}` unset: it does not keep its variable of that name"
    return ""


def _classes(files: Iterable[str], read: ReadMap) -> Mapping[str, _Class | None]:
    """Return the classes by their names; None where several have one name."""
    found: dict[str, _Class | None] = {}
    for source in filter(None, map(read, sorted(set(files)))):
        inits = {
            u.location.qualname.rpartition(".")[0]: u
            for u in source.units
            if u.location.qualname.endswith(".__init__")
        }
        for unit in source.units:
            if isinstance(unit.node, ast.ClassDef):
                own = _Class(unit.node, inits.get(unit.location.qualname))
                found[unit.node.name] = None if unit.node.name in found else own
    return found


def _lineage(name: str, classes: Mapping[str, _Class | None]) -> Iterator[_Class]:
    """Yield a class and its first bases, as far as they are known."""
    for _ in range(MAX_BASES):
        known = classes.get(name)
        if known is None:
            return
        yield known
        base = known.node.bases[0] if known.node.bases else None
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


def _own_names(init: ast.AST) -> set[str]:
    """Return the names of a function's parameters and variables."""
    if not isinstance(init, FunctionNode):
        return set()
    stored = (n for n in ast.walk(init) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    parameters = (*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs)
    return {*(n.id for n in stored), *(p.arg for p in parameters)}
