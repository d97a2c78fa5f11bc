"""Bugs are counted for the statistics from their runs in the memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.bug import BugState
from pytest_bayesloc.memory.feedback import add_advice
from pytest_bayesloc.memory.sightings import PassingSighting
from pytest_bayesloc.memory.statistics import BugCounts, bug_counts, gained
from tests.integration.memory.conftest import START, edit, red, symptom

if TYPE_CHECKING:
    from tests.integration.memory.conftest import Story


PASSED = frozenset({"t.py::test_a"})


def test_bug_is_counted_from_its_first_run_to_its_last(story: Story) -> None:
    (event,) = story.run(red())
    add_advice(story.ledger, event.bug, "run1", ["knots.py check"], [], shown=True)
    story.run(red())
    story.run(red(edit=edit(), state="s1"))
    story.run(red(edit=edit(), state="s2"))
    add_advice(story.ledger, event.bug, "run4", ["knots.py check"], ["same error"], shown=True)
    story.run(red(symptom("KeyError: z", fingerprint="1:cc"), edit=edit(), state="s3"))
    story.run(passing={event.bug: PassingSighting(passed=PASSED, edit=edit())})

    assert bug_counts(story.ledger) == [
        BugCounts(
            month="2026-11",
            arm="on",
            state=BugState.RESOLVED,
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
        story.run(red(edit=edit("curve.py insert"), state=workspace), workspace=workspace)

    (bug,) = bug_counts(story.ledger)

    assert (bug.n_same, bug.n_repeats, bug.n_edits) == (2, 2, 4)


def test_warning_that_nobody_saw_caught_nothing(story: Story) -> None:
    (event,) = story.run(red())
    for state in ("s1", "s2"):
        story.run(red(edit=edit(), state=state))
    add_advice(story.ledger, event.bug, "run3", [], ["same error"], shown=False)

    (bug,) = bug_counts(story.ledger)

    assert (bug.n_same, bug.warned_at) == (3, None)


def test_what_was_learned_is_counted_in_the_month_it_came(story: Story) -> None:
    begun = story.run(red(symptom(constraint="check needs knots")))
    story.run(red(symptom(tests=["t.py::test_b"], fingerprint="1:bb")))
    fix = replace(edit("curve.py insert"), mistake="wrong key: `a` had to be `b`")
    story.run(passing={begun[0].bug: PassingSighting(passed=PASSED, edit=fix)})
    story.ledger.observe("infrastructure", "2026-11-22: 9 of 10 tests failed", START)

    assert gained(story.ledger) == {
        "2026-11": {"insights": 1, "constraints": 1, "patterns": 1, "observations": 1}
    }
