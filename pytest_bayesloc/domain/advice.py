"""Advice that the memory gives on a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.bug import BugRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarBug:
    """A past bug that resembles a present one.

    Attributes:
        record: The bug.
        score: In [0, 1]; 1 for the same fingerprint.
        why: The resemblance, in a sentence.
    """

    record: BugRecord
    score: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopWarning:
    """A warning of edits that lead nowhere.

    Attributes:
        kind: The sort of loop.
        n: How often it was repeated.
        messages: Lines for the user: what happens, and what to do instead.
    """

    kind: str
    n: int
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The knowledge about one group of failing tests.

    Attributes:
        fault: Index of the group.
        record: Its bug, this run's trial included.
        message: What became of the bug in this run.
        similar: Past bugs, the most similar first.
        loops: Loops that this run closes.
        origin: Where the error lies and why, in a sentence.
        first_check: What could be checked first, and where; empty if that is done already.
    """

    fault: int
    record: BugRecord
    message: str
    similar: tuple[SimilarBug, ...] = ()
    loops: tuple[LoopWarning, ...] = ()
    origin: str = ""
    first_check: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The bugs that began in one month; None where there is nothing to estimate from.

    Attributes:
        name: As ``2026-11``.
        n_bugs: How many.
        fixed: Share, in [0, 1].
        trials: Failed ones until fixed, median.
        hours: Until fixed, median.
    """

    name: str
    n_bugs: int
    fixed: float | None
    trials: float | None
    hours: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The memory's answer to a run.

    Attributes:
        messages: Sentences on bugs to which no failing test belongs any more.
        advice: One a group of failing tests.
        world: Kind of knowledge to what touches this run: ``insights``, ``constraints``,
            ``patterns``, ``observations``.
        is_shown: Whether the user is to see advice: in an experiment, half of the runs don't.
        months: Statistics, where inspections were asked for.
    """

    messages: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()
    world: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_shown: bool = True
    months: tuple[Month, ...] = ()
