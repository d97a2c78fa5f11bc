"""The lines that broke the tests, among the changes of functions, bodies and data files.

First whole blocks of changed lines are put back in memory, then single entries and statements of
those that matter. Each failing test goes to the smallest change that repairs it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import BreakingChange
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.history.hunks import (
    Hunk,
    hunks_of,
    is_whole,
    owner_of,
    parts_of,
    put_back,
)
from pytest_bayesloc.inspection.delta import Share, shared_out
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.case import Case

KIND = "counterfactual"
MAX_FAILING = 10  # tests that are run with each change
MAX_ALL = 100  # tests that are run with what was found in the end
MAX_RERUNS = 60
SHARE = 0.5  # of the time left: fixes and other groups need some, too


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
