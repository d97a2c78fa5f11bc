"""The formal reflection: what re-runs under a patch that only looks mean, without an LLM.

Reference:
    docs/model.md, section "Outcomes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import inf
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import Decision, Evidence, InspectionOutcome
from pytest_bayesloc.domain.inspection import (
    Check,
    Finding,
    InspectionPatch,
    Rerun,
    Signals,
    TestRun,
    Verdict,
)
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call, Recording
from pytest_bayesloc.domain.texts import all_of
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.invariants import Invariant, broken

MAX_FAILING = 3
MAX_PASSING = 6
LEAST_S = 2.0  # a patch that only looks takes hardly longer than the tests as they are

_CONCLUSIVE = frozenset({Verdict.PASS, Verdict.FAIL})
_ASSERTED: Mapping[Decision, InspectionOutcome] = MappingProxyType(
    {
        Decision.CONFIRMED_BUGGY: InspectionOutcome.TARGET_ASSERTION_FAILED,
        Decision.NEUTRAL: InspectionOutcome.TARGET_ASSERTION_FAILED,
        Decision.CONFIRMED_NOT_BUGGY: InspectionOutcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES,
    }
)
_COLLATERAL: Mapping[Decision, InspectionOutcome] = MappingProxyType(
    {
        Decision.CONFIRMED_BUGGY: InspectionOutcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS,
        Decision.NEUTRAL: InspectionOutcome.COLLATERAL_FAILURE,
        Decision.CONFIRMED_NOT_BUGGY: InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT,
    }
)


def watch(case: Case, patch: InspectionPatch, budget: Budget) -> Rerun:
    """Run failing tests under ``patch``, and passing ones if it made a difference.

    Returns:
        Both re-runs as one, with the seconds of both; ``n_swapped`` is 1 if the patch was in
        place, else 0.
    """
    started = budget.clock()
    at_most_s = budget.patience_s(LEAST_S)
    rerun = budget.rerun(patch, case.failing_of(patch.target, MAX_FAILING), at_most_s=at_most_s)
    failing = rerun.tests
    changed = any(run.violations or run.verdict is Verdict.PASS for run in failing.values())
    near = case.near.nearest(patch.target, MAX_PASSING) if changed else ()
    passing = budget.rerun(patch, near).tests if near else {}  # what they break too is void
    covered = [node_id for node_id, run in failing.items() if run.covered]
    beats = (f"--- INSPECTION_START: {patch.target.fqn} --- ({node_id})" for node_id in covered)
    notes = (f"{rerun.how}: code replaced in {rerun.n_swapped} place(s)", rerun.log)
    return Rerun(
        tests={**failing, **passing},
        n_swapped=int(bool(rerun.n_swapped or covered)),
        seconds=budget.clock() - started,
        cpu_s=rerun.cpu_s,
        log="\n".join(line for line in (*notes, *beats) if line),
    )


def fired_checks(failing: Mapping[str, TestRun], passing: Mapping[str, TestRun]) -> tuple[int, ...]:
    """Return the numbers of the checks that count, ascending.

    A check counts if it failed in a failing test and in no passing one: what a passing test breaks
    as well is no property of correct behaviour. Each check is judged by itself.
    """
    fired = {number for run in failing.values() for number in run.violations}
    void = {number for run in passing.values() for number in run.violations}
    return tuple(sorted(fired - void))


def signals_of(
    failing: Mapping[str, TestRun], passing: Mapping[str, TestRun], *, n_swapped: int = 1
) -> Signals | None:
    """Return the formal signals of a re-run of ``failing`` and ``passing`` tests, by node id.

    Returns:
        None if no failing test was re-run, one of them timed out, crashed or did not run, or the
        patch was never in place; else what was seen, where a heartbeat in any test makes the
        target covered and one failing test that still fails makes a failure.
    """
    verdicts = {run.verdict for run in failing.values()}
    if not verdicts or not verdicts <= _CONCLUSIVE or n_swapped < 1:
        return None
    has_target_assertion = bool(fired_checks(failing, passing))
    seen = any(run.covered for run in (*failing.values(), *passing.values()))
    return Signals(
        # An assertion that failed in the target's frame proves that it ran, heartbeat or not.
        is_covered=seen or has_target_assertion,
        has_target_assertion=has_target_assertion,
        is_failure=Verdict.FAIL in verdicts,
    )


def classify(signals: Signals | None, decision: Decision) -> InspectionOutcome:
    """Return the one outcome of an inspection; ``signals`` is None for an inconclusive one."""
    if signals is None:
        return InspectionOutcome.INCONCLUSIVE
    if signals.has_target_assertion:
        return _ASSERTED[decision]
    if not signals.is_covered:
        return InspectionOutcome.NO_COVERAGE
    if signals.is_failure:
        return _COLLATERAL[decision]
    return InspectionOutcome.COVERED_AND_PASSED


def finding_of(
    evidence: Evidence,
    patch: InspectionPatch,
    rerun: Rerun,
    signals: Signals | None,
    decision: Decision,
) -> Finding:
    """Return what ``patch`` showed, with its re-run beside the evidence."""
    return Finding(
        evidence=evidence,
        diff=patch.diff,
        tests=rerun.tests,
        signals=signals or Signals(),
        decision=decision,
        seconds=rerun.seconds,
        cpu_s=rerun.cpu_s,
        log=rerun.log,
    )


def reflect(
    patch: InspectionPatch, fired: Sequence[int], innocent: frozenset[Location]
) -> tuple[Decision, str]:
    """Decide on the target of ``patch``, and say why.

    A target that a callee excuses is not buggy; nor is one of which only the input was off: the
    wrong value was made before it.
    """
    if patch.target in innocent:
        return (
            Decision.CONFIRMED_NOT_BUGGY,
            "something it called returned an unusual value first",
        )
    known = _listed(patch, fired)
    if known and not any(check.at_exit for check in known):
        return Decision.CONFIRMED_NOT_BUGGY, "its arguments were unusual already"
    return Decision.NEUTRAL, ""


def describe(patch: InspectionPatch, fired: Sequence[int], reason: str) -> str:
    """Describe in one line what an inspection found."""
    if not fired:
        n = len(patch.checks)
        what = f"{all_of(n, 'condition')} that held" if n != 1 else "a condition that held"
        return f"{what} in passing calls also held in the failing test" if n else "it was executed"
    best = max(_listed(patch, fired), key=lambda c: (c.at_exit, c.support), default=None)
    told = "an assertion of the patch failed"
    if best is not None:
        held = f"true in all {best.support} passing calls, " if best.support else ""
        told = f"{best.text}: {held}false"
    return f"{told} in the failing test; {reason}" if reason else f"{told} in the failing test"


def _listed(patch: InspectionPatch, fired: Sequence[int]) -> list[Check]:
    """Return the checks that fired; a patch of another plugin need not list all of them."""
    return [check for check in patch.checks if check.number in fired]


def innocents(
    recording: Recording,
    failing: Iterable[str],
    invariants: Mapping[Location, Sequence[Invariant]],
) -> frozenset[Location]:
    """Return what the golden rule of callees excuses in every failing test that calls it."""
    excused: set[Location] = set()
    accused: set[Location] = set()
    for node_id in failing:
        calls = recording.calls.get(node_id, ())
        violating = {
            i
            for i, call in enumerate(calls)
            if broken(invariants.get(call.location, ()), call, at_exit=True)
        }
        innocent = golden_rule(calls, violating)
        excused |= innocent
        accused |= {calls[i].location for i in violating} - innocent
    return frozenset(excused - accused)


def golden_rule(calls: Sequence[Call], violating: AbstractSet[int]) -> frozenset[Location]:
    """Return the locations that a callee excuses.

    A call is excused if something that it called, directly or through others, returned a value
    that breaks one of the callee's own invariants before the call itself was left: it may have
    used a wrong value correctly. A location is innocent if one of its calls is excused and none of
    them broke an invariant without that excuse; so the innermost call of a recursion is not
    excused by itself.

    Args:
        calls: Of one failing test, in the order of entry, so that callers precede their callees.
        violating: Indexes of the calls whose own output violates an invariant.

    Reference:
        docs/model.md, section "Golden rule of callees".
    """
    if not violating:
        return frozenset()
    from pytest_bayesloc.ranking import graph

    made = graph.graph_of((call.caller, i) for i, call in enumerate(calls) if call.caller >= 0)
    exits = [inf if call.left < 0 else call.left for call in calls]
    excused = {
        above for i in violating for above in graph.above(made, i) if exits[i] < exits[above]
    }
    unexcused = {calls[i].location for i in violating - excused}
    return frozenset(calls[i].location for i in excused) - unexcused
