"""Stores a spectrum cache in an SQLite file.

There is one file for each interpreter and set of installed packages, since another one may execute
other lines.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from array import array
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from pytest_bayesloc.domain.own_files import damage
from pytest_bayesloc.domain.texts import storable
from pytest_bayesloc.spectrum.run_record import Footprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

BUSY_S = 5.0
#: Errors of reading a file that may be damaged anywhere.
UNREADABLE = (sqlite3.Error, ValueError, TypeError, zlib.error)

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (         -- begun_ns: no row is older; run: the last one that wrote
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS file (         -- as it was when the rows were written
    path TEXT PRIMARY KEY,                -- relative to rootdir
    kind TEXT NOT NULL,                   -- code, module (of tests), helper (of tests)
    digest TEXT NOT NULL,
    stamp TEXT NOT NULL,                  -- size and times: spares reading it; empty: too young
    body BLOB                             -- of code: its text, by zlib
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS footprint (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    name TEXT NOT NULL,
    lines TEXT NOT NULL                   -- JSON
);
CREATE INDEX IF NOT EXISTS footprint_of ON footprint (path);
CREATE TABLE IF NOT EXISTS test (         -- what a test executed from set-up to teardown
    node_id TEXT NOT NULL,
    variant TEXT NOT NULL,                -- the options that it ran with
    outcome TEXT NOT NULL,                -- passed, failed; else empty
    footprints BLOB NOT NULL,             -- ids, 4 bytes each
    PRIMARY KEY (node_id, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS import (       -- what importing a test module executed; '': conftests
    path TEXT PRIMARY KEY,
    footprints BLOB NOT NULL
) WITHOUT ROWID;
"""
TABLES = ("meta", "file", "footprint", "test", "import")


class KnownFile(NamedTuple):
    """A file as it was.

    Attributes:
        kind: ``code``, ``module`` or ``helper``.
        digest: Of its bytes.
        stamp: Its size and times, or empty.
    """

    kind: str
    digest: str
    stamp: str


