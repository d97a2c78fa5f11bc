"""Assertions in the target: does it break what held in all passing calls?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError
from pytest_bayesloc.domain.evidence import Outcome
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.inspection.finding import NO_SIGNALS, Finding
from pytest_bayesloc.inspection.kind import Kind
from pytest_bayesloc.inspection.proposals.assertions import KIND
from pytest_bayesloc.inspection.reflection import describe, reflect
from pytest_bayesloc.localization.outcomes import classify, fired_checks, signals_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.evidence import Decision
    from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun, Signals, TestRun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.inspection.case import Case
    from pytest_bayesloc.inspection.invariants import Invariant
    from pytest_bayesloc.inspection.kind import Bench

    Propose = Callable[[Location, Sequence[Invariant]], Sequence[InspectionPatch]]

MAX_FAILING = 3
MAX_PASSING = 6
LEAST_S = 2.0  # a patch that only looks takes hardly longer than the tests as they are


class Assertions(Kind):
    """Runs patches that only look, and judges what they saw.

    Args:
        propose: Inspection patches of a location, given its invariants.
    """

    name = KIND
    outcomes = (Outcome.TARGET_ASSERTION_FAILED, Outcome.COLLATERAL_FAILURE)
    seconds = 0.03

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    def inspect(self, case: Case, target: Location, bench: Bench) -> Sequence[Finding]:
        """Run each proposed patch of ``target``."""
        known = target in case.raising  # the traceback says so already: each source once
        invariants = [i for i in case.invariants.get(target, ()) if not (known and i.at_raise)]
        try:
            patches = self._propose(target, invariants)
        except ExecutionError:
            raise
        except BayeslocError:
            return ()
        return [_run(case, patch, bench) for patch in patches if bench.left_s()]


def _run(case: Case, patch: InspectionPatch, bench: Bench) -> Finding:
    started = bench.clock()
    at_most_s = bench.patience_s(LEAST_S)
    rerun = bench.rerun(patch, case.failing_of(patch.target, MAX_FAILING), at_most_s=at_most_s)
    failing, passing = rerun.tests, _control(case, patch, rerun, bench)
    placed = rerun.n_swapped or any(run.covered for run in failing.values())
    signals = signals_of(failing, passing, n_swapped=int(placed))
    fired = fired_checks(failing, passing)
    decision, reason = reflect(patch, fired, case.innocent)
    return Finding(
        kind=patch.kind,
        outcome=_outcome(signals, decision, patch, case.model),
        why=describe(patch, fired, reason),
        diff=patch.diff,
        tests={**failing, **passing},
        signals=signals or NO_SIGNALS,
        decision=decision,
        seconds=bench.clock() - started,
        cpu_s=rerun.cpu_s,
        log=_log(patch, rerun),
    )


def _control(
    case: Case, patch: InspectionPatch, rerun: Rerun, bench: Bench
) -> Mapping[str, TestRun]:
    """Passing tests under a patch that made a difference: what they break too is void."""
    changed = any(run.violations or run.verdict is Verdict.PASS for run in rerun.tests.values())
    passing = case.near.nearest(patch.target, MAX_PASSING) if changed else ()
    return bench.rerun(patch, passing).tests if passing else {}


def _outcome(
    signals: Signals | None, decision: Decision, patch: InspectionPatch, model: str
) -> Outcome:
    """The outcome, such that the measured model is only told what was measured.

    There, a callee that broke an invariant excuses nobody, and where no assertion was in place,
    that none fired says nothing.
    """
    outcome = classify(signals, decision)
    if model == "independent" or outcome not in _COLLATERAL:
        return outcome
    return Outcome.COLLATERAL_FAILURE if patch.checks else Outcome.INCONCLUSIVE


_COLLATERAL = frozenset({Outcome.COLLATERAL_FAILURE, Outcome.COLLATERAL_FAILURE_LLM_INNOCENT})


def _log(patch: InspectionPatch, rerun: Rerun) -> str:
    beats = [
        f"--- INSPECTION_START: {patch.target.fqn} --- ({node_id})"
        for node_id, run in rerun.tests.items()
        if run.covered
    ]
    notes = [f"{rerun.how}: code replaced in {rerun.n_swapped} place(s)", rerun.log]
    return "\n".join(line for line in (*notes, *beats) if line)
