"""What is kept of green runs, and what is not."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.history.snapshots import N_LATELY, N_SNAPSHOTS, SnapshotStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LATER = 1 << 62  # a run that began after every file was written


class Folder:
    """A project whose files are written one by one, each later than the one before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = root / ".bayesloc" / "green.sqlite"
        self.store.parent.mkdir()
        self.told: list[str] = []
        self.memory = SnapshotStore(self.store, self.told.append)
        self.files: dict[str, Path] = {}
        self._now_ns = 10**18

    def write(self, name: str, data: str | bytes) -> Folder:
        path = self.root / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        self._now_ns += 10**9
        os.utime(path, ns=(self._now_ns, self._now_ns))
        self.files[name] = path
        return self

    def passes(self, *tests: str) -> Folder:
        self.memory.remember(tests, [], self.files, LATER)
        return self

    def texts(self, *failing: str) -> Mapping[str, str] | None:
        (green,) = self.memory.last_passed([failing])
        return green

    def count(self, table: str) -> int:
        with closing(sqlite3.connect(self.store)) as db:
            n: int = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            return n


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path).write("a.py", "A = 1\n").write("b.py", "B = 1\n")


def test_texts_are_given_back_as_they_were(folder: Folder) -> None:
    folder.passes("t::1").write("a.py", "A = 2\n")

    (green,) = folder.memory.last_passed([["t::1"]])

    assert green is not None
    assert green == {"a.py": "A = 1\n", "b.py": "B = 1\n"}


def test_nothing_is_known_of_a_test_that_never_passed(folder: Folder) -> None:
    assert folder.texts("t::1") is None
    assert not folder.store.exists()
    assert folder.passes("t::1").texts("t::2") is None


def test_test_with_another_parameter_passed_when_the_one_in_its_place_did(folder: Folder) -> None:
    folder.passes("t::1[a]", "t::1[b]", "t::10[c]").write("a.py", "A = 2\n")
    folder.passes("t::1[a]", "t::10[c]")

    (green,) = folder.memory.last_passed([["t::1[new]"]], ["t::1[a]", "t::1[new]", "t::10[c]"])

    assert (green or {})["a.py"] == "A = 1\n"


def test_nothing_is_known_of_a_new_parameter_beside_all_others(folder: Folder) -> None:
    folder.passes("t::1[a]", "t::1[b]")

    assert folder.memory.last_passed([["t::1[c]"]], ["t::1[a]", "t::1[b]", "t::1[c]"]) == [None]


def test_nothing_is_known_of_a_new_parameter_long_after_another_one_went(folder: Folder) -> None:
    folder.passes("t::1[a]", "t::1[b]")
    for n in range(N_LATELY + 1):
        folder.write("a.py", f"A = {n + 2}\n").passes("t::1[a]", f"t::{n}")

    assert folder.memory.last_passed([["t::1[c]"]], ["t::1[a]", "t::1[c]"]) == [None]


def test_snapshot_of_most_of_the_tests_is_the_one_given(folder: Folder) -> None:
    folder.passes("t::1", "t::2", "t::3").write("a.py", "A = 2\n").passes("t::3")

    (green,) = folder.memory.last_passed([["t::3", "t::1", "t::2", "t::never"]])

    assert green is not None
    assert green["a.py"] == "A = 1\n"


def test_of_two_equally_shared_snapshots_the_younger_is_given(folder: Folder) -> None:
    folder.passes("t::1").write("a.py", "A = 2\n").passes("t::2")

    assert (folder.texts("t::1", "t::2") or {})["a.py"] == "A = 2\n"


def test_groups_of_tests_have_each_their_snapshot(folder: Folder) -> None:
    folder.passes("t::1", "t::2", "t::3").write("a.py", "A = 2\n").passes("t::3")

    first, unknown, other, same = folder.memory.last_passed(
        [["t::1"], ["t::never"], ["t::3"], ["t::2"]]
    )

    assert unknown is None
    assert first is not None
    assert other is not None
    assert same is not None
    assert (first["a.py"], other["a.py"]) == ("A = 1\n", "A = 2\n")
    assert same is first


def test_file_that_can_not_be_collected_stands_for_its_tests(folder: Folder) -> None:
    folder.passes("t.py::1", "t.py::2", "tt.py::3").write("a.py", "A = 2\n").passes("t.py::2")
    folder.write("a.py", "A = 3\n").passes("t.py::1", "t.pyx::1", "t.p::1")

    assert (folder.texts("tt.py") or {})["a.py"] == "A = 1\n"
    assert (folder.texts("t.py") or {})["a.py"] == "A = 3\n"
    assert folder.texts("t") is None


