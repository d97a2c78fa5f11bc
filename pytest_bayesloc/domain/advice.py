"""Advice that the memory gives on a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pytest_bayesloc.domain.bug import BugRecord
    from pytest_bayesloc.domain.failure import Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarBug:
    """A past bug that resembles a present one.

    Attributes:
        score: In [0, 1]; 1 for the same fingerprint.
        why: The resemblance, in a sentence.
        project: The other project of a shared memory whose bug it is; empty for one of this.
    """

    record: BugRecord
    score: float
    why: str
    project: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopWarning:
    """A warning of edits that lead nowhere.

    Attributes:
        kind: The sort of loop.
        n: How often it was repeated: states, cycles or edits.
        edited: Functions that those edits touched, as ``file qualname``.
        since: When it began.
        period: Of an alternation, else 0.
        n_told: How often it was told before, without a break.
        messages: Lines for the user: what happens, and what to do instead.
    """

    kind: str
    n: int
    edited: tuple[str, ...]
    since: datetime
    period: int = 0
    n_told: int = 0
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The effect of a run on a bug, and the knowledge about the failing tests that show it.

    Attributes:
        bug: Its number in the store.
        kind: ``begun``, ``again``, ``tried``, ``resolved``, ``flaky``, ``gone``, ``excused``.
        record: The bug, this run's trial included.
        message: What became of it in this run; empty where there is nothing to say.
        fault: Index of the group of failing tests, -1 if none shows it any more.
        similar: Past bugs, the most similar first.
        loop: The most telling loop that this run closes; None if it closes none.
        origin: Where the error lies and why, in a sentence.
        first_check: What could be checked first, and where; empty if that is done already.
    """

    bug: int
    kind: str
    record: BugRecord
    message: str
    fault: int = -1
    similar: tuple[SimilarBug, ...] = ()
    loop: LoopWarning | None = None
    origin: str = ""
    first_check: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A share or a median of ``n`` values with its interval of 95 %."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyTest:
    """A failing test that passed and failed on the same code.

    Attributes:
        fault: Index of its group of failing tests.
        n_failed: Its failures on that code, this run's included.
        rate: Their share.
        is_same_code: Whether that is the code as it is; else it has changed since.
        passed_again: Whether it passed when we ran it again as it was, which ``rate`` leaves out.
        environment: Where that was; empty: where this run is made.
        since: When it began.
    """

    fault: int
    test: str
    n_failed: int
    rate: Estimate
    is_same_code: bool
    passed_again: bool
    environment: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedCause:
    """The cause that was found at ``found_at`` for the same failure on the same code.

    Attributes:
        fault: Index of the group of failing tests.
    """

    fault: int
    test: str
    found_at: str
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsRow:
    """The bugs of a month, of an arm, or all; None where there is nothing to estimate from.

    Attributes:
        name: The month, the arm (``advice on``) or ``all``.
        n_bugs: How many began.
        fixed: Share.
        trials: Failed ones until fixed, median.
        hours: Until fixed, median.
        edit_runs: Until fixed, median.
        n_repeats: Runs with an edit that showed the same error as the run before.
        n_loops: Bugs with three or more such runs in a row.
        caught: Share of those that the user was warned of.
        caught_after: Runs with the error until then, median.
        helped: Share of the fixed bugs with advice, whose advice named a changed function.
        known: How much was known at the end of the month, by its kind; empty for an arm.
    """

    name: str
    n_bugs: int
    fixed: Estimate | None
    trials: Estimate | None
    hours: Estimate | None
    edit_runs: Estimate | None
    n_repeats: int
    n_loops: int
    caught: Estimate | None
    caught_after: Estimate | None
    helped: Estimate | None
    known: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The memory's answer to a run.

    Attributes:
        messages: Sentences on bugs to which no failing test belongs any more.
        advice: One a group of failing tests.
        world: Kind of knowledge to what touches this run: ``insights``, ``constraints``,
            ``patterns``, ``observations``.
        is_shown: Whether the user is to see advice: in an experiment, half of the runs don't.
        months: Statistics of each month, the first one first, where inspections were asked for.
        flaky: The failing tests that are known to be flaky.
        causes: Those that were found in earlier runs, one a failing test at most.
    """

    messages: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()
    world: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_shown: bool = True
    months: tuple[StatisticsRow, ...] = ()
    flaky: tuple[FlakyTest, ...] = ()
    causes: tuple[RememberedCause, ...] = ()
