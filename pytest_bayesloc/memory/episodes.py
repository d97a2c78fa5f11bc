"""Episodes: a run begins, tries, fixes and closes bugs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import uuid4

from pytest_bayesloc.domain.bug import (
    BugRecord,
    BugState,
    CodeEdit,
    DebugTrial,
    Run,
    Sighting,
    Symptom,
    TrialOutcome,
    is_contradicted,
)
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.memory.feedback import judge_advice, judge_verdicts
from pytest_bayesloc.memory.ledger import FAILING, GONE, PASSING, WEAKENED, Ledger
from pytest_bayesloc.memory.summaries import RuleSummarizer, without_lesson_about

UNSEEN_AFTER = timedelta(days=30)
N_TOP = 5  # suspects that an edit should hit
FORGOTTEN = -1  # the bug of groups that a person wants to be ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSighting:
    """A group of failing tests in a run.

    Attributes:
        symptom: Its description.
        executed: What its tests executed, tests included, as ``file qualname``.
        edit: The edit since they ran before; None if nobody knows.
        is_since_seen: Whether that is since the bug was last seen, wherever; else it is since the
            tests last ran in this checkout.
        code_state: Digest of the code that they executed.
        test_state: Digest of the tests.
        untested: Files that were edited and that no test of the run imports, if nothing else was.
        is_idle: Whether no file that the run imports was edited since they ran before.
    """

    symptom: Symptom
    executed: frozenset[str]
    edit: CodeEdit | None
    code_state: str
    test_state: str
    is_since_seen: bool = False
    untested: tuple[str, ...] = ()
    is_idle: bool = False


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The effect of a run on a bug.

    Attributes:
        bug: Number in the store.
        kind: ``begun``, ``again``, ``tried``, ``resolved``, ``flaky``, ``gone``, ``excused``.
        message: For the terminal; empty where there is nothing to say.
        group: Index of the group that it is about, -1 if none.
    """

    bug: int
    kind: str
    message: str
    group: int = -1