def test_unchanged_file_is_not_read_again(folder: Folder) -> None:
    folder.passes("t::1")
    stat = folder.files["a.py"].stat()
    folder.files["a.py"].write_text("X = 1\n", encoding="utf-8")  # as long, and as old
    os.utime(folder.files["a.py"], ns=(stat.st_mtime_ns, stat.st_mtime_ns))

    assert (folder.passes("t::2").texts("t::2") or {})["a.py"] == "A = 1\n"


def test_run_that_changes_nothing_writes_nothing(folder: Folder) -> None:
    folder.passes("t::1", "t::2")
    before = folder.store.read_bytes()

    assert folder.passes("t::2", "t::1").store.read_bytes() == before


def test_nothing_is_noted_if_a_file_was_put_in_its_place_during_the_run(folder: Folder) -> None:
    old = folder.write("old.py", "B = 2\n").files.pop("old.py")  # long ago, by its time
    old.replace(folder.files["b.py"])
    started_ns = folder.files["b.py"].stat().st_ctime_ns - 1

    with pytest.raises(StoreError, match=r"b\.py was written while the tests ran"):
        folder.memory.remember(["t::1"], [], folder.files, started_ns)
    assert folder.texts("t::1") is None
    folder.memory.remember(["t::1"], [], folder.files, started_ns + 1)
    assert folder.texts("t::1") is not None


@pytest.mark.parametrize("no", ["tests", "files"])
def test_nothing_is_made_if_there_is_nothing_to_note(folder: Folder, no: str) -> None:
    files = {} if no == "files" else folder.files

    folder.memory.remember([] if no == "tests" else ["t::1"], [], files, LATER)

    assert not folder.store.exists()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"A = 1\r\nB = 2\rC = 3\n", "A = 1\nB = 2\nC = 3\n"),
        (b"\xef\xbb\xbfA = 1\n", "A = 1\n"),
        ("# coding: latin-1\nA = 'é'\n".encode("latin-1"), "# coding: latin-1\nA = 'é'\n"),
        ("# coding: latin-1\nA = 'é'\n".encode(), "# coding: latin-1\nA = 'Ã©'\n"),
        ("A = '\x0c\u2028😀'".encode(), "A = '\x0c\u2028😀'"),
        (b"", ""),
    ],
    ids=["line ends", "mark", "latin-1", "mistaken", "odd", "empty"],
)
def test_text_is_what_python_reads(folder: Folder, data: bytes, text: str) -> None:
    assert (folder.write("c.py", data).passes("t::1").texts("t::1") or {})["c.py"] == text


@pytest.mark.parametrize(
    "data", [b"A = '\xe9'\n", b"# coding: no-such\n", b"# coding: utf-16\nA\n", b"\xff\xfe"]
)
def test_file_that_is_no_text_is_left_out(folder: Folder, data: bytes) -> None:
    found = folder.write("c.py", data).passes("t::1").texts("t::1")

    assert found is not None
    assert found.keys() == {"a.py", "b.py"}


def test_file_that_is_gone_is_left_out(folder: Folder) -> None:
    folder.passes("t::1").files["a.py"].unlink()

    assert folder.passes("t::1").texts("t::1") == {"b.py": "B = 1\n"}


def test_names_that_no_database_takes_are_kept_in_another_spelling(folder: Folder) -> None:
    folder.files["\udce9.py"] = folder.files["a.py"]

    assert folder.passes("t::\ud800").texts("t::\ud800") is not None


def test_snapshot_that_is_no_tests_last_one_is_dropped_with_its_texts(folder: Folder) -> None:
    for n in range(5):
        folder.write("a.py", f"A = {n}\n").passes("t::1")

    assert (folder.count("snapshot"), folder.count("text"), folder.count("file")) == (1, 2, 2)


def test_number_of_snapshots_is_bounded(folder: Folder) -> None:
    for n in range(N_SNAPSHOTS + 5):
        folder.write("a.py", f"A = {n}\n").passes(f"t::{n}")

    assert folder.count("snapshot") == folder.count("passed") == N_SNAPSHOTS
    assert folder.texts("t::4") is None
    assert folder.texts("t::5") is not None


def test_project_that_is_as_it_once_was_has_that_snapshot(folder: Folder) -> None:
    folder.passes("t::1").write("a.py", "A = 2\n").passes("t::2")
    folder.write("a.py", "A = 1\n").passes("t::3")

    assert folder.count("snapshot") == 2
    assert folder.texts("t::1") == folder.texts("t::3")


# -- what goes wrong


