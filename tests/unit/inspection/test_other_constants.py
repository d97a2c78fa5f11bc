"""What the place that holds a constant is told by a re-run with another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.inspection import InspectionPatch, OtherValue
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.inspection.strategies.constants import Constants
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.evidence.guards import Guard
from tests.fakes.case import case_of, location
from tests.fakes.runner import FAILED, PASSED, FakeRunner, as_port
from tests.unit.inspection.conftest import spectrum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_bayesloc.domain.inspection import Finding, TestRun
    from pytest_bayesloc.domain.spectrum import Spectrum
    from pytest_bayesloc.ranking.case import Case


USER, CALLER, RARE, FOURTH = (location(name) for name in ("user", "caller", "rare", "fourth"))
TEST = Location(file="test_m.py", start_line=1, end_line=2, qualname="test", is_test=True)
HOLDER, ELSEWHERE = location(MODULE), location(MODULE, "unknown.py")
PRIOR = {USER: 0.5, CALLER: 0.2, RARE: 0.15, FOURTH: 0.1, HOLDER: 0.05}
SPECTRUM = spectrum_of(("f0", "f1"), ("p0", "p1", "p2", "p3"), *PRIOR)


def patch(old: int, new: int, where: Location = HOLDER) -> InspectionPatch:
    return InspectionPatch(
        target=where,
        kind="other-constant",
        original=f"N = {old}\n",
        patched=f"N = {new}\n",
        line=1,
        words=f"other constant, line 1: {old} to {new}",
        value=OtherValue(owner="", name="N", text=str(new)),
    )


def found(
    proposed: Mapping[Location, list[InspectionPatch]],
    passes: Callable[[InspectionPatch, str], bool],
    spectrum: Spectrum = SPECTRUM,
    guard: Guard | None = None,
) -> tuple[list[Finding], FakeRunner]:
    def propose(
        _case: Case, target: Location, last: Callable[[], TestRun | None]
    ) -> Iterator[InspectionPatch]:
        for each in proposed.get(target, []):
            yield each
            assert (last() is None) == (each.target == ELSEWHERE or passes(each, "f0"))

    def answer(tried: InspectionPatch | None, node_id: str) -> TestRun:
        assert tried is not None
        return PASSED if passes(tried, node_id) else FAILED

    case = case_of(spectrum, PRIOR)
    case.guard = guard
    runner = FakeRunner(answer=answer)
    budget = Budget(as_port(runner), lambda: 0.0, 60.0, case)
    return list(Constants(propose).explore(case, budget)), runner


def test_place_that_holds_a_constant_with_another_value_of_which_all_pass_is_named() -> None:
    right = patch(5, 6)

    (finding,), runner = found({USER: [patch(5, 7), right]}, lambda tried, _: tried == right)

    assert (finding.target, finding.evidence.outcome) == (
        HOLDER,
        InspectionOutcome.CONSTANT_REPAIRS,
    )
    assert finding.evidence.why == (
        "the failing tests pass with another constant, and nothing else breaks (line 1: 5 to 6)"
    )
    assert finding.evidence.log_ratio > 0
    assert runner.asked[-1][1] == ("p0", "p1", "p2", "p3")  # those that run the function


def test_constant_that_breaks_a_test_says_nothing() -> None:
    assert found({USER: [patch(5, 6)]}, lambda _, node_id: node_id != "p2")[0] == []


def test_number_that_nobody_mistakes_for_another_needs_tests_that_agree() -> None:
    few = spectrum_of(("f0", "f1"), ("p0",), *PRIOR)

    assert found({USER: [patch(5, 83)]}, lambda *_: True, few)[0] == []
    assert len(found({USER: [patch(5, 50)]}, lambda *_: True, few)[0]) == 1
    assert len(found({USER: [patch(5, 83)]}, lambda *_: True)[0]) == 1


def test_place_is_named_once_and_only_for_the_likeliest_functions() -> None:
    every = {where: [patch(5, 6)] for where in (USER, CALLER, RARE, FOURTH)}

    findings, runner = found(every, lambda *_: True)

    assert [finding.target for finding in findings] == [HOLDER]
    assert len(runner.asked) == 9  # three functions, each with a failing test, the other, and more


@pytest.mark.parametrize(("owner", "n"), [(TEST, 0), (CALLER, 1)], ids=["test", "code"])
def test_limit_that_refused_the_data_of_a_test_is_left_as_it_is(owner: Location, n: int) -> None:
    guard = Guard(function=USER, condition="x < N", owner=owner, line=2, value="`x`")

    findings, _ = found({USER: [patch(5, 6)]}, lambda *_: True, guard=guard)

    assert len(findings) == n


def test_place_that_is_no_candidate_is_not_tried() -> None:
    assert found({USER: [patch(5, 6, ELSEWHERE)]}, lambda *_: False)[1].asked == []
