"""Changes since the tests passed, taken back in memory: do the failing tests pass then?

Reference:
    Zeller: Yesterday, my program worked. Today, it does not. Why? ESEC/FSE 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from pytest_bayesloc.domain.evidence import ChangeOutcome, InspectionOutcome, Outcome
from pytest_bayesloc.domain.inspection import Finding, InspectionPatch, Rerun, Signals, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.history.git import GitHistory, last_passing
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.groups import change_evidence, suspect_of
from pytest_bayesloc.ranking.likelihoods import weigh

T = TypeVar("T")

#: Finds the changes since the failing tests passed; None if it can't.
Search = Callable[[Case, Budget], Changes | None]

KIND = "counterfactual"
REPAIRS = ChangeOutcome.REVERT_REPAIRS
MAX_FAILING = 10
MAX_SINGLE = 20  # changes that are taken back one by one
MAX_SETS = 40  # re-runs that look for the smallest set
FRESH = "fresh"  # how a re-run says that it imported all anew
LOOK_BACK = 0.25  # share of the time left in which code is looked for that passes


class Counterfactual(InspectionStrategy):
    """Puts code back as it was, first one function at a time, then in sets.

    Where no run is known in which the tests passed, ``search`` finds the changes that broke them;
    without it, those since older code of ``history`` are tried.
    """

    name = KIND

    def __init__(self, history: GitHistory | None = None, search: Search | None = None) -> None:
        self._history = history
        self._search = search

    def open(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Take changes back, the likeliest of the code first, until the failing tests pass."""
        if not case.changes.known:
            self._look_back(case, budget)
        changed = case.changes.code
        known = [where for where in changed if where in case.belief.probabilities]
        suspects = sorted(known, key=lambda where: (-case.belief.p(where), where))[:MAX_SINGLE]
        was_fresh = False
        for where in suspects:
            patch = patch_back(case.changes, [where])
            tried = _try(case, patch, budget)
            if patch is not None and tried is not None:
                was_fresh = tried.how == FRESH
                case.cause = (where,) if _outcome(case, tried) is REPAIRS else ()
                yield _finding(case, where, patch, tried, [where])
            if not budget.left_s() or _outcome(case, tried) is REPAIRS:
                return
        is_done = was_fresh and len(changed) == 1
        found = [] if is_done else list(_together(case, changed, budget))
        yield from found or _together(case, case.changes.tests, budget)

    def _look_back(self, case: Case, budget: Budget) -> None:
        """Find out since when the tests fail, and weigh what changed then."""
        found = None
        if self._search is not None:
            found = self._search(case, budget)
        elif self._history is not None:
            found = _last_passing(self._history, case, budget)
        if found is not None:
            case.changes = replace(found, data=case.changes.data)
            case.learn(change_evidence(found, case.belief.probabilities, model=case.model))


def _last_passing(history: GitHistory, case: Case, budget: Budget) -> Changes | None:
    """Return the changes since older code passes; that proves that the cause is among them."""
    until_s = (1 - LOOK_BACK) * budget.left_s()

    def passes(changes: Changes) -> bool:
        if not changes.every or budget.left_s() < until_s:
            return False
        patch = patch_back(changes, changes.every, fresh=True)
        return _outcome(case, _try(case, patch, budget)) is REPAIRS

    return last_passing(history, passes)


def _try(case: Case, patch: InspectionPatch | None, budget: Budget) -> Rerun | None:
    """Run the failing tests under ``patch``; None if there is none, or no time for it."""
    if patch is None or not budget.left_s():
        return None
    started = budget.clock()
    rerun = budget.rerun(patch, case.failing[:MAX_FAILING])
    return replace(rerun, seconds=budget.clock() - started)


def _outcome(case: Case, rerun: Rerun | None) -> Outcome:
    """Return what the failing tests did without some changes."""
    runs = rerun.tests if rerun is not None and rerun.n_swapped else {}
    if runs and all(run.verdict is Verdict.PASS for run in runs.values()):
        return REPAIRS
    # Code of then that does not fit to the rest of now fails in another way.
    if runs and all(
        run.verdict is Verdict.FAIL and run.error == case.errors.get(node_id, run.error)
        for node_id, run in runs.items()
    ):
        return ChangeOutcome.REVERT_CHANGES_NOTHING
    return InspectionOutcome.INCONCLUSIVE


