"""What the memory has learned, and whether its advice helps."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import sqrt
from statistics import median

from pytest_bayesloc.domain.bug import State

Z = 1.96  # of a 95 % interval
ONE_TAIL_IN = 40
A_LOOP = 3  # runs in a row with the same error after an edit, whatever the user calls a loop
#: What the world model is made of.
KNOWN = ("insights", "constraints", "patterns", "observations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What is counted of one bug.

    Attributes:
        month: In which it began, as ``2026-11``.
        arm: Whether advice was shown in that run: ``on`` or ``off``.
        state: How it stands.
        n_trials: Failed ones.
        n_edits: Runs before which code that its tests execute was edited.
        hours: Until it was mended; None if it was not.
        n_repeats: Runs with an edit that showed the same error as the run before.
        n_same: Runs of one checkout with one error in a row at most, the first and those after an
            edit.
        warned_at: How many runs in a row had shown the error when the user was first told of a loop
            in a row that became one; None if that never was.
        helped: Whether what was advised was part of the fix; None if nobody can tell.
    """

    month: str
    arm: str
    state: State
    n_trials: int
    n_edits: int
    hours: float | None
    n_repeats: int
    n_same: int
    warned_at: int | None
    helped: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A share or a median with its interval of 95 %, and of how many it is."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The bugs of a month, of an arm, or all; None where there is nothing to estimate from.

    Attributes:
        name: The month, the arm (``advice on``) or ``all``.
        n_bugs: How many began.
        mended: Share.
        trials: Failed ones until mended, median.
        hours: Until mended, median.
        edit_runs: Until mended, median.
        n_repeats: Runs with an edit that showed the same error as the run before.
        n_loops: Bugs with ``A_LOOP`` or more such runs in a row.
        caught: Share of those that the user was told of.
        caught_after: Runs with the error until then, median.
        helped: Share of the mended bugs, with advice, of which it named what was changed.
        known: Of each of ``KNOWN``, how much there was at the end of the month; empty for others.
    """

    name: str
    n_bugs: int
    mended: Estimate | None
    trials: Estimate | None
    hours: Estimate | None
    edit_runs: Estimate | None
    n_repeats: int
    n_loops: int
    caught: Estimate | None
    caught_after: Estimate | None
    helped: Estimate | None
    known: Mapping[str, int] = field(default_factory=dict)


def summed_up(bugs: Sequence[Counted], gained: Mapping[str, Mapping[str, int]]) -> list[Row]:
    """By month, by arm where there are two, and in all.

    Args:
        bugs: All of them.
        gained: Per month, how much was learned of each of ``KNOWN``.
    """
    months = sorted({bug.month for bug in bugs} | gained.keys())
    totals = accumulate((Counter(gained.get(month, {})) for month in months), operator.add)
    known = dict(zip(months, totals, strict=True))
    of_month, of_arm = defaultdict(list), defaultdict(list)
    for bug in bugs:
        of_month[bug.month].append(bug)
        of_arm[bug.arm].append(bug)
    rows = [_row(month, of_month[month], known[month]) for month in months]
    if len(of_arm) > 1:
        rows += [_row(f"advice {arm}", of_arm[arm]) for arm in sorted(of_arm, reverse=True)]
    return [*rows, _row("all", bugs, known[months[-1]])] if months else []


def _row(name: str, bugs: Sequence[Counted], known: Mapping[str, int] | None = None) -> Row:
    mended = [bug for bug in bugs if bug.state is State.RESOLVED]
    looped = [bug for bug in bugs if bug.n_same >= A_LOOP]
    warned_at = [bug.warned_at for bug in looped if bug.warned_at is not None]
    told = [bug.helped for bug in mended if bug.helped is not None]
    return Row(
        name=name,
        n_bugs=len(bugs),
        mended=share(len(mended), len(bugs)),
        trials=middle(bug.n_trials for bug in mended),
        hours=middle(bug.hours for bug in mended if bug.hours is not None),
        edit_runs=middle(bug.n_edits for bug in mended),
        n_repeats=sum(bug.n_repeats for bug in bugs),
        n_loops=len(looped),
        caught=share(len(warned_at), len(looped)),
        caught_after=middle(warned_at),
        helped=share(sum(told), len(told)),
        known={} if known is None else {kind: known.get(kind, 0) for kind in KNOWN},
    )


def share(n: int, of: int) -> Estimate | None:
    """A share in [0, 1] with its interval; None of nothing.

    Reference:
        Wilson: Probable inference, the law of succession, and statistical inference. JASA 1927.
    """
    if not of:
        return None
    p, z2 = n / of, Z * Z
    center = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z * sqrt(p * (1 - p) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return Estimate(value=p, low=max(0.0, center - half), high=min(1.0, center + half), n=of)


def middle(values: Iterable[float]) -> Estimate | None:
    """The median with its interval from the order of the values, whatever their distribution.

    Of fewer than six values, it is from the least to the greatest, which is less than 95 %.

    Reference:
        Conover: Practical Nonparametric Statistics. Wiley 1999, section 3.2.
    """
    found = sorted(values)
    n = len(found)
    if not n:
        return None
    below, ways, skipped = 1, 1, 0  # of 2**n ways, those with so few values below the median
    while below * ONE_TAIL_IN <= 2**n:
        ways = ways * (n - skipped) // (skipped + 1)
        below, skipped = below + ways, skipped + 1
    first = max(0, skipped - 1)
    return Estimate(value=median(found), low=found[first], high=found[n - 1 - first], n=n)
