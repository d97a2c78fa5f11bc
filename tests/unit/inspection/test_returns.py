"""Which results are replaced by what, in which order, and what that tells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.inspection import Effect, Verdict
from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.inspection.strategies.values import Returns, attempts, by_callee
from pytest_bayesloc.inspection.strategy import Budget
from tests.fakes.case import case_of, location
from tests.fakes.runner import FAILED, PASSED, FakeRunner, as_port
from tests.unit.inspection.conftest import spectrum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_bayesloc.domain.inspection import Finding, InspectionPatch, TestRun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.case import Case


A, B, C = (location(name) for name in "abc")


def returned(text: str, kind: str = "int", where: Location = A) -> Call:
    return Call(
        location=where, caller=-1, entered=0, left=1, result=Value(type_name=kind, text=text)
    )


def made(
    *,
    calls: Mapping[str, tuple[Call, ...]] | None = None,
    sides: Mapping[str, tuple[str, ...]] | None = None,
) -> Case:
    case = case_of(spectrum_of(("f0", "f1"), ("p0",), A, B, C), {A: 0.5, B: 0.3, C: 0.2})
    case.errors = {"f0": "E", "f1": "E"}
    one = {n: (returned("3"), returned("3", where=B)) for n in ("f0", "f1")}
    case.recording = Recording(calls=calls or one, edges={(A, B): 2})
    case.sides = sides or {"f0": ("3", "5"), "f1": ("3", "6")}
    return case


def test_each_side_takes_the_place_of_the_other_one_of_its_own_test() -> None:
    first, second = attempts(made(), A)

    assert first == {"f0": ("5", "3"), "f1": ("6", "3")}
    assert second["f1"] == ("3", "6")


@pytest.mark.parametrize("sides", [(), ("", "5"), ("3", ""), ("3", "3")], ids=str)
def test_test_without_two_plain_sides_is_not_run(sides: tuple[str, ...]) -> None:
    first, _ = attempts(made(sides={"f0": sides, "f1": ("3", "6")}), A)

    assert first.keys() == {"f1"}
    assert list(attempts(made(sides={"f0": sides, "f1": sides}), A)) == []


def test_only_functions_that_may_have_given_back_a_side_are_tried() -> None:
    long = Value(type_name="list")
    both = (returned("4"), replace(returned("4", where=B), result=long))
    case = made(calls={"f0": both, "f1": both})

    assert list(attempts(case, A)) == []
    assert len(list(attempts(case, B))) == 2


def test_function_that_one_failing_test_does_not_call_is_not_tried() -> None:
    assert list(attempts(made(calls={"f0": (returned("3"),), "f1": ()}), A)) == []


def inspected(
    passes: Callable[[str, tuple[str, str]], bool],
    case: Case | None = None,
    *,
    target: Location = A,
    n_swapped: int = 1,
) -> tuple[tuple[Finding, ...], FakeRunner]:
    def answer(patch: InspectionPatch | None, node_id: str) -> TestRun:
        assert patch is not None
        assert patch.forced is not None
        return PASSED if passes(node_id, patch.forced) else replace(FAILED, error="E")

    case = case or made()
    runner = FakeRunner(answer=answer, n_swapped=n_swapped)
    budget = Budget(as_port(runner), lambda: 0.0, 60.0, case)
    return tuple(Returns(lambda _: "text\n").inspect(case, target, budget)), runner


def test_value_that_all_failing_tests_pass_with_repairs() -> None:
    (finding,), runner = inspected(lambda _, forced: forced[0] in {"5", "6"})

    assert finding.evidence.outcome is InspectionOutcome.RETURN_REPAIRS
    assert finding.evidence.why == "the failing tests pass if it returns `5` instead of `3`"
    assert [tests for _, tests in runner.asked] == [("f0",), ("f1",)]


def test_value_that_some_failing_tests_pass_with_does_not_repair() -> None:
    (finding,), _ = inspected(lambda node_id, _: node_id == "f0")

    assert finding.evidence.outcome is InspectionOutcome.NO_RETURN_REPAIRS
    assert [trial.effect for trial in finding.trials] == [Effect.REPAIRS_SOME] * 2


def test_test_that_fails_where_nothing_was_replaced_does_not_count() -> None:
    elsewhere = replace(FAILED, error="E", covered=False)
    runner = FakeRunner(answer=lambda _, node_id: PASSED if node_id == "f0" else elsewhere)
    budget = Budget(as_port(runner), lambda: 0.0, 60.0, made())

    (finding,) = Returns(lambda _: "text\n").inspect(made(), A, budget)

    assert finding.evidence.outcome is InspectionOutcome.RETURN_REPAIRS
    assert [trial.n_passed for trial in finding.trials] == [1]


def test_function_that_is_not_there_is_tried_once() -> None:
    (finding,), runner = inspected(lambda *_: True, n_swapped=0)

    assert finding.evidence.outcome is InspectionOutcome.INCONCLUSIVE
    assert len(runner.asked) == 1


def test_function_that_must_not_be_touched_is_not_tried() -> None:
    budget = Budget(as_port(FakeRunner()), lambda: 0.0, 60.0, made())

    assert Returns(lambda _: None).inspect(made(), A, budget) == ()


def test_re_run_that_does_not_end_says_nothing() -> None:
    runner = FakeRunner(answer=lambda *_: replace(FAILED, verdict=Verdict.TIMEOUT))
    budget = Budget(as_port(runner), lambda: 0.0, 60.0, made())

    (finding,) = Returns(lambda _: "text\n").inspect(made(), A, budget)

    assert finding.evidence.outcome is InspectionOutcome.INCONCLUSIVE


# -- callers


@pytest.mark.parametrize("order", [(A, B), (B, A)], ids=["caller first", "callee first"])
def test_caller_whose_callee_is_enough_is_worth_less_whatever_the_order(
    order: tuple[Location, Location],
) -> None:
    case, strategy = made(), Returns(lambda _: "text\n")
    for target in order:
        ((finding,), _) = inspected(lambda *_: True, case, target=target)
        case.take(finding)
        for evidence in strategy.revise(case):
            case.correct(evidence)

    found = {i.target: i.evidence.outcome for i in case.inspections}
    assert found == {
        A: InspectionOutcome.RETURN_REPAIRS_BY_CALLEE,
        B: InspectionOutcome.RETURN_REPAIRS,
    }
    (caller,) = (i.evidence for i in case.inspections if i.target == A)
    (callee,) = (i.evidence for i in case.inspections if i.target == B)
    afresh = made().belief.update_all([caller, callee])
    assert case.belief.probabilities == pytest.approx(afresh.probabilities)
    assert "b, which it calls" in caller.why


def test_callee_of_a_callee_counts_and_no_function_is_below_itself() -> None:
    assert by_callee([A, C], {(A, B): 1, (B, C): 1}) == {A: C}
    assert by_callee([A, B], {(A, B): 1, (B, A): 1}) == {}
    assert by_callee([A], {(A, A): 1}) == {}
