"""Observation of a run: its failing groups, the open bugs whose tests passed, and the edits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.bug import BugRecord, CodeEdit, Symptom
from pytest_bayesloc.domain.failure import Origin
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Fault
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.history.changes import Changes, edit_of, name_of, narrowed, state_of
from pytest_bayesloc.history.git import went_back
from pytest_bayesloc.history.mistakes import is_looking, is_renaming, mistake_of
from pytest_bayesloc.memory.symptoms import symptom_of
from pytest_bayesloc.syntax.expressions import strength

if TYPE_CHECKING:
    from pytest_bayesloc.history.runs import PastRuns
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.spectrum.run_record import RunRecord
    from pytest_bayesloc.spectrum.sources import Sources

#: The changes that some tests need to pass.
Prove: TypeAlias = Callable[[Changes, Sequence[str]], Sequence[Location]]

N_SUSPECTS = 10
_IN_TEST = frozenset({Origin.TEST, Origin.FIXTURE, Origin.DATA})


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingSighting:
    """The tests of an open bug that did not fail in a run.

    Attributes:
        passed: Node ids.
        excused: Node ids of those that were skipped or are expected to fail, with the word for it.
        gone: Node ids of those that no longer exist.
        moved: Node ids of those that are in another file now, to their new ones; the other
            attributes hold the new ones.
        edit: The edit since they ran before; None if nobody knows.
        net: The edit since they first failed, without what was taken back in between; None if
            nobody knows.
        proven: The functions of that edit without which the tests fail; empty if that was not
            tried.
        weakened: Node ids of those that pass since they check less.
        data: Data files that were written since they failed.
    """

    passed: frozenset[str] = frozenset()
    excused: Mapping[str, str] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    moved: Mapping[str, str] = field(default_factory=dict)
    edit: CodeEdit | None = None
    net: CodeEdit | None = None
    proven: tuple[str, ...] = ()
    weakened: frozenset[str] = frozenset()
    data: tuple[str, ...] = ()


class Observer:
    """Describes one run.

    Args:
        rootdir: Of the project.
        sources: The project's files.
        past: Finds the edits since tests last ran, and since they first failed.
        prove: Finds which of some changes tests need to pass; None: that is not to be tried.
    """

    def __init__(
        self, rootdir: Path, sources: Sources, past: PastRuns, prove: Prove | None
    ) -> None:
        self._rootdir = rootdir
        self._sources = sources
        self._past = past
        self._prove = prove
        #: Per number of an open bug whose tests passed, the edits since they failed.
        self.changes: dict[int, Changes] = {}

    def failing(
        self,
        cases: Sequence[Case],
        faults: Sequence[Fault],
        last_seen_at: Mapping[str, str],
        elsewhere: Sequence[str],
    ) -> list[Symptom]:
        """Describe the groups of failing tests.

        Args:
            cases: The groups.
            faults: The result for each of them.
            last_seen_at: Per test of an open bug, the git revision that it was last seen at.
            elsewhere: Python files that were edited since, and that no test imports.
        """
        failing = [[f.node_id for f in fault.failures] for fault in faults]
        seen = [next((last_seen_at[t] for t in own if t in last_seen_at), "") for own in failing]
        edits = self._past.edits(failing, seen)
        back = {revision for revision in {*seen} if went_back(self._rootdir, revision)}
        return [
            self._described(case, fault, changes, elsewhere, is_back=revision in back)
            for case, fault, changes, revision in zip(cases, faults, edits, seen, strict=True)
        ]

    def _described(
        self,
        case: Case,
        fault: Fault,
        changes: Changes | None,
        elsewhere: Sequence[str],
        *,
        is_back: bool,
    ) -> Symptom:
        ran = case.spectrum.reached()
        code = {where for where in ran if not where.is_test}
        tests = {where for failure in case.failures for where in failure.test_locations}
        tests |= {*case.roles, *(where for where in ran if where.is_test)}
        edit = None  # made while the tests failed
        if changes is not None:
            # To rename, or to look, is no attempt; an older commit that is checked out is a look.
            is_none = is_back or is_renaming(changes) or is_looking(changes)
            edit = CodeEdit() if is_none else edit_of(changes)
        symptom = symptom_of(
            fault.failures,
            [(row.location, row.posterior) for row in fault.ranking[:N_SUSPECTS]],
            self._sources.map,
            str(self._rootdir),
            in_test=fault.origin in _IN_TEST,
        )
        return replace(
            symptom,
            executed=frozenset(map(name_of, (*code, *tests))),
            edit=edit,
            untested=() if edit is not None and edit.functions else tuple(elsewhere),
            is_idle=changes is not None and not changes.every,
            is_since_seen=changes is not None and bool(changes.commit),
            code_state=state_of(code, self._sources.map),
            test_state=state_of(tests, self._sources.map),
        )

    def passing(
        self, open_bugs: Mapping[int, BugRecord], revisions: Mapping[int, str], recorded: RunRecord
    ) -> dict[int, PassingSighting]:
        """Find per open bug its tests that did not fail, and the edits since they ran.

        The ``revisions`` of git are those at which the bugs were last seen.
        """
        ran = {**recorded.excused, **dict.fromkeys(recorded.verdicts, "")} if open_bugs else {}
        found = {
            bug: self._not_failed(record, ran, recorded.verdicts)
            for bug, record in open_bugs.items()
        }
        tests: dict[int, list[str]] = {}
        for bug, sighting in found.items():
            if sighting.passed:
                before = {new: old for old, new in sighting.moved.items()}
                tests[bug] = sorted(before.get(test, test) for test in sighting.passed)
        groups = list(tests.values())
        last = self._past.edits(groups, [revisions.get(bug, "") for bug in tests])
        for bug, edit, since in zip(tests, last, self._past.net_edits(groups), strict=True):
            if edit is None:
                continue
            # Tries that were left in the code are no part of the fix.
            net = self.changes[bug] = edit if since is None else narrowed(since, edit)
            proven: Sequence[Location] = ()
            # Of several changes, all of which can be put back in memory.
            is_there = all(self._sources.read(file) is not None for file in net.files)
            if self._prove and len(net.every) > 1 and is_there:
                proven = self._prove(net, sorted(found[bug].passed))
            found[bug] = replace(
                found[bug],
                edit=edit_of(edit),
                net=replace(edit_of(net), mistake=mistake_of(net)),
                proven=tuple(map(name_of, proven)),
                weakened=weakened(edit, found[bug].passed),
            )
        return found

    def _not_failed(
        self, record: BugRecord, ran: Mapping[str, str], verdicts: Mapping[str, bool]
    ) -> PassingSighting:
        known = record.symptom.tests
        missing = [n for n in known if n not in ran and not self._exists(n)]
        # A test of a file that is gone moved if only one test ran under its name.
        lost = {n for n in missing if self._sources.read(file_of_test(n)) is None}
        names: dict[str, list[str]] = defaultdict(list)
        for node_id in ran if lost else ():
            names[node_id.partition("::")[2]].append(node_id)
        found = {n: names[n.partition("::")[2]] for n in lost}
        moved = {old: new[0] for old, new in found.items() if len(new) == 1}
        tests = [moved.get(n, n) for n in known]
        # A file that could not be collected passes once one of the tests that it has now does.
        passed = frozenset(
            n
            for n in tests
            if verdicts.get(n)
            or ("::" not in n and any(verdicts[t] for t in verdicts if t.startswith(f"{n}::")))
        )
        return PassingSighting(
            passed=passed,
            excused={n: ran[n] for n in tests if ran.get(n)},
            gone=frozenset(missing) - moved.keys(),
            moved=moved,
            data=self._past.data_since(record.seen_at) if passed else (),
        )

    def _exists(self, node_id: str) -> bool:
        """Whether the test's file still defines it, run or not."""
        file, *names = re.sub(r"\[.*", "", node_id).split("::")
        text = self._sources.read(file)
        if text is None or not names:
            return text is not None
        return re.search(rf"\b(?:def|class)\s+{re.escape(names[-1])}\b", text) is not None


def weakened(changes: Changes, passed: Collection[str]) -> frozenset[str]:
    """Return which tests pass since they check less; nothing if code was edited as well."""
    if changes.code:
        return frozenset()
    names = {
        name_of(unit.location)
        for change in changes.files.values()
        for old, unit in change.units
        if old is not None and unit.location.is_test and strength(unit.node) < strength(old.node)
    }
    return frozenset(node_id for node_id in passed if name_of_test(node_id) in names)


def name_of_test(node_id: str) -> str:
    """Return ``file qualname`` of a test's function."""
    file, *names = node_id.partition("[")[0].split("::")
    return f"{file} {'.'.join(names)}"
