"""Mutants of the target: does a small edit turn the failing tests green, and break nothing?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.domain.inspection import (
    Effect,
    Finding,
    InspectionPatch,
    Rerun,
    Signals,
    TestRun,
    Trial,
    Verdict,
)
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.fixes.mutations import KIND
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.likelihoods import weigh

Propose = Callable[[Location, Mapping[int, float]], Iterator[InspectionPatch]]

MAX_MUTANTS = 24  # of one target
MIN_CONCLUSIVE = 3  # that must fail to flip anything before that says something
MAX_FAILING = 10
MAX_PASSING = 10
LEAST_S = 0.5  # a mutant may loop: it gets much less time than the tests themselves would


@dataclass
class _MutantTrials:
    """The mutants of one target so far; the best is the one that repairs most."""

    trials: list[Trial] = field(default_factory=list)
    best: InspectionPatch | None = None
    tests: Mapping[str, TestRun] = field(default_factory=dict)
    cpu_s: float = 0.0
    is_stuck: bool = False  # the last one did not end

    def add(self, patch: InspectionPatch, effect: Effect, tests: Mapping[str, TestRun]) -> None:
        self.is_stuck = any(run.verdict in _ENDLESS for run in tests.values())
        leading = max((trial.effect.rank for trial in self.trials), default=-1)
        if effect.rank > leading:
            self.best, self.tests = patch, tests
        passed = sum(run.verdict is Verdict.PASS for run in tests.values())
        self.trials.append(
            Trial(line=patch.line, words=patch.words, effect=effect, n_passed=passed)
        )


def judge(effects: Sequence[Effect]) -> InspectionOutcome:
    """Judge a target by the effects of all its mutants."""
    if Effect.REPAIRS in effects:
        return InspectionOutcome.MUTANT_REPAIRS
    if Effect.BREAKS_OTHERS in effects:
        return InspectionOutcome.MUTANT_BREAKS_OTHERS
    conclusive = [effect for effect in effects if effect is not Effect.INCONCLUSIVE]
    if len(conclusive) < MIN_CONCLUSIVE:
        return InspectionOutcome.INCONCLUSIVE
    matters = any(effect is not Effect.SAME_ERROR for effect in conclusive)
    return InspectionOutcome.NO_MUTANT_FLIPS if matters else InspectionOutcome.NO_MUTANT_MATTERS


class Mutants(InspectionStrategy):
    """Tries small edits of a function one by one.

    Args:
        propose: Mutants of a location, given the suspiciousness of its lines.
    """

    name = KIND
    outcomes = (
        InspectionOutcome.MUTANT_REPAIRS,
        InspectionOutcome.MUTANT_BREAKS_OTHERS,
        InspectionOutcome.NO_MUTANT_FLIPS,
        InspectionOutcome.NO_MUTANT_MATTERS,
    )
    seconds = 0.3

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    def inspect(self, case: Case, target: Location, budget: Budget) -> Sequence[Finding]:
        """Try mutants until one repairs everything, or enough were tried."""
        started = budget.clock()
        tried = _MutantTrials()
        stuck: set[int] = set()  # lines where a mutant did not end
        for patch in self._propose(target, case.near.suspiciousness(target)):
            if not budget.left_s() or len(tried.trials) == MAX_MUTANTS:
                break
            if patch.line in stuck:
                continue
            effect = _try(case, patch, budget, tried)
            if effect is Effect.INCONCLUSIVE and tried.is_stuck:
                stuck.add(patch.line)
            if effect is Effect.REPAIRS:
                break
        if not tried.trials:
            return ()
        return [_finding(case, target, tried, budget.clock() - started)]


_ENDLESS = frozenset({Verdict.TIMEOUT, Verdict.CRASH})


def _try(case: Case, patch: InspectionPatch, budget: Budget, tried: _MutantTrials) -> Effect:
    """Run one failing test; if it passes all of the group; then what passed before."""
    at_most_s = budget.patience_s(LEAST_S)
    failing = case.failing_of(patch.target, MAX_FAILING)
    first = budget.rerun(patch, failing[:1], at_most_s=at_most_s)
    tried.cpu_s += first.cpu_s
    runs = dict(first.tests)
    effect = _effect_on_first(case, first)
    if effect is Effect.REPAIRS and failing[1:]:
        rest = budget.rerun(patch, failing[1:], at_most_s=at_most_s)
        tried.cpu_s += rest.cpu_s
        runs.update(rest.tests)
        if not _all_pass(rest):
            effect = Effect.REPAIRS_SOME
    if effect is Effect.REPAIRS:
        passing = case.near.nearest(patch.target, MAX_PASSING, line=patch.line)
        if passing:
            control = budget.rerun(patch, passing, at_most_s=at_most_s + 1.0)
            tried.cpu_s += control.cpu_s
            runs.update(control.tests)
            effect = Effect.REPAIRS if _all_pass(control) else Effect.BREAKS_OTHERS
    tried.add(patch, effect, runs)
    return effect


def _effect_on_first(case: Case, rerun: Rerun) -> Effect:
    for node_id, run in rerun.tests.items():
        if run.verdict is Verdict.PASS and rerun.n_swapped:
            return Effect.REPAIRS
        if run.verdict is Verdict.FAIL and rerun.n_swapped:
            same = run.error == case.errors.get(node_id, run.error)
            return Effect.SAME_ERROR if same else Effect.OTHER_ERROR
    return Effect.INCONCLUSIVE


def _all_pass(rerun: Rerun) -> bool:
    return all(run.verdict is Verdict.PASS for run in rerun.tests.values())


def _finding(case: Case, target: Location, tried: _MutantTrials, seconds: float) -> Finding:
    outcome = judge([trial.effect for trial in tried.trials])
    flips = outcome in {InspectionOutcome.MUTANT_REPAIRS, InspectionOutcome.MUTANT_BREAKS_OTHERS}
    return Finding(
        evidence=weigh(case.model, outcome, target, source=KIND, why=_why(tried, outcome)),
        diff=tried.best.diff if tried.best is not None else "",
        tests=tried.tests,
        signals=Signals(is_covered=True, has_target_assertion=False, is_failure=not flips),
        seconds=seconds,
        cpu_s=tried.cpu_s,
        log="\n".join(f"{trial.effect.value}: {trial.words}" for trial in tried.trials),
        trials=tuple(tried.trials),
    )


def _why(tried: _MutantTrials, outcome: InspectionOutcome) -> str:
    n = len(tried.trials)
    words = tried.best.words if tried.best is not None else ""
    if outcome is InspectionOutcome.MUTANT_REPAIRS:
        return f"the failing tests pass with one small edit, and nothing else breaks ({words})"
    if outcome is InspectionOutcome.MUTANT_BREAKS_OTHERS:
        return f"the failing tests pass with one small edit, but others break ({words})"
    if outcome is InspectionOutcome.NO_MUTANT_FLIPS:
        return f"none of {n} small edits turned the failing tests green"
    if outcome is InspectionOutcome.NO_MUTANT_MATTERS:
        return f"the tests fail in the same way whatever is edited in it ({n} small edits)"
    return f"{n} small edit{'' if n == 1 else 's'} tried: too few ended to say anything"
