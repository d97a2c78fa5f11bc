"""Rows of the store as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

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
from pytest_bayesloc.memory.sightings import Sighting

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

T = TypeVar("T")
CHUNK = 500  # values in one statement


def record_of(
    row: RowMapping,
    failures: Sequence[RowMapping],
    trials: Sequence[RowMapping],
    notes: Sequence[RowMapping],
) -> BugRecord:
    """A record from its row and those of its tests, trials and notes."""
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
        created_at=time_of(row["created_at"]),
        seen_at=time_of(row["seen_at"]),
        completed_at=time_of(row["completed_at"]) if row["completed_at"] else None,
        session=row["run"],
        step=row["step"],
        plan=row["plan"],
        trials=tuple(map(trial_of, trials)),
        root_cause=row["root_cause"],
        notes=tuple(item["text"] for item in notes),
    )


def trial_of(row: RowMapping) -> DebugTrial:
    """A trial from its row."""
    outcome = Outcome(row["outcome"])
    words_of = {"why": row["why"], "strategy": row["strategy"]}
    failed = outcome is Outcome.FAILED
    return DebugTrial(
        number=row["number"],
        made_at=time_of(row["made_at"]),
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
        success=None if failed else Success(**words_of, insight=row["lesson"], cause=row["cause"]),
    )


def sighting_of(row: RowMapping) -> Sighting:
    """A sighting from its row."""
    names = ("run", "workspace", "revision", "error", "tests", "code_state", "test_state")
    return Sighting(
        **{name: row[name] for name in names},
        seen_at=time_of(row["seen_at"]),
        edited=tuple(json.loads(row["edited"])),
        is_aimed=row["is_aimed"],
    )


def chunks(numbers: Sequence[T]) -> list[Sequence[T]]:
    """``numbers`` in parts that a statement takes."""
    return [numbers[i : i + CHUNK] for i in range(0, len(numbers), CHUNK)]


def key_of(inserted: Any) -> int:  # noqa: ANN401 - a row of SQLAlchemy's
    """The number of a row that was inserted."""
    return int(inserted[0])


def stored(time: datetime) -> str:
    """A time as it is written: texts that sort as times do."""
    return time.isoformat(timespec="microseconds")


def time_of(text: str) -> datetime:
    """The time of such a text."""
    return datetime.fromisoformat(text)
