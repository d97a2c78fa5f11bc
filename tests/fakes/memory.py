"""A memory that is gone after its one transaction."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_bayesloc.memory.schema import SCHEMA, SQLITE, statements
from pytest_bayesloc.memory.store import SqliteDatabase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.memory.store import Connection


@contextmanager
def fresh_memory() -> Iterator[Connection]:
    """Open empty tables in memory."""
    with SqliteDatabase(":memory:").begun(write=True) as connection:
        for statement in statements(SCHEMA, SQLITE):
            connection.change(statement)
        yield connection
