from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ExecutionError, PatchError
from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome, Outcome, StaticOutcome
from pytest_bayesloc.domain.inspection import Check, Finding, InspectionPatch, Rerun, Verdict
from pytest_bayesloc.domain.recording import Call, Recording
from pytest_bayesloc.inspection.loop import N_MOST, InspectionLoop
from pytest_bayesloc.inspection.strategies.assertions import Assertions
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy, Limits
from pytest_bayesloc.ranking.likelihoods import likelihood, weigh
from tests.fakes.case import case_of, location
from tests.fakes.clock import Clock
from tests.fakes.runner import FAILED, PASSED, FakeRunner, as_port
from tests.unit.inspection.conftest import spectrum_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.inspection import TestRun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.ranking.evidence.invariants import Invariant


A, B, C = (location(name) for name in "abc")
EXIT = Check(number=0, at_exit=True, text="the result > 0", support=9)
LIMITS = Limits(threshold=0.9, budget_s=60.0)


def case(
    prior: Mapping[Location, float] | None = None,
    *,
    model: str = "independent",
    evidence: tuple[Evidence, ...] = (),
) -> Case:
    """Two failing and two passing tests that execute a, b and c."""
    spectrum = spectrum_of(("f0", "f1"), ("p0", "p1"), A, B, C)
    return case_of(spectrum, prior or {A: 0.5, B: 0.3, C: 0.2}, model=model, evidence=evidence)


def propose(target: Location, invariants: Sequence[Invariant]) -> Sequence[InspectionPatch]:
    text = "old\n"
    return [
        InspectionPatch(target=target, kind="k", original=text, patched="new\n", checks=(EXIT,))
    ]


class Edits(InspectionStrategy):
    """Edits of each place, none of which repairs."""

    name = "edits"
    outcomes = (InspectionOutcome.EDIT_REPAIRS, InspectionOutcome.NO_EDIT_REPAIRS)

    def inspect(self, case: Case, target: Location, budget: Budget) -> Sequence[Finding]:
        """None repairs."""
        del budget
        outcome = InspectionOutcome.NO_EDIT_REPAIRS
        return [Finding(evidence=weigh(case.model, outcome, target, source=self.name))]


ASSERTIONS, EDITS = Assertions(propose), Edits()


def run(
    runner: FakeRunner,
    started: Case,
    limits: Limits = LIMITS,
    *kinds: InspectionStrategy,
    clock: Clock | None = None,
    share: float = 1.0,
) -> Case:
    loop = InspectionLoop(
        as_port(runner), kinds or [ASSERTIONS], limits, clock or Clock(), lambda *_: None
    )
    loop.run(started, share=share)
    return started


def made(done: Case) -> list[tuple[str, str]]:
    return [(i.target.qualname, i.evidence.source) for i in done.inspections]


def violates(*names: str, in_passing: bool = False) -> FakeRunner:
    """Patches of these functions fail their own check, in failing tests or in all."""

    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        failing = node_id.startswith("f")
        fires = patch is not None and patch.target.qualname in names
        if fires and (failing or in_passing):
            return replace(FAILED, violations=(0,))
        return FAILED if failing else PASSED

    return FakeRunner(answer=answer)


def outcomes(done: Case) -> list[tuple[str, Outcome]]:
    return [(i.target.qualname, i.evidence.outcome) for i in done.inspections]


def test_target_whose_assertion_fails_gains_belief() -> None:
    done = run(violates("b"), case(model="independent"))

    assert dict(outcomes(done))["b"] is InspectionOutcome.TARGET_ASSERTION_FAILED
    assert done.belief.p(B) > 0.3
    assert done.belief.p(B) == pytest.approx(done.history[-1][0][1])


def test_likeliest_location_is_inspected_first_and_each_once() -> None:
    done = run(violates(), case())

    assert [name for name, _ in outcomes(done)] == ["a", "b", "c"]
    assert [i.step for i in done.inspections] == [1, 2, 3]
    assert done.stop == "nothing left to inspect"
    assert len(done.history) == 4


