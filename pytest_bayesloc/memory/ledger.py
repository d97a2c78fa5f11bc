"""Bug records in and out of an open transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from pytest_bayesloc.domain.bug import (
    BugRecord,
    DebugTrial,
    Setback,
    State,
    Success,
    Symptom,
    TestFailure,
)
from pytest_bayesloc.domain.words import numbered, words
from pytest_bayesloc.memory.rows import chunks, key_of, record_of, sighting_of, stored
from pytest_bayesloc.memory.schema import (
    ADVICE,
    BUG,
    FAILURE,
    NOTE,
    OBSERVATION,
    POSTING,
    REJECTED,
    RULE,
    RUN,
    SIGHTING,
    TEST,
    TOOL_USE,
    TRIAL,
)
from pytest_bayesloc.memory.sightings import Run, Sighting
from pytest_bayesloc.memory.store import dumps, safe

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, RowMapping, Select

MAX_NODE_ID = 1000


class Ledger:
    """What is read and written in one transaction.

    Args:
        connection: Of the store, in a transaction.
        project: Whose records these are.
    """

    def __init__(self, connection: Connection, project: str) -> None:
        self.db = connection
        self.project = safe(project)[:200]

    # -- runs

    def add_run(self, run: Run) -> int:
        """Note a run; its number in the project."""
        number = self.next_number()
        values = {name: getattr(run, name) for name in ("id", "workspace", "revision", "kind")}
        values |= {"n_passed": run.n_passed, "n_failed": run.n_failed, "arm": run.arm}
        self.db.execute(
            insert(RUN).values(
                **values, project=self.project, number=number, made_at=stored(run.made_at)
            )
        )
        return number

    def next_number(self) -> int:
        """Of the next run in the project."""
        newest = select(func.max(RUN.c.number)).where(RUN.c.project == self.project)
        return int(self.db.execute(newest).scalar() or 0) + 1

    # -- bugs

    def open_bugs(self) -> dict[int, BugRecord]:
        """The open records, oldest first, by their number in the store."""
        where = (BUG.c.project == self.project) & (BUG.c.state == State.OPEN.value)
        rows = self.db.execute(select(BUG).where(where).order_by(BUG.c.seq)).mappings().all()
        return self._records(rows)

    def bugs(self, numbers: Collection[int]) -> dict[int, BugRecord]:
        """The records of these numbers."""
        rows: list[RowMapping] = []
        for chunk in chunks(sorted(numbers)):
            rows += self.db.execute(select(BUG).where(BUG.c.seq.in_(chunk))).mappings().all()
        return self._records(rows)

    def find(self, bug_id: str) -> int | None:
        """The number of the record ``bug_id``, or of the only one whose id begins so."""
        where = (BUG.c.project == self.project) & BUG.c.id.startswith(bug_id, autoescape=True)
        found = self.db.execute(select(BUG.c.seq).where(where).limit(2)).scalars().all()
        return int(found[0]) if len(found) == 1 else None

    def add(self, record: BugRecord, executed: Iterable[str]) -> int:
        """A new record, without trials; its number in the store."""
        symptom = record.symptom
        values: dict[str, Any] = {
            "id": record.id,
            "project": self.project,
            "state": record.state.value,
            "signature": safe(symptom.signature)[:200],
            "category": symptom.category.value,
            "hypothesis": safe(symptom.hypothesis)[:300],
            "tags": dumps(sorted(symptom.tags)),
            "error": safe(symptom.error),
            "code": safe(symptom.code),
            "demand": safe(symptom.constraint)[:200],
            "suspects": dumps(symptom.suspects),
            "in_test": symptom.in_test,
            "executed": dumps(sorted(executed)),
            "run": record.session,
            "step": record.step,
            "plan": safe(record.plan),
            "root_cause": safe(record.root_cause),
            "created_at": stored(record.created_at),
            "seen_at": stored(record.seen_at),
            "completed_at": stored(record.completed_at) if record.completed_at else None,
        }
        bug = key_of(self.db.execute(insert(BUG).values(**values)).inserted_primary_key)
        self.add_failures(bug, symptom)
        return bug

    def add_failures(self, bug: int, symptom: Symptom) -> None:
        """The tests of a symptom and the ways in which they fail, as far as they are new."""
        known = select(FAILURE.c.fingerprint).where(FAILURE.c.bug == bug)
        fingerprints = set(self.db.execute(known).scalars())
        for failure in symptom.failures:
            if failure.fingerprint not in fingerprints:
                fingerprints.add(failure.fingerprint)
                self.add_failure(bug, failure, symptom.tags)
        tests = select(TEST.c.node_id).where(TEST.c.bug == bug)
        present = set(self.db.execute(tests).scalars())
        as_now = {safe(f.node_id)[:MAX_NODE_ID]: f.fingerprint for f in symptom.failures}
        added = [
            {"bug": bug, "node_id": node_id, "fingerprint": fingerprint, "fate": "failing"}
            for node_id, fingerprint in as_now.items()
            if node_id not in present
        ]
        if added:  # a broken import fails every test there is: one statement for all
            self.db.execute(insert(TEST), added)
        again = [{"test": n, "now": as_now[n]} for n in sorted(present.intersection(as_now))]
        if again:
            is_it = (TEST.c.bug == bug) & (TEST.c.node_id == bindparam("test"))
            change = update(TEST).where(is_it).values(fingerprint=bindparam("now"), fate="failing")
            self.db.execute(change, again)

    def add_failure(self, bug: int, failure: TestFailure, tags: Iterable[str]) -> None:
        """A way in which a bug shows, to be found by its words."""
        signature = safe(failure.signature)[:200]
        values = {"bug": bug, "fingerprint": failure.fingerprint, "signature": signature}
        made = key_of(self.db.execute(insert(FAILURE).values(**values)).inserted_primary_key)
        found = numbered(words(" ".join([signature, *sorted(tags)])), self.project)
        rows = [{"word": word, "failure": made} for word in sorted(found)]
        if rows:
            self.db.execute(insert(POSTING), rows)

    def see(self, bug: int, sighting: Sighting, executed: Iterable[str]) -> None:
        """Note that a bug was seen."""
        values = {
            name: getattr(sighting, name)
            for name in ("run", "workspace", "revision", "error", "tests")
        }
        values |= {"code_state": sighting.code_state, "test_state": sighting.test_state}
        self.db.execute(
            insert(SIGHTING).values(
                **values,
                bug=bug,
                seen_at=stored(sighting.seen_at),
                edited=dumps(sighting.edited),
                is_aimed=sighting.is_aimed,
            )
        )
        seen = {"seen_at": stored(sighting.seen_at), "executed": dumps(sorted(executed))}
        self.db.execute(update(BUG).where(BUG.c.seq == bug).values(**seen))

    def revisions(self) -> dict[int, str]:
        """Per open bug, of git, what it was last seen at."""
        newest = (
            select(func.max(SIGHTING.c.seq))
            .join_from(SIGHTING, BUG, BUG.c.seq == SIGHTING.c.bug)
            .where(BUG.c.project == self.project, BUG.c.state == State.OPEN.value)
            .group_by(SIGHTING.c.bug)
        )
        asked = select(SIGHTING.c.bug, SIGHTING.c.revision).where(SIGHTING.c.seq.in_(newest))
        return {int(bug): str(revision) for bug, revision in self.db.execute(asked)}

    def move(self, bug: int, moved: Mapping[str, str]) -> None:
        """Tests of a bug have another node id now."""
        present = set(self.db.execute(select(TEST.c.node_id).where(TEST.c.bug == bug)).scalars())
        for old, new in moved.items():
            where = (TEST.c.bug == bug) & (TEST.c.node_id == safe(old)[:MAX_NODE_ID])
            to = safe(new)[:MAX_NODE_ID]
            if to in present:
                self.db.execute(delete(TEST).where(where))
            else:
                self.db.execute(update(TEST).where(where).values(node_id=to))

    def sightings(self, bug: int, workspace: str, at_most: int) -> list[Sighting]:
        """The last sightings of a bug in one checkout, oldest first."""
        where = (SIGHTING.c.bug == bug) & (SIGHTING.c.workspace == workspace)
        asked = select(SIGHTING).where(where).order_by(SIGHTING.c.seq.desc()).limit(at_most)
        rows = self.db.execute(asked).mappings().all()
        return [sighting_of(row) for row in reversed(rows)]

    def executed(self, bug: int) -> frozenset[str]:
        """What the failing tests of a bug executed when they last failed."""
        found = self.db.execute(select(BUG.c.executed).where(BUG.c.seq == bug)).scalar()
        return frozenset(json.loads(found or "[]"))

    def add_trial(self, bug: int, trial: DebugTrial, run: str) -> None:
        """One more trial."""
        edit = trial.edit
        why, strategy, lesson = trial.learned
        self.db.execute(
            insert(TRIAL).values(
                bug=bug,
                number=trial.number,
                run=run,
                made_at=stored(trial.made_at),
                outcome=trial.outcome.value,
                error=safe(trial.error)[:200],
                metric=trial.metric,
                functions=dumps(edit.functions),
                diff=safe(edit.diff),
                n_added=edit.n_added,
                n_removed=edit.n_removed,
                plan=safe(edit.plan),
                in_tests=edit.in_tests,
                why=safe(why)[:250],
                strategy=safe(strategy)[:150],
                lesson=safe(lesson)[:200],
            )
        )

    def reword(self, bug: int, hypothesis: str) -> None:
        """Another wording of what is thought of a bug."""
        values = {"hypothesis": safe(hypothesis)[:300]}
        self.db.execute(update(BUG).where(BUG.c.seq == bug).values(**values))

    def reword_trial(self, bug: int, number: int, learned: Setback | Success) -> None:
        """Another wording of what was learned from a trial."""
        lesson, cause = (
            (learned.constraint, "")
            if isinstance(learned, Setback)
            else (learned.insight, learned.cause)
        )
        values = {
            "why": safe(learned.why)[:250],
            "strategy": safe(learned.strategy)[:150],
            "lesson": safe(lesson)[:200],
            "cause": safe(cause)[:250],
        }
        where = (TRIAL.c.bug == bug) & (TRIAL.c.number == number)
        self.db.execute(update(TRIAL).where(where).values(**values))

    def close(self, bug: int, state: State, root_cause: str, at: datetime) -> None:
        """End an episode."""
        values = {"state": state.value, "root_cause": safe(root_cause), "completed_at": stored(at)}
        self.db.execute(update(BUG).where(BUG.c.seq == bug).values(**values))

    def settle(self, bug: int, fates: Mapping[str, str]) -> None:
        """Note per node id whether a test of the bug passes now, or is gone."""
        for node_id, fate in fates.items():
            where = (TEST.c.bug == bug) & (TEST.c.node_id == safe(node_id)[:MAX_NODE_ID])
            self.db.execute(update(TEST).where(where).values(fate=fate))

    def fates(self, bug: int) -> dict[str, str]:
        """Per node id of the bug's tests, how it last fared: failing, passing or gone."""
        rows = self.db.execute(select(TEST.c.node_id, TEST.c.fate).where(TEST.c.bug == bug))
        return {str(node_id): str(fate) for node_id, fate in rows}

    def delete(self, bug: int) -> None:
        """Take a record out, with all that hangs on it."""
        failures = select(FAILURE.c.seq).where(FAILURE.c.bug == bug)
        self.db.execute(delete(POSTING).where(POSTING.c.failure.in_(failures)))
        for table in (FAILURE, TEST, TRIAL, SIGHTING, REJECTED, NOTE, ADVICE, TOOL_USE):
            self.db.execute(delete(table).where(table.c.bug == bug))
        self.db.execute(delete(BUG).where(BUG.c.seq == bug))

    def trim(self, limit: int) -> None:
        """Take out the oldest bugs that are not open, as many as there are more than ``limit``."""
        own = BUG.c.project == self.project
        n = int(self.db.execute(select(func.count()).where(own)).scalar_one())
        if n > limit:
            closed = select(BUG.c.seq).where(own, BUG.c.state != State.OPEN.value)
            oldest = closed.order_by(BUG.c.seq).limit(n - limit)
            for bug in self.db.execute(oldest).scalars().all():
                self.delete(int(bug))

    # -- what persons say

    def add_note(self, bug: int | None, said: str, at: datetime) -> None:
        """A lesson of a person's."""
        values = {"project": self.project, "bug": bug, "text": safe(said), "made_at": stored(at)}
        self.db.execute(insert(NOTE).values(**values))

    def rules(self) -> dict[str, str]:
        """Per fingerprint that a person decided about, the bug's id; empty: to be forgotten."""
        asked = select(RULE.c.fingerprint, RULE.c.bug).where(RULE.c.project == self.project)
        return {str(fingerprint): str(bug) for fingerprint, bug in self.db.execute(asked)}

    def decide(self, fingerprints: Iterable[str], bug_id: str) -> None:
        """From now on, these belong to ``bug_id``; empty: they are forgotten."""
        for fingerprint in sorted(set(fingerprints)):
            key = {"project": self.project, "fingerprint": fingerprint}
            where = (RULE.c.project == self.project) & (RULE.c.fingerprint == fingerprint)
            self.db.execute(delete(RULE).where(where))
            self.db.execute(insert(RULE).values(**key, bug=bug_id))

    # -- the world

    def observe(self, kind: str, said: str, at: datetime) -> None:
        """Note something about the world, or that it was seen once more."""
        said = safe(said)[:1000]
        key = {"project": self.project, "kind": kind, "text": said}
        table = OBSERVATION.c
        where = (table.project == self.project) & (table.kind == kind) & (table.text == said)
        again = {"n": table.n + 1, "last_at": stored(at)}
        if not self.db.execute(update(OBSERVATION).where(where).values(**again)).rowcount:
            first = {"n": 1, "first_at": stored(at), "last_at": stored(at)}
            self.db.execute(insert(OBSERVATION).values(**key, **first))

    # -- rows to values

    def _records(self, rows: Sequence[RowMapping]) -> dict[int, BugRecord]:
        numbers = [int(row["seq"]) for row in rows]
        failures = self._by_bug(
            select(TEST.c.bug, TEST.c.node_id, TEST.c.fingerprint, FAILURE.c.signature)
            .join_from(
                TEST,
                FAILURE,
                (FAILURE.c.bug == TEST.c.bug) & (FAILURE.c.fingerprint == TEST.c.fingerprint),
            )
            .order_by(TEST.c.bug, TEST.c.node_id),
            TEST.c.bug,
            numbers,
        )
        trials = self._by_bug(
            select(TRIAL).order_by(TRIAL.c.bug, TRIAL.c.number), TRIAL.c.bug, numbers
        )
        notes = self._by_bug(select(NOTE).order_by(NOTE.c.seq), NOTE.c.bug, numbers)
        return {
            int(row["seq"]): record_of(
                row, failures[row["seq"]], trials[row["seq"]], notes[row["seq"]]
            )
            for row in rows
        }

    def _by_bug(
        self,
        asked: Select[Any],
        column: Column[Any],
        numbers: Sequence[int],
    ) -> dict[int, list[RowMapping]]:
        found: dict[int, list[RowMapping]] = {number: [] for number in numbers}
        for chunk in chunks(numbers):
            for row in self.db.execute(asked.where(column.in_(chunk))).mappings():
                found[row["bug"]].append(row)
        return found
