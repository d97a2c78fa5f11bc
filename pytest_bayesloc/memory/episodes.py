"""What a run does to the open bugs: begins, tries, mends, or closes them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import uuid4

from pytest_bayesloc.domain.bug import BugRecord, DebugTrial, Edit, Outcome, State, Symptom
from pytest_bayesloc.domain.ports import Summarizer
from pytest_bayesloc.memory.judgements import Judgements
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.sightings import Run, Sighting
from pytest_bayesloc.memory.worth import Worth

UNSEEN_AFTER = timedelta(days=30)
N_TOP = 5  # suspects that an edit should hit
FORGOTTEN = -1  # the home of what a person wants to hear no more of
FAILING, PASSING, GONE = "failing", "passing", "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Red:
    """A group of failing tests in a run.

    Attributes:
        symptom: How it shows.
        executed: What its tests executed, tests included, as ``file qualname``.
        edit: What was edited since they ran before; None if nobody knows.
        is_since_seen: Whether that is since the bug was last seen, wherever; else it is since the
            tests last ran in this checkout.
        code_state: Digest of the code that they executed.
        test_state: Digest of the tests.
    """

    symptom: Symptom
    executed: frozenset[str]
    edit: Edit | None
    code_state: str
    test_state: str
    is_since_seen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Green:
    """Tests of an open bug that did not fail in a run.

    Attributes:
        passed: Node ids.
        excused: Node ids of those that were skipped or are expected to fail, with the word for it.
        gone: Node ids of those that are no more.
        moved: Node ids of those that stand in another file now, to what they are there; the
            other attributes speak of these.
        edit: What was edited since they ran before; None if nobody knows.
        proven: Of that, what the tests fail without; empty if that was not tried.
    """

    passed: frozenset[str] = frozenset()
    excused: Mapping[str, str] | None = None
    gone: frozenset[str] = frozenset()
    moved: Mapping[str, str] = field(default_factory=dict)
    edit: Edit | None = None
    proven: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What became of a bug in this run, in one word, and in a sentence for the user.

    Attributes:
        bug: Number in the store.
        what: ``begun``, ``again``, ``tried``, ``resolved``, ``flaky``, ``gone``, ``excused``.
        said: For the terminal; empty where there is nothing to say.
        red: Index of the group that it is about, -1 if none.
    """

    bug: int
    what: str
    said: str
    red: int = -1


