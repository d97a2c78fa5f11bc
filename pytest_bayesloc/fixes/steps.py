"""Several changes as one candidate, and how far a candidate that is no fix yet has come.

Reference:
    docs/fixes.md, section "Which tools are tried".
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import SourceMap, lines_of
from pytest_bayesloc.domain.texts import common_ends
from pytest_bayesloc.fixes.check import Candidate, Checked

STEPS = "steps"  # the stage of a candidate that is made of several
Span = tuple[int, int, list[str]]


def joined(first: Candidate, second: Candidate) -> Candidate:
    """Return both changes as one.

    Args:
        first: A change, or several.
        second: A change of the text that ``first`` leaves behind.
    """
    parts = {part.file: part for part in first.parts_by_file()}
    own = parts.pop(second.file, None)
    return replace(
        second,
        tools=(*first.tools, *second.tools),
        stage=STEPS,
        level=max(first.level, second.level, key=list(Level).index),
        before=second.before if own is None else own.before,
        message=f"{first.message}; {second.message}",
        target=second.target if own is None else None,
        companions=tuple(parts.values()),
    )


def merged(first: Candidate, second: Candidate) -> Candidate | None:
    """Return two changes of the code as it is as one; None if they touch the same lines."""
    after = first.texts.get(second.file)
    if after is None:
        return joined(first, second)
    start, end, lines = _span(second.before, second.after)
    spans = _spans(second.before, after)
    if any(start <= e and s <= end for s, e, _ in spans):
        return None
    text = lines_of(second.before)
    for s, e, new in sorted([*spans, (start, end, lines)], reverse=True):
        text[s:e] = new
    return joined(first, replace(second, after="".join(text)))


def progress(checked: Checked, *, strictly: bool = False) -> tuple[int, int]:
    """Return how far a change has brought the failing tests; ``(0, 0)`` is nowhere.

    Args:
        checked: A candidate with which some tests still fail.
        strictly: Whether another error at the same line of the test is no progress: a value that
            is wrong in another way.

    Returns:
        How many more tests pass; then 2 if the failing test gets further than before, 1 if it
        fails there with another error.
    """
    before, now = checked.before, checked.still
    if before is None or now is None or now.error == before.error:
        return checked.n_green, 0
    test = checked.test.partition("::")[0]
    old, new = (_line_of(test, run.frames) for run in (before, now))
    if old and new and old != new:
        return checked.n_green, 2 if new > old else 0
    return checked.n_green, 0 if strictly else 1


def _line_of(test: str, frames: Sequence[tuple[str, int]]) -> int:
    """The line of the test file that was executing; 0 if that is not known."""
    files = ((file.replace("\\", "/"), line) for file, line in frames)
    return next((line for file, line in files if file.endswith(f"/{test}")), 0)


def changed_location(candidate: Candidate) -> Location:
    """Return the innermost location whose text, its header included, holds all of a change."""
    start, last, _ = _span(candidate.before, candidate.after)
    first = min(start + 1, last)  # lines that are added alone belong to the line before them
    source = SourceMap(candidate.before, candidate.file, is_test=candidate.is_test)
    around = [
        unit
        for unit in source.units[1:]
        if unit.location.start_line <= first and last <= unit.location.end_line
    ]
    return max(around, key=lambda unit: len(unit.enclosing), default=source.module).location


def _span(before: str, after: str) -> Span:
    """All that differs, as one span of lines of ``before`` and what stands there after."""
    old, new = lines_of(before), lines_of(after)
    start, end = common_ends(old, new)
    return start, len(old) - end, new[start : len(new) - end]


@lru_cache(maxsize=8)  # many changes are merged with one
def _spans(before: str, after: str) -> list[Span]:
    old, new = lines_of(before), lines_of(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [(i, j, new[k:n]) for tag, i, j, k, n in matcher.get_opcodes() if tag != "equal"]
