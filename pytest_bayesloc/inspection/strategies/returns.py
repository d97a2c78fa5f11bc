"""Replaced results: do the failing tests pass if the target returns what they expect?

Where a comparison failed, each call of the target that makes one of its sides returns the other
one. The target itself runs as ever, so that its effects are those that the tests have anyway.

Reference:
    Chandra, Torlak, Barman, Bodik: Angelic debugging. ICSE 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome
from pytest_bayesloc.domain.inspection import (
    Effect,
    Finding,
    ForcedResult,
    InspectionPatch,
    Rerun,
    Trial,
    Verdict,
)
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call
from pytest_bayesloc.fixes.syntax import brief
from pytest_bayesloc.inspection.strategies.mutants import Trials, finding_of_trials, who_passes
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.likelihoods import weigh
from pytest_bayesloc.spectrum.definitions import closure

KIND = "returns"
#: Text of the file of a function whose results may be replaced; None of one whose may not.
TextOf = Callable[[Location], str | None]
#: Per failing test, what it is given.
Attempt = Mapping[str, ForcedResult]

MAX_TESTS = 3  # failing tests that must pass
LEAST_S = 0.5


class Returns(InspectionStrategy):
    """Puts one side of the failed comparison in the place of the other one.

    Args:
        text_of: Says which functions may be tried.
    """

    name = KIND
    outcomes = (InspectionOutcome.RETURN_REPAIRS, InspectionOutcome.NO_RETURN_REPAIRS)

    def __init__(self, text_of: TextOf) -> None:
        self._text_of = text_of

    def inspect(self, case: Case, target: Location, budget: Budget) -> Sequence[Finding]:
        """Try both sides, until all failing tests pass with one."""
        text, started, tried = self._text_of(target), budget.clock(), Trials()
        who = ""
        for attempt in attempts(case, target) if text is not None else ():
            if not budget.left_s():
                break
            who = who_passes(case, attempt)
            patches = _patches(target, text or "", attempt)
            effect, is_placed = _try(case, patches, budget, tried)
            if effect is Effect.REPAIRS or not is_placed:
                break
        if not tried.trials:
            return ()
        outcome = judge(tried.effects())
        evidence = weigh(case.model, outcome, target, source=KIND, why=_why(tried, outcome, who))
        return [finding_of_trials(evidence, tried, budget.clock() - started)]

    def revise(self, case: Case) -> Iterator[Evidence]:
        """Yield what a caller is worth whose callee turned out to be enough."""
        return revised(case)


_REPAIRING = frozenset(
    {InspectionOutcome.RETURN_REPAIRS, InspectionOutcome.RETURN_REPAIRS_BY_CALLEE}
)


def judge(effects: Sequence[Effect]) -> InspectionOutcome:
    """Judge a target by the effects of both sides."""
    if Effect.REPAIRS in effects:
        return InspectionOutcome.RETURN_REPAIRS
    if Effect.INCONCLUSIVE in effects:
        return InspectionOutcome.INCONCLUSIVE
    return InspectionOutcome.NO_RETURN_REPAIRS


# -- callers and callees


def revised(case: Case) -> Iterator[Evidence]:
    """Yield what a caller is worth whose callee turned out to be enough."""
    findings = [inspection.evidence for inspection in case.inspections]
    found = {e.location: e.outcome for e in findings if e.source == KIND}
    repaired = [where for where, outcome in found.items() if outcome in _REPAIRING]
    for where, callee in by_callee(repaired, case.recording.edges).items():
        if found[where] is InspectionOutcome.RETURN_REPAIRS:
            outcome = InspectionOutcome.RETURN_REPAIRS_BY_CALLEE
            why = f"the failing tests pass if {callee.qualname}, which it calls, returns another"
            yield weigh(case.model, outcome, where, source=KIND, why=f"{why} value")


def by_callee(
    repaired: Iterable[Location], edges: Iterable[tuple[Location, Location]]
) -> dict[Location, Location]:
    """Map those of ``repaired`` that call another one, directly or not, to it.

    Of functions that call each other none is deeper.
    """
    callees: dict[Location, set[Location]] = {}
    for caller, callee in edges:
        callees.setdefault(caller, set()).add(callee)
    known = sorted(repaired)
    below = {where: closure(where, callees) for where in known}
    deeper = {
        where: [w for w in known if w in below[where] and where not in below[w]] for where in known
    }
    return {where: inner[0] for where, inner in deeper.items() if inner}


# -- what is tried


def attempts(case: Case, target: Location) -> Iterator[Attempt]:
    """Yield what to try: the second side instead of the first one, then the reverse.

    Each test is given its own. Nothing is tried if a test does not call ``target``, which can't
    have made it fail then, or if by the recorded calls it returned no plain side in any.
    """
    calls = {
        node_id: [call for call in case.recording.calls.get(node_id, ()) if call.location == target]
        for node_id in case.failing[:MAX_TESTS]
    }
    sides = {
        node_id: case.sides.get(node_id, ())
        for node_id, own in calls.items()
        if _may_give_back(own, case.sides.get(node_id, ()))
    }
    if sides and all(calls.values()):
        yield {n: ForcedResult(value=right, instead=left) for n, (left, right) in sides.items()}
        yield {n: ForcedResult(value=left, instead=right) for n, (left, right) in sides.items()}


def _may_give_back(calls: Sequence[Call], sides: Sequence[str]) -> bool:
    """Return whether one of ``calls`` may have returned one of two ``sides`` that differ."""
    if not all(sides) or len(set(sides)) < 2:
        return False
    results = [call.result for call in calls if call.result is not None]
    return any(value.text is None or value.text in sides for value in results)


def _patches(target: Location, text: str, attempt: Attempt) -> dict[str, InspectionPatch]:
    return {
        node_id: InspectionPatch(
            target=target,
            kind=KIND,
            original=text,
            patched=text,
            words=f"`{brief(forced.value)}` instead of `{brief(forced.instead)}`",
            forced=forced,
        )
        for node_id, forced in attempt.items()
    }


def _try(
    case: Case, patches: Mapping[str, InspectionPatch], budget: Budget, tried: Trials
) -> tuple[Effect, bool]:
    """Run each failing test under its patch, until one fails with another value in place.

    Returns:
        The effect, and whether the last patch could be put in place.
    """
    effects: list[Effect] = []
    is_placed = False
    for node_id, patch in patches.items():
        rerun = budget.rerun(patch, [node_id], at_most_s=budget.patience_s(LEAST_S))
        is_placed = bool(rerun.n_swapped)
        tried.tests = rerun.tests
        tried.cpu_s += rerun.cpu_s
        effects.append(_effect(case, node_id, rerun))
        is_replaced = rerun.tests[node_id].covered
        if effects[-1] is Effect.INCONCLUSIVE or (
            is_replaced and effects[-1] is not Effect.REPAIRS
        ):
            break
    else:
        effects.append(max(effects, key=lambda effect: effect.rank))
    n_passed = effects[:-1].count(Effect.REPAIRS)
    effect = Effect.REPAIRS_SOME if n_passed and effects[-1] is not Effect.REPAIRS else effects[-1]
    words = next(iter(patches.values())).words
    tried.trials.append(Trial(line=0, words=words, effect=effect, n_passed=n_passed))
    return effect, is_placed


def _effect(case: Case, node_id: str, rerun: Rerun) -> Effect:
    run = rerun.tests[node_id]
    if not rerun.n_swapped or run.verdict not in {Verdict.PASS, Verdict.FAIL}:
        return Effect.INCONCLUSIVE
    if run.verdict is Verdict.PASS:
        return Effect.REPAIRS
    same = run.error == case.errors.get(node_id, run.error)
    return Effect.SAME_ERROR if same else Effect.OTHER_ERROR


def _why(tried: Trials, outcome: InspectionOutcome, who: str) -> str:
    if outcome is InspectionOutcome.RETURN_REPAIRS:
        return f"{who} if it returns {tried.trials[-1].words}"
    if outcome is InspectionOutcome.NO_RETURN_REPAIRS:
        return "the tests still fail if it returns the other side of the comparison"
    return "a re-run with another result did not end, or the function could not be reached"
