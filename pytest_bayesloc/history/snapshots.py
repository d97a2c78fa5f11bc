"""Snapshots of the project's files when each test last passed, and when it last failed.

A green run writes here, and must not pay for imports.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections import Counter
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.own_files import SLUG, damage, identity, set_aside, without_folder
from pytest_bayesloc.domain.texts import as_python_reads, storable, text_digest
from pytest_bayesloc.spectrum.validity import written_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    Texts = Mapping[str, str]  # of all files, by their paths relative to rootdir
    LookUp = Callable[[sqlite3.Connection, str], Iterable[tuple[int]]]  # snapshots of a test

VERSION = 3  # of the tables; a file of another version is set aside
BUSY_S = 10.0
N_TRIED = 5_000
N_LATELY = 10  # snapshots in which a test may have got another id
N_SNAPSHOTS = 50  # no test needs an older one for long: it is one that passes, or is long gone

SCHEMA = """
CREATE TABLE text (          -- a file's text, once however often it is used
    digest TEXT PRIMARY KEY,
    body BLOB NOT NULL       -- as Python reads it, in UTF-8, by zlib
);
CREATE TABLE snapshot (      -- all files of the project at the end of a run
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE
);
CREATE TABLE file (
    snapshot INTEGER NOT NULL REFERENCES snapshot (id) ON DELETE CASCADE,
    path TEXT NOT NULL,      -- relative to rootdir
    digest TEXT NOT NULL REFERENCES text (digest),
    PRIMARY KEY (snapshot, path)
) WITHOUT ROWID;
CREATE TABLE passed (        -- the last snapshot that each test passed on
    node_id TEXT PRIMARY KEY,
    snapshot INTEGER NOT NULL REFERENCES snapshot (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE failed (        -- the snapshot of its last run, of each test that failed in it
    node_id TEXT PRIMARY KEY,
    snapshot INTEGER NOT NULL REFERENCES snapshot (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE seen (          -- spares reading files that did not change
    path TEXT PRIMARY KEY,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE begun (         -- the snapshot of its first failing run since it passed
    node_id TEXT PRIMARY KEY,
    snapshot INTEGER NOT NULL REFERENCES snapshot (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE tried (         -- how tests ended on older commits
    id INTEGER PRIMARY KEY,
    place TEXT NOT NULL,     -- digest of what is installed
    revision TEXT NOT NULL,
    node_id TEXT NOT NULL,
    verdict TEXT NOT NULL,   -- pass, fail, or empty: it could not be run
    UNIQUE (place, revision, node_id)
);
"""


class SnapshotStore:
    """A file of the project's own that two runs may write at once.

    Each method raises ``StoreError`` if it can't be read or written.

    Args:
        path: The file, made where there is none.
        warn: Told once if a damaged file had to be set aside.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path = path
        self._warn = warn

    def remember(
        self,
        passed: Sequence[str],
        failed: Sequence[str],
        files: Mapping[str, Path],
        started_ns: int,
    ) -> None:
        """Note which tests ``passed`` and ``failed``, by node id, on what ``files`` hold now.

        The files are by their paths relative to rootdir; the start is of the run, as ``time_ns``.

        Raises:
            StoreError: Also if a file was written during the run: nobody knows which of its texts
                the tests saw, so nothing is noted.
        """
        if not (passed or failed) or not files:
            return
        written = next((name for name, f in files.items() if written_ns(f) > started_ns), None)
        if written is not None:
            raise StoreError(
                f"{written} was written while the tests ran: this run's code is not kept to "
                "compare with, since nobody knows which text they saw. Run them again.",
                slug="written-meanwhile",
            )
        with self._open() as db:
            names = {storable(name): path for name, path in files.items()}
            digests = {name: _noted(db, name, path) for name, path in names.items()}
            snapshot = _snapshot(db, {name: digest for name, digest in digests.items() if digest})
            for table, node_ids in (("passed", passed), ("failed", failed)):
                db.executemany(
                    f"INSERT INTO {table} VALUES (?, ?) ON CONFLICT (node_id) DO UPDATE SET "  # noqa: S608 - a name of ours
                    "snapshot = excluded.snapshot WHERE snapshot <> excluded.snapshot",
                    [(storable(node_id), snapshot) for node_id in node_ids],
                )
            begun = [(storable(node_id), snapshot) for node_id in failed]
            db.executemany("INSERT OR IGNORE INTO begun VALUES (?, ?)", begun)
            if db.execute("SELECT 1 FROM begun LIMIT 1").fetchone() is not None:
                again = [(storable(node_id),) for node_id in passed]
                db.executemany("DELETE FROM failed WHERE node_id = ?", again)
                db.executemany("DELETE FROM begun WHERE node_id = ?", again)
            _forget(db)

    def last_passed(
        self, groups: Sequence[Sequence[str]], present: Iterable[str] = (), *, code: bool = True
    ) -> list[Texts | None]:
        """Return per group the texts on which most of its tests last passed; None if unknown.

        Args:
            groups: Node ids; that of a file, which could not be collected, stands for its tests.
            present: Node ids of this run.
            code: Whether texts of Python files are wanted, or those of all others.
        """
        look_up = partial(_passed_as, present={storable(n) for n in present})
        return self._found(groups, [look_up], code=code)

    def last_runs(self, groups: Sequence[Sequence[str]]) -> list[Texts | None]:
        """Return per group the texts on which its tests last ran; None if unknown.

        Those on which they failed, or where none did, passed.
        """
        return self._found(groups, [partial(_of_table, "failed"), _passed])

    def first_failed(self, groups: Sequence[Sequence[str]]) -> list[Texts | None]:
        """Return per group the texts on which its tests failed first since they passed."""
        return self._found(groups, [partial(_of_table, "begun")])

    def note_tried(self, place: str, revision: str, verdicts: Mapping[str, str]) -> None:
        """Keep how tests ended on a commit, by node id: ``pass``, ``fail`` or nothing.

        The ``place`` is a digest of what is installed.
        """
        with self._open() as db:
            db.executemany(
                "INSERT OR REPLACE INTO tried (place, revision, node_id, verdict) "
                "VALUES (?, ?, ?, ?)",
                [(place, revision, storable(name), how) for name, how in verdicts.items()],
            )
            db.execute(
                "DELETE FROM tried WHERE id NOT IN (SELECT id FROM tried ORDER BY id DESC LIMIT ?)",
                (N_TRIED,),
            )

    def tried(self, place: str, node_ids: Collection[str]) -> dict[str, dict[str, str]]:
        """Return what is kept of ``note_tried``, by commit and node id."""
        found: dict[str, dict[str, str]] = {}
        if not self.path.is_file():
            return found
        with self._open() as db:
            asked = "SELECT revision, verdict FROM tried WHERE place = ? AND node_id = ?"
            for name in node_ids:
                for revision, verdict in db.execute(asked, (place, storable(name))):
                    found.setdefault(revision, {})[name] = verdict
        return found

    def _found(
        self, groups: Sequence[Sequence[str]], look_ups: Sequence[LookUp], *, code: bool = True
    ) -> list[Texts | None]:
        """Return per group the texts of the snapshot of most tests, or the youngest of those.

        By the first of ``look_ups`` that finds any.
        """
        if not self.path.is_file():
            return [None for _ in groups]
        found: list[Texts | None] = []
        texts: dict[int, Texts] = {}  # groups share them
        with self._open() as db:
            for group in groups:
                counts: Counter[int] = Counter()
                for look_up in look_ups:
                    keys = map(storable, dict.fromkeys(group))
                    counts = counts or Counter(n for key in keys for (n,) in look_up(db, key))
                best = max(counts, key=lambda n: (counts[n], n), default=None)
                if best is not None and best not in texts:
                    rows = db.execute(
                        "SELECT path, body FROM file JOIN text USING (digest) "
                        "WHERE snapshot = ? AND (path GLOB '*.py') = ?",
                        (best, code),
                    )
                    texts[best] = {
                        path: zlib.decompress(body).decode("utf-8") for path, body in rows
                    }
                found.append(None if best is None else texts[best])
        return found

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is kept, or nothing."""
        seen = identity(self.path)
        try:
            with closing(self._begun(seen)) as db, db:
                yield db
        except (sqlite3.Error, OSError, zlib.error, UnicodeError, TypeError) as error:
            why = damage(error, self.path)
            if why:  # deeper inside; the next run finds a new file
                with suppress(OSError):
                    raise StoreError(set_aside(self.path, why, seen), slug=SLUG) from error
            if why := without_folder(self.path):
                raise StoreError(why, slug="no-folder") from error
            raise StoreError(
                f"The memory of green runs in {self.path} can't be used ({error}): what changed "
                "since the tests passed is not known. See that it can be written.",
                slug="green-memory",
            ) from error

    def _begun(self, seen: tuple[int, int]) -> sqlite3.Connection:
        """Begin a transaction, in a new file if the one that was ``seen`` is damaged."""
        try:
            return _begun(self.path)
        except sqlite3.Error as error:
            why = damage(error, self.path)
            if not why:
                raise
            told = set_aside(self.path, why, seen)
        if told:
            self._warn(f"{told} ({SLUG})")
        return _begun(self.path)


def _begun(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("BEGIN IMMEDIATE")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            for statement in SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
        elif version != VERSION:
            raise sqlite3.DatabaseError(f"it is of version {version}, not {VERSION}")  # noqa: TRY301 - a damaged file
    except BaseException:
        db.close()  # which rolls back
        raise
    return db


def _noted(db: sqlite3.Connection, name: str, path: Path) -> str:
    """Keep a file's text and return its digest; empty if it can't be read as text."""
    try:
        stat = path.stat()
        known = db.execute("SELECT mtime_ns, size, digest FROM seen WHERE path = ?", (name,))
        row = known.fetchone()
        if row is not None and row[:2] == (stat.st_mtime_ns, stat.st_size):
            return str(row[2])
        data = path.read_bytes()
        text = as_python_reads(data).encode()
    except (OSError, SyntaxError, UnicodeError):
        return ""
    digest = hashlib.sha256(data).hexdigest()
    db.execute("INSERT OR IGNORE INTO text VALUES (?, ?)", (digest, zlib.compress(text)))
    db.execute(
        "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
        (name, stat.st_mtime_ns, stat.st_size, digest),
    )
    return digest


def _snapshot(db: sqlite3.Connection, digests: Mapping[str, str]) -> int:
    """Return the number of the snapshot of these files, made where there is none."""
    listed = "\n".join(f"{name}\0{digest}" for name, digest in sorted(digests.items()))
    own = text_digest(listed)
    known = db.execute("SELECT id FROM snapshot WHERE digest = ?", (own,)).fetchone()
    if known is not None:
        return int(known[0])
    made = db.execute("INSERT INTO snapshot (digest) VALUES (?)", (own,)).lastrowid
    assert made is not None  # noqa: S101 - a row was inserted
    db.executemany("INSERT INTO file VALUES (?, ?, ?)", [(made, *item) for item in digests.items()])
    return made


def _of_table(table: str, db: sqlite3.Connection, key: str) -> Iterable[tuple[int]]:
    asked = f"SELECT snapshot FROM {table} WHERE node_id = ?"  # noqa: S608 - a name of ours
    return db.execute(asked, (key,))


def _passed(db: sqlite3.Connection, key: str) -> Iterable[tuple[int]]:
    """Yield the last snapshot on which a test passed; of a file, that of most of its tests."""
    low, high = (key, f"{key}\0") if "::" in key else (f"{key}::", f"{key}:;")
    return db.execute(
        "SELECT snapshot FROM passed WHERE node_id >= ? AND node_id < ? "
        "GROUP BY snapshot ORDER BY count(*) DESC, snapshot DESC LIMIT 1",
        (low, high),
    )


def _passed_as(db: sqlite3.Connection, key: str, present: Collection[str]) -> Iterable[tuple[int]]:
    """Like ``_passed``, also matching changed parameter ids.

    An old id is one of the same function that passed lately and is gone. Where all ids that passed
    are ``present``, the test is a new case, of which nothing is known.
    """
    if (known := list(_passed(db, key))) or "[" not in key:
        return known
    stem = key.partition("[")[0]
    rows = db.execute(
        "SELECT node_id, snapshot FROM passed WHERE node_id >= ? AND node_id < ?",
        (f"{stem}[", f"{stem}\\"),  # all that begin with the stem and a bracket
    )
    last = max((int(snapshot) for other, snapshot in rows if other not in present), default=0)
    (n_since,) = db.execute("SELECT count(*) FROM snapshot WHERE id > ?", (last,)).fetchone()
    return [(last,)] if last and n_since <= N_LATELY else []


def _forget(db: sqlite3.Connection) -> None:
    """Drop snapshots that are no test's last one, then the oldest, and texts of neither."""
    db.execute(
        "DELETE FROM snapshot WHERE id NOT IN (SELECT snapshot FROM passed) "
        "AND id NOT IN (SELECT snapshot FROM failed) AND id NOT IN (SELECT snapshot FROM begun)"
    )
    db.execute(
        "DELETE FROM snapshot WHERE id NOT IN (SELECT id FROM snapshot ORDER BY id DESC LIMIT ?)",
        (N_SNAPSHOTS,),
    )
    db.execute(
        "DELETE FROM text WHERE digest NOT IN (SELECT digest FROM file) "
        "AND digest NOT IN (SELECT digest FROM seen)"
    )
