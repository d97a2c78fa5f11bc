from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from pytest_bayesloc.domain.advice import Estimate
from pytest_bayesloc.domain.bug import BugState
from pytest_bayesloc.memory.statistics import BugCounts, arm_of, middle, rows_of, share


def counted(month: str = "2026-10", arm: str = "on", *, n_same: int = 1) -> BugCounts:
    return BugCounts(
        month=month, arm=arm, state=BugState.OPEN, n_trials=n_same - 1, n_edits=n_same - 1,
        hours=None, n_repeats=n_same - 1, n_same=n_same, warned_at=3 if n_same > 3 else None,
        helped=None,
    )  # fmt: skip


def test_rows_are_months_arms_and_all() -> None:
    bugs = [counted(n_same=4), counted("2026-12", n_same=3), counted("2026-12", "off")]

    rows = rows_of(bugs, {"2026-10": {"insights": 2}, "2026-11": {"insights": 1, "patterns": 1}})

    shown = [(row.name, row.n_bugs, row.n_loops, row.known.get("insights")) for row in rows]
    assert shown == [
        ("2026-10", 1, 1, 2),
        ("2026-11", 0, 0, 3),
        ("2026-12", 2, 1, 3),
        ("advice on", 2, 2, None),
        ("advice off", 1, 0, None),
        ("all", 3, 2, 3),
    ]
    assert rows[-1].caught == share(1, 2)
    assert rows[-1].caught_after == Estimate(value=3, low=3, high=3, n=1)


def test_memory_without_bugs_has_no_rows() -> None:
    assert rows_of([], {}) == []


@pytest.mark.parametrize(
    ("n", "of", "shown"), [(50, 100, (50, 40, 60)), (3, 3, (100, 44, 100)), (0, 3, (0, 0, 56))]
)
def test_share_has_the_interval_of_wilson(n: int, of: int, shown: tuple[int, ...]) -> None:
    found = share(n, of)

    assert found is not None
    assert tuple(round(100 * x) for x in (found.value, found.low, found.high)) == shown


@pytest.mark.parametrize(
    ("n", "low", "high"), [(1, 1, 1), (5, 1, 5), (6, 1, 6), (25, 8, 18), (20_000, 9861, 10_140)]
)
def test_median_has_the_interval_of_its_order_statistics(n: int, low: int, high: int) -> None:
    """The bounds of the sign test's tables."""
    found = middle(range(n, 0, -1))

    assert found == Estimate(value=(n + 1) / 2, low=low, high=high, n=n)


def test_nothing_is_estimated_from_nothing() -> None:
    assert share(0, 0) is None
    assert middle([]) is None


def test_arm_is_the_same_all_day_and_even_over_the_days() -> None:
    days = [datetime(2026, 11, 22, 10, tzinfo=timezone.utc) + timedelta(days=n) for n in range(999)]

    assert all(arm_of("w", day) == arm_of("w", day + timedelta(hours=9)) for day in days)
    assert 450 < sum(arm_of("w", day) == "on" for day in days) < 550
