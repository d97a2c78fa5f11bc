"""What was edited between two runs, and what state the code was in."""

from __future__ import annotations

import difflib
import hashlib
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.bug import DIFF_LENGTH, CodeEdit
from pytest_bayesloc.domain.source import lines_of
from pytest_bayesloc.history.changes import shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap
    from pytest_bayesloc.history.changes import Changes

DIGEST = 16


def name_of(where: Location) -> str:
    """How the memory calls a location: it has no line, which moves."""
    return f"{where.file} {where.qualname}"


def edit_of(changes: Changes) -> CodeEdit:
    """``changes`` as the memory keeps them."""
    if not changes.every:
        return CodeEdit()
    diff: list[str] = []
    for file in sorted(changes.files):
        before, now = changes.files[file].green.text, changes.files[file].now.text
        diff += difflib.unified_diff(lines_of(before), lines_of(now), f"a/{file}", f"b/{file}", n=2)
    changed = [line for line in diff if not line.startswith(("+++", "---"))]
    ended = (line if line.endswith("\n") else f"{line}\n" for line in diff)
    return CodeEdit(
        functions=tuple(dict.fromkeys(name_of(where) for where in changes.every)),
        diff="".join(ended)[:DIFF_LENGTH],
        n_added=sum(line.startswith("+") for line in changed),
        n_removed=sum(line.startswith("-") for line in changed),
        in_tests=all(where.is_test for where in changes.every),
    )


def state_of(locations: Iterable[Location], read: Callable[[str], SourceMap | None]) -> str:
    """A digest of the code of ``locations``, wherever it stands: no path, no line is in it."""
    said: list[str] = []
    for where in set(locations):
        source = read(where.file)
        unit = source.unit(where) if source is not None else None
        if source is not None and unit is not None:
            text = source.text if source.is_broken else _text(shape(unit.node))
            said.append(f"{where.qualname}\0{text}")
    digest = hashlib.sha256("\n".join(sorted(said)).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:DIGEST]


def _text(parts: Sequence[object]) -> str:
    return "\0".join(part.__name__ if isinstance(part, type) else repr(part) for part in parts)
