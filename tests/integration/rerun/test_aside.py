"""Files are put back as they were, whatever becomes of the disk and of other runs meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun import aside
from pytest_bayesloc.rerun.aside import Aside, AsideError, recover
from pytest_bayesloc.rerun.fence import NEW, REMOVE, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_S = 5.0


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data.txt"
    file.write_text("keep")
    return file


@pytest.fixture
def kept(tmp_path: Path) -> Aside:
    return Aside(lambda: tmp_path / "aside")


def written(data: Path) -> dict[str, list[str]]:
    return {WRITE: [str(data)]}


def test_open_file_keeps_its_inode(data: Path, kept: Aside) -> None:
    inode = data.stat().st_ino
    with kept.kept(written(data), LIMIT_S):
        data.write_text("other")

    assert data.read_text() == "keep"
    assert data.stat().st_ino == inode


def test_change_between_two_re_runs_is_the_new_state(data: Path, kept: Aside) -> None:
    for text in ("keep", "edited"):
        data.write_text(text)
        with kept.kept(written(data), LIMIT_S):
            data.write_text("other")
        assert data.read_text() == text


def test_file_that_others_made_in_the_folder_stays(data: Path, kept: Aside) -> None:
    with kept.kept({NEW: [str(data.parent)]}, LIMIT_S) as log:
        (data.parent / "own").write_text("x")
        (data.parent / "foreign").write_text("x")
        Path(log).write_bytes(os.fsencode(data.parent / "own") + b"\0")

    assert not (data.parent / "own").exists()
    assert (data.parent / "foreign").exists()


def test_link_in_the_place_of_a_file_is_not_written_through(data: Path, kept: Aside) -> None:
    other = data.parent / "other"
    other.write_text("mine")
    with kept.kept(written(data), LIMIT_S):
        data.unlink()
        data.hardlink_to(other)

    assert (data.read_text(), other.read_text()) == ("keep", "mine")


def sparse(data: Path) -> None:
    with data.open("r+b") as stream:
        stream.truncate(1 << 40)


def pipe(data: Path) -> None:
    data.unlink()
    os.mkfifo(data)


def many(data: Path) -> None:
    data.unlink()
    data.mkdir()
    for number in range(aside.MAX_ENTRIES + 1):
        (data / str(number)).touch()


@pytest.mark.parametrize(
    ("make", "why"), [(sparse, "64 MB"), (pipe, "neither a file"), (many, "2000 files")]
)
def test_what_can_not_be_kept_is_not_run(
    data: Path, kept: Aside, make: Callable[[Path], None], why: str
) -> None:
    make(data)

    with pytest.raises(AsideError, match=why), kept.kept(written(data), LIMIT_S):
        pytest.fail("it is run")


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the platform tells no locks")
def test_file_that_another_process_has_locked_is_not_touched(
    data: Path, kept: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "descends", lambda *_: False)  # it is no child of ours
    code = (
        "import fcntl, sys; stream = open(sys.argv[1], 'r+'); fcntl.lockf(stream, fcntl.LOCK_EX); "
        "print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(AsideError, match="locked"), kept.kept(written(data), LIMIT_S):
            pytest.fail("it is run")
        other.communicate()


def test_copy_stays_where_a_file_can_not_be_put_back(
    data: Path, kept: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def run() -> None:
        with kept.kept(written(data), LIMIT_S):
            data.write_text("other")
            monkeypatch.setattr(aside, "_rewrite", full)

    with pytest.raises(AsideError, match="No space left"):
        run()
    kept.close()
    monkeypatch.undo()
    said: list[str] = []
    recover(data.parent / "aside", said.append)

    assert data.read_text() == "keep"
    assert "data.txt" in said[0]


def test_disk_that_is_full_before_the_re_run_prevents_it(
    data: Path, kept: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)

    with pytest.raises(AsideError, match="No space left"), kept.kept(written(data), LIMIT_S):
        pytest.fail("it is run")
    assert data.read_text() == "keep"


def test_two_runs_of_one_project_take_turns(
    data: Path, kept: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "LOCK_S", 0.1)
    other = Aside(lambda: data.parent / "aside")

    with (
        kept.kept(written(data), LIMIT_S),
        pytest.raises(AsideError, match="another run"),
        other.kept(written(data), LIMIT_S),
    ):
        pytest.fail("both are run")
    with other.kept(written(data), LIMIT_S):
        data.write_text("other")
    assert data.read_text() == "keep"


#: Forks a process that is killed at its first event, one that is killed at its second, and so on.
KILLED = """
    import os, shutil, signal, sys
    from itertools import count
    from pathlib import Path
    from pytest_bayesloc.rerun.aside import Aside, recover
    from pytest_bayesloc.rerun.fence import NEW, REMOVE, WRITE

    root, base = Path(sys.argv[1], "data"), Path(sys.argv[1], "aside")
    written, removed, tree, link = (root / name for name in ("a", "b", "c", "d"))

    def state():
        paths = (root, *sorted(root.rglob("*")))
        return [
            (path, now.st_mode, now.st_mtime_ns, path.is_file() and path.read_text())
            for path, now in ((path, path.lstat()) for path in paths)
        ]

    def harm(log):
        written.write_text("other")
        removed.unlink()
        shutil.rmtree(tree)
        link.unlink()
        link.write_text("no link")
        Path(log).write_bytes(os.fsencode(root / "new") + bytes(1))
        (root / "new").mkdir()

    def killed(step):
        events = count()
        sys.addaudithook(
            lambda *_: next(events) == step and os.kill(os.getpid(), signal.SIGKILL)
        )
        kept = Aside(lambda: base)
        trees = [str(path) for path in (removed, tree, link)]
        with kept.kept({WRITE: [str(written)], REMOVE: trees, NEW: [str(root)]}, 5.0) as log:
            harm(log)
        kept.close()
        os._exit(0)

    tree.mkdir(parents=True)
    for path in (written, removed, tree / "e"):
        path.write_text("keep")
    link.symlink_to("a")
    before = state()
    for step in count():
        pid = os.fork() or killed(step)
        _, status = os.waitpid(pid, 0)
        recover(base, lambda _: None)
        assert state() == before, (step, state())
        assert not base.exists() or {path.name for path in base.iterdir()} <= {"lock"}, step
        if status == 0:
            break
    print(step)
    """


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_kill_at_any_step_is_made_up_for_and_leaves_no_copies(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", dedent(KILLED), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert int(done.stdout) > 50


def test_files_on_a_full_disk_make_room_for_each_other(
    data: Path, kept: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = data.parent / "grown.txt"
    grown.write_text("keep")
    rewrite = aside._rewrite

    def rewrite_if_there_is_room(path: str, copy: Path) -> None:
        if path == str(data) and grown.read_text() != "keep":
            raise OSError(28, "No space left on device")
        rewrite(path, copy)

    monkeypatch.setattr(aside, "_rewrite", rewrite_if_there_is_room)
    with kept.kept({WRITE: [str(data), str(grown)]}, LIMIT_S):
        data.write_text("")
        grown.write_text("as much as there is room for")

    assert (data.read_text(), grown.read_text()) == ("keep", "keep")


@pytest.mark.parametrize("kind", [WRITE, REMOVE])
def test_run_that_was_killed_is_made_up_for(data: Path, kept: Aside, kind: str) -> None:
    with kept.kept({kind: [str(data)]}, LIMIT_S):
        shutil.copytree(data.parent / "aside", data.parent / "killed")
    data.unlink()
    said: list[str] = []

    recover(data.parent / "killed", said.append)

    assert data.read_text() == "keep"
    assert len(said) == 1
    assert [path.name for path in (data.parent / "killed").iterdir()] == ["lock"]


def test_what_was_changed_since_a_kill_stays(data: Path, kept: Aside) -> None:
    with kept.kept(written(data), -aside.LATER_S):
        shutil.copytree(data.parent / "aside", data.parent / "killed")
    data.write_text("edited since")
    said: list[str] = []

    recover(data.parent / "killed", said.append)

    assert data.read_text() == "edited since"
    assert said == []


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}', '{"a": {"mode": "x"}}'])
def test_journal_that_is_damaged_is_left_alone(data: Path, kept: Aside, text: str) -> None:
    with kept.kept(written(data), LIMIT_S):
        shutil.copytree(data.parent / "aside", data.parent / "killed")
    (journal,) = (data.parent / "killed").glob(f"*/{aside.JOURNAL}")
    journal.write_text(text)
    data.write_text("mine")
    said: list[str] = []

    recover(data.parent / "killed", said.append)

    assert data.read_text() == "mine"
    assert journal.exists()
    assert said == []
