"""The database of bug records: SQLite beside the project, or PostgreSQL for a team."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DatabaseError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.own_files import SLUG, damage, identity, set_aside, without_folder
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.texts import storable
from pytest_bayesloc.memory.schema import LEAST, META, METADATA, VERSION

T = TypeVar("T")

BUSY_S = 10.0
CONNECT_S = 5
CHUNK = 500  # values in one statement

#: The i-th one brings tables of version ``i + 1`` to version ``i + 2``.
MIGRATIONS: list[Callable[[Connection], None]] = []


class BugStore:
    """A database that many runs may write at once.

    Args:
        where: A path, or the URL of a database as SQLAlchemy takes it.
        warn: Told once if a damaged file had to be set aside.
    """

    def __init__(self, where: Path | str, warn: Callable[[str], None]) -> None:
        self._path = where if isinstance(where, Path) else None
        self._shown = redacted(str(where))
        self._warn = warn
        self._engine = _engine(where)
        self._is_ready = False

    @property
    def is_local(self) -> bool:
        """Whether it is a file."""
        return self._path is not None

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Connection]:
        """Keep all that is done in it, or nothing.

        Args:
            write: Whether anything is written; writers wait for each other.

        Raises:
            StoreError: If the store can't be used; nothing was written then.
        """
        seen = identity(self._path) if self._path is not None else None
        try:
            self._prepare(seen)
            with self._begun(write=write) as connection:
                yield connection
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise self._unusable(error, seen) from error

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _begun(self, *, write: bool) -> Iterator[Connection]:
        with self._engine.execution_options(bayesloc_write=write).begin() as connection:
            if write and not self.is_local:
                connection.execute(text("SELECT pg_advisory_xact_lock(20261122)"))
            yield connection

    def _prepare(self, seen: tuple[int, int] | None) -> None:
        """Create the tables, or bring them up to date; set a damaged file aside, once."""
        if self._is_ready:
            return
        try:
            self._migrate()
        except (DatabaseError, ValueError) as error:
            if not (told := self._set_aside(error, seen)):
                raise
            self._warn(f"{told} ({SLUG})")
            self._migrate()
        self._is_ready = True

    def _migrate(self) -> None:
        with self._begun(write=False) as connection:
            version, least = _versions(connection)
        if version >= VERSION >= least:
            return
        with self._begun(write=True) as connection:
            version, least = _versions(connection)  # another process may have been faster
            if least > VERSION:
                raise StoreError(
                    f"The memory in {self._shown} was written by a newer version (its tables are "
                    f"of version {version} and need {least}, this one knows {VERSION}): bugs are "
                    "not remembered. Update pytest-bayesloc, or give another --bayesloc-memory.",
                    slug="memory-newer",
                )
            if version == 0:
                METADATA.create_all(connection)
                for name, value in (("version", VERSION), ("least", LEAST)):
                    connection.execute(META.insert().values(name=name, value=str(value)))
                return
            for change in MIGRATIONS[version - 1 :]:
                change(connection)
            is_it = META.c.name == "version"
            connection.execute(META.update().where(is_it).values(value=str(VERSION)))

    def _set_aside(self, error: Exception, seen: tuple[int, int] | None) -> str:
        """Set the file aside if it is damaged, and return a sentence on it; empty if it is not."""
        why = "" if self._path is None else damage(error, self._path)
        if self._path is None or not why:
            return ""
        self._engine.dispose()
        return set_aside(self._path, why, seen) or f"{self._path} was damaged ({why})."

    def _unusable(self, error: Exception, seen: tuple[int, int] | None) -> StoreError:
        with suppress(OSError):
            if told := self._set_aside(error, seen):  # deeper inside: the next run finds a new one
                return StoreError(told, slug=SLUG)
        if self._path is not None and (why := without_folder(self._path)):
            return StoreError(why, slug="no-folder")
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        then = ": this run's bugs are not remembered. See that it can be written"
        if not self.is_local:  # what the run showed goes to an outbox
            then = ". See that it can be reached and written"
        return StoreError(
            f"The memory in {self._shown} can't be used ({redacted(reason)}){then}, or give "
            "another --bayesloc-memory.",
            slug="memory-unusable",
        )


# -- values as columns hold them


def row(table: Table, *sources: object, **values: object) -> dict[str, Any]:
    """Return values as the columns of ``table`` hold them.

    Args:
        table: The table.
        sources: Objects whose attributes are named as columns.
        values: By column; they come before attributes.
    """
    for source in sources:
        names = [name for name in table.c.keys() if hasattr(source, name)]  # noqa: SIM118 - no dict
        values = {name: getattr(source, name) for name in names} | values
    return {name: written(table.c[name], value) for name, value in values.items()}


def written(column: Column[Any], value: object) -> Any:  # noqa: ANN401 - of any column
    """Return ``value`` as ``column`` holds it.

    Texts are without secrets and cut to the column's length, lists are JSON, and times are texts
    that sort as times do.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, str):
        return safe(value)[: getattr(column.type, "length", None)]
    if isinstance(value, Collection) and not isinstance(value, bytes):
        return dumps(sorted(value) if isinstance(value, (set, frozenset)) else value)
    return value


def dumps(texts: Collection[str]) -> str:
    """Return texts as a JSON list, without secrets."""
    return json.dumps([safe(item) for item in texts], separators=(",", ":"))


def safe(value: str) -> str:
    """Return a text without secrets, and without characters that no database takes."""
    return redacted(storable(value.replace("\0", "\ufffd")))


def chunks(values: Sequence[T]) -> list[Sequence[T]]:
    """Split ``values`` into parts that a statement takes."""
    return [values[i : i + CHUNK] for i in range(0, len(values), CHUNK)]


# -- connections


def _versions(connection: Connection) -> tuple[int, int]:
    """Return the version of the tables, and the least that may use them; 0 without tables."""
    if not inspect(connection).has_table("meta"):
        return 0, 0
    found = {str(line.name): int(line.value) for line in connection.execute(select(META))}
    version = found.get("version", 0)
    return version, found.get("least", version)


def _engine(where: Path | str) -> Engine:
    if isinstance(where, Path):
        engine = create_engine(
            f"sqlite:///{where}", poolclass=NullPool, connect_args={"timeout": BUSY_S}
        )
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
        return engine
    try:
        url = where.replace("postgresql://", "postgresql+psycopg://", 1)
        return create_engine(url, connect_args={"connect_timeout": CONNECT_S})
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise StoreError(
            f"--bayesloc-memory={redacted(where)} is no database that can be reached ({error}): "
            "bugs are not remembered. Give on, off, a path, or postgresql://USER@HOST/NAME with "
            "psycopg installed (pip install 'pytest-bayesloc[postgresql]').",
            slug="memory-url",
        ) from error


def _set_up(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's
    connection.isolation_level = None  # transactions begin where we say, not where it guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("bayesloc_write", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
