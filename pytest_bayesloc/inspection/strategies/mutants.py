"""Mutants of the target: does a small edit turn the failing tests green, and break nothing?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_bayesloc.domain.evidence import Outcome
from pytest_bayesloc.domain.inspection import (
    Effect,
    InspectionPatch,
    Rerun,
    Signals,
    TestRun,
    Trial,
    Verdict,
)
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.fixes.mutations import KIND
from pytest_bayesloc.inspection.strategy import Bench, Kind
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.finding import Finding

Propose = Callable[[Location, Mapping[int, float]], Iterator[InspectionPatch]]

MAX_MUTANTS = 24  # of one target
MIN_CONCLUSIVE = 3  # that must fail to flip anything before that says something
MAX_FAILING = 10
MAX_PASSING = 10
LEAST_S = 0.5  # a mutant may loop: it gets much less time than the tests themselves would


@dataclass
class _Tried:
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

    def outcome(self) -> Outcome:
        return judged([trial.effect for trial in self.trials])


def judged(effects: Sequence[Effect]) -> Outcome:
    """What the effects of all mutants of a target amount to."""
    if Effect.REPAIRS in effects:
        return Outcome.MUTANT_REPAIRS
    if Effect.BREAKS_OTHERS in effects:
        return Outcome.MUTANT_BREAKS_OTHERS
    conclusive = [effect for effect in effects if effect is not Effect.INCONCLUSIVE]
    if len(conclusive) < MIN_CONCLUSIVE:
        return Outcome.INCONCLUSIVE
    matters = any(effect is not Effect.SAME_ERROR for effect in conclusive)
    return Outcome.NO_MUTANT_FLIPS if matters else Outcome.NO_MUTANT_MATTERS


class Mutants(Kind):
    """Tries small edits of a function one by one.

    Args:
        propose: Mutants of a location, given the suspiciousness of its lines.
    """

    name = KIND
    outcomes = (
        Outcome.MUTANT_REPAIRS,
        Outcome.MUTANT_BREAKS_OTHERS,
        Outcome.NO_MUTANT_FLIPS,
        Outcome.NO_MUTANT_MATTERS,
    )
    seconds = 0.3

    def __init__(self, propose: Propose) -> None:
        self._propose = propose

    def inspect(self, case: Case, target: Location, bench: Bench) -> Sequence[Finding]:
        """Try mutants until one repairs everything, or enough were tried."""
        started = bench.clock()
        tried = _Tried()
        stuck: set[int] = set()  # lines where a mutant did not end
        for patch in self._propose(target, case.near.suspiciousness(target)):
            if not bench.left_s() or len(tried.trials) == MAX_MUTANTS:
                break
            if patch.line in stuck:
                continue
            effect = _try(case, patch, bench, tried)
            if effect is Effect.INCONCLUSIVE and tried.is_stuck:
                stuck.add(patch.line)
            if effect is Effect.REPAIRS:
                break
        if not tried.trials:
            return ()
        return [_finding(tried, bench.clock() - started)]


_ENDLESS = frozenset({Verdict.TIMEOUT, Verdict.CRASH})


def _try(case: Case, patch: InspectionPatch, bench: Bench, tried: _Tried) -> Effect:
    """One failing test first; all of the group if it passes; then what passed before."""
    at_most_s = bench.patience_s(LEAST_S)
    failing = case.failing_of(patch.target, MAX_FAILING)
    first = bench.rerun(patch, failing[:1], at_most_s=at_most_s)
    tried.cpu_s += first.cpu_s
    runs = dict(first.tests)
    effect = _effect_on_first(case, first)
    if effect is Effect.REPAIRS and failing[1:]:
        rest = bench.rerun(patch, failing[1:], at_most_s=at_most_s)
        tried.cpu_s += rest.cpu_s
        runs.update(rest.tests)
        if not _all_pass(rest):
            effect = Effect.REPAIRS_SOME
    if effect is Effect.REPAIRS:
        passing = case.near.nearest(patch.target, MAX_PASSING, line=patch.line)
        if passing:
            control = bench.rerun(patch, passing, at_most_s=at_most_s + 1.0)
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


def _finding(tried: _Tried, seconds: float) -> Finding:
    outcome = tried.outcome()
    flips = outcome in {Outcome.MUTANT_REPAIRS, Outcome.MUTANT_BREAKS_OTHERS}
    return Finding(
        kind=KIND,
        outcome=outcome,
        why=_why(tried, outcome),
        diff=tried.best.diff if tried.best is not None else "",
        tests=tried.tests,
        signals=Signals(is_covered=True, has_target_assertion=False, is_failure=not flips),
        seconds=seconds,
        cpu_s=tried.cpu_s,
        log="\n".join(f"{trial.effect.value}: {trial.words}" for trial in tried.trials),
        trials=tuple(tried.trials),
    )


def _why(tried: _Tried, outcome: Outcome) -> str:
    n = len(tried.trials)
    words = tried.best.words if tried.best is not None else ""
    if outcome is Outcome.MUTANT_REPAIRS:
        return f"the failing tests pass with one small edit, and nothing else breaks ({words})"
    if outcome is Outcome.MUTANT_BREAKS_OTHERS:
        return f"the failing tests pass with one small edit, but others break ({words})"
    if outcome is Outcome.NO_MUTANT_FLIPS:
        return f"none of {n} small edits turned the failing tests green"
    if outcome is Outcome.NO_MUTANT_MATTERS:
        return f"the tests fail in the same way whatever is edited in it ({n} small edits)"
    return f"{n} small edit{'' if n == 1 else 's'} tried: too few ended to say anything"