class Tables:
    """Reads and writes the tables of a cache file."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def clear(self) -> None:
        """Forget everything."""
        for table in TABLES:
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of ours

    def meta(self, name: str) -> str:
        """The value of ``name``; empty if there is none."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return "" if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        """Give ``name`` a value."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def files(self) -> dict[str, KnownFile]:
        """Return all files by their paths."""
        rows = self._db.execute("SELECT path, kind, digest, stamp FROM file")
        return {path: KnownFile(*known) for path, *known in rows}

    def text(self, path: str) -> str:
        """The text of a file of code."""
        row = self._db.execute("SELECT body FROM file WHERE path = ?", (path,)).fetchone()
        return zlib.decompress(row[0]).decode("utf-8", "surrogatepass")

    def set_file(self, path: str, known: KnownFile, text: str | None) -> None:
        """Note a file as it is now."""
        body = None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        self._db.execute("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)", (path, *known, body))

    def footprints(self, path: str | None = None) -> Iterator[tuple[int, Footprint]]:
        """Yield the footprints of a file or of all, with their numbers; paths stay relative.

        Nothing may be written to them before the last one came.
        """
        asked = "SELECT id, path, first_line, name, lines FROM footprint"
        rows = (
            self._db.execute(asked)
            if path is None
            else self._db.execute(f"{asked} WHERE path = ?", (path,))
        )
        for number, own, first_line, name, lines in rows:
            yield number, Footprint(own, first_line, name, tuple(json.loads(lines)))

    def add_footprints(self, footprints: Iterable[Footprint]) -> list[int]:
        """Add footprints and return their numbers."""
        (highest,) = self._db.execute("SELECT coalesce(max(id), 0) FROM footprint").fetchone()
        rows = [
            (highest + i, path, first_line, name, _to_json(lines))
            for i, (path, first_line, name, lines) in enumerate(footprints, 1)
        ]
        self._db.executemany("INSERT INTO footprint VALUES (?, ?, ?, ?, ?)", rows)
        return [row[0] for row in rows]

    def move_footprints(self, moved: Mapping[int, Footprint | None]) -> None:
        """Put footprints where their lines are now; None: their lines are gone."""
        self._db.executemany(
            "UPDATE footprint SET first_line = ?, lines = ? WHERE id = ?",
            [
                (now.first_line, _to_json(now.lines), number)
                for number, now in moved.items()
                if now is not None
            ],
        )
        gone = [(number,) for number, now in moved.items() if now is None]
        self._db.executemany("DELETE FROM footprint WHERE id = ?", gone)

    def tests(self, variant: str) -> Iterator[tuple[str, str]]:
        """Node id and outcome of all tests of a variant."""
        yield from self._db.execute(
            "SELECT node_id, outcome FROM test WHERE variant = ?", (variant,)
        )

    def variants(self) -> list[str]:
        """List all variants."""
        return [variant for (variant,) in self._db.execute("SELECT DISTINCT variant FROM test")]

    def test_rows(self, variant: str) -> Iterator[tuple[str, array[int]]]:
        """Node id and row of all tests of a variant."""
        rows = self._db.execute(
            "SELECT node_id, footprints FROM test WHERE variant = ?", (variant,)
        )
        for node_id, blob in rows:
            yield node_id, array("I", blob)

    def set_tests(self, rows: Iterable[tuple[str, str, str, array[int]]]) -> None:
        """Note node id, variant, outcome and row of tests.

        Where an id holds a lone surrogate the row is never found again, so the test is traced.
        """
        self._db.executemany(
            "INSERT OR REPLACE INTO test VALUES (?, ?, ?, ?)",
            ((storable(name), *rest, row.tobytes()) for name, *rest, row in rows),
        )

    def remove_tests(self, variant: str, node_ids: Iterable[str]) -> None:
        """Forget tests of a variant."""
        names = ((node_id, variant) for node_id in node_ids)
        self._db.executemany("DELETE FROM test WHERE node_id = ? AND variant = ?", names)

    def imports(self) -> dict[str, array[int]]:
        """The row of each import."""
        rows = self._db.execute("SELECT path, footprints FROM import")
        return {path: array("I", blob) for path, blob in rows}

    def remove_imports(self, paths: Iterable[str]) -> None:
        """Forget the rows of imports."""
        self._db.executemany("DELETE FROM import WHERE path = ?", [(path,) for path in paths])

    def set_imports(self, rows: Mapping[str, array[int]]) -> None:
        """Note the rows of imports."""
        self._db.executemany(
            "INSERT OR REPLACE INTO import VALUES (?, ?)",
            [(path, row.tobytes()) for path, row in rows.items()],
        )


def _to_json(lines: Sequence[int]) -> str:
    return json.dumps(lines, separators=(",", ":"))


@contextmanager
def read_tables(path: Path) -> Iterator[Tables]:
    """Open the tables for reading.

    Raises:
        sqlite3.Error: If they can't be read.
    """
    with closing(_connect(path)) as db:
        yield Tables(db)


def discard(path: Path, error: Exception) -> None:
    """Delete a file that ``error`` shows to be damaged: what it held is traced again."""
    if damage(error, path):
        with suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def write_tables(path: Path) -> Iterator[Tables]:
    """Open a transaction, which is kept as a whole or not at all; a broken file is replaced.

    Raises:
        sqlite3.Error: If the file can't be written.
    """
    try:
        with closing(_connect_to_write(path)) as db:
            try:
                yield Tables(db)
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
    except UNREADABLE as error:
        discard(path, error)
        raise


def _connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection that has begun to write, to tables that are there."""
    try:
        return _begin(path)
    except sqlite3.Error as error:
        if not damage(error, path):
            raise
        path.unlink(missing_ok=True)
        return _begin(path)


def _begin(path: Path) -> sqlite3.Connection:
    db = _connect(path)
    try:
        db.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA.split(";\n")[:-1]:
            db.execute(statement)
    except BaseException:
        db.close()
        raise
    return db


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous = OFF")  # a cache: what a power cut spoils is traced again
    except BaseException:
        db.close()
        raise
    return db
