"""The tables of the memory are created once, and brought up to date from older versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.memory import schema
from pytest_bayesloc.memory import store as stores
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.outcomes import CodeStates, Endings, FailedTest, Outcomes
from pytest_bayesloc.memory.schema import VERSION
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.memory.transfer import export
from tests.fakes.sources import TextSources
from tests.integration.memory.conftest import START

#: What sqlite3's ``.dump`` printed of a memory of five runs that SQLAlchemy had made.
WRITTEN_BY_VERSION_1 = Path(__file__).with_name("version-1.sql")


def versions(path: Path) -> dict[str, str]:
    with closing(BugStore(path, pytest.fail)) as store, store.transaction() as connection:
        return dict(connection.rows("SELECT name, value FROM meta"))


def columns(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Per table the names of its columns, whether they may be NULL, and their place in the key."""
    with closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: [
                (column[1], column[5], bool(column[3] or column[5]))
                for column in db.execute(f"PRAGMA table_info({name})")
            ]
            for (name,) in tables
        }


@pytest.fixture
def of_version_1(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(WRITTEN_BY_VERSION_1.read_text(encoding="utf-8"))
    return path


def test_memory_that_sqlalchemy_made_opens_with_everything_in_it(of_version_1: Path) -> None:
    with closing(BugStore(of_version_1, pytest.fail)) as store, store.transaction() as connection:
        ledger = Ledger(connection, "p")
        (record,) = ledger.open_bugs().values()
        fixed = ledger.bugs([1])[1]
        n_lines = len(list(export(connection)))

    assert record.symptom.signature == "AssertionError: assert [<int>, <int>] == [<int>, <int>]"
    assert record.notes == ("we always forget the end knots",)
    assert [trial.number for trial in fixed.trials] == [1, 2, 3]
    assert fixed.trials[2].edit.functions == ("test_curve.py test_cubic",)
    assert n_lines == 9


def test_new_memory_has_the_tables_that_sqlalchemy_made(of_version_1: Path) -> None:
    new = of_version_1.with_name("new")

    assert versions(new) == versions(of_version_1)
    assert columns(new) == columns(of_version_1)


def test_flaky_tests_of_version_1_are_known_to_be_flaky(of_version_1: Path) -> None:
    at = "2026-11-22T10:00:00.000000+00:00"
    with closing(sqlite3.connect(of_version_1)) as db, db:
        seen = [("p", "flaky", "t.py::test_a", 2, at, at), ("p", "infrastructure", "x", 1, at, at)]
        db.executemany("INSERT INTO observation VALUES (?, ?, ?, ?, ?, ?)", seen)

    with closing(BugStore(of_version_1, pytest.fail)) as store, store.transaction() as connection:
        states, now = CodeStates(TextSources({})), START + timedelta(days=1)
        outcomes = Outcomes(Ledger(connection, "p"), states, "here", now)
        failed = {"t.py::test_a": FailedTest(fault=0, fingerprint="f", executed=frozenset())}
        outcomes.load(Endings(failed=failed, passed=()))
        (flaky,) = outcomes.flaky(failed)
        left = connection.column("SELECT kind FROM observation")

    assert (flaky.since, flaky.is_same_code, flaky.passed_again) == (at, False, True)
    assert left == ["infrastructure"]


def test_there_is_a_migration_from_every_older_version() -> None:
    assert len(schema.MIGRATIONS) == VERSION - 1


def test_older_memory_is_brought_up_to_date_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions(tmp_path / "memory")
    added = [f"ALTER TABLE run ADD COLUMN {name} TEXT;  -- a comment" for name in ("one", "two")]
    monkeypatch.setattr(stores, "MIGRATIONS", [*schema.MIGRATIONS, *added])
    monkeypatch.setattr(stores, "VERSION", VERSION + 2)

    assert versions(tmp_path / "memory")["version"] == str(VERSION + 2)
    assert [name for name, *_ in columns(tmp_path / "memory")["run"]][-2:] == ["one", "two"]


def test_memory_whose_tables_need_a_newer_program_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(stores, "VERSION", VERSION + 1)
        newer.setattr(stores, "LEAST", VERSION + 1)
        versions(tmp_path / "memory")

    with pytest.raises(StoreError, match="was written by a newer version"):
        versions(tmp_path / "memory")
