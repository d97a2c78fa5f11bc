"""Assertions in the target: does it break what held in all passing calls?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError
from pytest_bayesloc.domain.evidence import Decision, Outcome
from pytest_bayesloc.domain.inspection import InspectionPatch, Signals
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.inspection.proposals.assertions import KIND
from pytest_bayesloc.inspection.reflection import describe, reflect
from pytest_bayesloc.inspection.strategy import Bench, Kind
from pytest_bayesloc.inspection.watching import watch
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.invariants import Invariant
from pytest_bayesloc.ranking.finding import NO_SIGNALS, Finding
from pytest_bayesloc.ranking.outcomes import classify

Propose = Callable[[Location, Sequence[Invariant]], Sequence[InspectionPatch]]


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
        return [_finding(case, patch, bench) for patch in patches if bench.left_s()]


def _finding(case: Case, patch: InspectionPatch, bench: Bench) -> Finding:
    seen = watch(case, patch, bench)
    decision, reason = reflect(patch, seen.fired, case.innocent)
    return Finding(
        kind=patch.kind,
        outcome=_outcome(seen.signals, decision, patch, case.model),
        why=describe(patch, seen.fired, reason),
        diff=patch.diff,
        tests=seen.tests,
        signals=seen.signals or NO_SIGNALS,
        decision=decision,
        seconds=seen.seconds,
        cpu_s=seen.cpu_s,
        log=seen.log,
    )


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
