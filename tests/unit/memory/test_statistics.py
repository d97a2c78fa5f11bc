from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.bug import State
from pytest_bayesloc.memory.episodes import Green
from pytest_bayesloc.memory.statistics import Counted, Estimate, middle, share, summed_up
from pytest_bayesloc.memory.worth import Worth
from tests.unit.memory.conftest import START, edit, red, symptom

if TYPE_CHECKING:
    from tests.unit.memory.conftest import Story

PASSED = frozenset({"t.py::test_a"})


def counted(month: str = "2026-10", arm: str = "on", *, n_same: int = 1) -> Counted:
    return Counted(
        month=month,
        arm=arm,
        state=State.OPEN,
        n_trials=n_same - 1,
        n_edits=n_same - 1,
        hours=None,
        n_repeats=n_same - 1,
        n_same=n_same,
        warned_at=3 if n_same > 3 else None,
        helped=None,
    )


def test_bug_is_counted_from_its_first_run_to_its_last(story: Story) -> None:
    worth = Worth(story.ledger)
    (event,) = story.run(red())
    worth.add_advice(event.bug, "run1", ["knots.py check"], [], shown=True)
    story.run(red())
    story.run(red(edit=edit(), state="s1"))
    story.run(red(edit=edit(), state="s2"))
    worth.add_advice(event.bug, "run4", ["knots.py check"], ["same error"], shown=True)
    story.run(red(symptom(fingerprint="1:cc"), edit=edit(), state="s3"))
    story.run(greens={event.bug: Green(passed=PASSED, edit=edit())})

    assert worth.counted() == [
        Counted(
            month="2026-11",
            arm="on",
            state=State.RESOLVED,
            n_trials=3,
            n_edits=4,
            hours=5.0,
            n_repeats=2,
            n_same=3,
            warned_at=3,
            helped=True,
        )
    ]


def test_runs_of_several_checkouts_are_no_row(story: Story) -> None:
    story.run(red())
    for workspace in ("v", "u"):
        story.run(red(edit=edit(), state=workspace), workspace=workspace)
        story.run(red(edit=edit("other.py far"), state=workspace), workspace=workspace)

    (bug,) = Worth(story.ledger).counted()

    assert (bug.n_same, bug.n_repeats, bug.n_edits) == (2, 2, 4)


def test_warning_that_nobody_saw_caught_nothing(story: Story) -> None:
    worth = Worth(story.ledger)
    (event,) = story.run(red())
    for state in ("s1", "s2"):
        story.run(red(edit=edit(), state=state))
    worth.add_advice(event.bug, "run3", [], ["same error"], shown=False)

    (bug,) = worth.counted()

    assert (bug.n_same, bug.warned_at) == (3, None)


def test_what_was_learned_is_counted_in_the_month_it_came(story: Story) -> None:
    begun = story.run(red(symptom(constraint="check needs knots")))
    story.run(red(symptom(tests=["t.py::test_b"], fingerprint="1:bb")))
    story.run(greens={begun[0].bug: Green(passed=PASSED, edit=edit())})
    story.ledger.observe("flaky", "t.py::test_c", START)

    gained = Worth(story.ledger).gained()

    assert gained == {
        "2026-11": {"insights": 1, "constraints": 1, "patterns": 1, "observations": 1}
    }


def test_rows_are_months_arms_and_all() -> None:
    bugs = [counted(n_same=4), counted("2026-12", n_same=3), counted("2026-12", "off")]

    rows = summed_up(bugs, {"2026-10": {"insights": 2}, "2026-11": {"insights": 1, "patterns": 1}})

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
    assert summed_up([], {}) == []


@pytest.mark.parametrize(
    ("n", "of", "shown"),
    [(1, 2, (50, 9, 91)), (50, 100, (50, 40, 60)), (3, 3, (100, 44, 100)), (0, 3, (0, 0, 56))],
)
def test_share_has_the_interval_of_wilson(n: int, of: int, shown: tuple[int, ...]) -> None:
    found = share(n, of)

    assert found is not None
    assert tuple(round(100 * x) for x in (found.value, found.low, found.high)) == shown


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [
        (1, 1, 1),
        (5, 1, 5),
        (6, 1, 6),
        (9, 2, 8),
        (25, 8, 18),
        (100, 40, 61),
        (20_000, 9861, 10_140),
    ],
)
def test_median_has_the_interval_of_its_order_statistics(n: int, low: int, high: int) -> None:
    """The bounds of the sign test's tables."""
    found = middle(range(n, 0, -1))

    assert found == Estimate(value=(n + 1) / 2, low=low, high=high, n=n)


def test_nothing_is_estimated_from_nothing() -> None:
    assert share(0, 0) is None
    assert middle([]) is None
