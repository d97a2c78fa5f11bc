"""Fixes written to files, and taken back: the old bytes are kept before the first one changes.

Reference:
    docs/fixes.md, section "Applied, and undone".
"""

from __future__ import annotations

import base64
import difflib
import errno
import io
import json
import os
import stat
import subprocess
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from uuid import uuid4

from pytest_bayesloc.domain.errors import FixError
from pytest_bayesloc.domain.source import lines_of

ENTRY = ".json"
UNDONE = ".undone"
PARTIAL = ".partial"
MAX_BYTES = 32 << 20  # of a journal entry that is read


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One file as it was, and as it was left.

    Attributes:
        file: Path relative to rootdir.
        before: Its bytes before the fix.
        after: Its bytes after it.
        tool: Who made the fix.
        target: What it changed, as ``file qualname``.
    """

    file: str
    before: bytes
    after: bytes
    tool: str
    target: str


class Journal:
    """The fixes that were applied in one project."""

    def __init__(self, rootdir: Path, folder: Path) -> None:
        self._root = Path(os.path.realpath(rootdir))
        self._folder = folder

    def apply(
        self, changes: Sequence[tuple[str, bytes, bytes]], tool: str, target: str = ""
    ) -> list[Path]:
        """Change several files: all of them, or none; a kill leaves each as it was or is to be.

        Args:
            changes: Of each file its path relative to rootdir, the bytes that must stand there, and
                those that are to.
            tool: Who made the fix.
            target: What it changes, as ``file qualname``.

        Returns:
            The entries of the journal, one a file; their names sort by the time they were made.

        Raises:
            FixError: If a file says something else by now, or can't be written; what was written by
                then is taken back.
        """
        done: dict[Path, JournalEntry] = {}
        try:
            for file, before, after in changes:
                entry = JournalEntry(
                    file=file, before=before, after=after, tool=tool, target=target
                )
                done[self._applied(entry)] = entry
        except FixError:
            for path, entry in reversed(done.items()):
                self._undone(path, entry)
            raise
        return list(done)

    def _applied(self, entry: JournalEntry) -> Path:
        now = datetime.now(timezone.utc)
        kept = self._folder / f"{now:%Y%m%dT%H%M%S%f}-{uuid4().hex[:6]}{ENTRY}"
        path = self._path(entry.file)
        try:
            _require(path, entry)
            self._folder.mkdir(parents=True, exist_ok=True)
            if not Path(os.path.realpath(self._folder)).is_relative_to(self._root):
                raise OSError(f"{self._folder} leads out of {self._root}")  # noqa: TRY301 - as below
            for left in self._folder.glob(f"*{PARTIAL}"):  # what a kill left half written
                left.unlink(missing_ok=True)
            old, new = (
                base64.b64encode(data).decode("ascii") for data in (entry.before, entry.after)
            )
            said = json.dumps({**asdict(entry), "before": old, "after": new})
            self._replace(kept, said.encode("ascii"), 0o600)
            _require(path, entry)  # the journal took its time
            self._replace(path, entry.after)
        except OSError as error:
            why = f"it can't be written ({error}). The file is as it was"
            said = f"{why}; see that it and .bayesloc/ can be written"
            raise refused(entry.file, said) from error
        return kept

    def undo(self) -> list[tuple[JournalEntry, str]]:
        """Take back all that was applied, the newest first; what can't be read is passed over.

        Returns:
            Each fix with what became of it: empty if it was undone, else why it was not.
        """
        read = sorted(self._read().items(), key=lambda item: item[0], reverse=True)
        return [(entry, self._undone(path, entry)) for path, entry in read if entry is not None]

    def unreadable(self) -> list[Path]:
        """Returns the entries that can't be read."""
        return sorted(path for path, entry in self._read().items() if entry is None)

    def _undone(self, kept: Path, entry: JournalEntry) -> str:
        try:
            path = self._path(entry.file)
            found = path.read_bytes()
            if found == entry.after:
                self._replace(path, entry.before)
            elif found != entry.before:
                return "it was edited since: it stays as it is"
            kept.replace(kept.with_suffix(UNDONE))
        except FileNotFoundError:
            return "it is gone"
        except (OSError, FixError, ValueError) as error:
            return f"it can't be written ({error})"
        return ""

    def _read(self) -> dict[Path, JournalEntry | None]:
        """Returns each entry by its path; None for one that can't be read."""
        read = dict.fromkeys(self._folder.glob(f"*{ENTRY}"), None)
        for path in read:
            with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                if path.stat().st_size <= MAX_BYTES:
                    said = json.loads(path.read_bytes())
                    texts = {name: str(said[name]) for name in ("file", "tool", "target")}
                    before, after = (
                        base64.b64decode(said[name], validate=True) for name in ("before", "after")
                    )
                    read[path] = JournalEntry(**texts, before=before, after=after)
        return read

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

    def _path(self, file: str) -> Path:
        """Returns the real path of ``file``, which must not leave the project."""
        path = Path(os.path.realpath(self._root / file))
        if not path.is_relative_to(self._root) or not path.is_file():
            raise refused(file, f"it is no file below {self._root}")
        if not os.access(path, os.W_OK):
            raise refused(file, "the file is read-only")
        return path


