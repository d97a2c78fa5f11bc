"""Which patches were tried in vain, by the state of the code that they were tried on."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete, insert, select

from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import BUG, REJECTED


def rejections(ledger: Ledger, state: str) -> dict[str, str]:
    """Per patch that was tried on ``state``, what came of it."""
    asked = (
        select(REJECTED.c.patch, REJECTED.c.outcome)
        .join_from(REJECTED, BUG, BUG.c.seq == REJECTED.c.bug)
        .where(REJECTED.c.state == state, BUG.c.project == ledger.project)
    )
    return {str(patch): str(outcome) for patch, outcome in ledger.db.execute(asked)}


def add_rejections(ledger: Ledger, bug: int, state: str, new: Mapping[str, str]) -> None:
    """Keep what was tried on ``state``; of other states nothing is kept."""
    of_bug = REJECTED.c.bug == bug
    ledger.db.execute(delete(REJECTED).where(of_bug, REJECTED.c.state != state))
    known = set(ledger.db.execute(select(REJECTED.c.patch).where(of_bug)).scalars())
    rows = [
        {"bug": bug, "patch": patch, "state": state, "outcome": outcome}
        for patch, outcome in new.items()
        if patch not in known
    ]
    if rows:
        ledger.db.execute(insert(REJECTED), rows)
