"""The project's files at git revisions, and the revisions there are."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.domain.texts import as_python_reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LIMIT_S = 30.0
LOOK_S = 5.0  # where nobody asked for it: a long history with little Python takes longer
PYTHON = "*.py"


def texts_at(rootdir: Path, revision: str) -> dict[str, str]:
    """Return the Python files below ``rootdir`` at ``revision``, relative to it.

    Raises:
        StoreError: If git does not know the revision, or there is no git.
    """
    try:
        asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        commit = _git(rootdir, asked).decode("ascii", "replace").strip()
        names = _names(_git(rootdir, ["ls-tree", "-r", "-z", "--name-only", commit]))
        return _read(rootdir, commit, [name for name in names if name[-3:] == ".py"])
    except _GitError as error:
        raise StoreError(
            f"--bayesloc-green={revision} can't be read from git in {rootdir} ({error}): what "
            "changed since the tests passed is not known. Give a revision that `git log` knows.",
            slug="green-revision",
        ) from error


def commits(rootdir: Path, at_most: int) -> list[tuple[str, str]]:
    """Return the newest commits that changed Python files below ``rootdir``, newest first.

    Of a merge only its changes to the branch count. None where git can't say.

    Returns:
        Name of the commit, abbreviated, and its first line.
    """
    form = "--format=%h%x00%s"
    log = ["log", "--first-parent", form, f"--max-count={at_most}", "HEAD", "--", PYTHON]
    with suppress(_GitError):
        lines = _git(rootdir, log, limit_s=LOOK_S).decode("utf-8", "replace").splitlines()
        return [(name, subject) for name, _, subject in (line.partition("\0") for line in lines)]
    return []


def head(rootdir: Path) -> tuple[str, str]:
    """Return the commit that is checked out, and its first line; empty without git.

    The commit's name ends in ``+`` if a Python file below ``rootdir`` differs from it.
    """
    with suppress(_GitError):
        shown = _git(rootdir, ["log", "-1", "--format=%H%x00%s"], limit_s=LOOK_S)
        commit, _, subject = shown.decode("utf-8", "replace").strip().partition("\0")
        asked = ["status", "--porcelain", "--untracked-files=no", "--", PYTHON]
        differs = _git(rootdir, asked, limit_s=LOOK_S).strip()
        return f"{commit}{'+' if differs else ''}", subject
    return "", ""


def knows(rootdir: Path, commit: str) -> bool:
    """Whether git has the commit here: a shallow clone may not."""
    with suppress(_GitError):
        return bool(_git(rootdir, ["cat-file", "-t", commit], limit_s=LOOK_S))
    return False


def changed_texts(rootdir: Path, commit: str) -> dict[str, str]:
    """Return the Python files below ``rootdir`` that differ from ``commit``, as they were then.

    Files that are new since are not among them. Nothing where git can't say.
    """
    # By itself, a diff writes to the index what it finds unchanged.
    diff = ["-c", "diff.autoRefreshIndex=false", "diff", "--name-only", "--no-renames"]
    asked = [*diff, "--diff-filter=a", "-z", "--relative", commit, "--", PYTHON]
    with suppress(_GitError):
        names = _names(_git(rootdir, asked, limit_s=LOOK_S))
        return _read(rootdir, commit, names)
    return {}


def changed_names(rootdir: Path, revision: str) -> list[str]:
    """Return the files below ``rootdir`` that were at ``revision`` and differ from it.

    Nothing where git can't say.
    """
    diff = ["-c", "diff.autoRefreshIndex=false", "diff", "--name-only", "--no-renames"]
    asked = [*diff, "--diff-filter=a", "-z", "--relative", revision, "--"]
    with suppress(_GitError):
        return _names(_git(rootdir, asked, limit_s=LOOK_S))
    return []


def tracked(rootdir: Path) -> frozenset[str]:
    """Return the Python files below ``rootdir`` in git; none where git can't say."""
    with suppress(_GitError):
        listed = _git(rootdir, ["ls-files", "-z", "--", PYTHON], limit_s=LOOK_S)
        return frozenset(_names(listed))
    return frozenset()


class _GitError(Exception):
    """An error message of git, in one line."""


def _read(rootdir: Path, commit: str, names: Sequence[str]) -> dict[str, str]:
    """Return the files ``names`` at ``commit``; those that are no text are left out."""
    named = [name for name in names if "\n" not in name]
    wanted = "".join(f"{commit}:./{name}\n" for name in named)
    return dict(_texts(named, _git(rootdir, ["cat-file", "--batch"], wanted.encode())))


def _names(listed: bytes) -> list[str]:
    return [name for name in listed.decode("utf-8", "replace").split("\0") if name]


def _git(
    rootdir: Path, command: Sequence[str], given: bytes = b"", *, limit_s: float = LIMIT_S
) -> bytes:
    try:
        done = subprocess.run(
            ["git", *command],  # noqa: S607 - the one that the user's PATH finds
            cwd=rootdir,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # a look must not refresh the index
            input=given,
            check=True,
            capture_output=True,
            timeout=limit_s,
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = str(error)
        if isinstance(error, subprocess.CalledProcessError):
            reason = error.stderr.decode("utf-8", "replace").strip() or "unknown revision"
        raise _GitError(reason.partition("\n")[0]) from error
    return done.stdout


def _texts(names: Sequence[str], blobs: bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts that ``git cat-file --batch`` printed for ``names``."""
    at = 0
    for name in names:
        end = blobs.index(b"\n", at)
        head = blobs[at:end].split()
        at = end + 1
        if len(head) != 3 or not head[2].isdigit():
            continue  # a submodule, or nothing: git says "missing" and no more
        size = int(head[2])
        with suppress(SyntaxError, UnicodeError):
            yield name, as_python_reads(blobs[at : at + size])
        at += size + 1
