from __future__ import annotations

import pytest

from pytest_bayesloc.domain.evidence import Decision, Outcome
from pytest_bayesloc.domain.inspection import Signals, TestRun, Verdict
from pytest_bayesloc.inspection.reflection import classify, signals_of


def ran(verdict: str = "fail", *violations: int, covered: bool = True) -> TestRun:
    return TestRun(verdict=Verdict(verdict), covered=covered, violations=violations)


def outcome(
    failing: dict[str, TestRun],
    passing: dict[str, TestRun],
    decision: Decision = Decision.NEUTRAL,
) -> Outcome:
    return classify(signals_of(failing, passing), decision)


@pytest.mark.parametrize(
    ("signals", "buggy", "neutral", "not_buggy"),
    [
        # is_covered, has_target_assertion, is_failure
        (
            (True, True, True),
            "TARGET_ASSERTION_FAILED",
            "TARGET_ASSERTION_FAILED",
            "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES",
        ),
        (
            (True, True, False),  # the program swallowed the assertion
            "TARGET_ASSERTION_FAILED",
            "TARGET_ASSERTION_FAILED",
            "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES",
        ),
        (
            (True, False, True),
            "COLLATERAL_FAILURE_LLM_SUSPICIOUS",
            "COLLATERAL_FAILURE",
            "COLLATERAL_FAILURE_LLM_INNOCENT",
        ),
        (
            (True, False, False),
            "COVERED_AND_PASSED",
            "COVERED_AND_PASSED",
            "COVERED_AND_PASSED",
        ),
        ((False, False, True), "NO_COVERAGE", "NO_COVERAGE", "NO_COVERAGE"),
        ((False, False, False), "NO_COVERAGE", "NO_COVERAGE", "NO_COVERAGE"),
        (None, "INCONCLUSIVE", "INCONCLUSIVE", "INCONCLUSIVE"),
    ],
)
def test_outcome_table(
    signals: tuple[bool, bool, bool] | None, buggy: str, neutral: str, not_buggy: str
) -> None:
    seen = signals and Signals(
        is_covered=signals[0], has_target_assertion=signals[1], is_failure=signals[2]
    )

    assert classify(seen, Decision.CONFIRMED_BUGGY) == buggy
    assert classify(seen, Decision.NEUTRAL) == neutral
    assert classify(seen, Decision.CONFIRMED_NOT_BUGGY) == not_buggy


def test_check_that_only_failing_tests_break_is_a_target_assertion() -> None:
    assert outcome({"f": ran("fail", 0)}, {"p": ran("pass")}) == "TARGET_ASSERTION_FAILED"


def test_check_that_a_passing_test_breaks_too_is_void() -> None:
    assert outcome({"f": ran("fail", 0)}, {"p": ran("fail", 0)}) == "COLLATERAL_FAILURE"


def test_covered_and_passed_needs_every_failing_test_to_pass() -> None:
    assert outcome({"f": ran("pass"), "g": ran("pass")}, {}) == "COVERED_AND_PASSED"
    assert outcome({"f": ran("pass"), "g": ran("fail")}, {}) == "COLLATERAL_FAILURE"


def test_passing_test_that_fails_without_a_check_does_not_make_a_failure() -> None:
    assert outcome({"f": ran("pass")}, {"p": ran("fail")}) == "COVERED_AND_PASSED"


def test_no_heartbeat_anywhere_is_no_coverage() -> None:
    unseen = ran("fail", covered=False)

    assert outcome({"f": unseen}, {"p": ran("pass", covered=False)}) == "NO_COVERAGE"
    assert outcome({"f": unseen, "g": ran("fail")}, {}) == "COLLATERAL_FAILURE"
    assert outcome({"f": unseen}, {"p": ran("pass")}) == "COLLATERAL_FAILURE"


def test_fired_check_proves_coverage_without_a_heartbeat() -> None:
    assert signals_of({"f": ran("fail", 0, covered=False)}, {}) == Signals(
        is_covered=True, has_target_assertion=True, is_failure=True
    )


def test_patch_that_was_never_in_place_is_inconclusive() -> None:
    assert signals_of({"f": ran("fail", 0)}, {}, n_swapped=0) is None
