"""Edits that a language model proposes: one that passes counts as a repair, whoever made it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_bayesloc.domain.evidence import InspectionOutcome, Judgement
from pytest_bayesloc.domain.inspection import Effect, Finding, InspectionPatch
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import ProposedCode
from pytest_bayesloc.inspection.strategies.generated import Pending
from pytest_bayesloc.inspection.strategies.mutants import (
    MutantTrials,
    finding_of_trials,
    loses_check,
    try_patch,
)
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.judgements import EDIT_PASSES
from pytest_bayesloc.ranking.likelihoods import weigh

NAME = "proposed fixes"
Ask = Callable[[], ProposedCode | None]


@dataclass(kw_only=True)
class ProposedFixes(InspectionStrategy):
    """Asks a language model to fix its own first suspect and the likeliest function.

    Its word moves nothing. If the failing tests pass with its edit and nothing else breaks, that is
    evidence, as for edits from the catalogue.

    Attributes:
        ask: Returns a call that asks for a fix; None where nobody may be asked.
        start: Starts a call elsewhere.
        patch: Makes a patch of an answer; None if it must not be run.
        n_targets: Functions of a group that it is asked about.
    """

    ask: Callable[[Case, Location], Ask | None]
    start: Callable[[Callable[[], Any]], Pending[Any]]
    patch: Callable[[Case, Location, ProposedCode], InspectionPatch | None]
    n_targets: int = 2
    name: str = NAME
    _asked: dict[Location, Pending[ProposedCode | None]] = field(default_factory=dict)

    def prepare(self, case: Case, budget: Budget) -> None:
        """Ask for fixes."""
        del budget
        self._asked.clear()
        named = [j.location for j in case.judged if j.said is Judgement.LLM_FIRST]
        for target in dict.fromkeys((*named, *case.targets())):
            if len(self._asked) == self.n_targets:
                break
            ask = self.ask(case, target) if case.near.is_reached(target) else None
            if ask is not None:
                self._asked[target] = self.start(ask)

    def harvest(self, case: Case, budget: Budget, *, wait_s: float) -> Iterable[Finding]:
        """Try the edits that have come, and yield what those show that pass or break others."""
        until = budget.clock() + wait_s
        for target, asked in tuple(self._asked.items()):
            is_due = asked.is_done() or until > budget.clock()
            if not is_due or not budget.left_s():
                continue
            del self._asked[target]
            try:
                answer = asked.result(max(0.0, until - budget.clock()))
            except TimeoutError:
                continue
            patch = None if answer is None else self.patch(case, target, answer)
            if patch is not None and not loses_check(case, patch):
                _, finding = try_edit(case, patch, budget)
                if finding is not None:
                    yield finding


def try_edit(
    case: Case, patch: InspectionPatch, budget: Budget
) -> tuple[MutantTrials, Finding | None]:
    """Try an edit: return what came of it, and what that shows.

    A wrong guess says nothing of the place; nor does one more repair, where one is known.

    Raises:
        ExecutionError: If the place where re-runs happen is lost.
    """
    started, tried = budget.clock(), MutantTrials()
    effect = try_patch(case, patch, budget, tried)
    known = (inspection.finding.evidence for inspection in case.inspections)
    is_known = any(e.location == patch.target and e.outcome in _REPAIRED for e in known)
    if effect not in _SAID or is_known:
        return tried, None
    outcome, others = _SAID[effect]
    learned = EDIT_PASSES if effect is Effect.REPAIRS else None
    why = f"the failing tests pass with the language model's edit, {others} ({patch.words})"
    evidence = weigh(case.model, outcome, patch.target, source=NAME, why=why, learned=learned)
    return tried, finding_of_trials(evidence, tried, budget.clock() - started)


_REPAIRED = frozenset({InspectionOutcome.EDIT_REPAIRS, InspectionOutcome.MUTANT_REPAIRS})
_SAID = {
    Effect.REPAIRS: (InspectionOutcome.EDIT_REPAIRS, "and nothing else breaks"),
    Effect.BREAKS_OTHERS: (InspectionOutcome.EDIT_BREAKS_OTHERS, "but others break"),
}
