"""Whether the memory is worth its keep: what was advised, and what became of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from pytest_bayesloc.domain.advice import Month
from pytest_bayesloc.domain.bug import Outcome, State
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.rows import time_of
from pytest_bayesloc.memory.schema import (
    ADVICE,
    BUG,
    NOTE,
    OBSERVATION,
    RUN,
    SIGHTING,
    TRIAL,
)
from pytest_bayesloc.memory.statistics import A_LOOP, Counted, Estimate, summed_up
from pytest_bayesloc.memory.store import dumps

if TYPE_CHECKING:
    from sqlalchemy import Column, Select


class Worth:
    """Keeps the books of a ledger's advice.

    Args:
        ledger: In a transaction.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._db, self._project = ledger.db, ledger.project

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
        trials = self._rows_of(TRIAL.c.bug, TRIAL.c.outcome, order=TRIAL.c.number)
        seen = self._rows_of(
            SIGHTING.c.bug,
            SIGHTING.c.run,
            SIGHTING.c.workspace,
            SIGHTING.c.error,
            SIGHTING.c.edited,
            order=SIGHTING.c.seq,
        )
        told = self._rows_of(
            ADVICE.c.bug, ADVICE.c.run, ADVICE.c.loops, ADVICE.c.helped, ADVICE.c.was_shown
        )
        rows = select(BUG.c.seq, BUG.c.state, BUG.c.created_at, BUG.c.completed_at, RUN.c.arm)
        joined = rows.join_from(BUG, RUN, RUN.c.id == BUG.c.run, isouter=True)
        return [
            _counted(row, trials.get(row.seq, []), seen.get(row.seq, []), told.get(row.seq, []))
            for row in self._db.execute(joined.where(own).order_by(BUG.c.seq))
        ]

    def gained(self) -> dict[str, dict[str, int]]:
        """Per month, how much was learned, by the kinds of ``statistics.KNOWN``."""
        own = BUG.c.project == self._project
        lesson, outcome = TRIAL.c.lesson, TRIAL.c.outcome
        lessons = select(lesson, func.min(TRIAL.c.made_at)).join_from(TRIAL, BUG).where(own)
        lessons = lessons.where(lesson != "").group_by(lesson)
        demands = select(BUG.c.demand, func.min(BUG.c.created_at)).where(own, BUG.c.demand != "")
        alike = select(BUG.c.category, BUG.c.signature, BUG.c.created_at).where(own)
        seen = select(OBSERVATION.c.text, OBSERVATION.c.first_at)
        notes = select(NOTE.c.text, func.min(NOTE.c.made_at)).where(NOTE.c.project == self._project)
        first: dict[str, Mapping[Any, str]] = {
            "insights": self._pairs(lessons.where(outcome == Outcome.PASSED.value)),
            "constraints": {
                **self._pairs(lessons.where(outcome == Outcome.FAILED.value)),
                **self._pairs(demands.group_by(BUG.c.demand)),
            },
            "patterns": _since_when_repeated(self._db.execute(alike.order_by(BUG.c.seq))),
            "observations": {
                **self._pairs(seen.where(OBSERVATION.c.project == self._project)),
                **self._pairs(notes.group_by(NOTE.c.text)),
            },
        }
        found: dict[str, dict[str, int]] = {}
        for kind, times in first.items():
            for month, n in Counter(time[:7] for time in times.values()).items():
                found.setdefault(month, {})[kind] = n
        return found

    def _pairs(self, asked: Select[Any]) -> dict[str, str]:
        return {str(said): str(time) for said, time in self._db.execute(asked)}

    def _rows_of(
        self, *columns: Column[Any], order: Column[Any] | None = None
    ) -> dict[int, list[Any]]:
        """Rows of the project's bugs, by the first of their columns: the bug."""
        found: dict[int, list[Any]] = {}
        own = select(BUG.c.seq).where(BUG.c.project == self._project)
        asked = select(*columns).where(columns[0].in_(own))
        for row in self._db.execute(asked if order is None else asked.order_by(order)):
            found.setdefault(int(row.bug), []).append(row)
        return found


def _since_when_repeated(rows: Iterable[Any]) -> dict[tuple[str, str], str]:
    """Per category and signature that several bugs show, when the second of them began."""
    first: set[tuple[str, str]] = set()
    found: dict[tuple[str, str], str] = {}
    for category, signature, began in rows:
        key = (str(category), str(signature))
        if key in first:
            found.setdefault(key, str(began))
        first.add(key)
    return found


def _counted(
    row: Any,  # noqa: ANN401 - rows of the columns that are read in ``counted``
    trials: Sequence[Any],
    seen: Sequence[Any],
    told: Sequence[Any],
) -> Counted:
    began = time_of(row.created_at)
    ended = time_of(row.completed_at) if row.completed_at else None
    is_mended = row.state == State.RESOLVED.value
    judged = [item.helped for item in told if item.helped is not None]
    rows = _rows(seen)
    warned = {item.run for item in told if item.was_shown and item.loops != "[]"}
    looped = [row for row in rows if len(row) >= A_LOOP]
    told_at = [n for row in looped for n, run in enumerate(row, 1) if run in warned]
    n_edited = sum(item.edited != "[]" for item in seen)
    return Counted(
        month=f"{began:%Y-%m}",
        arm=row.arm or "on",
        state=State(row.state),
        n_trials=sum(trial.outcome == Outcome.FAILED.value for trial in trials),
        n_edits=n_edited + sum(t.outcome == Outcome.PASSED.value for t in trials),
        hours=(ended - began).total_seconds() / 3600 if ended and is_mended else None,
        n_repeats=sum(len(row) - 1 for row in rows),
        n_same=max(map(len, rows), default=0),
        warned_at=min(told_at, default=None),
        helped=any(judged) if judged else None,
    )


def _rows(seen: Sequence[Any]) -> list[list[str]]:
    """The runs of one checkout in a row that showed one error: the first, then those with edits."""
    found: list[list[str]] = []
    last: dict[str, tuple[str, list[str]]] = {}
    for item in seen:
        error, row = last.get(item.workspace, ("", []))
        if row and item.edited == "[]":
            continue
        if item.error != error or not row:
            row = []
            found.append(row)
        row.append(str(item.run))
        last[item.workspace] = (item.error, row)
    return found


def months_of(ledger: Ledger) -> tuple[Month, ...]:
    """How it went, month by month, the first one first."""
    worth = Worth(ledger)
    rows = summed_up(worth.counted(), worth.gained())
    return tuple(
        Month(
            name=row.name,
            n_bugs=row.n_bugs,
            mended=_value(row.mended),
            trials=_value(row.trials),
            hours=_value(row.hours),
        )
        for row in rows
        if row.name[:1].isdigit()
    )


def _value(found: Estimate | None) -> float | None:
    return None if found is None else found.value
