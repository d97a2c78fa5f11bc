"""The store of bug records: a file beside the project, or a database for a team."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.own_files import SLUG, damage, identity, set_aside, without_folder
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.memory.database import Connection, PostgresqlDatabase, SqliteDatabase
from pytest_bayesloc.memory.schema import LEAST, MIGRATIONS, SCHEMA, VERSION, statements


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
