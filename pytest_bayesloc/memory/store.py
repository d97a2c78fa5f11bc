"""The store of bug records: a file beside the project, or a database for a team.

The one is SQLite of the standard library, the other PostgreSQL by psycopg.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import dbapi2
from typing import Any, TypeVar

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.own_files import SLUG, damage, identity, set_aside, without_folder
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.standard_library import monotonic, sleep
from pytest_bayesloc.memory.schema import (
    LEAST,
    MIGRATIONS,
    POSTGRESQL,
    SCHEMA,
    SQLITE,
    VERSION,
    statements,
    tables,
)

T = TypeVar("T")

BUSY_S = 10.0
AGAIN_S = 0.01
CONNECT_S = 5
CHUNK = 500  # values in one statement
#: The lock that writers take on PostgreSQL, where a transaction alone does not keep others waiting.
WRITE_LOCK = 20261122


class Connection:
    """Statements in one open transaction, in the SQL that both databases speak.

    A ``?`` stands for a value, or for all values of a list in brackets, as ``IN ?`` needs them.
    """

    def __init__(self, raw: Any, mark: str = "?") -> None:  # noqa: ANN401 - a driver's connection
        self._raw = raw
        self._mark = mark

    def rows(self, asked: str, *values: object) -> list[Any]:
        """Return the rows, as tuples."""
        return list(self._run(asked, values).fetchall())

    def records(self, asked: str, *values: object) -> list[dict[str, Any]]:
        """Return the rows by the names of their columns, with booleans as such."""
        cursor = self._run(asked, values)
        names = [column[0] for column in cursor.description]
        known = tables().values()
        flags = {name for table in known for name in table if table[name].type is bool}
        return [
            {
                name: bool(value) if name in flags and value is not None else value
                for name, value in zip(names, row, strict=True)
            }
            for row in cursor.fetchall()
        ]

    def column(self, asked: str, *values: object) -> list[Any]:
        """Return the first value of each row."""
        return [row[0] for row in self.rows(asked, *values)]

    def value(self, asked: str, *values: object) -> Any:  # noqa: ANN401 - of any column
        """Return the first value of the first row; None without a row."""
        row = self._run(asked, values).fetchone()
        return None if row is None else row[0]

    def change(self, statement: str, *values: object) -> int:
        """Execute a statement, and return how many rows it changed."""
        return int(self._run(statement, values).rowcount)

    def update(self, table: str, values: Mapping[str, object], **key: object) -> int:
        """Set ``values`` of the rows with that ``key``, and return how many these are."""
        changes, is_it = (
            ", ".join(f"{n} = ?" for n in values),
            " AND ".join(f"{n} = ?" for n in key),
        )
        statement = f"UPDATE {table} SET {changes} WHERE {is_it}"
        return self.change(statement, *values.values(), *key.values())

    def change_each(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement once for each row of values."""
        self._raw.cursor().executemany(statement.replace("?", self._mark), list(rows))

    def insert(self, table: str, values: Mapping[str, object]) -> int:
        """Insert a row, and return its number, or 0 if the table has none."""
        statement = _insertion(table, values)
        if "seq" not in tables()[table]:
            self.change(statement, *values.values())
            return 0
        if self._mark == "?":  # RETURNING came with SQLite 3.35, and older ones are in use
            return int(self._run(statement, tuple(values.values())).lastrowid)
        return int(self.value(f"{statement} RETURNING seq", *values.values()))

    def insert_each(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert rows, all with the same columns."""
        if rows:  # a broken import fails every test there is: one statement for all
            self.change_each(_insertion(table, rows[0]), [tuple(row.values()) for row in rows])

    def _run(self, asked: str, values: Sequence[object]) -> Any:  # noqa: ANN401 - a cursor
        head, *parts = asked.split("?")
        given: list[object] = []
        for value, part in zip(values, parts, strict=True):
            if isinstance(value, list):
                # An empty list holds nothing, also where NULL is not false.
                marks = ", ".join([self._mark] * len(value))
                head += f"({marks})" if value else "(NULL) AND 1 = 0"
                given += value
            else:
                head += self._mark
                given.append(value)
            head += part
        return self._raw.execute(head, given)


def _insertion(table: str, values: Mapping[str, object]) -> str:
    names = ", ".join(f'"{name}"' for name in values)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(values))})"


def chunks(values: Sequence[T]) -> list[list[T]]:
    """Split ``values`` into lists that a statement takes."""
    return [list(values[i : i + CHUNK]) for i in range(0, len(values), CHUNK)]


class SqliteDatabase:
    """A file; each transaction opens it anew, so that a fork shares nothing.

    Attributes:
        words: The words of its dialect in the schema.
        errors: The exceptions of its driver.
        has_tables: A query for whether there are any.
    """

    words = SQLITE
    errors: tuple[type[Exception], ...] = (sqlite3.Error,)
    has_tables = "SELECT count(*) FROM sqlite_master WHERE name = 'meta'"

    def __init__(self, path: Path | str) -> None:
        self._path = path

    @contextmanager
    def begun(self, *, write: bool) -> Iterator[Connection]:
        """Open a transaction, kept at the end of the block, undone where that raises."""
        # Transactions begin where we say, not where the driver guesses.
        with closing(dbapi2.connect(self._path, timeout=BUSY_S, isolation_level=None)) as raw:
            _write_ahead(raw)
            raw.execute("PRAGMA synchronous = NORMAL")
            raw.execute("PRAGMA foreign_keys = ON")
            raw.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield Connection(raw)
            raw.commit()

    def close(self) -> None:
        """Do nothing: no transaction leaves anything open."""


def _write_ahead(raw: dbapi2.Connection) -> None:
    """Have SQLite log what is written; of several who make the file at once, it lets none wait."""
    ends = monotonic() + BUSY_S
    while True:
        is_last = monotonic() > ends
        try:
            raw.execute("PRAGMA journal_mode = WAL")
        except dbapi2.OperationalError as error:
            if is_last or "locked" not in str(error):
                raise
        else:
            return
        sleep(AGAIN_S)


class PostgresqlDatabase:
    """A server; one connection serves all transactions, until it is lost or closed.

    Its attributes are those of the class above.

    Raises:
        StoreError: If the URL can't be read, or psycopg is not installed.
    """

    words = POSTGRESQL
    has_tables = "SELECT count(to_regclass('meta'))"

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise _unreachable(url, error) from error
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error as error:
            raise _unreachable(url, error) from error
        self.errors: tuple[type[Exception], ...] = (psycopg.Error,)
        self._url = url
        self._raw: psycopg.Connection | None = None

    @contextmanager
    def begun(self, *, write: bool) -> Iterator[Connection]:
        """Open a transaction, as the one above."""
        import psycopg

        if self._raw is None or self._raw.closed:
            self._raw = psycopg.connect(self._url, connect_timeout=CONNECT_S)
        with self._raw.transaction():
            if write:
                self._raw.execute(f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")
            yield Connection(self._raw, "%s")

    def close(self) -> None:
        """Close the connection."""
        if self._raw is not None:
            self._raw.close()


def _unreachable(url: str, error: Exception) -> StoreError:
    return StoreError(
        f"--bayesloc-memory={redacted(url)} is no database that can be reached ({error}): bugs are "
        "not remembered. Give on, off, a path, or postgresql://USER@HOST/NAME with psycopg "
        "installed (pip install 'pytest-bayesloc[postgresql]').",
        slug="memory-url",
    )


# -- the store


class BugStore:
    """A database that many runs may write at once.

    Args:
        where: A path, or the URL of a PostgreSQL database as libpq takes it.
        warn: Told once if a damaged file had to be set aside.
    """

    def __init__(self, where: Path | str, warn: Callable[[str], None]) -> None:
        self._path = where if isinstance(where, Path) else None
        self._shown = redacted(str(where))
        self._warn = warn
        self._database = (
            SqliteDatabase(where) if isinstance(where, Path) else PostgresqlDatabase(where)
        )
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
        errors: tuple[type[Exception], ...] = (*self._database.errors, OSError)
        try:
            self._prepare(seen)
            with self._database.begun(write=write) as connection:
                yield connection
        except errors as error:
            raise self._unusable(error, seen) from error

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def _prepare(self, seen: tuple[int, int] | None) -> None:
        """Create the tables, or bring them up to date; set a damaged file aside, once."""
        if self._is_ready:
            return
        try:
            self._migrate()
        except (sqlite3.DatabaseError, ValueError) as error:
            if not (told := self._set_aside(error, seen)):
                raise
            self._warn(f"{told} ({SLUG})")
            self._migrate()
        self._is_ready = True

    def _migrate(self) -> None:
        with self._database.begun(write=False) as connection:
            version, least = self._versions(connection)
        if version >= VERSION >= least:
            return
        with self._database.begun(write=True) as connection:
            version, least = self._versions(connection)  # another process may have been faster
            if least > VERSION:
                raise StoreError(
                    f"The memory in {self._shown} was written by a newer version (its tables are "
                    f"of version {version} and need {least}, this one knows {VERSION}): bugs are "
                    "not remembered. Update pytest-bayesloc, or give another --bayesloc-memory.",
                    slug="memory-newer",
                )
            changes = MIGRATIONS[version - 1 :] if version else [SCHEMA]
            for statement in statements(";\n".join(changes), self._database.words):
                connection.change(statement)
            if version:
                connection.change("UPDATE meta SET value = ? WHERE name = 'version'", str(VERSION))
            else:
                for name, value in (("version", VERSION), ("least", LEAST)):
                    connection.insert("meta", {"name": name, "value": str(value)})

    def _versions(self, connection: Connection) -> tuple[int, int]:
        """Return the version of the tables, and the least that may use them; 0 without tables."""
        if not connection.value(self._database.has_tables):
            return 0, 0
        found = {
            name: int(value) for name, value in connection.rows("SELECT name, value FROM meta")
        }
        version = found.get("version", 0)
        return version, found.get("least", version)

    def _set_aside(self, error: Exception, seen: tuple[int, int] | None) -> str:
        """Set the file aside if it is damaged, and return a sentence on it; empty if it is not."""
        why = "" if self._path is None else damage(error, self._path)
        if self._path is None or not why:
            return ""
        return set_aside(self._path, why, seen) or f"{self._path} was damaged ({why})."

    def _unusable(self, error: Exception, seen: tuple[int, int] | None) -> StoreError:
        with suppress(OSError):
            if told := self._set_aside(error, seen):  # deeper inside: the next run finds a new one
                return StoreError(told, slug=SLUG)
        if self._path is not None and (why := without_folder(self._path)):
            return StoreError(why, slug="no-folder")
        reason = str(error).strip().partition("\n")[0]
        then = ": this run's bugs are not remembered. See that it can be written"
        if not self.is_local:  # what the run showed goes to an outbox
            then = ". See that it can be reached and written"
        return StoreError(
            f"The memory in {self._shown} can't be used ({redacted(reason)}){then}, or give "
            "another --bayesloc-memory.",
            slug="memory-unusable",
        )
