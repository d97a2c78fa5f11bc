"""Finds changed files, and the test files that depend on them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.clock import time_ns
from pytest_bayesloc.domain.texts import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from pytest_bayesloc.spectrum.cache.store import KnownFile

# A file that was written so shortly before may be written again within one tick of its clock.
YOUNG_NS = 2_000_000_000


def written_ns(path: Path) -> int:
    """When a file was last written or put in its place; 0 if there is none.

    A time in the future was set by somebody, and does not count.
    """
    try:
        status = path.stat()
    except OSError:
        return 0
    times = status.st_mtime_ns, status.st_ctime_ns
    now = time_ns()
    return max((time for time in times if time <= now), default=status.st_ctime_ns)


def stamp_of(path: Path) -> str:
    """Size and times of a file, which differ once it was written; empty if it is too young."""
    try:
        status = path.stat()
    except OSError:
        return ""
    times = status.st_mtime_ns, status.st_ctime_ns
    return "" if max(times) > time_ns() - YOUNG_NS else f"{status.st_size} {times[0]} {times[1]}"


def changed_files(known: Mapping[str, KnownFile], absolute: Callable[[str], str]) -> list[str]:
    """List the ``known`` files whose content changed, or which are gone."""
    changed = []
    for file, (_, digest, stamp) in known.items():
        path = Path(absolute(file))
        if (not stamp or stamp_of(path) != stamp) and digest_of(path) != digest:
            changed.append(file)
    return changed


def with_dependents(
    modules: Collection[str], known: Iterable[str], read: Callable[[str], str | None]
) -> set[str]:
    """Return test modules that changed, test files that name one of them, and so on.

    Args:
        modules: That changed.
        known: All test files.
        read: The text of a file.
    """
    texts = {file: read(file) or "" for file in known} if modules else {}
    dependents, pending = set(modules), list(modules)
    while pending:
        stem = Path(pending.pop()).stem
        word = re.compile(rf"\b{re.escape(stem)}\b")
        named = {file for file, text in texts.items() if stem in text and word.search(text)}
        pending += named - dependents
        dependents |= named
    return dependents
