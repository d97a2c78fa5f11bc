"""Other values of constants, in memory.

A variable of a module or class, or a default, is wrong where it is set; what fails is a function
that uses it. So the likeliest functions are asked which constants they use, and the belief in the
place that holds one grows.

Reference:
    Chandra, Torlak, Barman, Bodik: Angelic debugging. ICSE 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.inspection import (
    Effect,
    Finding,
    InspectionPatch,
    TestRun,
    Verdict,
)
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.fixes.check import N_TELLING
from pytest_bayesloc.fixes.soundness import tuned
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.inspection.trials import (
    Trials,
    finding_of_trials,
    others,
    try_patch,
    who_passes,
)
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.likelihoods import weigh

CONSTANTS = "constants"
#: Yields patches for a function; is told how a failing test went under the last one.
Propose: TypeAlias = Callable[
    [Case, Location, Callable[[], TestRun | None]], Iterator[InspectionPatch]
]

N_TARGETS = 3  # the likeliest functions, whose constants are tried
MAX_CPU_S = 2.0  # of re-runs for each: a guard against slow tests


class Constants(InspectionStrategy):
    """Tries other values of the variables and defaults that the likeliest functions use."""

    name = CONSTANTS

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    def explore(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Yield each place whose constant repairs everything, if no other edit is known to."""
        guard, found = case.guard, set[Location]()
        if guard is not None and guard.owner.is_test:
            return  # another limit would let the wrong data of the test pass
        if any(finding.repair is not None for finding in case.inspections):
            return
        for target, _ in case.belief.top(N_TARGETS):
            started, tried = budget.clock(), Trials()
            patch = self._repair(case, target, budget, tried)
            if patch is not None and patch.target not in found:
                found.add(patch.target)
                who, rest = who_passes(case, tried.tests), others(case, tried.tests)
                why = f"{who} with another constant{rest} ({patch.words.partition(', ')[2]})"
                outcome = InspectionOutcome.CONSTANT_REPAIRS
                evidence = weigh(case.model, outcome, patch.target, source=CONSTANTS, why=why)
                yield finding_of_trials(evidence, tried, budget.clock() - started)

    def _repair(
        self, case: Case, target: Location, budget: Budget, tried: Trials
    ) -> InspectionPatch | None:
        """Return the first constant that ``target`` uses with which everything passes."""

        def last() -> TestRun | None:
            own = (run for node_id, run in tried.last.items() if node_id in case.failing)
            return next((run for run in own if run.verdict is Verdict.FAIL), None)

        for patch in self._propose(case, target, last):
            if not budget.left_s() or tried.cpu_s > MAX_CPU_S:
                break
            tried.last = {}
            if patch.target in case.belief.probabilities:
                effect = try_patch(case, patch, budget, tried, near=target)
                if effect is Effect.REPAIRS and (
                    len(tried.last) >= N_TELLING or not tuned(patch.original, patch.patched)
                ):
                    return patch
        return None
