"""Which tests are run under an edit, in which order, and what that tells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pytest_bayesloc.domain.inspection import Effect, InspectionPatch, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.inspection.trials import Tried, loses_check, try_patch
from pytest_bayesloc.ranking.evidence.guards import Guard
from tests.fakes.case import case_of
from tests.fakes.runner import FAILED, PASSED, FakeRunner, as_port

if TYPE_CHECKING:
    from pytest_bayesloc.domain.inspection import TestRun
    from pytest_bayesloc.ranking.case import Case

SLEEP_S = 7.0
TARGET = Location(file="m.py", start_line=1, end_line=9, qualname="f")
CALLER = Location(file="n.py", start_line=1, end_line=2, qualname="load")
FIXED = {"f0": PASSED, "f1": PASSED}

#: The tests that go otherwise than usual.
Going: TypeAlias = "dict[str, TestRun]"


def edit(n: int = 1, line: int = 1) -> InspectionPatch:
    return InspectionPatch(
        target=TARGET, kind="mutants", original="0\n", patched=f"{n}\n", line=line, words=f"m{n}"
    )


def case() -> Case:
    spectrum = Spectrum(
        tests=("f0", "f1", "p0", "p1"),
        failing=0b0011,
        passing=0b1100,
        lines={TARGET: {1: 0b0111, 2: 0b1111}},
    )
    made = case_of(spectrum, {TARGET: 1.0})
    made.errors = {"f0": "E", "f1": "E"}
    return made


def going(tests: Going, *, n_swapped: int = 1) -> FakeRunner:
    def answer(_: InspectionPatch | None, node_id: str) -> TestRun:
        usual = replace(FAILED, error="E") if node_id.startswith("f") else PASSED
        return tests.get(node_id, usual)

    return FakeRunner(answer=answer, n_swapped=n_swapped)


def tried(
    runner: FakeRunner, one: InspectionPatch, usual_s: float = 0.0, ends: float = 60.0
) -> Tried:
    on = case()
    budget = Budget(as_port(runner), lambda: 0.0, ends, on)
    budget.usual_s = usual_s
    return try_patch(on, one, budget)


def effect(runner: FakeRunner, one: InspectionPatch) -> Effect:
    return tried(runner, one).effect


def test_first_failing_test_is_tried_then_the_others_then_passing_ones_of_the_line() -> None:
    same, some, all_of_them = going({}), going({"f0": PASSED}), going(FIXED)

    effects = [effect(runner, edit()) for runner in (same, some, all_of_them)]

    assert effects == [Effect.SAME_ERROR, Effect.REPAIRS_SOME, Effect.REPAIRS]
    assert [names for _, names in same.asked] == [("f0",)]
    assert [names for _, names in some.asked] == [("f0",), ("f1",)]
    # p1 does not execute the line.
    assert [names for _, names in all_of_them.asked] == [("f0",), ("f1",), ("p0",)]


def test_edit_that_breaks_what_passed_does_not_repair() -> None:
    done = tried(going({**FIXED, "p0": FAILED}), edit())

    assert done.effect is Effect.BREAKS_OTHERS
    assert done.tests.keys() == {"f0", "f1", "p0"}


@pytest.mark.parametrize("verdict", [Verdict.NOT_RUN, Verdict.TIMEOUT])
def test_passing_test_that_did_not_end_is_not_broken(verdict: Verdict) -> None:
    done = tried(going({**FIXED, "p0": replace(PASSED, verdict=verdict)}), edit(line=2))

    assert done.effect is Effect.REPAIRS
    assert done.tests["p1"].verdict is Verdict.PASS


def test_tests_behind_one_that_does_not_end_are_run_as_well() -> None:
    def answer(_: InspectionPatch | None, node_id: str) -> TestRun:
        if node_id == "p1" and len(runner.asked[-1][1]) > 1:
            return replace(PASSED, verdict=Verdict.NOT_RUN)
        return replace(PASSED, verdict=Verdict.TIMEOUT) if node_id == "p0" else PASSED

    runner = FakeRunner(answer=answer)

    assert effect(runner, edit(line=2)) is Effect.REPAIRS
    assert [names for _, names in runner.asked] == [("f0",), ("f1",), ("p0", "p1"), ("p1",)]


def test_slow_passing_tests_get_the_time_that_they_take_as_they_are() -> None:
    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        is_cut_off = patch is not None and runner.limits[-1] < SLEEP_S
        slow = node_id.startswith("p") and is_cut_off
        return replace(PASSED, verdict=Verdict.TIMEOUT) if slow else PASSED

    runner = FakeRunner(answer=answer, seconds=SLEEP_S)

    assert effect(runner, edit()) is Effect.REPAIRS


def test_edit_under_which_no_passing_test_ends_says_nothing() -> None:
    endless = replace(PASSED, verdict=Verdict.TIMEOUT)

    assert effect(going({**FIXED, "p0": endless}), edit()) is Effect.INCONCLUSIVE


def test_another_error_is_told_from_the_same() -> None:
    assert effect(going({"f0": replace(FAILED, error="F")}), edit()) is Effect.OTHER_ERROR


def test_edit_that_was_never_in_place_says_nothing() -> None:
    assert effect(going(FIXED, n_swapped=0), edit()) is Effect.INCONCLUSIVE


def test_edit_gets_a_little_more_time_than_the_tests_take() -> None:
    runner = going({})

    tried(runner, edit(), ends=600.0, usual_s=0.2)

    assert max(runner.limits) == pytest.approx(2.5)


def test_edit_that_empties_code_is_doubted() -> None:
    emptied = replace(edit(7), original="if x:\n    y()\n", patched="if True:\n    y()\n")

    assert tried(going(FIXED), emptied).doubt == "a condition is always true"
    assert tried(going(FIXED), edit()).doubt == tried(going({}), emptied).doubt == ""


@pytest.mark.parametrize(("new", "is_lost"), [("False", True), ("x < 1", False)])
def test_check_that_the_tests_fail_at_is_lost_by_an_edit_that_drops_it(
    new: str, *, is_lost: bool
) -> None:
    text = "def f(x):\n    if x < 2:\n        raise ValueError(x)\n"
    refused = case()
    refused.guard = Guard(function=TARGET, condition="x < 2", owner=CALLER, line=3, value="`x`")

    made = replace(edit(), original=text, patched=text.replace("x < 2", new))
    assert loses_check(refused, made) == is_lost