def test_assertion_that_passing_tests_break_too_is_no_evidence_against_the_target() -> None:
    done = run(violates("b", in_passing=True), case())

    assert dict(outcomes(done))["b"] is not InspectionOutcome.TARGET_ASSERTION_FAILED
    assert done.inspections[1].tests.keys() == {"f0", "f1", "p0", "p1"}


def test_passing_tests_are_run_under_a_patch_only_if_it_made_a_difference() -> None:
    runner = violates("b")
    run(runner, case())

    assert [ask for ask in runner.asked if ask[0]] == [
        ("a", ("f0", "f1")),
        ("b", ("f0", "f1")),
        ("b", ("p0", "p1")),
        ("c", ("f0", "f1")),
    ]


def test_an_unlikely_location_is_inspected_where_a_repair_there_would_tell_more() -> None:
    faulty, clean = likelihood("single-fault", InspectionOutcome.EDIT_REPAIRS)
    started = case({A: 0.9, B: 0.1}, model="single-fault")
    assert 0.1 * faulty / clean < 0.9

    assert made(run(violates(), started, LIMITS, EDITS)) == [("a", "edits"), ("b", "edits")]


def test_what_can_not_change_the_first_place_is_not_inspected() -> None:
    started = case({A: 0.899, B: 0.1, C: 0.001}, model="single-fault")

    done = run(violates(), started, LIMITS, ASSERTIONS, EDITS)

    assert made(done) == [("a", "k"), ("a", "edits"), ("b", "edits")]


def test_number_of_suspects_that_are_inspected_is_bounded() -> None:
    many = [location(f"f{n:02}") for n in range(N_MOST + 5)]
    started = case(dict.fromkeys(many, 1 / len(many)), model="single-fault")

    done = run(violates(), started, LIMITS, EDITS)

    assert [i.target for i in done.inspections] == many[:N_MOST]


def test_decided_case_is_only_checked_for_failing_again() -> None:
    runner = violates()

    done = run(runner, case({A: 0.95, B: 0.05}))

    assert [patched for patched, _ in runner.asked] == ["", ""]
    assert done.inspections == []
    assert "reached the threshold" in done.stop
    assert len(done.history) == 1


def test_number_of_inspections_is_bounded() -> None:
    done = run(violates(), case(), replace(LIMITS, n_inspections=2))

    assert (len(done.inspections), done.stop) == (2, "2 inspections made, as many as allowed")


def test_budget_is_of_all_work_together_and_limits_each_re_run() -> None:
    runner = violates()

    done = run(runner, case(), replace(LIMITS, budget_s=10.0), clock=Clock(step=1.0))

    assert done.stop == "the budget of 10 s is spent"
    assert len(done.inspections) < 3
    assert max(runner.limits) <= 10.0
    assert min(runner.limits) >= 0.1


def test_tests_that_pass_when_run_again_are_flaky_and_left_out() -> None:
    runner = FakeRunner(answer=lambda _, node_id: PASSED if node_id == "f0" else FAILED)

    done = run(runner, case())

    assert (done.flaky, done.failing) == (("f0",), ("f1",))
    assert all("f0" not in tests for _, tests in runner.asked[2:])
    assert done.inspections


def test_test_that_passes_only_the_second_time_is_flaky_too() -> None:
    turns = count()

    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        return PASSED if patch is None and next(turns) == 3 else FAILED

    done = run(FakeRunner(answer=answer), case())

    assert done.flaky == ("f1",)


def test_re_run_that_was_made_before_counts_as_the_first_one_and_flaky_tests_end_the_loop() -> None:
    runner, known = FakeRunner(answer=lambda *_: FAILED), case()
    known.again = Rerun(tests=dict.fromkeys(known.failing, PASSED), seconds=0.1)

    done = run(runner, known)

    assert done.flaky == ("f0", "f1")
    assert done.inspections == []
    assert done.stop.startswith("both failing tests passed when run again")
    assert [tests for _, tests in runner.asked] == [("f0", "f1"), ("f0",), ("f1",)]


