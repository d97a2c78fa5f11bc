"""Bug records in and out of an open transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, text, update

from pytest_bayesloc.domain.bug import (
    BugRecord,
    Category,
    DebugTrial,
    Edit,
    Outcome,
    Setback,
    State,
    Success,
    Symptom,
    TestFailure,
)
from pytest_bayesloc.memory.retrieval import Entry
from pytest_bayesloc.memory.schema import (
    ADVICE,
    BUG,
    FAILURE,
    NOTE,
    OBSERVATION,
    POSTING,
    RULE,
    RUN,
    SIGHTING,
    TEST,
    TRIAL,
)
from pytest_bayesloc.memory.statistics import Counted
from pytest_bayesloc.memory.store import dumps, safe
from pytest_bayesloc.memory.words import numbered, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy import Column, Connection, RowMapping, Select, Table

MAX_NODE_ID = 1000
CHUNK = 500  # values in one statement
N_CANDIDATES = 300  # past failures that are scored
N_COUNTED = 2000  # a word that so many failures hold is common
N_SAME = 20
MAX_WORDS = 200  # of a failure
N_FUNCTIONS = 20  # of a traceback, whose demands are looked up
N_OBSERVED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the suite, as the memory knows it.

    Attributes:
        id: 12 hexadecimal digits.
        workspace: The checkout that it was made in.
        made_at: In UTC.
        revision: Of git, empty if unknown.
        n_passed: Tests.
        n_failed: Tests.
        kind: ``normal`` or ``infrastructure``.
        arm: ``on`` or ``off``: whether advice is shown.
        number: In its project, from 1; 0 until it is written.
    """

    id: str
    workspace: str
    made_at: datetime
    revision: str
    n_passed: int
    n_failed: int
    kind: str = "normal"
    arm: str = "on"
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A bug in a run.

    Attributes:
        run: Id of the run.
        workspace: Of the run.
        revision: Of the run.
        seen_at: In UTC.
        error: The fingerprints of its failing tests, sorted, in one text.
        tests: Digest of which tests failed.
        code_state: Digest of the code that they executed.
        test_state: Digest of the tests and what they use of their files.
        edited: What was edited since the run before, as ``file qualname``.
        is_aimed: Whether an edit hit one of the top suspects.
    """

    run: str
    workspace: str
    revision: str
    seen_at: datetime
    error: str
    tests: str
    code_state: str
    test_state: str
    edited: tuple[str, ...] = ()
    is_aimed: bool = False

    @property
    def state(self) -> tuple[str, str]:
        """Of code and tests together."""
        return self.code_state, self.test_state


class Ledger:
    """What is read and written in one transaction.

    Args:
        connection: Of the store, in a transaction.
        project: Whose records these are.
    """

    def __init__(self, connection: Connection, project: str) -> None:
        self._db = connection
        self._project = safe(project)[:200]

    # -- runs

    def add_run(self, run: Run) -> int:
        """Note a run; its number in the project."""
        newest = select(func.max(RUN.c.number)).where(RUN.c.project == self._project)
        number = int(self._db.execute(newest).scalar() or 0) + 1
        values = {name: getattr(run, name) for name in ("id", "workspace", "revision", "kind")}
        values |= {"n_passed": run.n_passed, "n_failed": run.n_failed, "arm": run.arm}
        self._db.execute(
            insert(RUN).values(
                **values, project=self._project, number=number, made_at=_text(run.made_at)
            )
        )
        return number

    # -- bugs

    def open_bugs(self) -> dict[int, BugRecord]:
        """The open records, oldest first, by their number in the store."""
        where = (BUG.c.project == self._project) & (BUG.c.state == State.OPEN.value)
        rows = self._db.execute(select(BUG).where(where).order_by(BUG.c.seq)).mappings().all()
        return self._records(rows)

    def bugs(self, numbers: Collection[int]) -> dict[int, BugRecord]:
        """The records of these numbers."""
        rows: list[RowMapping] = []
        for chunk in _chunks(sorted(numbers)):
            rows += self._db.execute(select(BUG).where(BUG.c.seq.in_(chunk))).mappings().all()
        return self._records(rows)

    def find(self, bug_id: str) -> int | None:
        """The number of the record ``bug_id``, or of the only one whose id begins so."""
        where = (BUG.c.project == self._project) & BUG.c.id.startswith(bug_id, autoescape=True)
        found = self._db.execute(select(BUG.c.seq).where(where).limit(2)).scalars().all()
        return int(found[0]) if len(found) == 1 else None

    def add(self, record: BugRecord, executed: Iterable[str]) -> int:
        """A new record, without trials; its number in the store."""
        symptom = record.symptom
        values: dict[str, Any] = {
            "id": record.id,
            "project": self._project,
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
            "created_at": _text(record.created_at),
            "seen_at": _text(record.seen_at),
            "completed_at": _text(record.completed_at) if record.completed_at else None,
        }
        bug = _key(self._db.execute(insert(BUG).values(**values)).inserted_primary_key)
        self.add_failures(bug, symptom)
        return bug

    def add_failures(self, bug: int, symptom: Symptom) -> None:
        """The tests of a symptom and the ways in which they fail, as far as they are new."""
        known = select(FAILURE.c.fingerprint).where(FAILURE.c.bug == bug)
        fingerprints = set(self._db.execute(known).scalars())
        for failure in symptom.failures:
            if failure.fingerprint not in fingerprints:
                fingerprints.add(failure.fingerprint)
                self._add_failure(bug, failure, symptom.tags)
        tests = select(TEST.c.node_id).where(TEST.c.bug == bug)
        present = set(self._db.execute(tests).scalars())
        for failure in symptom.failures:
            node_id = safe(failure.node_id)[:MAX_NODE_ID]
            values = {"fingerprint": failure.fingerprint, "fate": "failing"}
            if node_id in present:
                where = (TEST.c.bug == bug) & (TEST.c.node_id == node_id)
                self._db.execute(update(TEST).where(where).values(**values))
            else:
                present.add(node_id)
                self._db.execute(insert(TEST).values(bug=bug, node_id=node_id, **values))

    def _add_failure(self, bug: int, failure: TestFailure, tags: Iterable[str]) -> None:
        signature = safe(failure.signature)[:200]
        values = {"bug": bug, "fingerprint": failure.fingerprint, "signature": signature}
        made = _key(self._db.execute(insert(FAILURE).values(**values)).inserted_primary_key)
        found = numbered(words(" ".join([signature, *sorted(tags)])))
        rows = [{"word": word, "failure": made} for word in sorted(found)]
        if rows:
            self._db.execute(insert(POSTING), rows)

    def see(self, bug: int, sighting: Sighting, executed: Iterable[str]) -> None:
        """Note that a bug was seen."""
        values = {
            name: getattr(sighting, name)
            for name in ("run", "workspace", "revision", "error", "tests")
        }
        values |= {"code_state": sighting.code_state, "test_state": sighting.test_state}
        self._db.execute(
            insert(SIGHTING).values(
                **values,
                bug=bug,
                seen_at=_text(sighting.seen_at),
                edited=dumps(sighting.edited),
                is_aimed=sighting.is_aimed,
            )
        )
        seen = {"seen_at": _text(sighting.seen_at), "executed": dumps(sorted(executed))}
        self._db.execute(update(BUG).where(BUG.c.seq == bug).values(**seen))

    def revisions(self) -> dict[int, str]:
        """Per open bug, of git, what it was last seen at."""
        newest = (
            select(func.max(SIGHTING.c.seq))
            .join_from(SIGHTING, BUG, BUG.c.seq == SIGHTING.c.bug)
            .where(BUG.c.project == self._project, BUG.c.state == State.OPEN.value)
            .group_by(SIGHTING.c.bug)
        )
        asked = select(SIGHTING.c.bug, SIGHTING.c.revision).where(SIGHTING.c.seq.in_(newest))
        return {int(bug): str(revision) for bug, revision in self._db.execute(asked)}

    def move(self, bug: int, moved: Mapping[str, str]) -> None:
        """Tests of a bug have another node id now."""
        present = set(self._db.execute(select(TEST.c.node_id).where(TEST.c.bug == bug)).scalars())
        for old, new in moved.items():
            where = (TEST.c.bug == bug) & (TEST.c.node_id == safe(old)[:MAX_NODE_ID])
            to = safe(new)[:MAX_NODE_ID]
            if to in present:
                self._db.execute(delete(TEST).where(where))
            else:
                self._db.execute(update(TEST).where(where).values(node_id=to))

    def sightings(self, bug: int, workspace: str, at_most: int) -> list[Sighting]:
        """The last sightings of a bug in one checkout, oldest first."""
        where = (SIGHTING.c.bug == bug) & (SIGHTING.c.workspace == workspace)
        asked = select(SIGHTING).where(where).order_by(SIGHTING.c.seq.desc()).limit(at_most)
        rows = self._db.execute(asked).mappings().all()
        return [_sighting(row) for row in reversed(rows)]

    def executed(self, bug: int) -> frozenset[str]:
        """What the failing tests of a bug executed when they last failed."""
        found = self._db.execute(select(BUG.c.executed).where(BUG.c.seq == bug)).scalar()
        return frozenset(json.loads(found or "[]"))

    def add_trial(self, bug: int, trial: DebugTrial, run: str) -> None:
        """One more trial."""
        edit, setback, success = trial.edit, trial.setback, trial.success
        learned = setback or success
        lesson = setback.constraint if setback else success.insight if success else ""
        self._db.execute(
            insert(TRIAL).values(
                bug=bug,
                number=trial.number,
                run=run,
                made_at=_text(trial.made_at),
                outcome=trial.outcome.value,
                error=safe(trial.error)[:200],
                metric=trial.metric,
                functions=dumps(edit.functions),
                diff=safe(edit.diff),
                n_added=edit.n_added,
                n_removed=edit.n_removed,
                plan=safe(edit.plan),
                in_tests=edit.in_tests,
                why=safe(learned.why)[:250] if learned else "",
                strategy=safe(learned.strategy)[:150] if learned else "",
                lesson=safe(lesson)[:200],
            )
        )

    def close(self, bug: int, state: State, root_cause: str, at: datetime) -> None:
        """End an episode."""
        values = {"state": state.value, "root_cause": safe(root_cause), "completed_at": _text(at)}
        self._db.execute(update(BUG).where(BUG.c.seq == bug).values(**values))

    def settle(self, bug: int, fates: Mapping[str, str]) -> None:
        """Note per node id whether a test of the bug passes now, or is gone."""
        for node_id, fate in fates.items():
            where = (TEST.c.bug == bug) & (TEST.c.node_id == safe(node_id)[:MAX_NODE_ID])
            self._db.execute(update(TEST).where(where).values(fate=fate))

    def fates(self, bug: int) -> dict[str, str]:
        """Per node id of the bug's tests, how it last fared: failing, passing or gone."""
        rows = self._db.execute(select(TEST.c.node_id, TEST.c.fate).where(TEST.c.bug == bug))
        return {str(node_id): str(fate) for node_id, fate in rows}

    def delete(self, bug: int) -> None:
        """Take a record out, with all that hangs on it."""
        failures = select(FAILURE.c.seq).where(FAILURE.c.bug == bug)
        self._db.execute(delete(POSTING).where(POSTING.c.failure.in_(failures)))
        for table in (FAILURE, TEST, TRIAL, SIGHTING, NOTE, ADVICE):
            self._db.execute(delete(table).where(table.c.bug == bug))
        self._db.execute(delete(BUG).where(BUG.c.seq == bug))

    # -- what is alike

    def first_of_its_run(self, bug: int) -> int:
        """The first bug that began in the same run: others of that run are no past ones."""
        run = select(BUG.c.run).where(BUG.c.seq == bug).scalar_subquery()
        return int(
            self._db.execute(select(func.min(BUG.c.seq)).where(BUG.c.run == run)).scalar_one()
        )

    def same(self, fingerprints: Collection[str], *, before: int) -> list[int]:
        """The older bugs that failed with one of these fingerprints, youngest first."""
        asked = (
            select(FAILURE.c.bug)
            .join_from(FAILURE, BUG, BUG.c.seq == FAILURE.c.bug)
            .where(FAILURE.c.fingerprint.in_(sorted(fingerprints)[:CHUNK]))
            .where(BUG.c.project == self._project, BUG.c.seq < before)
            .order_by(FAILURE.c.bug.desc())
            .distinct()
            .limit(N_SAME)
        )
        return [int(bug) for bug in self._db.execute(asked).scalars()]

    def candidates(
        self, signature: str, tags: Collection[str], *, before: int
    ) -> list[tuple[int, Entry]]:
        """Failures of older bugs that share the rarest words, with their bug's number."""
        wanted = sorted(numbered(words(" ".join([safe(signature), *sorted(tags)]))))[:MAX_WORDS]
        counts = sorted(self._counted(wanted), key=lambda item: (item[1], item[0]))
        reached = accumulate((n for _, n in counts), initial=0)
        rarest = [word for (word, _), n in zip(counts, reached, strict=False) if n < N_CANDIDATES]
        holding = select(POSTING.c.failure).where(POSTING.c.word.in_(rarest)).distinct()
        newest = holding.order_by(POSTING.c.failure.desc()).limit(N_CANDIDATES)
        failures = list(self._db.execute(newest).scalars())
        columns = (FAILURE.c.bug, FAILURE.c.signature, BUG.c.tags, BUG.c.category)
        rows = (
            select(*columns)
            .join_from(FAILURE, BUG, BUG.c.seq == FAILURE.c.bug)
            .where(FAILURE.c.seq.in_(failures), BUG.c.project == self._project)
            .where(BUG.c.seq < before)
            .order_by(FAILURE.c.seq)
        )
        return [
            (
                int(bug),
                Entry(
                    signature=str(said),
                    tags=frozenset(json.loads(listed)),
                    category=Category(category),
                ),
            )
            for bug, said, listed, category in self._db.execute(rows)
        ]

    def _counted(self, wanted: Sequence[int]) -> list[tuple[int, int]]:
        """Per word that is there, how many failures hold it, counted up to a bound."""
        # One statement for all: each takes its time to be made, and to reach a server.
        each = (
            f"SELECT {word}, count(*) FROM "  # noqa: S608 - numbers of ours
            f"(SELECT 1 FROM posting WHERE word = {word} LIMIT {N_COUNTED}) AS capped"
            for word in wanted
        )
        asked = " UNION ALL ".join(each)
        rows = self._db.execute(text(asked)).all() if asked else []
        return [(int(word), int(n)) for word, n in rows if n]

    # -- whether it helps

    def add_advice(
        self, bug: int, run: str, suggested: Iterable[str], loops: Iterable[str], *, shown: bool
    ) -> None:
        """Note what was said of a bug: the functions that mended its like, and the loops told."""
        values = {"suggested": dumps(suggested), "loops": dumps(loops), "was_shown": shown}
        self._db.execute(insert(ADVICE).values(bug=bug, run=run, helped=None, **values))

    def judge(self, bug: int, fixed: Collection[str]) -> None:
        """Note which advice named one of the functions that were ``fixed``."""
        asked = select(ADVICE.c.run, ADVICE.c.suggested).where(ADVICE.c.bug == bug)
        for run, listed in self._db.execute(asked).all():
            suggested = json.loads(listed)
            if suggested:
                where = (ADVICE.c.bug == bug) & (ADVICE.c.run == run)
                helped = not set(suggested).isdisjoint(fixed)
                self._db.execute(update(ADVICE).where(where).values(helped=helped))

    def counted(self) -> list[Counted]:
        """What is counted of each bug, oldest first."""
        own = BUG.c.project == self._project
        failed = self._per_bug(
            select(TRIAL.c.bug, func.count()).where(TRIAL.c.outcome == Outcome.FAILED.value), TRIAL
        )
        errors: dict[int, list[tuple[str, bool]]] = {}
        seen = select(SIGHTING.c.bug, SIGHTING.c.error, SIGHTING.c.edited).order_by(SIGHTING.c.seq)
        for bug, error, edited in self._db.execute(seen):
            errors.setdefault(int(bug), []).append((str(error), edited != "[]"))
        told: dict[int, list[tuple[bool, bool | None]]] = {}
        for bug, loops, helped in self._db.execute(
            select(ADVICE.c.bug, ADVICE.c.loops, ADVICE.c.helped)
        ):
            told.setdefault(int(bug), []).append((loops != "[]", helped))
        rows = select(BUG.c.seq, BUG.c.state, BUG.c.created_at, BUG.c.completed_at, RUN.c.arm)
        joined = rows.join_from(BUG, RUN, RUN.c.id == BUG.c.run, isouter=True)
        return [
            _counted(row, failed, errors.get(row.seq, []), told.get(row.seq, []))
            for row in self._db.execute(joined.where(own).order_by(BUG.c.seq))
        ]

    def _per_bug(self, asked: Select[Any], table: Table) -> dict[int, int]:
        return {int(bug): int(n) for bug, n in self._db.execute(asked.group_by(table.c.bug))}

    def trim(self, limit: int) -> None:
        """Take out the oldest bugs that are not open, as many as there are more than ``limit``."""
        own = BUG.c.project == self._project
        n = int(self._db.execute(select(func.count()).where(own)).scalar_one())
        if n > limit:
            closed = select(BUG.c.seq).where(own, BUG.c.state != State.OPEN.value)
            oldest = closed.order_by(BUG.c.seq).limit(n - limit)
            for bug in self._db.execute(oldest).scalars().all():
                self.delete(int(bug))

    # -- what persons say

    def add_note(self, bug: int | None, said: str, at: datetime) -> None:
        """A lesson of a person's."""
        values = {"project": self._project, "bug": bug, "text": safe(said), "made_at": _text(at)}
        self._db.execute(insert(NOTE).values(**values))

    def rules(self) -> dict[str, str]:
        """Per fingerprint that a person decided about, the bug's id; empty: to be forgotten."""
        asked = select(RULE.c.fingerprint, RULE.c.bug).where(RULE.c.project == self._project)
        return {str(fingerprint): str(bug) for fingerprint, bug in self._db.execute(asked)}

    def decide(self, fingerprints: Iterable[str], bug_id: str) -> None:
        """From now on, these belong to ``bug_id``; empty: they are forgotten."""
        for fingerprint in sorted(set(fingerprints)):
            key = {"project": self._project, "fingerprint": fingerprint}
            where = (RULE.c.project == self._project) & (RULE.c.fingerprint == fingerprint)
            self._db.execute(delete(RULE).where(where))
            self._db.execute(insert(RULE).values(**key, bug=bug_id))

    # -- the world

    def observe(self, kind: str, said: str, at: datetime) -> None:
        """Note something about the world, or that it was seen once more."""
        said = safe(said)[:1000]
        key = {"project": self._project, "kind": kind, "text": said}
        table = OBSERVATION.c
        where = (table.project == self._project) & (table.kind == kind) & (table.text == said)
        again = {"n": table.n + 1, "last_at": _text(at)}
        if not self._db.execute(update(OBSERVATION).where(where).values(**again)).rowcount:
            first = {"n": 1, "first_at": _text(at), "last_at": _text(at)}
            self._db.execute(insert(OBSERVATION).values(**key, **first))

    def n_alike(self, category: Category, signature: str) -> int:
        """How many bugs have shown this category and signature."""
        where = (BUG.c.project == self._project) & (BUG.c.category == category.value)
        asked = select(func.count()).where(where, BUG.c.signature == safe(signature)[:200])
        return int(self._db.execute(asked).scalar_one())

    def demands(self, functions: Collection[str], at_most: int) -> list[str]:
        """What is known that these functions, by qualified name, demand of their callers."""
        found: dict[str, None] = {}
        for name in sorted(functions)[:N_FUNCTIONS]:
            for start in (f"{name} needs ", f"{name}() "):
                where = BUG.c.demand.startswith(start, autoescape=True)
                asked = select(BUG.c.demand).where(BUG.c.project == self._project, where)
                newest = asked.distinct().order_by(BUG.c.demand).limit(at_most)
                found.update(dict.fromkeys(self._db.execute(newest).scalars()))
        return list(found)[:at_most]

    def insights(self, category: Category, at_most: int) -> list[str]:
        """What mended the last bugs of a category, youngest first."""
        asked = (
            select(TRIAL.c.lesson)
            .join_from(TRIAL, BUG, BUG.c.seq == TRIAL.c.bug)
            .where(BUG.c.project == self._project, BUG.c.category == category.value)
            .where(TRIAL.c.outcome == Outcome.PASSED.value, TRIAL.c.lesson != "")
            .order_by(TRIAL.c.made_at.desc())
            .limit(at_most)
        )
        return list(dict.fromkeys(self._db.execute(asked).scalars()))

    def observed(self, kind: str, texts: Collection[str] | None = None) -> dict[str, int]:
        """What was observed of a kind, of ``texts`` if given, and how often; the last first."""
        where = (OBSERVATION.c.project == self._project) & (OBSERVATION.c.kind == kind)
        asked = select(OBSERVATION.c.text, OBSERVATION.c.n).where(where)
        if texts is not None:
            wanted = [safe(text)[:1000] for text in sorted(texts)[:CHUNK]]
            asked = asked.where(OBSERVATION.c.text.in_(wanted))
        last = asked.order_by(OBSERVATION.c.last_at.desc()).limit(N_OBSERVED)
        return {str(text): int(n) for text, n in self._db.execute(last)}

    def general_notes(self) -> list[str]:
        """What persons noted that belongs to no bug, youngest first."""
        where = (NOTE.c.project == self._project) & NOTE.c.bug.is_(None)
        asked = select(NOTE.c.text).where(where).order_by(NOTE.c.seq.desc()).limit(N_OBSERVED)
        return list(self._db.execute(asked).scalars())

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
            int(row["seq"]): _record(
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
        for chunk in _chunks(numbers):
            for row in self._db.execute(asked.where(column.in_(chunk))).mappings():
                found[row["bug"]].append(row)
        return found


def _counted(
    row: Any,  # noqa: ANN401 - a row of the columns that are read in ``counted``
    failed: Mapping[int, int],
    errors: Sequence[tuple[str, bool]],
    told: Sequence[tuple[bool, bool | None]],
) -> Counted:
    began = _time(row.created_at)
    ended = _time(row.completed_at) if row.completed_at else None
    is_mended = row.state == State.RESOLVED.value
    judged = [helped for _, helped in told if helped is not None]
    return Counted(
        month=f"{began:%Y-%m}",
        arm=row.arm or "on",
        state=State(row.state),
        n_trials=failed.get(row.seq, 0),
        hours=(ended - began).total_seconds() / 3600 if ended and is_mended else None,
        n_repeats=sum(e == before and edited for (before, _), (e, edited) in pairwise(errors)),
        looped=any(loops for loops, _ in told),
        helped=any(judged) if judged else None,
    )


def _record(
    row: RowMapping,
    failures: Sequence[RowMapping],
    trials: Sequence[RowMapping],
    notes: Sequence[RowMapping],
) -> BugRecord:
    symptom = Symptom(
        failures=tuple(
            TestFailure(
                node_id=item["node_id"],
                fingerprint=item["fingerprint"],
                signature=item["signature"],
            )
            for item in failures
        ),
        signature=row["signature"],
        category=Category(row["category"]),
        hypothesis=row["hypothesis"],
        tags=frozenset(json.loads(row["tags"])),
        error=row["error"],
        code=row["code"],
        constraint=row["demand"],
        suspects=tuple(json.loads(row["suspects"])),
        in_test=row["in_test"],
    )
    return BugRecord(
        id=row["id"],
        symptom=symptom,
        state=State(row["state"]),
        created_at=_time(row["created_at"]),
        seen_at=_time(row["seen_at"]),
        completed_at=_time(row["completed_at"]) if row["completed_at"] else None,
        session=row["run"],
        step=row["step"],
        plan=row["plan"],
        trials=tuple(map(_trial, trials)),
        root_cause=row["root_cause"],
        notes=tuple(item["text"] for item in notes),
    )


def _trial(row: RowMapping) -> DebugTrial:
    outcome = Outcome(row["outcome"])
    words_of = {"why": row["why"], "strategy": row["strategy"]}
    failed = outcome is Outcome.FAILED
    return DebugTrial(
        number=row["number"],
        made_at=_time(row["made_at"]),
        edit=Edit(
            functions=tuple(json.loads(row["functions"])),
            diff=row["diff"],
            n_added=row["n_added"],
            n_removed=row["n_removed"],
            plan=row["plan"],
            in_tests=row["in_tests"],
        ),
        outcome=outcome,
        error=row["error"],
        metric=row["metric"],
        setback=Setback(**words_of, constraint=row["lesson"]) if failed else None,
        success=None if failed else Success(**words_of, insight=row["lesson"]),
    )


def _sighting(row: RowMapping) -> Sighting:
    names = ("run", "workspace", "revision", "error", "tests", "code_state", "test_state")
    return Sighting(
        **{name: row[name] for name in names},
        seen_at=_time(row["seen_at"]),
        edited=tuple(json.loads(row["edited"])),
        is_aimed=row["is_aimed"],
    )


def _chunks(numbers: Sequence[int]) -> list[Sequence[int]]:
    return [numbers[i : i + CHUNK] for i in range(0, len(numbers), CHUNK)]


def _key(inserted: Any) -> int:  # noqa: ANN401 - a row of SQLAlchemy's
    return int(inserted[0])


def _text(time: datetime) -> str:
    return time.isoformat(timespec="microseconds")


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
