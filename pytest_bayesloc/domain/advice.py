"""What the memory has to say about a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.bug import BugRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A past bug that is like one at hand.

    Attributes:
        record: The bug.
        score: In [0, 1]; 1 for the same fingerprint.
        why: In what they are alike, in a sentence.
    """

    record: BugRecord
    score: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopWarning:
    """Somebody goes in circles.

    Attributes:
        kind: What sort of circle.
        n: How often.
        said: Lines for the user: what happens, and what to do instead.
    """

    kind: str
    n: int
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What is known about one group of failing tests.

    Attributes:
        fault: Index of the group.
        record: Its bug, this run's trial included.
        said: What became of the bug in this run.
        similar: Past bugs, the likest first.
        loops: Circles that this run closes.
        lies: Where the error lies and why, in a sentence.
        guard: What could be checked first, and where; empty if that is done already.
    """

    fault: int
    record: BugRecord
    said: str
    similar: tuple[Similar, ...] = ()
    loops: tuple[LoopWarning, ...] = ()
    lies: str = ""
    guard: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The bugs that began in one month; None where there is nothing to estimate from.

    Attributes:
        name: As ``2026-11``.
        n_bugs: How many.
        mended: Share, in [0, 1].
        trials: Failed ones until mended, median.
        hours: Until mended, median.
    """

    name: str
    n_bugs: int
    mended: float | None
    trials: float | None
    hours: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What the memory did with a run.

    Attributes:
        said: What became of bugs that no failing test belongs to any more.
        advice: One a group of failing tests.
        world: Kind of knowledge to what touches this run: ``insights``, ``constraints``,
            ``patterns``, ``observations``.
        is_shown: Whether the user is to see advice: in an experiment, half of the runs don't.
        months: How it went, where inspections were asked for.
    """

    said: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()
    world: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_shown: bool = True
    months: tuple[Month, ...] = ()
