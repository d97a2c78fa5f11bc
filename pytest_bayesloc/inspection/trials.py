"""Whether an edit turns the failing tests green, breaks nothing, and keeps checks that refused."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome
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
from pytest_bayesloc.domain.source import map_of, tree_of
from pytest_bayesloc.fixes.check import N_TELLING
from pytest_bayesloc.fixes.soundness import doubt, emptied
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.guards import Guard
from pytest_bayesloc.syntax.nodes import called_name, nodes_of, walk
from pytest_bayesloc.syntax.text import edited


def drops_check(patch: InspectionPatch, guard: Guard, *, is_tested: bool = False) -> bool:
    """Say whether ``patch`` drops ``guard``, turns it round, or no longer calls it.

    Another limit or constant in its condition is a repair of the check, and counts, unless test
    code made what was refused: there it lets bad data pass. Where passing tests see the check
    refuse what they give it (``is_tested``), they judge that.
    """
    before = tree_of(edited(patch.original, patch.original, patch.target))
    after = tree_of(edited(patch.original, patch.patched, patch.target))
    if before is None or after is None:
        return False
    name = guard.function.qualname.rpartition(".")[2]
    if patch.target != guard.function:
        return _n_calls(after, name) < _n_calls(before, name)
    old = [test for test in _checks(before) if ast.unparse(test) == guard.condition]
    if not old:  # code of a library refused
        return guard.condition in ast.unparse(before) and guard.condition not in ast.unparse(after)
    kept = list(_checks(after))
    if guard.owner.is_test and not is_tested:
        return guard.condition not in map(ast.unparse, kept)
    return _shape(old[0]) not in map(_shape, kept)


def _n_calls(function: ast.AST, name: str) -> int:
    return sum(called_name(call) == name for call in nodes_of(function, ast.Call))


def _checks(function: ast.AST) -> Iterator[ast.expr]:
    """Yield the conditions under which ``function`` refuses to go on."""
    for node in walk(function):
        if isinstance(node, ast.Assert) or (
            isinstance(node, ast.If)
            and any(isinstance(statement, ast.Raise) for statement in (*node.body, *node.orelse))
        ):
            yield node.test


_LIMITS = {"LtE": "Lt", "GtE": "Gt"}


def _shape(test: ast.expr) -> tuple[str, ...]:
    """Return the parts of a condition, its names and constants left out."""
    kinds = (type(node).__name__ for node in walk(test) if not isinstance(node, ast.Constant))
    return tuple(_LIMITS.get(kind, kind) for kind in kinds)


MAX_FAILING = 10
MAX_PASSING = 10
MAX_CONTROLS = 3  # re-runs of passing tests: one that does not end keeps the rest from running
LEAST_S = 0.5  # an edit may loop: it gets much less time than the tests themselves would


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A patch that was tried.

    Attributes:
        effect: What came of it.
        tests: How tests went under it.
        cpu_s: CPU seconds of them.
    """

    patch: InspectionPatch
    effect: Effect
    tests: Mapping[str, TestRun]
    cpu_s: float

    @property
    def doubt(self) -> str:
        """Says why it is probably no fix although it repairs."""
        if self.effect is not Effect.REPAIRS:
            return ""
        asked = emptied if len(self.tests) >= N_TELLING else doubt
        return asked(self.patch.original, self.patch.patched)


def loses_check(case: Case, patch: InspectionPatch) -> bool:
    """Say whether a patch takes away the check that the failing tests failed at."""
    guard = case.guard
    if guard is None:
        return False
    is_tested = patch.target == guard.function and is_judged(case, guard, patch.original)
    return drops_check(patch, guard, is_tested=is_tested)


def is_judged(case: Case, guard: Guard, text: str) -> bool:
    """Say whether passing tests see a check refuse what they give it; ``text`` is of its file."""
    unit = map_of(text, guard.function.file).unit(guard.function)
    refusing = {  # lines on which it refuses
        statement.lineno
        for check in (nodes_of(unit.node, ast.If) if unit is not None else ())
        if ast.unparse(check.test) == guard.condition
        for statement in (*check.body, *check.orelse)
        if isinstance(statement, ast.Raise)
    }
    rows = case.spectrum.lines.get(guard.function, {})
    return any(rows.get(line, 0) & case.spectrum.passing for line in refusing)


def clear_of_check(case: Case, patch: InspectionPatch | None) -> None:
    """Let nobody answer for data that a check refused, if ``patch`` repairs: it was too strict."""
    if patch is None or case.guard is None or patch.target != case.guard.function:
        return
    after = tree_of(edited(patch.original, patch.patched, patch.target))
    if after is not None and case.guard.condition not in map(ast.unparse, _checks(after)):
        case.retell("guard", ())


