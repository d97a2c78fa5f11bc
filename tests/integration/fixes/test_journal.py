"""What a journal applies it can take back, whatever happened since."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_bayesloc.domain.errors import FixError
from pytest_bayesloc.fixes.apply import Journal

OLD, NEW = b"old\n", b"new\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_bytes(OLD)
    return tmp_path


@pytest.fixture
def journal(root: Path) -> Journal:
    return Journal(root, root / ".bayesloc" / "journal")


def test_fixes_of_one_file_are_undone_in_turn(root: Path, journal: Journal) -> None:
    journal.apply([("a.py", OLD, NEW)], "one")
    journal.apply([("a.py", NEW, b"newer\n")], "two")

    assert [(entry.tool, why) for entry, why in journal.undo()] == [("two", ""), ("one", "")]
    assert (root / "a.py").read_bytes() == OLD
    assert journal.undo() == []


def test_byte_code_of_the_text_before_is_not_taken_for_that_of_the_fix(
    root: Path, journal: Journal
) -> None:
    path = root / "a.py"
    before = path.read_bytes()
    seconds = int(path.stat().st_mtime)

    journal.apply([("a.py", before, before.swapcase())], "tool")

    assert int(path.stat().st_mtime) > seconds


def test_a_file_that_is_gone_is_said(root: Path, journal: Journal) -> None:
    journal.apply([("a.py", OLD, NEW)], "one")
    (root / "a.py").unlink()

    assert [why for _, why in journal.undo()] == [
        f"it can't be written (The fix of a.py is not applied: it is no file below {root}. "
        "(fix-refused))"
    ]


def test_a_fix_that_was_never_written_is_undone_already(root: Path, journal: Journal) -> None:
    journal.apply([("a.py", OLD, NEW)], "one")
    (root / "a.py").write_bytes(OLD)  # a kill between the journal and the file

    assert [why for _, why in journal.undo()] == [""]
    assert (root / "a.py").read_bytes() == OLD


def test_a_damaged_entry_is_left_alone_and_named(root: Path, journal: Journal) -> None:
    (path,) = journal.apply([("a.py", OLD, NEW)], "one")
    path.write_text("{")

    assert journal.undo() == []
    assert journal.unreadable() == [path]
    assert (root / "a.py").read_bytes() == NEW


def test_nothing_else_is_left_in_the_folder_of_the_file(root: Path, journal: Journal) -> None:
    journal.apply([("a.py", OLD, NEW)], "one")
    journal.undo()

    assert sorted(path.name for path in root.iterdir()) == [".bayesloc", "a.py"]


def test_what_a_kill_left_half_written_is_removed(root: Path, journal: Journal) -> None:
    folder = root / ".bayesloc" / "journal"
    folder.mkdir(parents=True)
    (folder / "x.partial").write_bytes(b"half")

    journal.apply([("a.py", OLD, NEW)], "one")

    assert not (folder / "x.partial").exists()


def test_another_disk_is_written_beside_the_file(
    root: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def across(self: Path, target: Path) -> Path:
        if self.parent != Path(target).parent:
            raise OSError(18, "Invalid cross-device link")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", across)

    journal.apply([("a.py", OLD, NEW)], "one")

    assert (root / "a.py").read_bytes() == NEW


@pytest.mark.parametrize("name", ["../out.py", "folder", "missing.py", "link.py"])
def test_what_is_no_file_of_the_project_is_refused(root: Path, journal: Journal, name: str) -> None:
    (root / "folder").mkdir()
    outside = root.parent / "out.py"
    outside.write_bytes(OLD)
    (root / "link.py").symlink_to(outside)

    with pytest.raises(FixError, match="it is no file below"):
        journal.apply([(name, OLD, NEW)], "one")

    assert outside.read_bytes() == OLD


def test_a_read_only_file_is_refused(
    root: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write all

    with pytest.raises(FixError, match="the file is read-only"):
        journal.apply([("a.py", OLD, NEW)], "one")

    assert (root / "a.py").read_bytes() == OLD


def test_a_journal_that_leads_out_is_not_written(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "mine.partial").write_text("mine")
    (root / "journal").symlink_to(outside)
    (root / "a.py").write_bytes(b"before")

    with pytest.raises(FixError, match="leads out of"):
        Journal(root, root / "journal").apply([("a.py", b"before", b"after")], "tool")

    assert (root / "a.py").read_bytes() == b"before"
    assert (outside / "mine.partial").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_stays_its_owners(root: Path, journal: Journal) -> None:
    os.chown(root / "a.py", 1234, 4321)

    journal.apply([("a.py", OLD, NEW)], "one")
    written = (root / "a.py").stat()

    assert (written.st_uid, written.st_gid) == (1234, 4321)


def test_of_several_files_all_are_written_or_none(root: Path, journal: Journal) -> None:
    (root / "b.py").write_bytes(OLD)
    first = ("a.py", OLD, NEW)

    with pytest.raises(FixError, match="the file changed since"):
        journal.apply([first, ("b.py", b"something else\n", NEW)], "steps")
    assert (root / "a.py").read_bytes() == OLD

    journal.apply([first, ("b.py", OLD, NEW)], "steps")
    assert [(root / name).read_bytes() for name in ("a.py", "b.py")] == [NEW, NEW]
