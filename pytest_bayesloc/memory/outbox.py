"""What a shared memory could not take when it was made: kept beside the project, and sent later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.rows import stored
from pytest_bayesloc.memory.schema import BUG, HABIT, INBOX, NOTE, OBSERVATION, RULE, RUN
from pytest_bayesloc.memory.store import BugStore, safe
from pytest_bayesloc.memory.transfer import Intake, export

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAX_FOLDED = 100  # deliveries that one run takes in


def outbox_of(folder: Path, url: str) -> Path:
    """The file for what could not be sent to ``url``."""
    return folder / f"outbox-{hashlib.sha256(url.encode()).hexdigest()[:8]}.sqlite"


def send(path: Path, to: BugStore, project: str, warn: Callable[[str], None]) -> None:
    """Send what waits in ``path``; what was sent is taken out of it.

    A kill at any point sends it again: the other side knows runs and bugs by their ids.

    Args:
        path: Of the outbox.
        to: The shared memory.
        project: Whose deliveries these are.
        warn: Told if the file is damaged.

    Raises:
        StoreError: If it can't be sent; it waits for the next time then.
    """
    if not path.is_file():
        return
    with closing(BugStore(path, warn)) as waiting:
        with waiting.transaction(write=False) as connection:
            lines = list(export(connection))
        if len(lines) == 1:
            return
        with to.transaction() as connection:
            if to.may_change(connection):
                Intake(connection).take(lines)
            else:
                _deliver(connection, lines, project)
        with waiting.transaction() as connection:
            _take_out(connection, lines)


def fold(store: BugStore) -> list[str]:
    """Take in what others delivered who may only add; lines about what is none.

    Raises:
        StoreError: If the memory can't be used.
    """
    with store.transaction(write=False) as connection:
        if not connection.execute(select(INBOX.c.id).limit(1)).first():
            return []
    said = []
    with store.transaction() as connection:
        if not store.may_change(connection):
            return []
        asked = select(INBOX).order_by(INBOX.c.made_at, INBOX.c.id).limit(MAX_FOLDED)
        for row in connection.execute(asked).mappings().all():
            try:
                with connection.begin_nested():
                    Intake(connection).take(row["text"].splitlines())
            except StoreError as error:
                said.append(f"A delivery to the memory of {row['made_at']} is left out: {error}")
            connection.execute(delete(INBOX).where(INBOX.c.id == row["id"]))
    return said


def _deliver(connection: Connection, lines: Sequence[str], project: str) -> None:
    text = "\n".join(lines)
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    if connection.execute(select(INBOX.c.id).where(INBOX.c.id == key)).first() is None:
        made_at = stored(datetime.now(timezone.utc))
        values = {"id": key, "project": safe(project)[:200], "made_at": made_at, "text": text}
        connection.execute(insert(INBOX).values(**values))


def _take_out(connection: Connection, lines: Sequence[str]) -> None:
    """Take out what ``lines`` hold, but for what was changed since."""
    for line in lines[1:]:
        ((kind, row),) = json.loads(line).items()
        if kind == "run":
            connection.execute(delete(RUN).where(RUN.c.id == row["id"]))
        elif kind == "bug":
            where = (BUG.c.id == row["id"]) & (BUG.c.seen_at == row["seen_at"])
            for bug in connection.execute(select(BUG.c.seq).where(where)).scalars().all():
                Ledger(connection, row["project"]).delete(int(bug))
        else:
            table = {"note": NOTE, "observation": OBSERVATION, "rule": RULE, "habit": HABIT}[kind]
            same = [table.c[name] == value for name, value in row.items()]
            connection.execute(delete(table).where(*same))
