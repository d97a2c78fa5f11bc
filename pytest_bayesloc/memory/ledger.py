"""Bug records, read and written in an open transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import convert

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
from pytest_bayesloc.memory.schema import LISTS, row, written
from pytest_bayesloc.memory.store import Connection, chunks

# The fates of a bug's tests.
FAILING, PASSING, GONE, WEAKENED = "failing", "passing", "gone", "weakened"


class Ledger:
    """The records of one project."""

    def __init__(self, connection: Connection, project: str) -> None:
        self.db = connection
        self.project: str = written("bug.project", project)

    def put(self, table: str, *sources: object, **values: object) -> int:
        """Insert a row as ``schema.row`` makes it, and return its number, if the table has them."""
        return self.db.insert(table, row(table, *sources, **values))

    # -- runs

    def add_run(self, run: Run) -> int:
        """Add a run and return its number in the project."""
        number = self.next_number()
        self.put("run", run, project=self.project, number=number)
        return number

    def next_number(self) -> int:
        """Return the number of the next run in the project."""
        newest = self.db.value("SELECT max(number) FROM run WHERE project = ?", self.project)
        return int(newest or 0) + 1

    # -- bugs

    def open_bugs(self) -> dict[int, BugRecord]:
        """Return the open records, oldest first, by their number in the store."""
        asked = "SELECT * FROM bug WHERE project = ? AND state = ? ORDER BY seq"
        return self._records(self.db.records(asked, self.project, BugState.OPEN.value))

    def bugs(self, numbers: Collection[int]) -> dict[int, BugRecord]:
        """Return the records of these numbers."""
        rows = []
        for chunk in chunks(sorted(numbers)):
            rows += self.db.records("SELECT * FROM bug WHERE seq IN ?", chunk)
        return self._records(rows)

    def others(self, at_most: int) -> list[str]:
        """Return the other projects of this memory, those of the youngest bugs first."""
        asked = """SELECT project FROM bug WHERE project <> ?
            GROUP BY project ORDER BY max(seq) DESC LIMIT ?"""
        return self.db.column(asked, self.project, at_most)

    def find(self, bug_id: str) -> int | None:
        """Return the number of the record ``bug_id``, or of the only one with that prefix."""
        asked = "SELECT seq FROM bug WHERE project = ? AND substr(id, 1, ?) = ? LIMIT 2"
        found = self.db.column(asked, self.project, len(bug_id), bug_id)
        return int(found[0]) if len(found) == 1 else None

    def add(self, record: BugRecord) -> int:
        """Add a record without trials and return its number in the store."""
        symptom = record.symptom
        own = {"project": self.project, "demand": symptom.constraint, "run": record.session}
        bug = self.put("bug", record, symptom, **own)
        self.add_failures(bug, symptom)
        return bug

    def add_failures(self, bug: int, symptom: Symptom) -> None:
        """Add the tests of a symptom and their failures, as far as they are new."""
        known = self.db.column("SELECT fingerprint FROM failure WHERE bug = ?", bug)
        for fingerprint, signature in symptom.signatures.items():
            if fingerprint not in known:
                self.add_failure(bug, fingerprint, signature, symptom.tags)
        present = self.fates(bug)
        now = {written("test.node_id", name): found for name, found in symptom.failing.items()}
        self.db.insert_each(
            "test",
            [
                {"bug": bug, "node_id": node_id, "fingerprint": fingerprint, "fate": FAILING}
                for node_id, fingerprint in now.items()
                if node_id not in present
            ],
        )
        self.db.change_each(
            f"UPDATE test SET fingerprint = ?, fate = '{FAILING}' WHERE bug = ? AND node_id = ?",
            [(now[node_id], bug, node_id) for node_id in sorted(now) if node_id in present],
        )

    def add_failure(self, bug: int, fingerprint: str, signature: str, tags: Iterable[str]) -> None:
        """Add a failure of a bug, to be found by its words."""
        made = self.put("failure", bug=bug, fingerprint=fingerprint, signature=signature)
        text = " ".join([written("failure.signature", signature), *sorted(tags)])
        found = sorted(numbered(words(text), self.project))
        self.db.insert_each("posting", [{"word": word, "failure": made} for word in found])

    def see(self, bug: int, run: Run, sighting: Sighting, executed: frozenset[str]) -> None:
        """Add a sighting of a bug in a run in which its failing tests ``executed`` functions."""
        self.put("sighting", sighting, run, run=run.id, bug=bug)
        self._update(bug, seen_at=sighting.seen_at, executed=executed)

    def revisions(self) -> dict[int, str]:
        """Return per open bug the git revision that it was last seen at."""
        asked = """SELECT bug, revision FROM sighting WHERE seq IN (
            SELECT max(sighting.seq) FROM sighting JOIN bug ON bug.seq = sighting.bug
            WHERE bug.project = ? AND bug.state = ? GROUP BY sighting.bug)"""
        return dict(self.db.rows(asked, self.project, BugState.OPEN.value))

    def move(self, bug: int, moved: Mapping[str, str]) -> None:
        """Give tests of a bug their new node ids."""
        present = self.fates(bug)
        for old, new in moved.items():
            before, after = written("test.node_id", old), written("test.node_id", new)
            if after in present:
                self.db.change("DELETE FROM test WHERE bug = ? AND node_id = ?", bug, before)
            else:
                change = "UPDATE test SET node_id = ? WHERE bug = ? AND node_id = ?"
                self.db.change(change, after, bug, before)

    def sightings(self, bug: int, workspace: str, at_most: int) -> list[Sighting]:
        """Return the last sightings of a bug in one checkout, oldest first."""
        asked = "SELECT * FROM sighting WHERE bug = ? AND workspace = ? ORDER BY seq DESC LIMIT ?"
        rows = self.db.records(asked, bug, workspace, at_most)
        return [convert(_with_lists(line), Sighting) for line in reversed(rows)]

    def add_trial(self, bug: int, trial: DebugTrial, run: str) -> None:
        """Add a trial."""
        self.put("trial", trial, trial.edit, run=run, bug=bug)

    def reword(self, bug: int, trial: DebugTrial) -> None:
        """Replace the words on a trial of a bug."""
        names = ("why", "strategy", "lesson", "cause")
        said = row("trial", **{name: getattr(trial, name) for name in names})
        self.db.update("trial", said, bug=bug, number=trial.number)

    def suppose(self, bug: int, hypothesis: str) -> None:
        """Replace the hypothesis on a bug."""
        self._update(bug, hypothesis=hypothesis)

    def constraints(self, bug: int | None) -> list[str]:
        """Return the constraints that were learned from a bug, or from all of the project."""
        own, key = ("project = ?", self.project) if bug is None else ("bug.seq = ?", bug)
        asked = f"""SELECT demand FROM bug WHERE {own} AND demand <> ''
            UNION SELECT lesson FROM trial JOIN bug ON bug.seq = trial.bug
            WHERE {own} AND outcome = '{TrialOutcome.FAILED.value}' AND lesson <> ''"""
        return sorted(self.db.column(asked, key, key))

    def withdraw(self, constraints: Collection[str], bug: int | None) -> None:
        """Retract constraints of a bug, or of all of the project."""
        own, key = "= ?", bug or self.project
        if bug is None:
            own = "IN (SELECT seq FROM bug WHERE project = ?)"
        for text in constraints:
            change = f"UPDATE bug SET demand = '' WHERE seq {own} AND demand = ?"
            self.db.change(change, key, text)
            change = f"UPDATE trial SET lesson = '' WHERE bug {own} AND lesson = ?"
            self.db.change(change, key, text)

    def close(self, bug: int, state: BugState, root_cause: str, at: datetime) -> None:
        """End an episode."""
        self._update(bug, state=state, root_cause=root_cause, completed_at=at)

    def settle(self, bug: int, fates: Mapping[str, str]) -> None:
        """Set per node id whether a test of the bug fails, passes, or is gone."""
        self.db.change_each(
            "UPDATE test SET fate = ? WHERE bug = ? AND node_id = ?",
            [(fate, bug, written("test.node_id", node_id)) for node_id, fate in fates.items()],
        )

    def fates(self, bug: int) -> dict[str, str]:
        """Return per node id of the bug's tests whether it failed, passed or was gone last."""
        return dict(self.db.rows("SELECT node_id, fate FROM test WHERE bug = ?", bug))

    def delete(self, bug: int) -> None:
        """Delete a record with all that belongs to it."""
        self.db.change("DELETE FROM bug WHERE seq = ?", bug)  # the rest by its foreign keys

    def trim(self, limit: int) -> None:
        """Delete the oldest closed bugs beyond ``limit``."""
        n = int(self.db.value("SELECT count(*) FROM bug WHERE project = ?", self.project))
        if n > limit:
            change = """DELETE FROM bug WHERE seq IN (
                SELECT seq FROM bug WHERE project = ? AND state <> ? ORDER BY seq LIMIT ?)"""
            self.db.change(change, self.project, BugState.OPEN.value, n - limit)

    def _update(self, bug: int, **values: object) -> None:
        self.db.update("bug", row("bug", **values), seq=bug)

    # -- notes and decisions of persons, observations

    def add_note(self, bug: int | None, text: str, at: datetime) -> None:
        """Add a person's note."""
        self.put("note", project=self.project, bug=bug, text=text, made_at=at)

    def rules(self) -> dict[str, str]:
        """Return per fingerprint that a person decided about, the bug's id; empty: forget it."""
        return dict(
            self.db.rows("SELECT fingerprint, bug FROM rule WHERE project = ?", self.project)
        )

    def decide(self, fingerprints: Iterable[str], bug_id: str) -> None:
        """Assign fingerprints to ``bug_id`` from now on; empty: forget them."""
        for fingerprint in sorted(set(fingerprints)):
            change = "DELETE FROM rule WHERE project = ? AND fingerprint = ?"
            self.db.change(change, self.project, fingerprint)
            self.put("rule", project=self.project, fingerprint=fingerprint, bug=bug_id)

    def observe(self, kind: str, text: str, at: datetime) -> None:
        """Add an observation of the world, or count it once more."""
        seen = row("observation", last_at=at, project=self.project, kind=kind, text=text)
        change = """UPDATE observation SET n = n + 1, last_at = ?
            WHERE project = ? AND kind = ? AND text = ?"""
        if not self.db.change(change, *seen.values()):
            self.put("observation", **seen, n=1, first_at=at)

    # -- rows to values

    def _records(self, rows: Sequence[dict[str, Any]]) -> dict[int, BugRecord]:
        numbers = [int(line["seq"]) for line in rows]
        failures = self._by_bug(
            """SELECT test.bug, test.node_id, test.fingerprint, failure.signature
            FROM test JOIN failure
            ON failure.bug = test.bug AND failure.fingerprint = test.fingerprint
            WHERE test.bug IN ? ORDER BY test.node_id""",
            numbers,
        )
        trials = self._by_bug("SELECT * FROM trial WHERE bug IN ? ORDER BY number", numbers)
        notes = self._by_bug("SELECT * FROM note WHERE bug IN ? ORDER BY seq", numbers)
        found = {}
        for bug, own in zip(numbers, map(_with_lists, rows), strict=True):
            symptom = own | {
                "failing": {line["node_id"]: line["fingerprint"] for line in failures[bug]},
                "signatures": {line["fingerprint"]: line["signature"] for line in failures[bug]},
                "constraint": own["demand"],
            }
            record = {
                "symptom": symptom,
                "session": own["run"],
                "trials": [trial | {"edit": trial} for trial in trials[bug]],
                "notes": [note["text"] for note in notes[bug]],
            }
            found[bug] = convert(own | record, BugRecord)
        return found

    def _by_bug(self, asked: str, numbers: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        found: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
        for chunk in chunks(numbers):
            for line in self.db.records(asked, chunk):
                found[line["bug"]].append(_with_lists(line))
        return found


def _with_lists(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its lists as such."""
    return {name: json.loads(v) if name in LISTS else v for name, v in line.items()}
