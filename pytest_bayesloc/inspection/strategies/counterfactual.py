"""Changes since the tests passed, reverted in memory: do the failing tests pass then?

The lines that broke them are found among the changes: first whole blocks of changed lines are put
back, then single entries and statements of those that matter. Each failing test goes to the
smallest change that repairs it.

Reference:
    Zeller: Yesterday, my program worked. Today, it does not. Why? ESEC/FSE 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_bayesloc.domain.evidence import ChangeOutcome, InspectionOutcome, Outcome
from pytest_bayesloc.domain.inspection import Finding, InspectionPatch, Rerun, Signals, Verdict
from pytest_bayesloc.domain.location import DATA, Location
from pytest_bayesloc.domain.result import BreakingChange
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.texts import count
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.history.git import GitHistory, last_passing
from pytest_bayesloc.history.hunks import Hunk, hunks_of, is_whole, owner_of, parts_of, put_back
from pytest_bayesloc.inspection.delta import Share, minimal, shared_out
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.groups import change_evidence, suspect_of
from pytest_bayesloc.ranking.likelihoods import weigh

KIND = "counterfactual"
MAX_FAILING = 10  # tests that are run with each change
MAX_ALL = 100  # tests that are run with what was found in the end
MAX_RERUNS = 60
SHARE = 0.5  # of the time left: fixes and other groups need some, too


# -- single lines


@dataclass(frozen=True, slots=True)
class _Text:
    """A file with changes: as it is, and as it was but for the changes of other functions."""

    now: SourceMap
    then: str
    owners: tuple[Location, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """A change that breaks tests, with the places that it is in and the re-run that shows it."""

    change: BreakingChange
    places: tuple[Location, ...]
    patch: InspectionPatch
    rerun: Rerun


class Narrowing:
    """Tells the changes of ``cause`` apart, which repair tests of ``case`` together.

    Args:
        case: The failing tests.
        budget: Where patches are tried.
        cause: Changed functions, bodies and data files.
        fresh: Whether only an import, or a process of its own, can put them back.
        is_smallest: Whether none of them repairs the tests without the others.
    """

    def __init__(
        self,
        case: Case,
        budget: Budget,
        cause: Sequence[Location],
        *,
        fresh: bool,
        is_smallest: bool = True,
    ) -> None:
        self._case, self._budget, self._fresh = case, budget, fresh
        self._n_needed = len(cause) if is_smallest else 1
        self._texts = texts_of(case.changes, cause)
        self._told: set[str] = set()
        self._n_left = MAX_RERUNS
        self._until_s = (1 - SHARE) * budget.left_s()

    def changes(self, tests: Sequence[str], known: Rerun) -> list[Narrowed]:
        """Return the changes that break ``tests``, the one of most tests first.

        Args:
            tests: Node ids that pass with all of the changes undone.
            known: The re-run that shows that.
        """
        hunks = [
            hunk
            for file, text in self._texts.items()
            for hunk in hunks_of(file, text.now.text, text.then)
        ]
        if not hunks:
            return []
        self._choose_way(hunks, tests)
        found: list[Narrowed] = []
        needed = [Share(tuple(hunks), frozenset(tests), is_smallest=True)]
        for share in needed if len(hunks) == self._n_needed else self._shares(hunks, tests):
            parts = [
                part
                for hunk in share.items
                for part in parts_of(
                    hunk, self._texts[hunk.file].now.text, self._texts[hunk.file].then
                )
            ]
            finer = [share]
            if share.is_smallest and len(parts) > len(share.items):
                own = [test for test in tests if test in share.tests]
                finer = self._shares(parts, own)
                rest = share.tests.difference(*(one.tests for one in finer))
                # Entries that can't be told apart are told as the block that they are in.
                finer += [replace(share, tests=rest)] if rest else []
            found += filter(None, (self._narrowed(one, tests, known) for one in finer))
        return sorted(found, key=lambda one: -len(one.change.tests))

    def _shares(self, hunks: Sequence[Hunk], tests: Sequence[str]) -> list[Share[Hunk]]:
        if len(hunks) == 1:
            return [Share((hunks[0],), frozenset(tests), is_smallest=True)]
        return shared_out(hunks, tests, self._passing, self._is_over)

    def _choose_way(self, hunks: Sequence[Hunk], tests: Sequence[str]) -> None:
        """Let go of imports where the tests pass without them: a swap takes a tenth of the time."""
        if not self._fresh or len(hunks) == 1:
            return
        changes = self._case.changes.files
        owners = {where for text in self._texts.values() for where in text.owners}
        needed = {where for file in self._texts if file in changes for where in changes[file].fresh}
        if all(file in changes for file in self._texts) and owners.isdisjoint(needed):
            self._fresh = False
            self._fresh = not self._passing(hunks, tests).issuperset(tests[:MAX_FAILING])

    def _is_over(self) -> bool:
        return self._n_left <= 0 or self._budget.left_s() <= self._until_s

    def _passing(self, hunks: Sequence[Hunk], tests: Collection[str]) -> frozenset[str]:
        """Return which of ``tests``, the first few, pass with ``hunks`` as they were."""
        patch = self._patch(hunks)
        if patch is None or not tests or self._is_over():
            return frozenset()
        self._n_left -= 1
        return passed(self._budget.rerun(patch, list(tests)[:MAX_FAILING]))

    def _patch(self, hunks: Iterable[Hunk]) -> InspectionPatch | None:
        """Return the patch that puts ``hunks`` back; None if the text is none of Python then."""
        parts = []
        for file, group in groupby(sorted(hunks), key=lambda hunk: hunk.file):
            here, text = list(group), self._texts[file]
            patched = put_back(text.now.text, here)
            if not is_whole(file, patched):
                return None
            places = list(dict.fromkeys(owner_of(hunk, text.now, text.owners) for hunk in here))
            parts.append(
                InspectionPatch(
                    target=places[0],
                    others=tuple(places[1:]),
                    kind=KIND,
                    original=text.now.text,
                    patched=patched,
                    words="as it was when the tests passed",
                    fresh=self._fresh,
                )
            )
        first, *rest = parts
        return replace(first, companions=tuple(rest))

    def _narrowed(self, share: Share[Hunk], tests: Sequence[str], known: Rerun) -> Narrowed | None:
        """Run all failing tests with a change undone: those that pass are its own."""
        patch = self._patch(share.items)
        if patch is None:
            return None
        rerun, own = known, [test for test in tests if test in share.tests]
        self._told.update(tests)
        told = self._told.union(*(change.tests for change in self._case.breaking))
        others = [test for test in self._case.failing[:MAX_ALL] if test not in told]
        if others and self._budget.left_s():
            more = self._budget.rerun(patch, others)
            rerun = replace(known, tests={**known.tests, **more.tests})
            own += [test for test in others if test in passed(more)]
            self._told.update(own)
        places = tuple(
            dict.fromkeys(
                owner_of(h, self._texts[h.file].now, self._texts[h.file].owners)
                for h in share.items
            )
        )
        first, last = share.items[0].lines_in(places[0])
        change = BreakingChange(
            location=places[0],
            first_line=first,
            last_line=last,
            diff=patch.diff,
            tests=tuple(own),
            n_tried=len(self._case.failing[:MAX_ALL]),
            n_changes=len(share.items),
            is_smallest=share.is_smallest,
            undone={part.target.file: part.patched for part in (patch, *patch.companions)},
        )
        runs = {test: rerun.tests[test] for test in own if test in rerun.tests}
        return Narrowed(change=change, places=places, patch=patch, rerun=replace(rerun, tests=runs))


def passed(rerun: Rerun) -> frozenset[str]:
    """Return the tests that passed, if the patch was in place."""
    runs = rerun.tests.items() if rerun.n_swapped else ()
    return frozenset(node_id for node_id, run in runs if run.verdict is Verdict.PASS)


def texts_of(changes: Changes, cause: Sequence[Location]) -> Mapping[str, _Text]:
    """Return the files of ``cause`` with their texts, then and now."""
    found: dict[str, _Text] = {}
    for file in dict.fromkeys(where.file for where in cause):
        own = tuple(where for where in cause if where.file == file)
        data = changes.data_change(own[0])
        if data is not None:
            found[file] = _Text(SourceMap(data.now, file), data.before or "", own)
        elif (then := changes.files[file].reverted(own)) is not None:
            found[file] = _Text(changes.files[file].now, then, own)
    return found


# -- the strategy

#: Finds the changes since the failing tests passed; None if it can't.
Search = Callable[[Case, Budget], Changes | None]

REPAIRS = ChangeOutcome.REVERT_REPAIRS
MAX_SINGLE = 20  # changes that are reverted one by one
MAX_SETS = 40  # re-runs that look for the smallest set
FRESH = "fresh"  # how a re-run says that it imported all anew
LOOK_BACK = 0.25  # share of the time left in which code is looked for that passes


@dataclass(frozen=True, slots=True)
class _Cause:
    """Places whose changes were undone together in ``rerun``, and the tests that passed then."""

    places: tuple[Location, ...]
    tests: tuple[str, ...]
    patch: InspectionPatch
    rerun: Rerun
    is_smallest: bool = True


class Counterfactual(InspectionStrategy):
    """Puts code back as it was: one function at a time, then sets of them, then single lines.

    Where no run is known in which the tests passed, ``search`` finds the changes that broke them;
    without it, those since older code of ``history`` are tried. Where no code repairs the tests,
    data is put back.
    """

    name = KIND

    def __init__(self, history: GitHistory | None = None, search: Search | None = None) -> None:
        self._history = history
        self._search = search

    def open(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Take changes back, the likeliest of the code first, until the failing tests pass."""
        if case.breaking:  # known from the group that this one was a part of
            return
        if not case.changes.known:
            self.look_back(case, budget)
        told = _Told(case, budget)
        changed = case.changes.code
        known = [where for where in changed if where in case.belief.probabilities]
        suspects = sorted(known, key=lambda where: (-case.belief.p(where), where))[:MAX_SINGLE]
        causes, was_fresh = yield from _one_by_one(case, suspects, told.left(), budget)
        # Their lines may repair more than the whole of them, which may not fit the rest.
        yield from told.lines(causes)
        if told.left() and not (was_fresh and len(changed) == 1):
            yield from told.lines(_together(case, changed, told.left(), budget))
        data = case.changes.data_suspects
        if data and told.left():
            causes, _ = yield from _one_by_one(case, data, told.left(), budget)
            yield from told.lines(causes)
        if len(data) > 1 and told.left():
            yield from told.lines(_together(case, data, told.left(), budget))
        if told.left():
            yield from told.lines(_together(case, case.changes.tests, told.left(), budget))

    def look_back(self, case: Case, budget: Budget) -> None:
        """Find out since when the tests of ``case`` fail, and weigh what changed then.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        found = None
        if self._search is not None:
            found = self._search(case, budget)
        elif self._history is not None:
            until_s = (1 - LOOK_BACK) * budget.left_s()

            def passes(changes: Changes) -> bool:
                if not changes.every or budget.left_s() < until_s:
                    return False
                patch = patch_back(changes, changes.every, fresh=True)
                return _outcome(case, _try(patch, case.failing[:MAX_FAILING], budget)) is REPAIRS

            # That older code passes proves that the cause is among the changes since.
            found = last_passing(self._history, passes)
        if found is not None:
            case.changes = replace(found, data=case.changes.data)
            case.learn(change_evidence(found, case.belief.probabilities, model=case.model))


def _try(patch: InspectionPatch | None, tests: Sequence[str], budget: Budget) -> Rerun | None:
    """Run ``tests`` under ``patch``; None if there is none, or no time for it."""
    if patch is None or not budget.left_s():
        return None
    started = budget.clock()
    tried = budget.rerun(patch, tests)
    # A test that passes in a new process without any change is left out: another test file that is
    # imported may be why it fails here.
    passing = passed(tried) if tried.how == FRESH else frozenset()
    known = budget.passes_fresh
    if asked := sorted(passing - known.keys()):
        same = replace(patch, patched=patch.original, companions=(), fresh=True)
        control = budget.rerun(same, asked).tests
        known |= {n: run.verdict is Verdict.PASS for n, run in control.items()}
    left_out = [n for n in passing if known.get(n)]
    runs = {n: replace(tried.tests[n], verdict=Verdict.NOT_RUN) for n in left_out}
    rerun = replace(tried, tests={**tried.tests, **runs}) if runs else tried
    return replace(rerun, seconds=budget.clock() - started)


def _outcome(case: Case, rerun: Rerun | None) -> Outcome:
    """Return what the tests of a re-run did without some changes."""
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
    """Make the patch that reverts the changes of ``chosen``; None if the text can't be made.

    With ``fresh``, all is imported anew, so that what an import runs is as it was too.
    """
    parts = []
    for file, group in groupby(sorted(chosen), key=lambda where: where.file):
        here = list(group)
        data, change = changes.data_change(here[0]), changes.files.get(file)
        if data is not None:
            now, before = data.now, data.before
        else:
            now, before = changes.files[file].now.text, changes.files[file].reverted(here)
        if before is None:
            return None
        parts.append(
            InspectionPatch(
                target=here[0],
                others=tuple(here[1:]),
                kind=KIND,
                original=now,
                patched=before,
                words="as it was when the tests passed",
                fresh=fresh or change is None or not change.fresh.isdisjoint(here),
            )
        )
    first, *rest = parts
    return replace(first, companions=tuple(rest))


#: Yields findings, and returns the causes, and whether the last re-run imported all anew.
_Steps = Generator[Finding, None, tuple[list[_Cause], bool]]


def _one_by_one(
    case: Case, suspects: Sequence[Location], tests: Sequence[str], budget: Budget
) -> _Steps:
    """Undo one change after the other until ``tests`` pass; else each repairs those it can."""
    parts: list[_Cause] = []
    was_fresh = False
    for where in suspects:
        patch = patch_back(case.changes, [where])
        tried = _try(patch, tests, budget)
        if patch is not None and tried is not None:
            was_fresh = tried.how == FRESH
            own = tuple(test for test in tests if test in passed(tried))
            if len(own) == len(tests):
                return [_Cause((where,), own, patch, tried)], was_fresh
            if where in case.belief.probabilities:
                yield _finding(case, where, patch, tried, [where])
            parts.append(_Cause((where,), own, patch, tried))
        if not budget.left_s():
            break
    chosen: list[_Cause] = []
    while left := [test for test in tests if all(test not in cause.tests for cause in chosen)]:
        best = max(parts, key=lambda part: len(set(left) & set(part.tests)), default=None)
        own = tuple(test for test in left if best is not None and test in best.tests)
        if best is None or not own:
            break
        chosen.append(replace(best, tests=own))
    return chosen, was_fresh


def _together(
    case: Case, changed: Sequence[Location], tests: Sequence[str], budget: Budget
) -> list[_Cause]:
    """Return the smallest set of changes without which ``tests`` pass, if they do without all."""
    n_left, best = MAX_SETS, list[tuple[InspectionPatch, Rerun]]()

    def repairs(chosen: Sequence[Location]) -> bool:
        nonlocal n_left
        n_left -= 1
        patch = patch_back(case.changes, chosen, fresh=True) if n_left >= 0 else None
        tried = _try(patch, tests, budget)
        is_repaired = _outcome(case, tried) is REPAIRS
        if is_repaired and patch is not None and tried is not None:
            best.append((patch, tried))
        return is_repaired

    smallest = minimal(changed, repairs) if changed and repairs(changed) else []
    is_smallest = n_left >= 0 and budget.left_s() > 0
    return [_Cause(tuple(smallest), tuple(tests), *best[-1], is_smallest)] if smallest else []


class _Told:
    """Keeps in ``case`` which changes break which of its tests."""

    def __init__(self, case: Case, budget: Budget) -> None:
        self._case, self._budget = case, budget
        self._tests: set[str] = set()

    def left(self) -> list[str]:
        """Return the tests, the first few, whose cause is not known."""
        return [test for test in self._case.failing[:MAX_FAILING] if test not in self._tests]

    def lines(self, causes: Sequence[_Cause]) -> Iterator[Finding]:
        """Yield which lines of each cause break which tests."""
        case = self._case
        for cause in causes:
            tests = [test for test in cause.tests if test not in self._tests]
            narrowing = Narrowing(
                case,
                self._budget,
                cause.places,
                fresh=cause.rerun.how == FRESH,
                is_smallest=cause.is_smallest,
            )
            found = narrowing.changes(tests, cause.rerun) if tests else []
            for one in found:
                case.breaking += (one.change,)
                yield from self._findings(one.places, one.patch, one.rerun)
            if tests and not found:
                yield from self._findings(cause.places, cause.patch, cause.rerun)
            self._tests.update(tests, *(one.change.tests for one in found))

    def _findings(
        self, places: Sequence[Location], patch: InspectionPatch, rerun: Rerun
    ) -> Iterator[Finding]:
        case = self._case
        case.culprits = tuple(dict.fromkeys((*case.culprits, *places)))
        known = case.belief.probabilities
        for where in dict.fromkeys(suspect_of(place, known) for place in places):
            case.admit(where)
            yield _finding(case, where, patch, rerun, places)


def _finding(
    case: Case, target: Location, patch: InspectionPatch, tried: Rerun, chosen: Sequence[Location]
) -> Finding:
    outcome = _outcome(case, tried)
    why = "its old code does not fit the other changes, or could not be put in place"
    if target.qualname == DATA:
        why = "no test was seen to read it as it was"
    if outcome is REPAIRS:
        n_more = len(chosen) - 1
        others = f" (together with {count(n_more, 'more place')})" if n_more else ""
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
