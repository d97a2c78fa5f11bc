from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.history.git import (
    changed_texts,
    copy_at,
    first_parents,
    texts_at,
    tracked,
)

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *command: str) -> None:
    mine = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *mine, *command], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    files = {
        "pkg/a.py": b"x = 1\r\n",
        "pkg/latin.py": b"# coding: latin-1\nx = '\xe4'\n",
        "pkg/broken.py": b"x = '\xe4'\n",
        "pkg/empty.py": b"",
        "pkg/notes.txt": b"no code",
        "top.py": b"y = 1\n",
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "top.py").write_bytes(b"y = 2\n")
    return tmp_path


def test_files_are_given_as_they_were_and_as_python_reads_them(repository: Path) -> None:
    assert texts_at(repository, "HEAD") == {
        "pkg/a.py": "x = 1\n",
        "pkg/latin.py": "# coding: latin-1\nx = 'ä'\n",
        "pkg/empty.py": "",
        "top.py": "y = 1\n",
    }


def test_paths_are_relative_to_the_root_of_the_tests(repository: Path) -> None:
    assert texts_at(repository / "pkg", "HEAD").keys() == {"a.py", "latin.py", "empty.py"}


@pytest.mark.parametrize("revision", ["nope", "--help", "", "HEAD:top.py"])
def test_what_is_no_revision_is_an_error_that_names_it(repository: Path, revision: str) -> None:
    with pytest.raises(StoreError, match=f"--bayesloc-green={revision} .*unknown revision"):
        texts_at(repository, revision)


def test_folder_outside_of_git_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a git repository"):
        texts_at(tmp_path, "HEAD")


def edited(repository: Path, name: str, text: str, said: str) -> None:
    (repository / name).write_text(text, encoding="ascii")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", said)


def test_commits_that_changed_python_files_are_listed_the_newest_first(repository: Path) -> None:
    edited(repository, "top.py", "y = 3\n", "second: top")
    edited(repository, "pkg/notes.txt", "other", "no code")
    edited(repository, "pkg/a.py", "x = 2\n", "third")

    def subjects(folder: Path, at_most: int = 9) -> list[str]:
        return [commit.subject for commit in first_parents(folder, at_most, "*.py")]

    assert subjects(repository) == ["third", "second: top", "first"]
    assert subjects(repository, 2) == ["third", "second: top"]
    assert subjects(repository / "pkg") == ["third", "first"]


def test_files_that_differ_now_are_given_as_they_were(repository: Path) -> None:
    (repository / "pkg" / "a.py").unlink()
    (repository / "new.py").write_text("z = 1\n", encoding="ascii")

    assert changed_texts(repository, "HEAD") == {"top.py": "y = 1\n", "pkg/a.py": "x = 1\n"}
    assert changed_texts(repository / "pkg", "HEAD") == {"a.py": "x = 1\n"}


def test_merge_is_one_commit_for_all_that_it_brought(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "side")
    edited(repository, "pkg/a.py", "x = 2\n", "on the side")
    git(repository, "checkout", "-q", "-")
    git(repository, "merge", "-q", "--no-ff", "-m", "merged", "side")
    edited(repository, "pkg/notes.txt", "other", "no code")

    found = first_parents(repository, 9)

    assert [commit.subject for commit in found] == ["no code", "merged", "first"]
    assert all(commit.id.startswith(commit.name) for commit in found)


def test_copy_of_a_commit_has_all_its_files_and_runs_no_hook(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {repository}/ran\n", encoding="ascii")
    hook.chmod(0o755)

    with copy_at(repository / "pkg", "HEAD") as copy:
        assert copy is not None
        original, folder = copy
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))
        text = (folder / "top.py").read_text(encoding="ascii")

    assert original == repository
    assert names == [
        "pkg/a.py", "pkg/broken.py", "pkg/empty.py", "pkg/latin.py", "pkg/notes.txt", "top.py",
    ]  # fmt: skip
    assert text == "y = 1\n"
    assert not (repository / "ran").exists()
    assert not folder.exists()


def test_commit_that_git_does_not_know_has_no_copy(repository: Path) -> None:
    with copy_at(repository, "0" * 40) as copy:
        assert copy is None


def test_files_that_git_looks_after_are_told_from_others(repository: Path) -> None:
    (repository / "new.py").write_text("z = 1\n", encoding="ascii")

    assert tracked(repository / "pkg") == {"a.py", "latin.py", "broken.py", "empty.py"}
    assert "new.py" not in tracked(repository)


@pytest.mark.parametrize("has_git", [True, False])
def test_where_git_can_not_say_there_is_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_git: bool
) -> None:
    if not has_git:
        monkeypatch.setenv("PATH", str(tmp_path))

    assert first_parents(tmp_path, 9) == []
    assert changed_texts(tmp_path, "HEAD") == {}
    assert tracked(tmp_path) == frozenset()