def damage(folder: Folder, how: str) -> None:
    if how == "text":
        folder.store.write_text("This is no database. " * 100, encoding="ascii")
    elif how == "cut":
        folder.passes("t::1")
        folder.store.write_bytes(folder.store.read_bytes()[:5000])
    elif how == "another's":
        with closing(sqlite3.connect(folder.store)) as db:
            db.execute("CREATE TABLE text (n)")
    elif how == "newer":
        folder.passes("t::1")
        with closing(sqlite3.connect(folder.store)) as db:
            db.execute("PRAGMA user_version = 99")
    else:
        folder.passes("t::1")
        with closing(sqlite3.connect(folder.store)) as db, db:
            db.execute("UPDATE text SET body = x'00'")


@pytest.mark.parametrize("how", ["text", "cut", "another's", "newer"])
def test_damaged_file_is_set_aside_with_its_reason(folder: Folder, how: str) -> None:
    damage(folder, how)
    before = folder.store.read_bytes()

    with suppress(StoreError):  # where it is damaged deeper inside, the next run begins anew
        folder.passes("t::1")

    assert folder.passes("t::1").texts("t::1") is not None
    assert len(folder.told) <= 1
    aside = next(folder.store.parent.glob("green.sqlite.damaged-*"))
    assert aside.read_bytes() == before
    assert all(f"set aside as {aside.name}: a new one" in told for told in folder.told)


def test_damaged_text_is_an_error_of_reading_once(folder: Folder) -> None:
    damage(folder, "body")

    with pytest.raises(StoreError, match=r"green\.sqlite is damaged .* was set aside") as error:
        folder.texts("t::1")

    assert error.value.slug == "damaged-file"
    assert folder.texts("t::1") is None


def test_good_file_that_is_locked_stays(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_bayesloc.history.snapshots.BUSY_S", 0.0)
    folder.passes("t::1")
    with closing(sqlite3.connect(folder.store, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")

        with pytest.raises(StoreError, match="database is locked") as error:
            folder.passes("t::2")

    assert error.value.slug == "green-memory"
    assert folder.texts("t::1") is not None


def test_last_run_is_the_red_one_until_the_test_passes_again(folder: Folder) -> None:
    def last() -> Mapping[str, str]:
        (run,) = folder.memory.last_runs([["t::1"]])
        assert run is not None
        return run

    folder.passes("t::1").write("a.py", "A = 2\n")
    folder.memory.remember([], ["t::1"], folder.files, LATER)
    red = last()
    folder.write("a.py", "A = 3\n").passes("t::1")

    assert red["a.py"] == "A = 2\n"
    assert last()["a.py"] == "A = 3\n"
    assert folder.memory.last_runs([["t::other"]]) == [None]


def test_version_of_another_file_is_named(folder: Folder) -> None:
    damage(folder, "newer")

    assert folder.texts("t::1") is None
    assert "(it is of version 99, not 3)" in folder.told[0]


def test_empty_file_is_filled(folder: Folder) -> None:
    folder.store.touch()

    assert folder.texts("t::1") is None
    assert folder.passes("t::1").texts("t::1") is not None


@pytest.mark.parametrize("place", ["file", "missing"])
def test_folder_that_can_not_be_written_is_an_error(folder: Folder, place: str) -> None:
    inside = folder.root / "own"
    if place == "file":
        inside.touch()
    memory = SnapshotStore(inside / "green.sqlite", pytest.fail)

    assert memory.last_passed([["t::1"], ["t::2"]]) == [None, None]
    with pytest.raises(StoreError):
        memory.remember(["t::1"], [], folder.files, LATER)


WRITER = """
import sys
from pathlib import Path
from pytest_bayesloc.history.snapshots import SnapshotStore

own, store, *files = sys.argv[1:]
memory = SnapshotStore(Path(store), print)
for n in range(20):
    memory.remember([f"t::{own}-{n}"], [], {Path(f).name: Path(f) for f in files}, 1 << 62)
    assert memory.last_passed([[f"t::{own}-{n}"]]) != [None]
"""


def test_processes_that_write_at_once_lose_nothing(folder: Folder) -> None:
    """They make the file together, too."""
    files = [str(path) for path in folder.files.values()]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, own, str(folder.store), *files])
        for own in ("a", "b", "c")
    ]

    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    assert folder.count("passed") == 60
    assert folder.count("snapshot") == 1


def test_reader_waits_for_a_writer(folder: Folder) -> None:
    folder.passes("t::1")
    with closing(sqlite3.connect(folder.store, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM passed")
        reader = subprocess.Popen(
            [sys.executable, "-c", WRITER, "r", str(folder.store), str(folder.files["a.py"])]
        )
        with pytest.raises(subprocess.TimeoutExpired):
            reader.wait(timeout=1.0)
        db.execute("ROLLBACK")

    assert reader.wait(timeout=60) == 0
    assert folder.texts("t::1") is not None