def late(patch: InspectionPatch | None, node_id: str) -> TestRun:
    is_late = replace(FAILED, verdict=Verdict.TIMEOUT, violations=(0,))
    return FAILED if patch is None else is_late


@pytest.mark.parametrize(
    "runner",
    [
        FakeRunner(answer=late),
        FakeRunner(answer=lambda *_: replace(FAILED, covered=False), n_swapped=0),
    ],
    ids=["does not end", "has no patch in place"],
)
def test_re_run_is_no_evidence_that(runner: FakeRunner) -> None:
    done = run(runner, case())

    assert {outcome for _, outcome in outcomes(done)} == {InspectionOutcome.INCONCLUSIVE}
    assert done.belief.p(A) == pytest.approx(0.5)


def test_target_that_can_not_be_patched_is_passed_over() -> None:
    def refuses(target: Location, invariants: Sequence[Invariant]) -> Sequence[InspectionPatch]:
        if target == A:
            raise PatchError("no", slug="bad-patch")
        return propose(target, invariants)

    done = run(violates(), case(), LIMITS, Assertions(refuses))

    assert [name for name, _ in outcomes(done)] == ["b", "c"]


@pytest.mark.parametrize("dies_at", [1, 2, 4])
def test_what_was_found_before_the_server_was_lost_is_kept(dies_at: int) -> None:
    runner, started = violates(), case()
    runner.dies_at = dies_at

    with pytest.raises(ExecutionError):
        run(runner, started)

    assert len(started.inspections) == max(0, dies_at - 3)
    assert started.history


def test_reference_model_counts_a_failure_elsewhere() -> None:
    done = run(violates(), case({A: 0.5, B: 0.3, C: 0.2}, model="independent"))

    assert {outcome for _, outcome in outcomes(done)} == {InspectionOutcome.COLLATERAL_FAILURE}
    assert done.belief.p(A) > 0.5


def test_log_has_the_heartbeat_of_each_failing_test() -> None:
    done = run(violates(), case())

    assert "--- INSPECTION_START: m.a --- (f0)" in done.inspections[0].log
    assert done.inspections[0].diff.count("\n") > 3


def test_a_case_gets_its_share_of_the_budget() -> None:
    runner, limits = violates(), replace(LIMITS, budget_s=30.0)

    done = run(runner, case(), limits, clock=Clock(step=1.0), share=0.2)

    assert done.stop == "its share of the budget of 30 s is spent"
    assert max(runner.limits) <= 6.0


def test_what_the_traceback_says_of_a_raise_is_not_asked_again() -> None:
    calls = tuple(Call(location=A, caller=-1, entered=n, left=n + 1) for n in range(5))
    raised = weigh("single-fault", StaticOutcome.GUARD_REFUSED, A, source="guard")
    runner, work, asked = violates(), case(evidence=(raised,)), []
    runner.recording = Recording(calls={"p0": calls})

    def note(target: Location, invariants: Sequence[Invariant]) -> Sequence[InspectionPatch]:
        asked.append((target, [i.words for i in invariants]))
        return ()

    run(runner, work, LIMITS, Assertions(note))
    run(runner, case(), LIMITS, Assertions(note))

    of_a = [words for target, words in asked if target == A]
    assert of_a == [[], ["it raises nothing"]]


def test_values_of_the_first_suspect_are_compared_at_the_end() -> None:
    runner = violates("a")
    calls = {name: (Call(location=A, caller=-1, entered=0, left=1),) for name in ("f0", "p0")}
    runner.recording = Recording(calls=calls)

    done = run(runner, case())

    assert runner.detailed == [A]
    assert runner.recorded[-1] == ("f0", "p0", "p1")
    assert done.nearest_call is not None
    assert done.nearest_call.passing_test == "p0"


def test_case_without_time_is_not_compared() -> None:
    runner = violates("b")

    assert run(runner, case(), Limits(threshold=0.9, budget_s=0.0)).nearest_call is None
    assert runner.detailed == []
