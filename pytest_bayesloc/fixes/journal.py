"""Fixes written to files, and taken back: what stood there is kept before the first byte changes.

Reference:
    docs/fixes.md, section "Applied, and undone".
"""

from __future__ import annotations

import base64
import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from uuid import uuid4

from pytest_bayesloc.domain.errors import FixError

ENTRY = ".json"
UNDONE = ".undone"
PARTIAL = ".partial"
MAX_BYTES = 32 << 20  # of a journal entry that is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file as it was, and as it was left.

    Attributes:
        id: Sorts by the time it was made.
        file: Path relative to rootdir.
        before: Its bytes before the fix.
        after: Its bytes after it.
        tool: Who made the fix.
        target: What it changed, as ``file qualname``.
    """

    id: str
    file: str
    before: bytes
    after: bytes
    tool: str
    target: str = ""


class Journal:
    """The fixes that were applied in one project.

    Args:
        rootdir: Of the project.
        folder: Where entries are kept.
    """

    def __init__(self, rootdir: Path, folder: Path) -> None:
        self._rootdir = rootdir
        self._folder = folder

    def apply(self, file: str, before: bytes, after: bytes, tool: str, target: str = "") -> Entry:
        """Put ``after`` in the place of ``before``; a kill leaves one of them, whole.

        Args:
            file: Path relative to rootdir.
            before: What must stand there.
            after: What is to stand there.
            tool: Who made the fix.
            target: What it changes, as ``file qualname``.

        Raises:
            FixError: If the file says something else by now, or can't be written.
        """
        now = datetime.now(timezone.utc)
        number = f"{now:%Y%m%dT%H%M%S%f}-{uuid4().hex[:6]}"
        entry = Entry(id=number, file=file, before=before, after=after, tool=tool, target=target)
        path = self._path(file)
        try:
            _require(path, before, file)
            self._folder.mkdir(parents=True, exist_ok=True)
            self._stay_inside()
            self._clean_up()
            self._replace(self._folder / f"{number}{ENTRY}", _dumped(entry), 0o600)
            _require(path, before, file)  # the journal took its time
            self._replace(path, after)
        except OSError as error:
            raise FixError(
                f"The fix of {file} is not applied: it can't be written ({error}). The file is as "
                "it was; see that it and .bayesloc/ can be written.",
                slug="fix-refused",
            ) from error
        return entry

    def undo(self) -> list[tuple[Entry, str]]:
        """Take back all that was applied, the newest first.

        Returns:
            Each fix with what became of it: empty if it was undone, else why it was not.
        """
        return [(entry, self._undone(entry)) for entry in self.entries()]

    def entries(self) -> list[Entry]:
        """What was applied and not undone, the newest first; what can't be read is left alone."""
        return sorted(self._read(), key=lambda entry: entry.id, reverse=True)

    def _undone(self, entry: Entry) -> str:
        try:
            path = self._path(entry.file)
            found = path.read_bytes()
            if found == entry.after:
                self._replace(path, entry.before)
            elif found != entry.before:
                return "it was edited since: it stays as it is"
            kept = self._folder / f"{entry.id}{ENTRY}"
            kept.replace(kept.with_suffix(UNDONE))
        except FileNotFoundError:
            return "it is gone"
        except (OSError, FixError, ValueError) as error:
            return f"it can't be written ({error})"
        return ""

    def _read(self) -> Iterator[Entry]:
        for path in self._folder.glob(f"*{ENTRY}"):
            with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                if path.stat().st_size <= MAX_BYTES:
                    yield _loaded(path.stem, path.read_bytes())

    def _replace(self, path: Path, data: bytes, mode: int | None = None) -> None:
        """Write a file in one step that is on the disk when this returns; mode and owner stay."""
        like = None
        if mode is None:
            like = path.stat()
            mode = stat.S_IMODE(like.st_mode)
        try:
            _write_beside(self._folder, path, data, mode, like)
        except OSError as error:
            if error.errno != errno.EXDEV:  # .bayesloc/ may lie on another disk
                raise
            _write_beside(path.parent, path, data, mode, like)

    def _stay_inside(self) -> None:
        """Keep from folders of others.

        Raises:
            OSError: If the journal leads out of the project.
        """
        root = Path(os.path.realpath(self._rootdir))
        if not Path(os.path.realpath(self._folder)).is_relative_to(root):
            raise OSError(f"{self._folder} leads out of {root}")

    def _clean_up(self) -> None:
        """Remove what a kill left half written."""
        for path in self._folder.glob(f"*{PARTIAL}"):
            path.unlink(missing_ok=True)

    def _path(self, file: str) -> Path:
        """Where ``file`` really lies; it must not leave the project."""
        path = Path(os.path.realpath(self._rootdir / file))
        root = Path(os.path.realpath(self._rootdir))
        if not path.is_relative_to(root) or not path.is_file():
            raise FixError(
                f"The fix of {file} is not applied: it is no file below {root}.",
                slug="fix-refused",
            )
        if not os.access(path, os.W_OK):
            raise FixError(
                f"The fix of {file} is not applied: the file is read-only.", slug="fix-refused"
            )
        return path


def _require(path: Path, before: bytes, file: str) -> None:
    if path.read_bytes() != before:
        raise FixError(
            f"The fix of {file} is not applied: the file changed since the tests ran. Run them "
            "again.",
            slug="fix-refused",
        )


def _write_beside(
    folder: Path, path: Path, data: bytes, mode: int, like: os.stat_result | None
) -> None:
    handle, name = tempfile.mkstemp(dir=folder, suffix=PARTIAL)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if like is not None and hasattr(os, "chown"):
            with suppress(PermissionError):  # only root may give a file away
                os.chown(name, like.st_uid, like.st_gid)
        Path(name).chmod(mode)  # last: a new owner takes some bits away
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not everywhere can a folder be opened
        opened = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _dumped(entry: Entry) -> bytes:
    texts = {
        "file": entry.file,
        "tool": entry.tool,
        "target": entry.target,
        "before": base64.b64encode(entry.before).decode("ascii"),
        "after": base64.b64encode(entry.after).decode("ascii"),
    }
    return json.dumps(texts).encode("ascii")


def _loaded(number: str, data: bytes) -> Entry:
    read = json.loads(data)
    return Entry(
        id=number,
        file=str(read["file"]),
        tool=str(read["tool"]),
        target=str(read["target"]),
        before=base64.b64decode(read["before"], validate=True),
        after=base64.b64decode(read["after"], validate=True),
    )
