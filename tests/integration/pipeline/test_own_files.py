from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from pytest_bayesloc.domain.own_files import damage, identity, misplaced, set_aside, without_folder

OWN = Path("/p/.bayesloc/x.sqlite")


def refused(text: str) -> Exception:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - of the decoder
        json.loads(text)
    return error.value


@pytest.mark.parametrize(
    ("error", "is_damaged"),
    [
        (sqlite3.DatabaseError("file is not a database"), True),
        (sqlite3.DatabaseError("database disk image is malformed"), True),
        (sqlite3.OperationalError("no such table: bug"), True),
        (sqlite3.DatabaseError("it is of version 9, not 2"), True),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "no"), True),
        (refused("{"), True),
        (sqlite3.OperationalError("database is locked"), False),
        (sqlite3.OperationalError("database or disk is full"), False),
        (sqlite3.OperationalError("attempt to write a readonly database"), False),
        (sqlite3.IntegrityError("UNIQUE constraint failed"), False),
        (OSError("disk quota"), False),
    ],
)
def test_errors_of_the_file_are_told_from_those_of_the_moment(
    error: Exception, is_damaged: bool
) -> None:
    assert bool(damage(error, OWN)) is is_damaged


@pytest.mark.parametrize(
    ("data", "said", "is_damaged"),
    [
        (b"SQLite format 3\0...", "database disk image is malformed", True),
        (b"SQLite format 3\0...", "no such column: x", False),
        (b"a file of the user's", "file is not a database", False),
    ],
)
def test_file_elsewhere_is_the_users_own(
    tmp_path: Path, data: bytes, said: str, is_damaged: bool
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(data)

    assert bool(damage(sqlite3.DatabaseError(said), path)) is is_damaged


def test_damaged_file_goes_with_what_is_kept_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    for name in ("x.sqlite", "x.sqlite-wal", "x.sqlite-journal"):
        (tmp_path / name).write_text(name)

    said = set_aside(path, "it is short")
    path.touch()
    set_aside(path, "again")

    first = sorted(tmp_path.glob("x.sqlite.damaged-*"), key=lambda p: p.stat().st_mtime_ns)
    assert f"{path} is damaged (it is short) and was set aside as x.sqlite.damaged-" in said
    assert len(first) == 4
    assert {p.read_text() for p in first} == {"x.sqlite", "x.sqlite-wal", "x.sqlite-journal", ""}


def test_file_that_another_run_made_meanwhile_stays(tmp_path: Path) -> None:
    path, other = tmp_path / "x", tmp_path / "y"
    path.write_text("damaged")
    seen = identity(path)
    other.write_text("new")
    other.replace(path)

    assert set_aside(path, "it is short", seen) == ""
    assert path.read_text() == "new"


def test_what_has_a_name_of_ours_and_the_wrong_kind_is_set_aside(tmp_path: Path) -> None:
    folder = tmp_path / ".bayesloc"
    for name in ("green.sqlite", "workspace", "fixes/1.patch", "mine", "fixes/journal"):
        (folder / name).mkdir(parents=True)
    for name in ("llm", "memory.sqlite"):
        (folder / name).touch()

    told = misplaced(folder)

    assert len(told) == 4
    assert all("(it is no f" in text and text.endswith("(damaged-file)") for text in told)
    kept = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if "damaged" not in p.name}
    assert kept == {"mine", "fixes/journal", "memory.sqlite", "fixes"}
    assert misplaced(folder) == []


def test_file_of_the_name_of_our_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / ".bayesloc").touch()

    assert "Move the file away" in without_folder(tmp_path / ".bayesloc" / "llm" / "x")
    assert without_folder(tmp_path / "other" / "x") == ""
