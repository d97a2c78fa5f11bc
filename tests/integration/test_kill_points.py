"""A kill at each step of what is written loses nothing: the old or the new is there, and whole.

A forked child ends itself before the n-th call that changes a file, or within the n-th part of a
statement of SQLite; for each n until it comes to its end.
"""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import warnings
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_bayesloc.domain.own_files import is_trusted, set_aside, trust
from pytest_bayesloc.fixes.apply import Journal
from pytest_bayesloc.history.snapshots import SnapshotStore
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.pipeline.context import mend_folder, replace_text
from pytest_bayesloc.spectrum.cache_store import KnownFile, read_tables, write_tables
from tests.integration.memory.conftest import Story, red, symptom

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked"),
]

KILLED = 9
#: What changes a file, or has it on the disk.
CALLS = ("fsync", "replace", "rename", "unlink", "remove", "chmod", "chown", "open", "mkdir")
N_PARTS = 20  # instructions of SQLite's machine between two points
OLD, NEW = "old\n" * 3_000, "new\n" * 4_000
FILES = ("a.py", "b.py", "c.py")


class Points:
    """Ends the process at the n-th point."""

    def __init__(self, n: int) -> None:
        self._left = n

    def pass_one(self) -> int:
        self._left -= 1
        if not self._left:
            os._exit(KILLED)
        return 0

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stopped(*args: Any, **how: Any) -> Any:  # noqa: ANN401 - of any call
            self.pass_one()
            return call(*args, **how)

        return stopped

    def connected(self, connect: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **how: Any) -> Any:  # noqa: ANN401 - of any call
            db = connect(*args, **how)
            db.set_trace_callback(lambda _: self.pass_one())
            db.set_progress_handler(self.pass_one, N_PARTS)
            return db

        return watched

    def set(self) -> None:
        for name in CALLS:
            setattr(os, name, self.before(getattr(os, name)))
        io.open = self.before(io.open)  # that of Path
        sqlite3.connect = sqlite3.dbapi2.connect = self.connected(sqlite3.connect)


