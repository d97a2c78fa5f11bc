"""The tables of the memory are created once, and brought up to date from older versions."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, inspect, select, text

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.memory import store as stores
from pytest_bayesloc.memory.schema import META, METADATA, VERSION
from pytest_bayesloc.memory.store import BugStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def versions(path: Path) -> dict[str, str]:
    with closing(BugStore(path, pytest.fail)) as store, store.transaction() as connection:
        return {row.name: row.value for row in connection.execute(select(META))}


def tables(path: Path) -> dict[str, list[str]]:
    """Per table its columns."""
    with closing(BugStore(path, pytest.fail)) as store, store.transaction() as connection:
        known = inspect(connection)
        return {
            table: [column["name"] for column in known.get_columns(table)]
            for table in known.get_table_names()
        }


def adds(column: str) -> Callable[[Connection], None]:
    """A migration of a later version."""

    def migration(connection: Connection) -> None:
        connection.execute(text(f"ALTER TABLE run ADD COLUMN {column} TEXT"))

    return migration


def test_new_memory_has_all_tables(tmp_path: Path) -> None:
    known = versions(tmp_path / "memory")

    assert known["version"] == str(VERSION)
    assert tables(tmp_path / "memory").keys() == METADATA.tables.keys()


def test_there_is_a_migration_from_every_older_version() -> None:
    assert len(stores.MIGRATIONS) == VERSION - 1


def test_older_memory_is_brought_up_to_date_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions(tmp_path / "memory")
    monkeypatch.setattr(stores, "MIGRATIONS", [*stores.MIGRATIONS, adds("one"), adds("two")])
    monkeypatch.setattr(stores, "VERSION", VERSION + 2)

    assert versions(tmp_path / "memory")["version"] == str(VERSION + 2)
    assert tables(tmp_path / "memory")["run"][-2:] == ["one", "two"]


def test_memory_whose_tables_need_a_newer_program_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(stores, "VERSION", VERSION + 1)
        newer.setattr(stores, "LEAST", VERSION + 1)
        versions(tmp_path / "memory")

    with pytest.raises(StoreError, match="was written by a newer version"):
        versions(tmp_path / "memory")
