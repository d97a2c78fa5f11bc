"""What a run makes of the open bugs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.bug import BugState, CodeEdit, TrialOutcome
from pytest_bayesloc.memory.retrieval import same_failures
from pytest_bayesloc.memory.sightings import PassingSighting
from tests.integration.memory.conftest import edit, red, symptom

if TYPE_CHECKING:
    from pytest_bayesloc.domain.bug import BugRecord
    from tests.integration.memory.conftest import Story

TEST = "t.py::test_a"


def only(story: Story, bug: int) -> BugRecord:
    return story.ledger.bugs([bug])[bug]


def begun(story: Story) -> int:
    (event,) = story.run(red())
    assert event.kind == "begun"
    return event.bug


def test_failure_without_an_open_record_begins_one(story: Story) -> None:
    what = symptom(constraint="check needs n > 1", tags=["error:ValueError", "api:check"])

    (event,) = story.run(red(what))

    record = only(story, event.bug)
    assert replace(record.symptom, executed=frozenset(), errors=what.errors) == what
    assert record.symptom.executed == red().executed
    assert (record.state, record.session, record.plan) == (BugState.OPEN, "run1", "a plan")
    assert event.kind == "begun"


def test_edit_that_leaves_the_test_red_is_a_failed_trial(story: Story) -> None:
    bug = begun(story)

    (event,) = story.run(red(symptom(constraint="insert needs n > 1"), edit(), state="s1"))

    (trial,) = only(story, bug).trials
    assert (event.kind, trial.outcome, trial.number) == ("tried", TrialOutcome.FAILED, 1)
    assert trial.edit == replace(edit(), plan="a plan")
    assert trial.why == "the error is as it was: ValueError: too few"
    assert trial.strategy == "knots.py check (+1 -1): `a` -> `b`"
    assert trial.lesson == "insert needs n > 1"


def test_what_an_edited_guard_demands_is_not_learned(story: Story) -> None:
    bug = begun(story)

    story.run(
        red(symptom(constraint="check needs n > 1 or odd"), edit("knots.py check"), state="s1")
    )

    assert only(story, bug).learned_constraints == ()


def test_edit_that_did_not_help_is_no_constraint_on_its_place(story: Story) -> None:
    bug = begun(story)

    story.run(red(edit=edit("knots.py check"), state="s1"))

    assert only(story, bug).learned_constraints == ()
    assert only(story, bug).failed_strategies == ("knots.py check (+1 -1): `a` -> `b`",)


def test_constraint_is_withdrawn_once_when_the_evidence_points_at_its_function(
    story: Story,
) -> None:
    (event,) = story.run(red(symptom(constraint="check needs n > 1")))

    doubted = [
        story.run(red(replace(symptom(), p_first=0.9), edit(), state=state))[0].message
        for state in ("s1", "s2")
    ]

    words = "; no longer learned, since the evidence points at it: check needs n > 1"
    assert [words in message for message in doubted] == [True, False]
    assert only(story, event.bug).learned_constraints == ()


def test_mend_withdraws_what_it_contradicts_in_every_bug(story: Story) -> None:
    needs = "check needs n > 1"
    first, second = (
        story.run(red(symptom(tests=[test], constraint=needs, fingerprint=f"1:{test}")))[0].bug
        for test in ("t.py::test_a", "t.py::test_b")
    )

    passed = PassingSighting(passed=frozenset({"t.py::test_a"}), edit=edit("knots.py check"))
    (event,) = story.run(passing={first: passed})

    assert f"no longer learned, since the fix changed it: {needs}" in event.message
    assert only(story, second).learned_constraints == ()


def test_mend_is_the_net_change_and_says_the_kind_of_mistake(story: Story) -> None:
    bug = begun(story)
    net = replace(edit("curve.py insert"), mistake="off by one: `a < b` had to be `a <= b`")

    passed = frozenset({"t.py::test_a"})
    story.run(passing={bug: PassingSighting(passed=passed, edit=edit(), net=net)})

    fix = only(story, bug).trials[-1]
    assert fix.edit.functions == ("curve.py insert",)
    assert fix.lesson == "off by one: `a < b` had to be `a <= b`, in curve.py insert"


def test_undoing_a_try_is_no_mend(story: Story) -> None:
    bug = begun(story)
    passed = PassingSighting(passed=frozenset({"t.py::test_a"}), edit=edit(), net=CodeEdit())

    (event,) = story.run(passing={bug: passed})

    assert event.kind == "flaky"


def test_first_failure_in_another_checkout_is_no_trial(story: Story) -> None:
    """What was edited there made the tests fail, and was not to mend them."""
    bug = begun(story)

    story.run(red(edit=edit(), state="s1"), workspace="another")

    assert only(story, bug).trials == ()


def test_machine_that_saw_no_run_before_knows_a_trial_by_git(story: Story) -> None:
    bug = begun(story)

    story.run(replace(red(edit=edit(), state="s1"), is_since_seen=True), workspace="fresh")

    assert len(only(story, bug).trials) == 1


@pytest.mark.parametrize("what", [None, CodeEdit(), edit("other.py far")])
def test_run_without_an_edit_of_what_the_test_executes_is_no_trial(
    story: Story, what: CodeEdit | None
) -> None:
    bug = begun(story)

    (event,) = story.run(red(edit=what))

    assert (event.kind, only(story, bug).trials) == ("again", ())


def test_run_in_which_the_test_passes_completes_the_record(story: Story) -> None:
    bug = begun(story)
    story.run(red(edit=edit(), state="s1"))
    fix = edit("curve.py insert", "readme.py nothing", old="a < b", new="a <= b")

    (event,) = story.run(passing={bug: PassingSighting(passed=frozenset({TEST}), edit=fix)})

    record = only(story, bug)
    assert (event.kind, record.state) == ("resolved", BugState.RESOLVED)
    assert record.root_cause == "curve.py insert"
    assert record.completed_at is not None
    assert record.fix is not None
    assert record.fix.strategy == "curve.py insert (+1 -1): `a < b` -> `a <= b`"
    assert "after 1 failed attempt" in record.fix.why
    assert record.failed_strategies == ("knots.py check (+1 -1): `a` -> `b`",)


def test_fix_of_what_the_failing_run_did_not_execute_is_one_too(story: Story) -> None:
    bug = begun(story)

    story.run(passing={bug: PassingSighting(passed=frozenset({TEST}), edit=edit("new.py helper"))})

    assert only(story, bug).root_cause == "new.py helper"


def test_edit_that_makes_another_test_fail_moves_the_bug(story: Story) -> None:
    bug = begun(story)
    other = symptom("KeyError: x", ["t.py::test_b"], fingerprint="1:bb")

    (event,) = story.run(
        red(other, edit()),
        passing={bug: PassingSighting(passed=frozenset({TEST}), edit=edit())},
    )

    record = only(story, bug)
    assert (event.bug, event.kind, record.state) == (bug, "tried", BugState.OPEN)
    assert (
        "moved by trial 1, which is no fix: t.py::test_a passes, and t.py::test_b" in event.message
    )
    assert record.trials[-1].outcome is TrialOutcome.FAILED


def test_failure_that_another_edit_made_is_a_bug_of_its_own(story: Story) -> None:
    bug = begun(story)
    other = symptom("KeyError: x", ["t.py::test_b"], fingerprint="1:bb")

    events = story.run(
        red(other, edit(old="c")),
        passing={bug: PassingSighting(passed=frozenset({TEST}), edit=edit())},
    )

    assert [event.kind for event in events] == ["resolved", "begun"]


def test_pass_without_an_edit_is_flaky(story: Story) -> None:
    bug = begun(story)

    (event,) = story.run(passing={bug: PassingSighting(passed=frozenset({TEST}), edit=CodeEdit())})

    assert (event.kind, only(story, bug).state) == ("flaky", BugState.FLAKY)
    assert "flaky" in event.message


def test_pass_after_a_commit_without_python_code_is_mended_by_what_nobody_knows(
    story: Story,
) -> None:
    bug = begun(story)

    (event,) = story.run(
        passing={bug: PassingSighting(passed=frozenset({TEST}), edit=CodeEdit())},
        revision="another",
    )

    assert (event.kind, only(story, bug).root_cause) == ("resolved", "")


def test_deleted_test_is_no_fix(story: Story) -> None:
    bug = begun(story)

    (event,) = story.run(passing={bug: PassingSighting(gone=frozenset({TEST}), edit=edit())})

    assert (event.kind, only(story, bug).state) == ("gone", BugState.GONE)
    assert "no fix" in event.message


@pytest.mark.parametrize("word", ["skipped", "xfailed"])
def test_skipped_test_is_no_fix_and_the_record_stays_open(story: Story, word: str) -> None:
    bug = begun(story)

    (event,) = story.run(passing={bug: PassingSighting(excused={TEST: word}, edit=edit())})

    assert only(story, bug).state is BugState.OPEN
    assert f"is {word} now, which is no fix" in event.message


def test_bug_of_several_tests_is_mended_when_the_last_one_passes(story: Story) -> None:
    both = symptom(tests=(TEST, "t.py::test_b"))
    (event,) = story.run(red(both))
    bug = event.bug

    first = story.run(passing={bug: PassingSighting(passed=frozenset({TEST}), edit=edit())})
    state = only(story, bug).state
    second = story.run(
        passing={bug: PassingSighting(passed=frozenset({"t.py::test_b"}), edit=edit())}
    )

    assert (first, state) == ([], BugState.OPEN)
    assert [event.kind for event in second] == ["resolved"]


def test_metric_is_the_share_of_the_tests_that_pass(story: Story) -> None:
    both = symptom(tests=(TEST, "t.py::test_b"))
    (event,) = story.run(red(both))

    story.run(red(symptom(), edit(), state="s1"))

    (trial,) = only(story, event.bug).trials
    assert trial.metric == 0.5


def test_changed_error_of_the_same_test_is_the_same_bug(story: Story) -> None:
    bug = begun(story)

    (event,) = story.run(red(symptom("TypeError: no", fingerprint="1:bb"), edit(), state="s1"))

    assert event.bug == bug
    (trial,) = only(story, bug).trials
    assert "changed from ValueError: too few to TypeError: no" in trial.why


def test_same_failure_of_another_test_joins_the_record(story: Story) -> None:
    bug = begun(story)

    (event,) = story.run(red(symptom(tests=("t.py::test_new",))))

    assert event.bug == bug
    assert set(only(story, bug).symptom.tests) == {TEST, "t.py::test_new"}


def test_mended_bug_that_comes_back_is_a_new_one_that_knows_of_the_old(story: Story) -> None:
    bug = begun(story)
    story.run(passing={bug: PassingSighting(passed=frozenset({TEST}), edit=edit())})

    (event,) = story.run(red())

    assert event.kind == "begun"
    assert same_failures(story.ledger, symptom().fingerprints, before=event.bug) == [bug]


def test_bug_that_nobody_saw_for_a_month_is_closed(story: Story) -> None:
    bug = begun(story)

    story.run(red(symptom("KeyError: 1", ("u.py::u",), fingerprint="1:cc")), hours=800)

    assert only(story, bug).state is BugState.UNSEEN


def test_decision_of_a_person_outweighs_what_is_seen(story: Story) -> None:
    bug = begun(story)
    story.ledger.decide(["1:cc"], only(story, bug).id)

    (event,) = story.run(red(symptom("KeyError: 1", ("u.py::u",), fingerprint="1:cc")))

    assert event.bug == bug


def test_secrets_are_not_written(story: Story) -> None:
    what = symptom('ValueError: password="hunter2"')

    (event,) = story.run(red(what, edit(old='api_key = "abc"')))
    story.run(red(what, edit(old='api_key = "abc"'), state="s1"))

    record = only(story, event.bug)
    assert "hunter2" not in repr(record)
    assert '-api_key = "<redacted>"' in record.trials[0].edit.diff


def test_oldest_closed_bugs_make_room(story: Story) -> None:
    bugs = []
    for n in range(4):
        test = f"t::{n}"
        (event,) = story.run(red(symptom(tests=(test,), fingerprint=f"1:{n}")))
        bugs.append(event.bug)
        if n:
            story.run(passing={event.bug: PassingSighting(passed=frozenset({test}), edit=edit())})

    story.ledger.trim(2)

    assert story.ledger.bugs(bugs).keys() == {bugs[0], bugs[3]}  # the first one is still open


def test_tests_that_passed_while_others_failed_are_remembered_as_passing(story: Story) -> None:
    other = "t.py::test_b"
    (event,) = story.run(red(symptom(tests=(TEST, other))))
    bug = event.bug
    story.run(
        red(edit=edit(), state="s1"), passing={bug: PassingSighting(passed=frozenset({other}))}
    )

    events = story.run(passing={bug: PassingSighting(passed=frozenset({TEST}), edit=edit())})

    assert [event.kind for event in events] == ["resolved"]
