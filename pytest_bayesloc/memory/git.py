"""What the project's files said at a git revision."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.memory.texts import as_python_reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LIMIT_S = 30.0


def texts_at(rootdir: Path, revision: str) -> dict[str, str]:
    """The Python files below ``rootdir`` at ``revision``, relative to it.

    Raises:
        StoreError: If git does not know the revision, or there is no git.
    """
    command = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    found = _git(rootdir, revision, command)
    commit = found.decode("ascii", "replace").strip()
    listed = _git(rootdir, revision, ["ls-tree", "-r", "-z", "--name-only", commit])
    names = [name for name in listed.decode("utf-8", "replace").split("\0") if name[-3:] == ".py"]
    wanted = "".join(f"{commit}:./{name}\n" for name in names if "\n" not in name)
    blobs = _git(rootdir, revision, ["cat-file", "--batch"], wanted.encode())
    named = [name for name in names if "\n" not in name]
    return dict(_texts(named, blobs))


def _git(rootdir: Path, revision: str, command: Sequence[str], given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", *command],  # noqa: S607 - the one that the user's PATH finds
            cwd=rootdir,
            input=given,
            check=True,
            capture_output=True,
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = str(error)
        if isinstance(error, subprocess.CalledProcessError):
            said = error.stderr.decode("utf-8", "replace").strip() or "unknown revision"
        why = said.partition("\n")[0]
        raise StoreError(
            f"--bayesloc-green={revision} can't be read from git in {rootdir} ({why}): what "
            "changed since the tests passed is not known. Give a revision that `git log` knows.",
            slug="green-revision",
        ) from error
    return done.stdout


def _texts(names: Sequence[str], blobs: bytes) -> Iterator[tuple[str, str]]:
    """What ``git cat-file --batch`` printed for ``names``, one after the other."""
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