def _require(path: Path, entry: JournalEntry) -> None:
    if path.read_bytes() != entry.before:
        raise refused(entry.file, "the file changed since the tests ran. Run them again")


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
        if like is not None and int(like.st_mtime) == int(Path(name).stat().st_mtime):
            later = int(like.st_mtime) + 1  # else byte code of the text before is taken for its own
            os.utime(name, (later, later))
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


_ENDS = ("\r\n", "\n", "\r")
_NO_END = b"\\ No newline at end of file\n"


def changed_bytes(data: bytes, before: str, after: str, file: str) -> bytes:
    """The bytes of a file after a change of its text; line ends, encoding and BOM stay.

    Args:
        data: Bytes of the file.
        before: Its text, as it was read: lines end in a line feed alone.
        after: The same with the change.
        file: Its name, for messages.

    Raises:
        FixError: If ``data`` does not say what ``before`` does, or its encoding can't say what
            ``after`` does.
    """
    encoding = encoding_of(data, file)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise refused(file, f"it is not all {encoding}; fix its encoding first") from error
    if io.StringIO(text, newline=None).getvalue() != before:  # which has plain ends
        raise refused(file, "it changed since the tests ran; run them again")
    lines = lines_of(text)
    ends = Counter(_end_of(line) for line in lines if _end_of(line))
    usual = ends.most_common(1)[0][0] if ends else "\n"
    written = "".join(_changed(lines, lines_of(before), lines_of(after), usual))
    try:
        made = written.encode(encoding)
    except UnicodeEncodeError as error:
        why = f"its encoding, {encoding}, has no {error.object[error.start : error.end]!r}"
        raise refused(file, f"{why}; change its encoding first") from error
    if encoding_of(made, file) != encoding:
        raise refused(file, "the fix changes its encoding; apply it by hand")
    return made


def encoding_of(data: bytes, file: str) -> str:
    """The encoding that a Python file declares; of other files UTF-8, with a BOM or without."""
    if not file.endswith(".py"):
        return "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        raise refused(file, f"{error}; fix its encoding first") from error


def unified(before: bytes, after: bytes, file: str) -> bytes:
    """The change as a patch, for ``git apply`` in the folder that ``file`` is relative to."""
    old, new = (io.BytesIO(data).readlines() for data in (before, after))
    # A tab ends a name with blanks in it.
    name = file.encode("utf-8", "surrogateescape") + (b"\t" if " " in file else b"")
    found = difflib.diff_bytes(difflib.unified_diff, old, new, b"a/" + name, b"b/" + name)
    return b"".join(line if line.endswith(b"\n") else line + b"\n" + _NO_END for line in found)


def _changed(
    lines: Sequence[str], before: Sequence[str], after: Sequence[str], usual: str
) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, n in matcher.get_opcodes():
        if tag == "equal":
            yield from lines[i:j]
            continue
        # A line that takes the place of another ends as that did.
        ends = [_end_of(line) for line in lines[i:j]]
        for at, line in enumerate(after[k:n]):
            end = (ends[at] if at < len(ends) else "") or usual
            yield line[:-1] + end if line.endswith("\n") else line


def _end_of(line: str) -> str:
    return next((end for end in _ENDS if line.endswith(end)), "")


def refused(file: str, why: str) -> FixError:
    """The error that says why a fix is not written, and perhaps what to do about it."""
    return FixError(f"The fix of {file} is not applied: {why}.", slug="fix-refused")


LIMIT_S = 20.0
_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILD_NUMBER", "TF_BUILD", "TEAMCITY_VERSION")
_OFF = frozenset({"", "0", "false", "no", "off"})


def is_ci(environment: Mapping[str, str]) -> bool:
    """Whether this is a run that nobody watches."""
    return any(environment.get(name, "").lower() not in _OFF for name in _CI)


def unsaved(path: Path) -> str:
    """Says why git could not give a file back after it is written; empty if it could.

    Args:
        path: Of the file, resolved.
    """
    if (_git(path, "rev-parse", "--is-inside-work-tree") or b"").strip() != b"true":
        return "it is outside of version control"
    tag = (_git(path, "ls-files", "-v", "--", path.name) or b"")[:1]
    if not tag:
        return "git does not know it"
    if tag != b"H":
        return "git was told not to look whether it changed"
    status = _git(path, "status", "--porcelain", "--", path.name)
    if status is None:
        return "git can't say whether it changed"
    return "it has changes that are not committed" if status.strip() else ""


def _git(path: Path, *command: str) -> bytes | None:
    """Returns what git prints; None if it fails, or is not installed."""
    try:
        done = subprocess.run(
            ["git", "--literal-pathspecs", *command],  # noqa: S607 - the one that the user's PATH finds
            cwd=path.parent,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # a look must not refresh the index
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
