"""The database of the memory: SQLite of the standard library, or PostgreSQL by psycopg."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import dbapi2  # tests may replace ``sqlite3.connect``
from typing import Any, TypeVar

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.standard_library import monotonic, sleep
from pytest_bayesloc.memory.schema import POSTGRESQL, SQLITE, tables

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
