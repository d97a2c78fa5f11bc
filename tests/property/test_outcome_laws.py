from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.domain.evidence import Decision, InspectionOutcome
from pytest_bayesloc.domain.inspection import TestRun, Verdict
from pytest_bayesloc.inspection.reflection import classify, fired_checks, signals_of
from pytest_bayesloc.ranking.likelihoods import TABLES, likelihood

pytestmark = pytest.mark.one_python

RUNS = st.dictionaries(
    st.sampled_from(["t0", "t1", "t2"]),
    st.builds(
        TestRun,
        verdict=st.sampled_from(Verdict),
        covered=st.booleans(),
        violations=st.lists(st.integers(0, 3), max_size=3).map(tuple),
    ),
)
DECISIONS = st.sampled_from(Decision)

BY_RERUN = {
    InspectionOutcome.TARGET_ASSERTION_FAILED,
    InspectionOutcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES,
    InspectionOutcome.COVERED_AND_PASSED,
    InspectionOutcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS,
    InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT,
    InspectionOutcome.COLLATERAL_FAILURE,
    InspectionOutcome.NO_COVERAGE,
    InspectionOutcome.INCONCLUSIVE,
}


@given(failing=RUNS, passing=RUNS, decision=DECISIONS)
def test_every_re_run_has_an_outcome_that_every_model_can_weigh(
    failing: dict[str, TestRun], passing: dict[str, TestRun], decision: Decision
) -> None:
    outcome = classify(signals_of(failing, passing), decision)

    assert outcome in BY_RERUN
    assert all(min(likelihood(model, outcome)) > 0 for model in TABLES)


@given(failing=RUNS, passing=RUNS)
def test_only_ended_re_runs_of_failing_tests_give_signals(
    failing: dict[str, TestRun], passing: dict[str, TestRun]
) -> None:
    ended = bool(failing) and all(
        run.verdict in (Verdict.PASS, Verdict.FAIL) for run in failing.values()
    )

    assert (signals_of(failing, passing) is not None) == ended


@given(failing=RUNS, passing=RUNS)
def test_fired_check_failed_in_a_failing_test_and_in_no_passing_one(
    failing: dict[str, TestRun], passing: dict[str, TestRun]
) -> None:
    fired = fired_checks(failing, passing)

    assert list(fired) == sorted(set(fired))
    for number in range(4):
        in_failing = any(number in run.violations for run in failing.values())
        in_passing = any(number in run.violations for run in passing.values())
        assert (number in fired) == (in_failing and not in_passing)


@given(failing=RUNS, passing=RUNS)
def test_reflection_decides_only_where_the_target_ran_and_something_failed(
    failing: dict[str, TestRun], passing: dict[str, TestRun]
) -> None:
    signals = signals_of(failing, passing)
    outcomes = {classify(signals, decision) for decision in Decision}

    if signals is None or not signals.is_covered:
        assert len(outcomes) == 1
    elif signals.has_target_assertion:
        assert len(outcomes) == 2
    else:
        assert len(outcomes) == (3 if signals.is_failure else 1)
