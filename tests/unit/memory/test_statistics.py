from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.memory.episodes import Green
from pytest_bayesloc.memory.statistics import share, table
from pytest_bayesloc.memory.worth import Worth
from tests.unit.memory.conftest import edit, red

if TYPE_CHECKING:
    from tests.unit.memory.conftest import Story


def test_bugs_are_counted_by_month_and_in_all(story: Story) -> None:
    (event,) = story.run(red())
    Worth(story.ledger).add_advice(event.bug, "run1", ["knots.py check"], [], shown=True)
    story.run(red(edit=edit(), state="s1"))
    story.run(greens={event.bug: Green(passed=frozenset({"t.py::test_a"}), edit=edit())})

    (counted,) = Worth(story.ledger).counted()

    assert (counted.month, counted.n_trials, counted.hours) == ("2026-11", 1, 2.0)
    assert (counted.n_repeats, counted.looped, counted.helped) == (1, False, True)
    head, month, total = table([counted])
    assert head.split() == ["bugs", "mended", "trials", "hours", "same", "error", "helped"]
    assert month.split() == ["2026-11", *total.split()[1:]]
    assert total.split()[:3] == ["all", "1", "100%"]


def test_memory_without_bugs_says_so() -> None:
    assert table([]) == ["no bugs are remembered yet"]


@pytest.mark.parametrize(
    ("n", "of", "said"),
    [
        (0, 0, "-"),
        (1, 2, "50% (9% to 91%)"),
        (50, 100, "50% (40% to 60%)"),
        (3, 3, "100% (44% to 100%)"),
    ],
)
def test_share_has_the_interval_of_wilson(n: int, of: int, said: str) -> None:
    assert share(n, of) == said
