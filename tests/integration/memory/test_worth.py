"""Bugs are counted for the statistics from their runs in the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.bug import State
from pytest_bayesloc.memory.episodes import Green
from pytest_bayesloc.memory.statistics import Counted
from pytest_bayesloc.memory.worth import Worth
from tests.integration.memory.conftest import START, edit, red, symptom

if TYPE_CHECKING:
    from tests.integration.memory.conftest import Story


PASSED = frozenset({"t.py::test_a"})


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
