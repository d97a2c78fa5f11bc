from __future__ import annotations

import pytest

from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.inspection import Signals, TestRun, Verdict
from pytest_bayesloc.inspection.reflection import classify, signals_of


def ran(verdict: str = "fail", *violations: int, covered: bool = True) -> TestRun:
    return TestRun(verdict=Verdict(verdict), covered=covered, violations=violations)


@pytest.mark.parametrize(
    ("signals", "buggy", "neutral", "not_buggy"),
    [
        # is_covered, has_target_assertion, is_failure
        ((True, True, True), "TARGET_ASSERTION_FAILED", "TARGET_ASSERTION_FAILED",
         "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES"),
        (
            (True, True, False),  # the program swallowed the assertion
            "TARGET_ASSERTION_FAILED",
            "TARGET_ASSERTION_FAILED",
            "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES",
        ),
        ((True, False, True), "COLLATERAL_FAILURE_LLM_SUSPICIOUS", "COLLATERAL_FAILURE",
         "COLLATERAL_FAILURE_LLM_INNOCENT"),
        ((True, False, False), "COVERED_AND_PASSED", "COVERED_AND_PASSED", "COVERED_AND_PASSED"),
        ((False, False, True), "NO_COVERAGE", "NO_COVERAGE", "NO_COVERAGE"),
        ((False, False, False), "NO_COVERAGE", "NO_COVERAGE", "NO_COVERAGE"),
        (None, "INCONCLUSIVE", "INCONCLUSIVE", "INCONCLUSIVE"),
    ],
)  # fmt: skip
def test_outcome_table(
    signals: tuple[bool, bool, bool] | None, buggy: str, neutral: str, not_buggy: str
) -> None:
    seen = signals and Signals(
        is_covered=signals[0], has_target_assertion=signals[1], is_failure=signals[2]
    )

    assert classify(seen, Decision.CONFIRMED_BUGGY) == buggy
    assert classify(seen, Decision.NEUTRAL) == neutral
    assert classify(seen, Decision.CONFIRMED_NOT_BUGGY) == not_buggy


PASSED, FAILED, BROKEN = ran("pass"), ran("fail"), ran("fail", 0)
UNSEEN = ran("fail", covered=False)


@pytest.mark.parametrize(
    ("failing", "passing", "outcome"),
    [
        pytest.param([BROKEN], [PASSED], "TARGET_ASSERTION_FAILED", id="a check"),
        pytest.param([BROKEN], [BROKEN], "COLLATERAL_FAILURE", id="a check of passing tests too"),
        pytest.param([PASSED, PASSED], [], "COVERED_AND_PASSED", id="nothing"),
        pytest.param([PASSED, FAILED], [], "COLLATERAL_FAILURE", id="one of two"),
        pytest.param([PASSED], [FAILED], "COVERED_AND_PASSED", id="a passing test alone"),
        pytest.param([UNSEEN], [ran("pass", covered=False)], "NO_COVERAGE", id="what is unseen"),
        pytest.param([UNSEEN, FAILED], [], "COLLATERAL_FAILURE", id="what one test executes"),
        pytest.param([UNSEEN], [PASSED], "COLLATERAL_FAILURE", id="what passing tests execute"),
    ],
)
def test_outcome_is_told_by_what_fails_under_the_patch(
    failing: list[TestRun], passing: list[TestRun], outcome: str
) -> None:
    runs = [{str(n): run for n, run in enumerate(own)} for own in (failing, passing)]

    assert classify(signals_of(*runs), Decision.NEUTRAL) == outcome


def test_fired_check_proves_coverage_without_a_heartbeat() -> None:
    assert signals_of({"f": ran("fail", 0, covered=False)}, {}) == Signals(
        is_covered=True, has_target_assertion=True, is_failure=True
    )


def test_patch_that_was_never_in_place_is_inconclusive() -> None:
    assert signals_of({"f": ran("fail", 0)}, {}, n_swapped=0) is None
