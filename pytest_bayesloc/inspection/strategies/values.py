"""Other values in memory: of results that a failed comparison saw, and of constants.

Where a comparison failed, each call of the target that makes one of its sides returns the other
one. The target itself runs as ever, so that its effects are those that the tests have anyway.

A variable of a module or class, or a default, is wrong where it is set; what fails is a function
that uses it. So the likeliest functions are asked which constants they use, and the belief in the
place that holds one grows.

Reference:
    Chandra, Torlak, Barman, Bodik: Angelic debugging. ICSE 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome
from pytest_bayesloc.domain.inspection import (
    Effect,
    Finding,
    InspectionPatch,
    TestRun,
    Trial,
    Verdict,
)
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.fixes.check import N_TELLING
from pytest_bayesloc.fixes.soundness import tuned
from pytest_bayesloc.inspection.strategies.mutants import (
    LEAST_S,
    Trials,
    effect_on,
    finding_of_trials,
    others,
    try_patch,
    who_passes,
)
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.likelihoods import weigh
from pytest_bayesloc.syntax.text import brief

RETURNS, CONSTANTS = "returns", "constants"
#: Text of the file of a function whose results may be replaced; None of one whose may not.
TextOf: TypeAlias = Callable[[Location], str | None]
#: Per failing test, the literal that it is given, and the one in whose place.
Attempt: TypeAlias = Mapping[str, tuple[str, str]]
#: Yields patches for a function; is told how a failing test went under the last one.
Propose: TypeAlias = Callable[
    [Case, Location, Callable[[], TestRun | None]], Iterator[InspectionPatch]
]

MAX_TESTS = 3  # failing tests that must pass with other results
ALONE = InspectionOutcome.RETURN_REPAIRS  # whatever its callees return
N_TARGETS = 3  # the likeliest functions, whose constants are tried
MAX_CPU_S = 2.0  # of re-runs for each: a guard against slow tests, as that of mutants


class Returns(InspectionStrategy):
    """Returns one side of the failed comparison for the other, where ``text_of`` finds a text."""

    name = RETURNS
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
            effect, is_placed = _try(case, target, text or "", attempt, budget, tried)
            if effect is Effect.REPAIRS or not is_placed:
                break
        if not tried.trials:
            return ()
        outcome = judge([trial.effect for trial in tried.trials])
        why = describe_returns(tried, outcome, who)
        evidence = weigh(case.model, outcome, target, source=RETURNS, why=why)
        return [finding_of_trials(evidence, tried, budget.clock() - started)]

    def is_due(self, case: Case, target: Location) -> bool:
        """Say whether another result of a caller is enough: that of ``target`` may be, too."""
        found = {i.target for i in case.inspections if i.evidence.outcome is ALONE}
        edges = case.recording.edges
        return any(by_callee((where, target), edges).get(where) == target for where in found)

    def revise(self, case: Case) -> Iterator[Evidence]:
        """Yield what a caller is worth whose callee turned out to be enough."""
        return revised(case)


def judge(effects: Sequence[Effect]) -> InspectionOutcome:
    """Judge a target by the effects of both sides."""
    if Effect.REPAIRS in effects:
        return InspectionOutcome.RETURN_REPAIRS
    if Effect.INCONCLUSIVE in effects:
        return InspectionOutcome.INCONCLUSIVE
    return InspectionOutcome.NO_RETURN_REPAIRS


def revised(case: Case) -> Iterator[Evidence]:
    """Yield what a caller is worth whose callee turned out to be enough."""
    findings = [inspection.evidence for inspection in case.inspections]
    found = {e.location: e.outcome for e in findings if e.source == RETURNS}
    alone, below = InspectionOutcome.RETURN_REPAIRS, InspectionOutcome.RETURN_REPAIRS_BY_CALLEE
    repaired = [where for where, outcome in found.items() if outcome in {alone, below}]
    for where, callee in by_callee(repaired, case.recording.edges).items():
        if found[where] is alone:
            why = f"the failing tests pass if {callee.qualname}, which it calls, returns another"
            yield weigh(case.model, below, where, source=RETURNS, why=f"{why} value")


def by_callee(
    repaired: Iterable[Location], calls: Mapping[tuple[Location, Location], int]
) -> dict[Location, Location]:
    """Map those of ``repaired`` that call another one, directly or not, to it.

    Of functions that call each other none is deeper.
    """
    known = sorted(repaired)
    if len(known) < 2:
        return {}
    from pytest_bayesloc.ranking import graph

    called = graph.call_graph(calls)
    below = {where: graph.below(called, where) for where in known}
    deeper = {
        where: [w for w in known if w in below[where] and where not in below[w]] for where in known
    }
    return {where: inner[0] for where, inner in deeper.items() if inner}


def attempts(case: Case, target: Location) -> Iterator[Attempt]:
    """Yield what to try: the second side instead of the first one, then the reverse.

    Each test is given its own. Nothing is tried if a test does not call ``target``, which can't
    have made it fail then, or if by the recorded calls it returned no plain side in any.
    """
    calls = {
        node_id: [call for call in case.recording.calls.get(node_id, ()) if call.location == target]
        for node_id in case.failing[:MAX_TESTS]
    }
    sides: dict[str, tuple[str, ...]] = {}
    for node_id, own in calls.items():
        texts = [call.result.text for call in own if call.result is not None]
        both = case.sides.get(node_id, ())
        is_telling = all(both) and len(set(both)) > 1
        if is_telling and any(text is None or text in both for text in texts):
            sides[node_id] = both
    if sides and all(calls.values()):
        yield {n: (right, left) for n, (left, right) in sides.items()}
        yield {n: (left, right) for n, (left, right) in sides.items()}


def _try(
    case: Case, target: Location, text: str, attempt: Attempt, budget: Budget, tried: Trials
) -> tuple[Effect, bool]:
    """Run each failing test with its value, until one fails with another one in place.

    Returns:
        The effect, and whether the last patch could be put in place.
    """
    effects: list[Effect] = []
    is_placed, words = False, ""
    for node_id, forced in attempt.items():
        value, instead = map(brief, forced)
        said = f"`{value}` instead of `{instead}`"
        words = words or said
        patch = InspectionPatch(
            target=target, kind=RETURNS, original=text, patched=text, words=said, forced=forced
        )
        rerun = budget.rerun(patch, [node_id], at_most_s=budget.patience_s(LEAST_S))
        is_placed = bool(rerun.n_swapped)
        tried.tests = rerun.tests
        tried.cpu_s += rerun.cpu_s
        effect = effect_on(case, rerun)
        effects.append(effect)
        is_replaced = rerun.tests[node_id].covered
        if effect is Effect.INCONCLUSIVE or (is_replaced and effect is not Effect.REPAIRS):
            break
    else:
        effect = max(effects, key=lambda effect: effect.rank)
    n_passed = effects.count(Effect.REPAIRS)
    if n_passed and effect is not Effect.REPAIRS:
        effect = Effect.REPAIRS_SOME
    tried.trials.append(Trial(line=0, words=words, effect=effect, n_passed=n_passed))
    return effect, is_placed


def describe_returns(tried: Trials, outcome: InspectionOutcome, who: str) -> str:
    """Return the outcome of other results in a sentence; ``who`` passes with the last."""
    if outcome is InspectionOutcome.RETURN_REPAIRS:
        return f"{who} if it returns {tried.trials[-1].words}"
    if outcome is InspectionOutcome.NO_RETURN_REPAIRS:
        return "the tests still fail if it returns the other side of the comparison"
    return "a re-run with another result did not end, or the function could not be reached"


class Constants(InspectionStrategy):
    """Tries other values of the variables and defaults that the likeliest functions use."""

    name = CONSTANTS

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    def open(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Yield each place whose constant repairs everything, also where the belief is decided."""
        guard, found = case.guard, set[Location]()
        if guard is not None and guard.owner.is_test:
            return  # another limit would let the wrong data of the test pass
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