class Episodes:
    """One run's part in the story of each bug.

    Args:
        ledger: In a transaction.
        run: This one, written already.
        summarizer: Words what is learned.
        plan: What is being done, as the person or the commit says.
    """

    def __init__(self, ledger: Ledger, run: Run, summarizer: Summarizer, plan: str = "") -> None:
        self._ledger = ledger
        self._run = run
        self._summarizer = summarizer
        self._plan = plan

    def advance(self, reds: Sequence[Red], greens: Mapping[int, Green]) -> list[Event]:
        """Take the run in; one event a bug that it is about.

        Args:
            reds: The groups of failing tests.
            greens: Per number of an open bug, its tests that did not fail.
        """
        for bug, green in greens.items():
            self._ledger.move(bug, green.moved)
        open_bugs = self._ledger.open_bugs()
        home = self._homes(reds, open_bugs)
        events: list[Event] = []
        for bug, record in open_bugs.items():
            own = [i for i, found in enumerate(home) if found == bug]
            if own:
                passed = greens[bug].passed if bug in greens else frozenset()
                self._ledger.settle(bug, dict.fromkeys(passed, PASSING))
                events += self._failed_again(bug, record, [reds[i] for i in own], own)
            else:
                events += self._not_failed(bug, record, greens.get(bug, Green()))
        events += [self._begun(red, i) for i, red in enumerate(reds) if home[i] is None]
        return events

    def _homes(self, reds: Sequence[Red], open_bugs: Mapping[int, BugRecord]) -> list[int | None]:
        """Per group the open bug that it belongs to: by its tests, else by its fingerprints."""
        rules = self._ledger.rules()
        by_id = {record.id: bug for bug, record in open_bugs.items()}
        found: list[int | None] = []
        for red in reds:
            decided = {by_id.get(rules.get(f, "-")) for f in red.symptom.fingerprints} - {None}
            shared = {
                bug: (
                    len({*record.symptom.tests} & {*red.symptom.tests}),
                    len(record.symptom.fingerprints & red.symptom.fingerprints),
                )
                for bug, record in open_bugs.items()
            }
            best = max(shared, key=lambda bug: (shared[bug], -bug), default=None)
            if all(rules.get(f) == "" for f in red.symptom.fingerprints):
                best = FORGOTTEN
            elif decided:
                best = min(bug for bug in decided if bug is not None)
            elif best is not None and shared[best] == (0, 0):
                best = None
            found.append(best)
        return found

    # -- red

    def _begun(self, red: Red, index: int) -> Event:
        record = BugRecord(
            id=uuid4().hex[:12],
            symptom=red.symptom,
            state=State.OPEN,
            created_at=self._run.made_at,
            seen_at=self._run.made_at,
            session=self._run.id,
            step=self._run.number,
            plan=self._plan,
        )
        bug = self._ledger.add(record, red.executed)
        self._ledger.see(bug, self._sighting([red], Edit()), red.executed)
        return Event(bug=bug, what="begun", said=f"bug {record.id} begins", red=index)

    def _failed_again(
        self, bug: int, record: BugRecord, reds: Sequence[Red], own: Sequence[int]
    ) -> list[Event]:
        executed = frozenset().union(*(red.executed for red in reds))
        edit = next((red.edit for red in reds if red.edit is not None), None) or Edit()
        is_tried = not executed.isdisjoint(edit.functions)
        is_known = any(red.is_since_seen for red in reds) or bool(
            self._ledger.sightings(bug, self._run.workspace, 1)
        )
        for red in reds:
            self._ledger.add_failures(bug, red.symptom)
        self._ledger.see(bug, self._sighting(reds, edit), executed)
        failing = {node_id for red in reds for node_id in red.symptom.tests}
        fates = self._ledger.fates(bug)
        self._ledger.settle(bug, dict.fromkeys(failing, FAILING))
        if not is_tried or not is_known:
            return [Event(bug=bug, what="again", said="", red=i) for i in own]
        metric = 1 - len(failing & fates.keys()) / len(fates) if fates else 0.0
        trial = DebugTrial(
            number=len(record.trials) + 1,
            made_at=self._run.made_at,
            edit=replace(edit, plan=self._plan),
            outcome=Outcome.FAILED,
            error=reds[0].symptom.signature,
            metric=max(0.0, metric),
            setback=self._summarizer.failed(record, edit, reds[0].symptom),
        )
        self._ledger.add_trial(bug, trial, self._run.id)
        said = f"bug {record.id}: trial {trial.number} failed"
        return [Event(bug=bug, what="tried", said=said, red=i) for i in own]

    def _sighting(self, reds: Sequence[Red], edit: Edit) -> Sighting:
        errors = sorted({f for red in reds for f in red.symptom.fingerprints})
        tests = sorted({n for red in reds for n in red.symptom.tests})
        top = {suspect for red in reds for suspect in red.symptom.suspects[:N_TOP]}
        return Sighting(
            run=self._run.id,
            workspace=self._run.workspace,
            revision=self._run.revision,
            seen_at=self._run.made_at,
            error=" ".join(errors),
            tests=_digest(tests),
            code_state=_joined(red.code_state for red in reds),
            test_state=_joined(red.test_state for red in reds),
            edited=edit.functions,
            is_aimed=not top.isdisjoint(edit.functions),
        )

    # -- green

    def _not_failed(self, bug: int, record: BugRecord, green: Green) -> list[Event]:
        fates = self._ledger.fates(bug)
        changed = dict.fromkeys(green.passed, PASSING) | dict.fromkeys(green.gone, GONE)
        changed = {n: fate for n, fate in changed.items() if n in fates}
        self._ledger.settle(bug, changed)
        fates |= changed
        if FAILING in fates.values() or not changed:
            return [*self._excused(bug, record, green), *self._unseen(bug, record)]
        at = self._run.made_at
        if PASSING not in fates.values():
            self._ledger.close(bug, State.GONE, "", at)
            said = f"bug {record.id}: its tests were deleted, which is no fix; closed unresolved"
            return [Event(bug=bug, what="gone", said=said)]
        if self._is_unchanged(bug, green.edit):
            self._ledger.close(bug, State.FLAKY, "", at)
            for node_id in sorted(green.passed):
                self._ledger.observe("flaky", node_id, at)
            said = f"bug {record.id}: passes without an edit of Python code, so it is flaky"
            return [Event(bug=bug, what="flaky", said=said)]
        return [self._resolved(bug, record, green.edit or Edit(), green.proven)]

    def _is_unchanged(self, bug: int, edit: Edit | None) -> bool:
        """Whether nothing was edited, as far as anyone can see; a commit may hold other files."""
        if edit is None or edit.functions:
            return False
        before = self._ledger.revisions().get(bug, "")
        return before.rstrip("+") == self._run.revision.rstrip("+")

    def _resolved(self, bug: int, record: BugRecord, edit: Edit, proven: tuple[str, ...]) -> Event:
        executed = self._ledger.executed(bug)
        hit = proven or tuple(name for name in edit.functions if name in executed)
        fix = replace(edit, functions=hit or edit.functions, plan=self._plan)
        trial = DebugTrial(
            number=len(record.trials) + 1,
            made_at=self._run.made_at,
            edit=fix,
            outcome=Outcome.PASSED,
            metric=1.0,
            success=self._summarizer.succeeded(record, fix),
        )
        self._ledger.add_trial(bug, trial, self._run.id)
        cause = ", ".join(fix.functions)
        self._ledger.close(bug, State.RESOLVED, cause, self._run.made_at)
        Worth(self._ledger).judge(bug, fix.functions)
        if fix.functions:
            Judgements(self._ledger).judge(bug, fix.functions)
        n = len(record.trials)
        after = f" after {n} failed trial{'s' * (n != 1)}" if n else ""
        where = f": {cause}" if cause else ", by something that is not known"
        return Event(bug=bug, what="resolved", said=f"bug {record.id} is mended{after}{where}")

    def _excused(self, bug: int, record: BugRecord, green: Green) -> list[Event]:
        return [
            Event(
                bug=bug,
                what="excused",
                said=f"bug {record.id}: {node_id} is {word} now, which is no fix; it stays open",
            )
            for node_id, word in sorted((green.excused or {}).items())
        ]

    def _unseen(self, bug: int, record: BugRecord) -> list[Event]:
        if self._run.made_at - record.seen_at > UNSEEN_AFTER:
            self._ledger.close(bug, State.UNSEEN, "", self._run.made_at)
        return []


def _digest(texts: Sequence[str]) -> str:
    joined = "\n".join(texts).encode("utf-8", "backslashreplace")
    return hashlib.sha256(joined).hexdigest()[:16]


def _joined(states: object) -> str:
    """One digest of several."""
    listed = sorted(set(states))  # type: ignore[call-overload]
    return str(listed[0]) if len(listed) == 1 else _digest(listed)