def is_killed(act: Callable[[], object], n: int) -> bool:
    """Whether a child that carries out ``act`` has an ``n``-th point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other threads of a worker of the tests
        pid = os.fork()
    if not pid:
        try:
            Points(n).set()
            act()
        except BaseException as error:  # noqa: BLE001 - told by its exit status
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in {0, KILLED}
    return code == KILLED


def n_kills(folder: Path, case: Case) -> int:
    """Kill what ``case`` does at each point, in a folder of its own; return how often."""
    (folder / "0").mkdir()
    case.make(folder / "0")
    n = 1
    while True:
        root = folder / str(n)
        shutil.copytree(folder / "0", root)
        killed = is_killed(partial(case.act, root), n)
        case.is_whole(root)
        case.act(root)  # the next run can do its work
        case.is_whole(root)
        if not killed:
            return n - 1
        n += 1


# -- fixes


def journal(root: Path) -> Journal:
    return Journal(root, root / "journal")


def sources(root: Path) -> None:
    for name in FILES:
        (root / name).write_text(OLD)


def applied(root: Path) -> None:
    sources(root)
    apply(root)


def apply(root: Path) -> None:
    undo(root)
    changes = [(name, OLD.encode(), NEW.encode()) for name in FILES]
    journal(root).apply(changes, "tool")


def undo(root: Path) -> None:
    assert all(not why for _, why in journal(root).undo())


def sources_are_whole(root: Path) -> None:
    assert {path.name for path in root.iterdir()} <= {*FILES, "journal"}
    assert {(root / name).read_text() for name in FILES} <= {OLD, NEW}
    undo(root)
    assert {(root / name).read_text() for name in FILES} == {OLD}


# -- the memory, snapshots, what tests execute


def remember(root: Path, n: int) -> None:
    tests = [f"t.py::test_{n}{letter}" for letter in "abc"]
    with (
        closing(BugStore(root / "memory.sqlite", pytest.fail)) as store,
        store.transaction() as connection,
    ):
        story = Story(Ledger(connection, "shop"))
        story.n_runs = len(story.ledger.open_bugs())
        if story.n_runs < n:
            story.run(red(symptom(f"ValueError: {n}", tests, fingerprint=f"1:{n}")))


def memory_is_whole(root: Path) -> None:
    with closing(sqlite3.connect(root / "memory.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        bugs = db.execute(
            "SELECT signature, (SELECT count(*) FROM test WHERE test.bug = bug.seq) FROM bug"
        ).fetchall()
    assert sorted(bugs) in ([("ValueError: 1", 3)], [("ValueError: 1", 3), ("ValueError: 2", 3)])


def passed(root: Path, text: str) -> None:
    (root / "a.py").write_text(text)
    store = SnapshotStore(root / "green.sqlite", pytest.fail)
    store.remember(["t::1"], ["t::2"], {"a.py": root / "a.py"}, 1 << 62)


def snapshots_are_whole(root: Path) -> None:
    assert is_intact(root / "green.sqlite")
    (texts,) = SnapshotStore(root / "green.sqlite", pytest.fail).last_passed([["t::1"]])
    assert texts in ({"a.py": OLD}, {"a.py": NEW})


def trace(root: Path, text: str) -> None:
    with write_tables(root / "spectra.sqlite") as tables:
        tables.clear()
        for name in FILES:
            tables.set_file(name, KnownFile("code", text[:3], ""), text)


def spectra_are_whole(root: Path) -> None:
    with read_tables(root / "spectra.sqlite") as tables:
        assert tables.files().keys() == {*FILES}
        assert {tables.text(name) for name in FILES} in ({OLD}, {NEW})


def is_intact(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as db:
        return bool(db.execute("PRAGMA integrity_check").fetchone() == ("ok",))


# -- texts that are replaced, and what is set aside


def keep(root: Path, text: str) -> None:
    (root / ".bayesloc").mkdir(exist_ok=True)
    replace_text(root / ".bayesloc" / "last-run.json", text)


def text_is_whole(root: Path) -> None:
    assert (root / ".bayesloc" / "last-run.json").read_text() in (OLD, NEW)
    for path in (root / ".bayesloc").glob(".last-run.json.*"):
        os.utime(path, (0, 0))
    mend_folder(root, pytest.fail)
    assert [path.name for path in (root / ".bayesloc").iterdir()] == ["last-run.json"]


def trusted(root: Path, name: str) -> None:
    trust(Path(name), "1", root)


def trust_is_whole(root: Path) -> None:
    assert is_trusted(Path("one"), "1", root)


def damaged(root: Path) -> None:
    for name in ("x.sqlite", "x.sqlite-wal"):
        (root / name).write_text("damaged")


def put_aside(root: Path) -> None:
    if (root / "x.sqlite").exists():
        set_aside(root / "x.sqlite", "it is short")


def nothing_is_lost(root: Path) -> None:
    assert sorted(path.name.endswith("-wal") for path in root.iterdir()) == [False, True]
    # A new file never gets what was kept beside the damaged one.
    assert (root / "x.sqlite").exists() or not (root / "x.sqlite-wal").exists()


class Case(NamedTuple):
    """What is killed: what there is before, what is done, what must hold, the least kills."""

    make: Callable[[Path], object]
    act: Callable[[Path], object]
    is_whole: Callable[[Path], None]
    least: int


CASES = {
    "apply": Case(sources, apply, sources_are_whole, 45),
    "undo": Case(applied, undo, sources_are_whole, 30),
    "memory": Case(partial(remember, n=1), partial(remember, n=2), memory_is_whole, 60),
    "snapshots": Case(
        partial(passed, text=OLD), partial(passed, text=NEW), snapshots_are_whole, 35
    ),
    "spectra": Case(partial(trace, text=OLD), partial(trace, text=NEW), spectra_are_whole, 20),
    "texts": Case(partial(keep, text=OLD), partial(keep, text=NEW), text_is_whole, 4),
    "trust": Case(partial(trusted, name="one"), partial(trusted, name="two"), trust_is_whole, 4),
    "damaged": Case(damaged, put_aside, nothing_is_lost, 4),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_kill_at_each_point_loses_nothing(tmp_path: Path, name: str) -> None:
    assert n_kills(tmp_path, CASES[name]) >= CASES[name].least, "points are missed"


def test_kills_are_many() -> None:
    assert sum(case.least for case in CASES.values()) >= 200
