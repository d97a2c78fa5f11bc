"""Whether the memory is worth its keep: what was advised, and what became of it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from pytest_bayesloc.domain.bug import Outcome, State
from pytest_bayesloc.memory.rows import time_of
from pytest_bayesloc.memory.schema import ADVICE, BUG, RUN, SIGHTING, TRIAL
from pytest_bayesloc.memory.statistics import Counted
from pytest_bayesloc.memory.store import dumps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy import Select, Table

    from pytest_bayesloc.memory.ledger import Ledger


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


def _counted(
    row: Any,  # noqa: ANN401 - a row of the columns that are read in ``counted``
    failed: Mapping[int, int],
    errors: Sequence[tuple[str, bool]],
    told: Sequence[tuple[bool, bool | None]],
) -> Counted:
    began = time_of(row.created_at)
    ended = time_of(row.completed_at) if row.completed_at else None
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