def patch_back(
    changes: Changes, chosen: Sequence[Location], *, fresh: bool = False
) -> InspectionPatch | None:
    """Make the patch that takes the changes of ``chosen`` back; None if the text can't be made.

    With ``fresh``, all is imported anew, so that what an import runs is as it was too.
    """
    parts = []
    for file, group in groupby(sorted(chosen), key=lambda where: where.file):
        here, change = list(group), changes.files[file]
        text = change.reverted(here)
        if text is None:
            return None
        parts.append(
            InspectionPatch(
                target=here[0],
                others=tuple(here[1:]),
                kind=KIND,
                original=change.now.text,
                patched=text,
                words="as it was when the tests passed",
                fresh=fresh or not change.fresh.isdisjoint(here),
            )
        )
    first, *rest = parts
    return replace(first, companions=tuple(rest))


def _together(case: Case, changed: Sequence[Location], budget: Budget) -> Iterator[Finding]:
    """Yield the smallest set of changes without which the tests pass, if they do without all."""
    n_left, best = MAX_SETS, list[tuple[InspectionPatch, Rerun]]()

    def repairs(chosen: Sequence[Location]) -> bool:
        nonlocal n_left
        n_left -= 1
        patch = patch_back(case.changes, chosen, fresh=True) if n_left >= 0 else None
        tried = _try(case, patch, budget)
        is_repaired = _outcome(case, tried) is REPAIRS
        if is_repaired and patch is not None and tried is not None:
            best.append((patch, tried))
        return is_repaired

    smallest = minimal(changed, repairs) if changed and repairs(changed) else []
    case.cause = tuple(smallest)
    known = case.belief.probabilities
    for where in dict.fromkeys(suspect_of(changed, known) for changed in smallest):
        case.admit(where)
        yield _finding(case, where, *best[-1], smallest)


def minimal(items: Sequence[T], suffices: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a subset of ``items`` that still suffices, of which no smaller part was found to.

    Reference:
        Zeller, Hildebrandt: Simplifying and isolating failure-inducing input. TSE 2002, ddmin.
    """
    left, n_parts = list(items), 2
    while len(left) > 1:
        size = -(-len(left) // n_parts)
        parts = [left[i : i + size] for i in range(0, len(left), size)]
        # Of two parts, each is what is left without the other.
        rest = parts if len(parts) > 2 else []
        without = [[item for item in left if item not in part] for part in rest]
        smaller = next((part for part in (*parts, *without) if part and suffices(part)), None)
        if smaller is not None:
            n_parts = 2 if smaller in parts else max(n_parts - 1, 2)
            left = smaller
        elif n_parts >= len(left):
            break
        else:
            n_parts = min(len(left), 2 * n_parts)
    return left


def _finding(
    case: Case, target: Location, patch: InspectionPatch, tried: Rerun, chosen: Sequence[Location]
) -> Finding:
    outcome = _outcome(case, tried)
    why = "its old code does not fit the other changes, or could not be put in place"
    if outcome is REPAIRS:
        others = f" (with {len(chosen) - 1} more)" if len(chosen) > 1 else ""
        why = f"the failing tests pass with it as it was {case.changes.then}{others}"
    elif outcome is ChangeOutcome.REVERT_CHANGES_NOTHING:
        since = case.changes.since
        why = f"it changed since {since}, but the tests fail with its old code as well"
    return Finding(
        evidence=weigh(case.model, outcome, target, source=KIND, why=why),
        diff=patch.diff,
        tests=tried.tests,
        signals=Signals(is_covered=bool(tried.n_swapped), is_failure=outcome is not REPAIRS),
        seconds=tried.seconds,
        cpu_s=tried.cpu_s,
        log=f"{tried.how}: code put back in {tried.n_swapped} place(s)",
    )
