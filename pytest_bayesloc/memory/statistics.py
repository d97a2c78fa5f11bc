"""What the memory has learned, and whether its advice helps."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.bug import State

if TYPE_CHECKING:
    from collections.abc import Sequence

Z = 1.96  # of a 95 % interval
WIDTHS = (12, 6, 20, 8, 8, 12, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What is counted of one bug.

    Attributes:
        month: In which it began, as ``2026-11``.
        arm: Whether advice was shown in that run: ``on`` or ``off``.
        state: How it stands.
        n_trials: Failed ones.
        hours: Until it was mended; None if it was not.
        n_repeats: Runs with an edit that showed the same error as the run before.
        looped: Whether a loop was told of.
        helped: Whether what was advised was part of the fix; None if nobody can tell.
    """

    month: str
    arm: str
    state: State
    n_trials: int
    hours: float | None
    n_repeats: int
    looped: bool
    helped: bool | None


def table(bugs: Sequence[Counted]) -> list[str]:
    """The statistics as lines: by month, by arm, in all."""
    if not bugs:
        return ["no bugs are remembered yet"]
    groups: dict[str, list[Counted]] = defaultdict(list)
    for bug in bugs:
        groups[bug.month].append(bug)
    for arm in sorted({bug.arm for bug in bugs}) if len({bug.arm for bug in bugs}) > 1 else ():
        groups[f"advice {arm}"] = [bug for bug in bugs if bug.arm == arm]
    groups["all"] = list(bugs)
    names = ("", "bugs", "mended", "trials", "hours", "same error", "helped")
    head = "".join(f"{name:>{width}}" for name, width in zip(names, WIDTHS, strict=True))
    return [head, *(_row(name, found) for name, found in groups.items())]


def _row(name: str, bugs: Sequence[Counted]) -> str:
    mended = [bug for bug in bugs if bug.state is State.RESOLVED]
    told = [bug.helped for bug in mended if bug.helped is not None]
    hours = [bug.hours for bug in mended if bug.hours is not None]
    cells = (
        name,
        str(len(bugs)),
        share(len(mended), len(bugs)),
        f"{median(bug.n_trials for bug in mended):.1f}" if mended else "-",
        f"{median(hours):.1f}" if hours else "-",
        str(sum(bug.n_repeats for bug in bugs)),
        share(sum(told), len(told)),
    )
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def share(n: int, of: int) -> str:
    """A share in per cent with its 95 % interval.

    Reference:
        Wilson: Probable inference, the law of succession, and statistical inference. JASA 1927.
    """
    if not of:
        return "-"
    p, z2 = n / of, Z * Z
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z * sqrt(p * (1 - p) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return f"{p:.0%} ({max(0.0, middle - half):.0%} to {min(1.0, middle + half):.0%})"
