from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, inspect

from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import METADATA, VERSION
from pytest_bayesloc.memory.store import MIGRATIONS, BugStore

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD = sorted(Path(__file__).with_name("data").glob("version*.sql"))


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    with closing(BugStore(path, pytest.fail)) as store, store.transaction() as connection:
        yield connection


def shape(connection: Connection) -> dict[str, tuple[list[str], list[str]]]:
    """Per table its columns and indexes."""
    known = inspect(connection)
    return {
        table: (
            sorted(f"{column['name']} {column['type']}" for column in known.get_columns(table)),
            sorted(str(index["name"]) for index in known.get_indexes(table)),
        )
        for table in METADATA.tables
    }


@pytest.mark.parametrize("dump", OLD, ids=lambda path: path.stem)
def test_memory_of_an_older_version_is_brought_up_to_date(dump: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old")) as db:
        db.executescript(dump.read_text(encoding="utf-8"))

    with opened(tmp_path / "old") as connection:
        ledger = Ledger(connection, "shop")
        mended = ledger.bugs([1])[1]
        still_open = list(ledger.open_bugs())
        migrated = shape(connection)
    with opened(tmp_path / "new") as connection:
        assert migrated == shape(connection)
    assert [trial.outcome.value for trial in mended.trials] == ["failed", "passed"]
    assert still_open == [2]


def test_there_is_a_migration_and_a_dump_of_every_version() -> None:
    before = list(range(1, VERSION))

    assert sorted(MIGRATIONS) == before
    assert [dump.stem for dump in OLD] == [f"version{version}" for version in before]
