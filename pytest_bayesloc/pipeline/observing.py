"""A run as the memory takes it: what failed, what did not, and what was edited before."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.bug import Edit
from pytest_bayesloc.domain.failure import Origin
from pytest_bayesloc.history.edits import edit_of, name_of, state_of
from pytest_bayesloc.history.renaming import is_renaming
from pytest_bayesloc.memory.episodes import Green, Red
from pytest_bayesloc.memory.symptoms import Describer
from pytest_bayesloc.memory.symptoms import Group as Described

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.bug import BugRecord
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Summarizer
    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.pipeline.green import GreenRuns
    from pytest_bayesloc.ranking.groups import Group
    from pytest_bayesloc.spectrum.recorded import Recorded
    from pytest_bayesloc.spectrum.sources import Sources

    Prove: TypeAlias = Callable[[Changes, Sequence[str]], Sequence[Location]]

N_SUSPECTS = 10
_IN_TEST = frozenset({Origin.TEST, Origin.FIXTURE, Origin.DATA})


class Observing:
    """Describes one run.

    Args:
        rootdir: Of the project.
        sources: The project's files.
        green: What changed since tests last ran.
        prove: Finds which of some changes tests need to pass; None: that is not to be tried.
    """

    def __init__(
        self, rootdir: Path, sources: Sources, green: GreenRuns, prove: Prove | None
    ) -> None:
        self._rootdir = rootdir
        self._sources = sources
        self._green = green
        self._prove = prove
        #: Per number of an open bug whose tests passed, what was edited before.
        self.changes: dict[int, Changes] = {}

    def reds(
        self,
        groups: Sequence[Group],
        faults: Sequence[Fault],
        last_seen_at: Mapping[str, str],
        summarizer: Summarizer,
    ) -> list[Red]:
        """The groups of failing tests as the memory takes them.

        Args:
            groups: Of failing tests.
            faults: What was found out about each of them.
            last_seen_at: Per test of an open bug, the git revision that it was last seen at.
            summarizer: Words the hypotheses.
        """
        describer = Describer(self._sources.map, str(self._rootdir), summarizer)
        failing = [[f.node_id for f in fault.failures] for fault in faults]
        seen = [next((last_seen_at[t] for t in own if t in last_seen_at), "") for own in failing]
        edits = self._green.edits(failing, seen)
        found = []
        for group, fault, changes in zip(groups, faults, edits, strict=True):
            code, tests = _executed(group)
            described = Described(
                failures=fault.failures,
                suspects=[(row.location, row.posterior) for row in fault.ranking[:N_SUSPECTS]],
                in_test=fault.origin in _IN_TEST,
            )
            found.append(
                Red(
                    symptom=describer.symptom(described),
                    executed=frozenset(map(name_of, (*code, *tests))),
                    edit=None if changes is None else _tried(changes),
                    is_since_seen=changes is not None and bool(changes.commit),
                    code_state=state_of(code, self._sources.map),
                    test_state=state_of(tests, self._sources.map),
                )
            )
        return found

    def greens(
        self, open_bugs: Mapping[int, BugRecord], revisions: Mapping[int, str], recorded: Recorded
    ) -> dict[int, Green]:
        """Per open bug, its tests that did not fail, and what was edited since they ran.

        Args:
            open_bugs: By their numbers.
            revisions: Per bug, the git revision that it was last seen at.
            recorded: Of this run.
        """
        ran = {**recorded.excused, **dict.fromkeys(recorded.verdicts, "")} if open_bugs else {}
        found = {
            bug: self._not_failed(record.symptom.tests, ran, recorded.verdicts)
            for bug, record in open_bugs.items()
        }
        passed = [bug for bug, green in found.items() if green.passed]
        back = [{new: old for old, new in found[bug].moved.items()} for bug in passed]
        edits = self._green.edits(
            [
                sorted(names.get(test, test) for test in found[bug].passed)
                for bug, names in zip(passed, back, strict=True)
            ],
            [revisions.get(bug, "") for bug in passed],
        )
        self.changes = {b: e for b, e in zip(passed, edits, strict=True) if e is not None}
        for bug, changes in zip(passed, edits, strict=True):
            edit = None if changes is None else edit_of(changes)
            proven: Sequence[Location] = ()
            if changes is not None and self._is_provable(changes) and self._prove:
                proven = self._prove(changes, sorted(found[bug].passed))
            found[bug] = replace(found[bug], edit=edit, proven=tuple(map(name_of, proven)))
        return found

    def _is_provable(self, changes: Changes) -> bool:
        """Whether there are several changes, all of which can be put back in memory."""
        is_there = all(self._sources.read(file) is not None for file in changes.files)
        return len(changes.every) > 1 and is_there

    def _not_failed(
        self, known: Sequence[str], ran: Mapping[str, str], verdicts: Mapping[str, bool]
    ) -> Green:
        missing = [n for n in known if n not in ran and not self._exists(n)]
        moved = self._moved(missing, ran)
        tests = [moved.get(n, n) for n in known]
        return Green(
            passed=frozenset(n for n in tests if verdicts.get(n)),
            excused={n: ran[n] for n in tests if ran.get(n)},
            gone=frozenset(missing) - moved.keys(),
            moved=moved,
        )

    def _moved(self, missing: Sequence[str], ran: Collection[str]) -> dict[str, str]:
        """Where tests went whose file is gone: to the only one that ran under the same name."""
        lost = {n for n in missing if self._sources.read(n.partition("::")[0]) is None}
        names: dict[str, list[str]] = {n.partition("::")[2]: [] for n in lost}
        for node_id in ran if names else ():
            if (name := node_id.partition("::")[2]) in names:
                names[name].append(node_id)
        found = {n: names[n.partition("::")[2]] for n in lost}
        return {old: new[0] for old, new in found.items() if len(new) == 1}

    def _exists(self, node_id: str) -> bool:
        """Whether the test is still written down, run or not."""
        file, *names = re.sub(r"\[.*", "", node_id).split("::")
        text = self._sources.read(file)
        if text is None:
            return False
        return (
            not names or re.search(rf"\b(?:def|class)\s+{re.escape(names[-1])}\b", text) is not None
        )


def _tried(changes: Changes) -> Edit:
    """What was edited while the tests failed: to call something else is no attempt."""
    return Edit() if is_renaming(changes) else edit_of(changes)


def _executed(group: Group) -> tuple[set[Location], set[Location]]:
    """The code that the failing tests of a group executed, and what of the tests they use."""
    spectrum = group.spectrum
    ran = {where for where, tests in spectrum.executed.items() if tests & spectrum.failing}
    own = {where for failure in group.failures for where in failure.test_locations}
    return {where for where in ran if not where.is_test}, {
        *own,
        *group.tests,
        *(where for where in ran if where.is_test),
    }