class Episodes:
    """Applies one run to all open bugs."""

    def __init__(self, ledger: Ledger, run: Run, summarizer: RuleSummarizer) -> None:
        self._ledger = ledger
        self._run = run
        self._summarizer = summarizer

    def advance(
        self, groups: Sequence[GroupSighting], passing: Mapping[int, PassingSighting]
    ) -> list[Event]:
        """Record the run, and return one event a bug that it is about.

        Args:
            groups: The groups of failing tests.
            passing: Per number of an open bug, its tests that did not fail.
        """
        for bug, sighting in passing.items():
            self._ledger.move(bug, sighting.moved)
        open_bugs = self._ledger.open_bugs()
        bug_of = self._bugs_of(groups, open_bugs)
        bug_of = [
            self._origin(group, passing.keys() - set(bug_of), passing) if bug is None else bug
            for group, bug in zip(groups, bug_of, strict=True)
        ]
        events: list[Event] = []
        for bug, record in open_bugs.items():
            own = [i for i, found in enumerate(bug_of) if found == bug]
            sighting = passing.get(bug, PassingSighting())
            if own:
                before = self._ledger.fates(bug)
                passed = {n: PASSING for n in sighting.passed if n in before}
                self._ledger.settle(bug, passed)
                fixed = sorted(n for n in passed if before[n] == FAILING)
                events += self._failed_again(bug, record, {i: groups[i] for i in own}, fixed)
            else:
                events += self._not_failed(bug, record, sighting)
        return events + [self._begun(g, i) for i, g in enumerate(groups) if bug_of[i] is None]

    def _bugs_of(
        self, groups: Sequence[GroupSighting], open_bugs: Mapping[int, BugRecord]
    ) -> list[int | None]:
        """Return per group its open bug: by its tests, else by its fingerprints."""
        rules = self._ledger.rules()
        by_id = {record.id: bug for bug, record in open_bugs.items()}
        found: list[int | None] = []
        for group in groups:
            prints, tests = group.symptom.fingerprints, {*group.symptom.tests}
            decided = [bug for f in prints if (bug := by_id.get(rules.get(f, "-"))) is not None]
            shared = {
                bug: (
                    len(tests.intersection(record.symptom.tests)),
                    len(record.symptom.fingerprints & prints),
                )
                for bug, record in open_bugs.items()
            }
            best = max(shared, key=lambda bug: (shared[bug], -bug), default=None)
            if all(rules.get(f) == "" for f in prints):
                best = FORGOTTEN
            elif decided:
                best = min(decided)
            elif best is not None and shared[best] == (0, 0):
                best = None
            found.append(best)
        return found

    def _origin(
        self, group: GroupSighting, bugs: Collection[int], passing: Mapping[int, PassingSighting]
    ) -> int | None:
        """Return the bug that was moved into ``group`` by the edit with which its own tests pass.

        Of the same edit, both executed a function, and both ran on the code before it.
        """
        edit = group.edit
        if edit is None or edit.in_tests:
            return None
        for bug in sorted(bugs):
            other = passing[bug].edit
            if other is None or other.diff != edit.diff or not passing[bug].passed:
                continue
            failing = {n for n, fate in self._ledger.fates(bug).items() if fate == FAILING}
            both = group.executed & self._ledger.executed(bug)
            if failing and failing <= passing[bug].passed and not both.isdisjoint(edit.functions):
                return bug
        return None

    # -- failing tests

    def _begun(self, group: GroupSighting, index: int) -> Event:
        record = BugRecord(
            id=uuid4().hex[:12],
            symptom=group.symptom,
            state=BugState.OPEN,
            created_at=self._run.made_at,
            seen_at=self._run.made_at,
            session=self._run.id,
            step=self._run.number,
            plan=self._run.plan,
        )
        bug = self._ledger.add(record, group.executed)
        fates = dict.fromkeys(group.symptom.tests, FAILING)
        self._ledger.see(bug, self._sighting([group], CodeEdit(), fates), group.executed)
        return Event(bug=bug, kind="begun", message=f"bug {record.id} begins", group=index)

    def _failed_again(
        self, bug: int, record: BugRecord, own: Mapping[int, GroupSighting], fixed: Sequence[str]
    ) -> list[Event]:
        groups = list(own.values())
        executed = frozenset().union(*(group.executed for group in groups))
        edit = next((g.edit for g in groups if g.edit is not None), None) or CodeEdit()
        is_tried = not executed.isdisjoint(edit.functions)
        is_known = any(group.is_since_seen for group in groups) or bool(
            self._ledger.sightings(bug, self._run.workspace, 1)
        )
        failing = {node_id for group in groups for node_id in group.symptom.tests}
        known = self._ledger.fates(bug)
        new = sorted(n for n in failing if known.get(n) != FAILING)
        for group in groups:
            self._ledger.add_failures(bug, group.symptom)
        fates = known | dict.fromkeys(failing, FAILING)
        self._ledger.settle(bug, dict.fromkeys(failing, FAILING))
        is_same = all(group.is_idle for group in groups)
        sighting = self._sighting(groups, edit, fates, is_tried=is_tried, is_same=is_same)
        self._ledger.see(bug, sighting, executed)
        doubted = [name for group in groups for name in group.symptom.believed]
        withdrawn = self._withdrawn(doubted, "the evidence points at it", bug)
        kind, message = "again", f"bug {record.id}{withdrawn}" if withdrawn else ""
        if is_tried and is_known:
            metric = 1 - len(failing) / max(1, len(fates))
            trial = self._failed_trial(record, edit, groups[0].symptom, doubted, metric)
            self._ledger.add_trial(bug, trial, self._run.id)
            kind, message = "tried", f"bug {record.id}: trial {trial.number} failed{withdrawn}"
            if fixed and new:
                message = (
                    f"bug {record.id} was moved by trial {trial.number}, which is no fix: "
                    f"{', '.join(fixed)} passes, and {', '.join(new)} fails since the same edit"
                    f"{withdrawn}"
                )
        return [Event(bug=bug, kind=kind, message=message, group=i) for i in own]

    def _failed_trial(
        self, record: BugRecord, edit: CodeEdit, now: Symptom, doubted: Sequence[str], metric: float
    ) -> DebugTrial:
        """Return an attempt that did not help; nothing is learned of functions in doubt."""
        summary = self._summarizer.failed(record, edit, now)
        return DebugTrial(
            number=len(record.trials) + 1,
            made_at=self._run.made_at,
            edit=replace(edit, plan=self._run.plan),
            outcome=TrialOutcome.FAILED,
            summary=without_lesson_about(doubted, summary),
            error=now.signature,
            metric=metric,
        )

    def _withdrawn(self, functions: Sequence[str], why: str, bug: int | None = None) -> str:
        """Take back constraints about ``functions``, and say so; each is told once.

        Args:
            functions: That are at fault, as ``file qualname``.
            why: In words.
            bug: Whose constraints; None: those of all bugs.
        """
        known = self._ledger.constraints(bug)
        wrong = [text for text in known if is_contradicted(text, functions)]
        self._ledger.withdraw(wrong, bug)
        return "".join(f"; no longer learned, since {why}: {text}" for text in wrong)

    def _sighting(
        self,
        groups: Sequence[GroupSighting],
        edit: CodeEdit,
        fates: Mapping[str, str],
        *,
        is_tried: bool = False,
        is_same: bool = True,
    ) -> Sighting:
        failures = [failure for group in groups for failure in group.symptom.failures]
        errors = sorted({f"{failure.signature}\0{failure.place}" for failure in failures})
        # Of all its tests, run or not: who selects others in turn changes nothing.
        failing = sorted(node_id for node_id, fate in fates.items() if fate == FAILING)
        top = {suspect for group in groups for suspect in group.symptom.suspects[:N_TOP]}
        return Sighting(
            run=self._run.id,
            workspace=self._run.workspace,
            revision=self._run.revision,
            seen_at=self._run.made_at,
            error=text_digest("\n".join(errors), 16),
            tests=text_digest("\n".join(failing), 16),
            n_failing=len(failing),
            code_state=_joined(group.code_state for group in groups),
            test_state=_joined(group.test_state for group in groups),
            edited=edit.functions if is_tried else (),
            untested=tuple(dict.fromkeys(n for group in groups for n in group.untested)),
            command=self._run.command if is_same else "",
            is_aimed=not top or not top.isdisjoint(edit.functions),
        )

    # -- tests that did not fail

    def _not_failed(self, bug: int, record: BugRecord, sighting: PassingSighting) -> list[Event]:
        fates = self._ledger.fates(bug)
        changed = {n: _fate(n, fates.get(n, ""), sighting) for n in sighting.passed}
        changed |= dict.fromkeys(sighting.gone, GONE)
        changed = {n: fate for n, fate in changed.items() if n in fates}
        self._ledger.settle(bug, changed)
        fates |= changed
        if not {FAILING, WEAKENED}.isdisjoint(fates.values()) or not changed:
            if self._run.made_at - record.seen_at > UNSEEN_AFTER:
                self._ledger.close(bug, BugState.UNSEEN, "", self._run.made_at)
            return _excused(bug, record, sighting)
        at = self._run.made_at
        if PASSING not in fates.values():
            self._ledger.close(bug, BugState.GONE, "", at)
            end = "its tests were deleted, which is no fix; closed unresolved"
            return [Event(bug=bug, kind="gone", message=f"bug {record.id}: {end}")]
        is_back = sighting.net is not None and not sighting.net.functions
        edit = sighting.net if is_back else sighting.edit
        if not sighting.data and self._is_unchanged(bug, edit):
            self._ledger.close(bug, BugState.FLAKY, "", at)
            for node_id in sorted(sighting.passed):
                self._ledger.observe("flaky", node_id, at)
            end = "passes without an edit of code or data, so it is flaky"
            return [Event(bug=bug, kind="flaky", message=f"bug {record.id}: {end}")]
        return [self._resolved(bug, record, sighting)]

    def _is_unchanged(self, bug: int, edit: CodeEdit | None) -> bool:
        """Whether no edit is visible; a commit may hold other files."""
        if edit is None or edit.functions:
            return False
        before = self._ledger.revisions().get(bug, "")
        return before.rstrip("+") == self._run.revision.rstrip("+")

    def _resolved(self, bug: int, record: BugRecord, sighting: PassingSighting) -> Event:
        edit = sighting.net or sighting.edit or CodeEdit()
        executed = self._ledger.executed(bug)
        hit = sighting.proven or tuple(name for name in edit.functions if name in executed)
        named = hit or edit.functions or sighting.data
        fix = replace(edit, functions=named, plan=self._run.plan)
        trial = DebugTrial(
            number=len(record.trials) + 1,
            made_at=self._run.made_at,
            edit=fix,
            outcome=TrialOutcome.PASSED,
            summary=self._summarizer.succeeded(record, fix),
            metric=1.0,
        )
        self._ledger.add_trial(bug, trial, self._run.id)
        cause = ", ".join(fix.functions)
        self._ledger.close(bug, BugState.RESOLVED, cause, self._run.made_at)
        judge_advice(self._ledger, bug, fix.functions)
        if fix.functions:
            judge_verdicts(self._ledger, bug, fix.functions)
        n = len(record.trials)
        after = f" after {n} failed trial{'s' * (n != 1)}" if n else ""
        where = f": {cause}" if cause else ", by something that is not known"
        lesson = trial.summary.lesson
        message = f"bug {record.id} is fixed{after}{where}{f'; {lesson}' if lesson else ''}"
        message += self._withdrawn(fix.functions, "the fix changed it")
        return Event(bug=bug, kind="resolved", message=message)


def _fate(node_id: str, before: str, sighting: PassingSighting) -> str:
    """Return the fate of a test that passes: weakened until somebody edits it again."""
    if node_id in sighting.weakened:
        return WEAKENED
    file, *names = node_id.partition("[")[0].split("::")
    edited = () if sighting.edit is None else sighting.edit.functions
    is_held = before == WEAKENED and f"{file} {'.'.join(names)}" not in edited
    return WEAKENED if is_held else PASSING


def _excused(bug: int, record: BugRecord, sighting: PassingSighting) -> list[Event]:
    return [
        Event(
            bug=bug,
            kind="excused",
            message=f"bug {record.id}: {node_id} is {word} now, which is no fix; it stays open",
        )
        for node_id, word in sorted(
            {**sighting.excused, **dict.fromkeys(sighting.weakened, "weakened")}.items()
        )
    ]


def _joined(states: Iterable[str]) -> str:
    """Return one digest of several."""
    listed = sorted(set(states))
    return listed[0] if len(listed) == 1 else text_digest("\n".join(listed), 16)
