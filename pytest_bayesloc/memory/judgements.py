"""How often a language model was right: what it said of locations, and what became of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from pytest_bayesloc.domain.evidence import OUTCOMES, Outcome
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import JUDGED
from pytest_bayesloc.memory.store import safe

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Judgements:
    """Keeps the books of a ledger's guides.

    Args:
        ledger: In a transaction.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._db = ledger.db

    def add(self, bug: int, guide: str, said: Iterable[tuple[str, str, Outcome]]) -> None:
        """Keep what was said in this run, in place of what was said of the bug before.

        Args:
            bug: Number in the store.
            guide: Its name.
            said: Use, location as ``file qualname``, and the word.
        """
        rows = {(use, where): word for use, where, word in said}
        own = (JUDGED.c.bug == bug) & (JUDGED.c.guide == safe(guide))
        for use in {use for use, _ in rows}:
            self._db.execute(delete(JUDGED).where(own & (JUDGED.c.use == use)))
        for (use, where), word in rows.items():
            values = {"guide": safe(guide), "use": use, "location": safe(where)[:500]}
            self._db.execute(insert(JUDGED).values(bug=bug, said=word.value, **values))

    def judge(self, bug: int, fixed: Collection[str]) -> None:
        """Note which of the locations that were spoken of had to be ``fixed``."""
        own = JUDGED.c.bug == bug
        self._db.execute(update(JUDGED).where(own).values(was_faulty=False))
        hit = own & JUDGED.c.location.in_([safe(name)[:500] for name in fixed])
        self._db.execute(update(JUDGED).where(hit).values(was_faulty=True))


def counted(connection: Connection, guide: str) -> dict[tuple[str, Outcome, bool], int]:
    """How often a guide said what of faulty and of clean locations, by use; of all projects."""
    asked = (
        select(JUDGED.c.use, JUDGED.c.said, JUDGED.c.was_faulty, func.count())
        .where((JUDGED.c.guide == safe(guide)) & JUDGED.c.was_faulty.is_not(None))
        .group_by(JUDGED.c.use, JUDGED.c.said, JUDGED.c.was_faulty)
    )
    return {
        (use, OUTCOMES[said], bool(was_faulty)): n
        for use, said, was_faulty, n in connection.execute(asked)
        if said in OUTCOMES
    }