_ENDED = frozenset({Verdict.PASS, Verdict.FAIL})


def try_patch(case: Case, patch: InspectionPatch, budget: Budget) -> Tried:
    """Run one failing test; if it passes all of the group; then what passed before."""
    at_most_s = budget.patience_s(LEAST_S)
    failing = case.failing_of(patch.target, MAX_FAILING)
    first = budget.rerun(patch, failing[:1], at_most_s=at_most_s)
    cpu_s, runs = first.cpu_s, dict(first.tests)
    effect = effect_on(case, first)
    if effect is Effect.REPAIRS and failing[1:]:
        rest = budget.rerun(patch, failing[1:], at_most_s=at_most_s)
        cpu_s += rest.cpu_s
        runs.update(rest.tests)
        if any(run.verdict is not Verdict.PASS for run in rest.tests.values()):
            effect = Effect.REPAIRS_SOME
    if effect is Effect.REPAIRS:
        passing = case.near.nearest(patch.target, MAX_PASSING, line=patch.line)
        control, more_s = _control(patch, passing, budget)
        cpu_s += more_s
        runs.update(control)
        verdicts = {run.verdict for run in control.values()}
        if Verdict.FAIL in verdicts:
            effect = Effect.BREAKS_OTHERS
        elif control and Verdict.PASS not in verdicts:
            effect = Effect.INCONCLUSIVE  # a test that did not end says nothing
    return Tried(patch=patch, effect=effect, tests=runs, cpu_s=cpu_s)


def _control(
    patch: InspectionPatch, passing: Sequence[str], budget: Budget
) -> tuple[dict[str, TestRun], float]:
    """Run tests that passed, those behind one that did not end as well; return CPU seconds, too.

    Where none ended, the first one is timed as it is, and gets the time that it takes.
    """
    at_most_s = budget.patience_s(LEAST_S) + 1.0
    runs: dict[str, TestRun] = {}
    pending, n_left, cpu_s = list(passing), MAX_CONTROLS, 0.0
    while pending and n_left:
        rerun = budget.rerun(patch, pending, at_most_s=at_most_s)
        cpu_s += rerun.cpu_s
        runs.update(rerun.tests)
        pending = [n for n, run in rerun.tests.items() if run.verdict is Verdict.NOT_RUN]
        n_left -= 1
    if runs and not any(run.verdict in _ENDED for run in runs.values()) and budget.left_s():
        usual = budget.rerun(None, passing[:1])
        if usual.tests[passing[0]].verdict is Verdict.PASS:
            rerun = budget.rerun(patch, passing[:1], at_most_s=at_most_s + 2.0 * usual.seconds)
            runs.update(rerun.tests)
    return runs, cpu_s


def effect_on(case: Case, rerun: Rerun) -> Effect:
    """Return the effect of a patch on the first test that was run under it."""
    for node_id, run in rerun.tests.items() if rerun.n_swapped else ():
        if run.verdict is Verdict.PASS:
            return Effect.REPAIRS
        if run.verdict is Verdict.FAIL:
            same = run.error == case.errors.get(node_id, run.error)
            return Effect.SAME_ERROR if same else Effect.OTHER_ERROR
    return Effect.INCONCLUSIVE


def finding_of_try(evidence: Evidence, tried: Tried, seconds: float) -> Finding:
    """Return what came of a try, weighed."""
    is_repair, patch = evidence.outcome is InspectionOutcome.EDIT_REPAIRS, tried.patch
    n_passed = sum(run.verdict is Verdict.PASS for run in tried.tests.values())
    words, effect = patch.words, tried.effect
    return Finding(
        evidence=evidence,
        diff=patch.diff,
        repair=patch if is_repair else None,
        tests=tried.tests,
        signals=Signals(is_covered=True),
        seconds=seconds,
        cpu_s=tried.cpu_s,
        log=f"{effect.value}: {words}",
        trials=(Trial(line=patch.line, words=words, effect=effect, n_passed=n_passed),),
        doubt=tried.doubt if is_repair else "",
    )


def who_passes(case: Case, tests: Collection[str]) -> str:
    """Return that those of the failing tests that were run pass: all of them, or how many."""
    n, n_all = len(set(case.failing).intersection(tests)), len(case.failing)
    if n == n_all:
        return "the failing tests pass" if n > 1 else "the failing test passes"
    return f"{n} of {n_all} failing tests {'passes' if n == 1 else 'pass'}"


def others(case: Case, tests: Collection[str]) -> str:
    """Return that nothing else breaks, for the end of a sentence; empty if nothing else was run."""
    return ", and nothing else breaks" if set(tests).difference(case.failing) else ""
