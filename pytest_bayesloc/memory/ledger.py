"""Bug records, read and written in an open transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import convert
from sqlalchemy import bindparam, delete, func, insert, select, update

from pytest_bayesloc.domain.bug import (
    BugRecord,
    BugState,
    DebugTrial,
    Run,
    Sighting,
    Symptom,
    TrialOutcome,
)
from pytest_bayesloc.domain.texts import numbered, words
from pytest_bayesloc.memory.schema import (
    BUG,
    FAILURE,
    LISTS,
    NOTE,
    OBSERVATION,
    POSTING,
    RULE,
    RUN,
    SIGHTING,
    TEST,
    TRIAL,
)
from pytest_bayesloc.memory.store import chunks, row, written

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, RowMapping, Select, Table

# The fates of a bug's tests.
FAILING, PASSING, GONE, WEAKENED = "failing", "passing", "gone", "weakened"


class Ledger:
    """The records of one project."""

    def __init__(self, connection: Connection, project: str) -> None:
        self.db = connection
        self.project: str = written(BUG.c.project, project)

    def put(self, table: Table, *sources: object, **values: object) -> int:
        """Insert a row as ``store.row`` makes it, and return its number, if the table has them."""
        inserted = self.db.execute(insert(table).values(**row(table, *sources, **values)))
        return key_of(inserted.inserted_primary_key) if "seq" in table.c else 0

    # -- runs

    def add_run(self, run: Run) -> int:
        """Add a run and return its number in the project."""
        number = self.next_number()
        self.put(RUN, run, project=self.project, number=number)
        return number

    def next_number(self) -> int:
        """Return the number of the next run in the project."""
        newest = select(func.max(RUN.c.number)).where(RUN.c.project == self.project)
        return int(self.db.execute(newest).scalar() or 0) + 1

    # -- bugs

    def open_bugs(self) -> dict[int, BugRecord]:
        """Return the open records, oldest first, by their number in the store."""
        where = (BUG.c.project == self.project) & (BUG.c.state == BugState.OPEN.value)
        rows = self.db.execute(select(BUG).where(where).order_by(BUG.c.seq)).mappings().all()
        return self._records(rows)

    def bugs(self, numbers: Collection[int]) -> dict[int, BugRecord]:
        """Return the records of these numbers."""
        rows: list[RowMapping] = []
        for chunk in chunks(sorted(numbers)):
            rows += self.db.execute(select(BUG).where(BUG.c.seq.in_(chunk))).mappings().all()
        return self._records(rows)

    def others(self, at_most: int) -> list[str]:
        """Return the other projects of this memory, those of the youngest bugs first."""
        asked = select(BUG.c.project).where(BUG.c.project != self.project).group_by(BUG.c.project)
        youngest = asked.order_by(func.max(BUG.c.seq).desc()).limit(at_most)
        return [str(project) for project in self.db.execute(youngest).scalars()]

    def find(self, bug_id: str) -> int | None:
        """Return the number of the record ``bug_id``, or of the only one whose id begins so."""
        where = (BUG.c.project == self.project) & BUG.c.id.startswith(bug_id, autoescape=True)
        found = self.db.execute(select(BUG.c.seq).where(where).limit(2)).scalars().all()
        return int(found[0]) if len(found) == 1 else None

    def add(self, record: BugRecord) -> int:
        """Add a record without trials and return its number in the store."""
        symptom = record.symptom
        own = {"project": self.project, "demand": symptom.constraint, "run": record.session}
        bug = self.put(BUG, record, symptom, **own)
        self.add_failures(bug, symptom)
        return bug

    def add_failures(self, bug: int, symptom: Symptom) -> None:
        """Add the tests of a symptom and their failures, as far as they are new."""
        known = select(FAILURE.c.fingerprint).where(FAILURE.c.bug == bug)
        fingerprints = set(self.db.execute(known).scalars())
        for fingerprint, signature in symptom.signatures.items():
            if fingerprint not in fingerprints:
                self.add_failure(bug, fingerprint, signature, symptom.tags)
        present = self.fates(bug)
        now = {written(TEST.c.node_id, name): found for name, found in symptom.failing.items()}
        added = [
            {"bug": bug, "node_id": node_id, "fingerprint": fingerprint, "fate": FAILING}
            for node_id, fingerprint in now.items()
            if node_id not in present
        ]
        if added:  # a broken import fails every test there is: one statement for all
            self.db.execute(insert(TEST), added)
        again = [{"test": n, "now": now[n]} for n in sorted(now) if n in present]
        if again:
            is_it = (TEST.c.bug == bug) & (TEST.c.node_id == bindparam("test"))
            change = update(TEST).where(is_it).values(fingerprint=bindparam("now"), fate=FAILING)
            self.db.execute(change, again)

    def add_failure(self, bug: int, fingerprint: str, signature: str, tags: Iterable[str]) -> None:
        """Add a failure of a bug, to be found by its words."""
        made = self.put(FAILURE, bug=bug, fingerprint=fingerprint, signature=signature)
        text = " ".join([written(FAILURE.c.signature, signature), *sorted(tags)])
        rows = [{"word": word, "failure": made} for word in numbered(words(text), self.project)]
        if rows:
            self.db.execute(insert(POSTING), sorted(rows, key=lambda posting: posting["word"]))

    def see(self, bug: int, run: Run, sighting: Sighting, executed: frozenset[str]) -> None:
        """Add a sighting of a bug in a run in which its failing tests ``executed`` functions."""
        self.put(SIGHTING, sighting, run, run=run.id, bug=bug)
        self._update(bug, seen_at=sighting.seen_at, executed=executed)

    def revisions(self) -> dict[int, str]:
        """Return per open bug the git revision that it was last seen at."""
        newest = (
            select(func.max(SIGHTING.c.seq))
            .join_from(SIGHTING, BUG, BUG.c.seq == SIGHTING.c.bug)
            .where(BUG.c.project == self.project, BUG.c.state == BugState.OPEN.value)
            .group_by(SIGHTING.c.bug)
        )
        asked = select(SIGHTING.c.bug, SIGHTING.c.revision).where(SIGHTING.c.seq.in_(newest))
        return {int(bug): str(revision) for bug, revision in self.db.execute(asked)}

    def move(self, bug: int, moved: Mapping[str, str]) -> None:
        """Give tests of a bug their new node ids."""
        present = self.fates(bug)
        for old, new in moved.items():
            where = (TEST.c.bug == bug) & (TEST.c.node_id == written(TEST.c.node_id, old))
            to = written(TEST.c.node_id, new)
            if to in present:
                self.db.execute(delete(TEST).where(where))
            else:
                self.db.execute(update(TEST).where(where).values(node_id=to))

    def sightings(self, bug: int, workspace: str, at_most: int) -> list[Sighting]:
        """Return the last sightings of a bug in one checkout, oldest first."""
        where = (SIGHTING.c.bug == bug) & (SIGHTING.c.workspace == workspace)
        asked = select(SIGHTING).where(where).order_by(SIGHTING.c.seq.desc()).limit(at_most)
        rows = self.db.execute(asked).mappings().all()
        return [convert(_listed(line), Sighting) for line in reversed(rows)]

    def add_trial(self, bug: int, trial: DebugTrial, run: str) -> None:
        """Add a trial."""
        self.put(TRIAL, trial, trial.edit, run=run, bug=bug)

    def reword(self, bug: int, trial: DebugTrial) -> None:
        """Replace the words on a trial of a bug."""
        where = (TRIAL.c.bug == bug) & (TRIAL.c.number == trial.number)
        words = {name: getattr(trial, name) for name in ("why", "strategy", "lesson", "cause")}
        self.db.execute(update(TRIAL).where(where).values(**row(TRIAL, **words)))

    def suppose(self, bug: int, hypothesis: str) -> None:
        """Replace the hypothesis on a bug."""
        self._update(bug, hypothesis=hypothesis)

    def constraints(self, bug: int | None) -> list[str]:
        """Return the constraints that were learned from a bug, or from all of the project."""
        own = BUG.c.project == self.project if bug is None else BUG.c.seq == bug
        is_failed = TRIAL.c.outcome == TrialOutcome.FAILED.value
        lessons = select(TRIAL.c.lesson).join_from(TRIAL, BUG, BUG.c.seq == TRIAL.c.bug)
        asked = select(BUG.c.demand).where(own, BUG.c.demand != "")
        learned = lessons.where(own, is_failed, TRIAL.c.lesson != "")
        return sorted({str(text) for text in self.db.execute(asked.union(learned)).scalars()})

    def withdraw(self, constraints: Collection[str], bug: int | None) -> None:
        """Take back constraints of a bug, or of all of the project."""
        bugs = select(BUG.c.seq).where(BUG.c.project == self.project)
        for key, column in ((BUG.c.seq, BUG.c.demand), (TRIAL.c.bug, TRIAL.c.lesson)):
            own = key.in_(bugs) if bug is None else key == bug
            for text in constraints:
                is_it = own & (column == text)
                self.db.execute(update(column.table).where(is_it).values({column.name: ""}))

    def close(self, bug: int, state: BugState, root_cause: str, at: datetime) -> None:
        """End an episode."""
        self._update(bug, state=state, root_cause=root_cause, completed_at=at)

    def settle(self, bug: int, fates: Mapping[str, str]) -> None:
        """Set per node id whether a test of the bug fails, passes, or is gone."""
        for node_id, fate in fates.items():
            where = (TEST.c.bug == bug) & (TEST.c.node_id == written(TEST.c.node_id, node_id))
            self.db.execute(update(TEST).where(where).values(fate=fate))

    def fates(self, bug: int) -> dict[str, str]:
        """Return per node id of the bug's tests whether it failed, passed or was gone last."""
        rows = self.db.execute(select(TEST.c.node_id, TEST.c.fate).where(TEST.c.bug == bug))
        return {str(node_id): str(fate) for node_id, fate in rows}

    def delete(self, bug: int) -> None:
        """Delete a record with all that belongs to it."""
        self.db.execute(delete(BUG).where(BUG.c.seq == bug))  # the rest by its foreign keys

    def trim(self, limit: int) -> None:
        """Delete the oldest closed bugs beyond ``limit``."""
        own = BUG.c.project == self.project
        n = int(self.db.execute(select(func.count()).where(own)).scalar_one())
        if n > limit:
            closed = select(BUG.c.seq).where(own, BUG.c.state != BugState.OPEN.value)
            oldest = closed.order_by(BUG.c.seq).limit(n - limit)
            self.db.execute(delete(BUG).where(BUG.c.seq.in_(oldest)))

    def _update(self, bug: int, **values: object) -> None:
        self.db.execute(update(BUG).where(BUG.c.seq == bug).values(**row(BUG, **values)))

    # -- notes and decisions of persons, observations

    def add_note(self, bug: int | None, text: str, at: datetime) -> None:
        """Add a person's note."""
        self.put(NOTE, project=self.project, bug=bug, text=text, made_at=at)

    def rules(self) -> dict[str, str]:
        """Return per fingerprint that a person decided about, the bug's id; empty: forget it."""
        asked = select(RULE.c.fingerprint, RULE.c.bug).where(RULE.c.project == self.project)
        return {str(fingerprint): str(bug) for fingerprint, bug in self.db.execute(asked)}

    def decide(self, fingerprints: Iterable[str], bug_id: str) -> None:
        """Assign fingerprints to ``bug_id`` from now on; empty: forget them."""
        for fingerprint in sorted(set(fingerprints)):
            where = (RULE.c.project == self.project) & (RULE.c.fingerprint == fingerprint)
            self.db.execute(delete(RULE).where(where))
            self.put(RULE, project=self.project, fingerprint=fingerprint, bug=bug_id)

    def observe(self, kind: str, text: str, at: datetime) -> None:
        """Add an observation of the world, or count it once more."""
        key = row(OBSERVATION, project=self.project, kind=kind, text=text)
        where = [OBSERVATION.c[name] == value for name, value in key.items()]
        again = row(OBSERVATION, last_at=at)
        counted = update(OBSERVATION).where(*where).values(n=OBSERVATION.c.n + 1, **again)
        if not self.db.execute(counted).rowcount:
            self.put(OBSERVATION, **key, n=1, first_at=at, last_at=at)

    # -- rows to values

    def _records(self, rows: Sequence[RowMapping]) -> dict[int, BugRecord]:
        numbers = [int(line["seq"]) for line in rows]
        columns = (TEST.c.bug, TEST.c.node_id, TEST.c.fingerprint, FAILURE.c.signature)
        is_it = (FAILURE.c.bug == TEST.c.bug) & (FAILURE.c.fingerprint == TEST.c.fingerprint)
        failed = select(*columns).join_from(TEST, FAILURE, is_it).order_by(TEST.c.node_id)
        failures = self._by_bug(failed, TEST.c.bug, numbers)
        trials = self._by_bug(select(TRIAL).order_by(TRIAL.c.number), TRIAL.c.bug, numbers)
        notes = self._by_bug(select(NOTE).order_by(NOTE.c.seq), NOTE.c.bug, numbers)
        return {
            bug: _record(line, failures[bug], trials[bug], notes[bug])
            for bug, line in zip(numbers, map(_listed, rows), strict=True)
        }

    def _by_bug(
        self, asked: Select[Any], column: Column[Any], numbers: Sequence[int]
    ) -> dict[int, list[dict[str, Any]]]:
        found: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
        for chunk in chunks(numbers):
            for line in self.db.execute(asked.where(column.in_(chunk))).mappings():
                found[line["bug"]].append(_listed(line))
        return found


def key_of(inserted: Any) -> int:  # noqa: ANN401 - a row of SQLAlchemy's
    """Return the number of an inserted row."""
    return int(inserted[0])


def _record(
    own: dict[str, Any],
    failures: Sequence[dict[str, Any]],
    trials: Sequence[dict[str, Any]],
    notes: Sequence[dict[str, Any]],
) -> BugRecord:
    failing = {failure["node_id"]: failure["fingerprint"] for failure in failures}
    signatures = {failure["fingerprint"]: failure["signature"] for failure in failures}
    symptom = own | {"failing": failing, "signatures": signatures, "constraint": own["demand"]}
    record = {
        "symptom": symptom,
        "session": own["run"],
        "trials": [trial | {"edit": trial} for trial in trials],
        "notes": [note["text"] for note in notes],
    }
    return convert(own | record, BugRecord)


def _listed(line: RowMapping) -> dict[str, Any]:
    """Return a row with its lists as such, by names that are plain strings."""
    return {str(name): json.loads(v) if name in LISTS else v for name, v in line.items()}
