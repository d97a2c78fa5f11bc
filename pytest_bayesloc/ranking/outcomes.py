"""From what several re-run tests did to one outcome of the inspection.

Reference:
    docs/model.md, section "Outcomes".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import Decision, Outcome
from pytest_bayesloc.domain.inspection import Signals, TestRun, Verdict

_EVIDENCE = frozenset({Verdict.PASS, Verdict.FAIL})

_ASSERTED: Mapping[Decision, Outcome] = MappingProxyType(
    {
        Decision.CONFIRMED_BUGGY: Outcome.TARGET_ASSERTION_FAILED,
        Decision.NEUTRAL: Outcome.TARGET_ASSERTION_FAILED,
        Decision.CONFIRMED_NOT_BUGGY: Outcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES,
    }
)
_COLLATERAL: Mapping[Decision, Outcome] = MappingProxyType(
    {
        Decision.CONFIRMED_BUGGY: Outcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS,
        Decision.NEUTRAL: Outcome.COLLATERAL_FAILURE,
        Decision.CONFIRMED_NOT_BUGGY: Outcome.COLLATERAL_FAILURE_LLM_INNOCENT,
    }
)


def fired_checks(failing: Mapping[str, TestRun], passing: Mapping[str, TestRun]) -> tuple[int, ...]:
    """Numbers of the checks that count, ascending.

    A check counts if it failed in a failing test and in no passing one: what a passing test breaks
    as well is no property of correct behaviour. Each check is judged by itself.
    """
    fired = {number for run in failing.values() for number in run.violations}
    void = {number for run in passing.values() for number in run.violations}
    return tuple(sorted(fired - void))


def signals_of(
    failing: Mapping[str, TestRun], passing: Mapping[str, TestRun], *, n_swapped: int = 1
) -> Signals | None:
    """The formal signals of a re-run, or None if it is inconclusive.

    Args:
        failing: Re-runs of the failing tests of the group, by node id.
        passing: Re-runs of the passing tests that were targeted too.
        n_swapped: How many functions the patch replaced.

    Returns:
        None if no failing test was re-run, one of them timed out, crashed or did not run, or the
        patch was never in place; else what was seen, where a heartbeat in any test makes the
        target covered and one failing test that still fails makes a failure.
    """
    verdicts = {run.verdict for run in failing.values()}
    if not verdicts or not verdicts <= _EVIDENCE or n_swapped < 1:
        return None
    has_target_assertion = bool(fired_checks(failing, passing))
    seen = any(run.covered for run in (*failing.values(), *passing.values()))
    return Signals(
        # An assertion that failed in the target's frame proves that it ran, heartbeat or not.
        is_covered=seen or has_target_assertion,
        has_target_assertion=has_target_assertion,
        is_failure=Verdict.FAIL in verdicts,
    )


def classify(signals: Signals | None, decision: Decision) -> Outcome:
    """The one outcome of an inspection; ``signals`` is None for an inconclusive one."""
    if signals is None:
        return Outcome.INCONCLUSIVE
    if signals.has_target_assertion:
        return _ASSERTED[decision]
    if not signals.is_covered:
        return Outcome.NO_COVERAGE
    return _COLLATERAL[decision] if signals.is_failure else Outcome.COVERED_AND_PASSED
