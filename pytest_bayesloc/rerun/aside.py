"""Files that tests change outside of temporary folders: kept before a re-run, put back after it.

What is needed to put them back lies on the disk before the re-run begins, so that the next run can
do it after a kill.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import MsgspecError, convert

from pytest_bayesloc.domain.texts import count, listed
from pytest_bayesloc.rerun.fence import REMOVE, WRITE, descends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MAX_BYTES = 64 << 20  # that are kept of one request's files
MAX_ENTRIES = 2000
LOCK_S = 10.0
LATER_S = 2.0  # behind the end of a re-run, a change is somebody else's
BESIDE = "beside"  # in the place of a kind of change
JOURNAL, RUNNING, MADE, LOCK = "journal.json", "running", "made", "lock"


class AsideError(Exception):
    """The reason why something can't be kept, as the end of a sentence about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One path as it was.

    Attributes:
        mode: Type and permissions; 0 if nothing was there.
        owner: User and group.
        times: Of access, change and status change, in ns.
        size: Bytes of a file.
        inode: Its number.
        copy: The name of the copy of a file, or what a link says; empty else.
    """

    mode: int = 0
    owner: tuple[int, int] = (0, 0)
    times: tuple[int, int, int] = (0, 0, 0)
    size: int = 0
    inode: int = 0
    copy: str = ""

    def is_like(self, other: Entry) -> bool:
        """Whether nothing was done to it since: any change sets the time of status."""
        mine, others = (self.mode, self.inode, self.size), (other.mode, other.inode, other.size)
        return mine == others and self.times[2] == other.times[2]


class Aside:
    """Keeps files of one project, for one request after the other.

    Args:
        folder: Returns a folder for nothing else; an ``OSError`` if there can be none.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._base = folder
        self._own: Path | None = None
        self._made: list[Path] = []  # folders around it that were not there
        self._entries: dict[str, Entry] = {}
        self._lock = threading.Lock()

    @contextmanager
    def kept(self, changes: Mapping[str, Iterable[str]], limit_s: float) -> Iterator[str]:
        """Keep what ``changes`` name, per kind, while a re-run of ``limit_s`` seconds goes on.

        What is only ``BESIDE`` them is left alone after a kill: nobody knows who changed it.

        Yields:
            The path of the file that gets the names of what is made.

        Raises:
            AsideError: If it can't be kept, or could not be put back.
        """
        with self._lock:
            folder = self._folder()
            with _locked(folder.parent / LOCK):
                self._keep(folder, changes)
                log, running = folder / MADE, folder / RUNNING
                try:
                    log.write_bytes(b"")
                    running.write_text(repr(limit_s + LATER_S), encoding="ascii")
                except OSError as error:
                    raise AsideError(f"can't be kept ({error})") from error
                try:
                    yield str(log)
                finally:
                    self._put_back(folder)

    def _put_back(self, folder: Path) -> None:
        _, missing = _put_back(self._entries, folder)
        if missing:
            self._own = None  # the folder stays, with all that is needed
            self._entries.clear()
            raise AsideError(
                f"could not be put back: {missing[0]}. Its copy is in {folder}, and the next run "
                "tries again"
            )
        (folder / RUNNING).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the copies. May be called twice."""
        own, self._own = self._own, None
        self._entries.clear()
        if own is None:
            return
        shutil.rmtree(own, ignore_errors=True)
        with suppress(AsideError, OSError), _locked(own.parent / LOCK, 0.0):
            if [path.name for path in own.parent.iterdir()] == [LOCK]:
                (own.parent / LOCK).unlink()
        for folder in self._made:  # the inner ones first
            with suppress(OSError):  # another run uses it
                folder.rmdir()

    def _folder(self) -> Path:
        if self._own is None:
            try:
                folder = self._base() / f"{os.getpid()}-{secrets.token_hex(4)}"
                self._made = [path for path in folder.parents if not path.exists()]
                folder.mkdir(parents=True)
            except OSError as error:
                raise AsideError(f"can't be kept ({error})") from error
            self._own = folder
        return self._own

    def _keep(self, folder: Path, changes: Mapping[str, Iterable[str]]) -> None:
        kept: dict[str, Entry] = {}
        try:
            now = {path: _entry(path) for path in _paths(changes)}
            _check_size(now)
            for path, entry in now.items():
                known = self._entries.get(path)
                if known is None or not known.is_like(entry):
                    known = _copied(path, entry, folder)
                kept[path] = known
        except OSError as error:
            raise AsideError(f"can't be kept ({error})") from error
        if kept != self._entries:
            self._entries = kept
            named = _paths({kind: paths for kind, paths in changes.items() if kind != BESIDE})
            text = json.dumps({path: asdict(kept[path]) for path in named if path in kept})
            partial = folder / f"{JOURNAL}.partial"
            partial.write_text(text, encoding="ascii")
            partial.replace(folder / JOURNAL)


def _check_size(entries: Mapping[str, Entry]) -> None:
    if sum(entry.size for entry in entries.values()) > MAX_BYTES or len(entries) > MAX_ENTRIES:
        raise AsideError(f"is more than the {MAX_BYTES >> 20} MB or {MAX_ENTRIES} files kept")


def _paths(changes: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield each path to keep, once, a folder before what is in it; also the folders around."""
    plain = [path for paths in changes.values() for path in paths]
    around = [os.path.dirname(path) for path in plain]  # noqa: PTH120 - of texts
    trees = [path for kind in (WRITE, REMOVE) for path in changes.get(kind, ())]
    within = chain.from_iterable(map(_within, trees))
    yield from dict.fromkeys([*around, *plain, *islice(within, MAX_ENTRIES)])


def _within(tree: str) -> Iterator[str]:
    """Yield all that is in a folder, outer ones first."""
    for top, folders, files in os.walk(tree) if stat.S_ISDIR(_entry(tree).mode) else ():
        for name in (*folders, *files):
            yield os.path.join(top, name)  # noqa: PTH118 - of texts


def _entry(path: str) -> Entry:
    """Return ``path`` as it is, without a copy."""
    try:
        seen = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Entry()
    is_file = stat.S_ISREG(seen.st_mode)
    return Entry(
        mode=seen.st_mode,
        owner=(seen.st_uid, seen.st_gid),
        times=(seen.st_atime_ns, seen.st_mtime_ns, seen.st_ctime_ns),
        size=seen.st_size if is_file else 0,
        inode=seen.st_ino,
    )


def _copied(path: str, entry: Entry, folder: Path) -> Entry:
    copy = ""
    if stat.S_ISREG(entry.mode):
        if _is_locked(entry.inode):
            raise AsideError("is locked by another process")
        copy = secrets.token_hex(8)
        shutil.copyfile(path, folder / copy)
        _set_times(path, entry)  # reading it is no use of it
        entry = _entry(path)
    elif stat.S_ISLNK(entry.mode):
        copy = str(Path(path).readlink())
    elif entry.mode and not stat.S_ISDIR(entry.mode):
        raise AsideError("is neither a file nor a folder")
    return Entry(**{**asdict(entry), "copy": copy})


def _is_locked(inode: int) -> bool:
    """Whether another process holds a lock on a file, as far as the platform says."""
    try:
        with open("/proc/locks", encoding="ascii") as stream:  # noqa: PTH123 - as it is
            rows = [line.split() for line in stream]
    except (OSError, ValueError):
        return False
    locks = ((int(row[-4]), row[-3]) for row in rows if len(row) > 6)
    holders = [pid for pid, place in locks if place.endswith(f":{inode}")]
    return not all(descends(pid, {os.getpid()}) for pid in holders)


def _put_back(
    entries: dict[str, Entry], folder: Path, until_ns: int | None = None
) -> tuple[list[str], list[str]]:
    """Make ``entries`` as they were, and remove what was made.

    Args:
        entries: By path; each gets what it is like now.
        folder: Where the copies are, and the names of what was made.
        until_ns: What was changed later is somebody else's and stays.

    Returns:
        What was put back or removed, and what could not be.
    """
    done = list(_remove_made(entries, folder, until_ns))
    missing = dict.fromkeys(entries, "")
    for _ in range(2):  # on a full disk, the first ones need the room that the others take
        tried = {path: _try_restore(path, entries[path], folder, until_ns) for path in missing}
        done += [path for path, result in tried.items() if result is True]
        missing = {path: result for path, result in tried.items() if isinstance(result, str)}
    for path, was in reversed(entries.items()):  # what is in a folder has changed its times
        now = _entry(path)
        if was.mode and not was.is_like(now) and not _is_later(now, until_ns):
            with suppress(OSError):
                _set_times(path, was)
        entries[path] = Entry(**{**asdict(_entry(path)), "copy": was.copy})
    return done, [f"{path} ({why})" for path, why in missing.items()]


def _try_restore(path: str, was: Entry, folder: Path, until_ns: int | None) -> bool | str:
    """Make ``path`` as it was; return whether more than its times differed, or the error."""
    now = _entry(path)
    around = now if now.mode else _entry(os.path.dirname(path))  # noqa: PTH120 - of a text
    if was.is_like(now) or _is_later(around, until_ns):
        return False
    try:
        return _restore(path, was, now, folder)
    except OSError as error:
        return str(error.strerror)


def _remove_made(entries: Mapping[str, Entry], folder: Path, until_ns: int | None) -> Iterator[str]:
    """Remove what was made, but for what ``entries`` knows, and yield its paths."""
    for path in reversed(_made(folder)):
        now = _entry(path)
        inside = map(_entry, _within(path)) if until_ns is not None else ()
        if path in entries or any(_is_later(entry, until_ns) for entry in inside):
            continue
        if now.mode and not _is_later(now, until_ns):
            yield path
            _remove(path, now)


def _made(folder: Path) -> list[str]:
    try:
        names = (folder / MADE).read_bytes().split(b"\0")
    except OSError:
        return []
    return [os.fsdecode(name) for name in names if name]


def _is_later(now: Entry, until_ns: int | None) -> bool:
    return until_ns is not None and now.times[2] > until_ns


def _remove(path: str, now: Entry) -> None:
    if stat.S_ISDIR(now.mode):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - of a text


def _restore(path: str, was: Entry, now: Entry, folder: Path) -> bool:
    """Make ``path`` as it was but for its times; return whether more than these differed."""
    is_link = stat.S_ISLNK(was.mode)
    if now.mode and (is_link or stat.S_IFMT(now.mode) != stat.S_IFMT(was.mode)):
        if is_link and stat.S_ISLNK(now.mode) and str(Path(path).readlink()) == was.copy:
            return False
        _remove(path, now)
        now = Entry()
    is_changed = (now.mode, now.owner) != (was.mode, was.owner)
    if is_link:
        Path(path).symlink_to(was.copy)
    elif stat.S_ISDIR(was.mode):
        Path(path).mkdir(exist_ok=True)
    elif was.mode and (not now.mode or Path(path).read_bytes() != (folder / was.copy).read_bytes()):
        is_changed = True
        if now.mode and now.inode != was.inode:  # another file, or a link to one
            _remove(path, now)
        _rewrite(path, folder / was.copy)
    if was.mode and not is_link:
        _set_rights(path, was)
    return is_changed


def _set_rights(path: str, was: Entry) -> None:
    if hasattr(os, "chown") and _entry(path).owner != was.owner:
        os.chown(path, *was.owner)
    if _entry(path).mode != was.mode:
        os.chmod(path, stat.S_IMODE(was.mode))  # noqa: PTH101 - of a text


def _rewrite(path: str, copy: Path) -> None:
    """Write the old bytes in place, since others may have the file open or link to it."""
    with suppress(OSError):
        os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)  # noqa: PTH101 - of a text
    with open(path, "ab"), open(path, "r+b") as stream, copy.open("rb") as kept:  # noqa: PTH123
        shutil.copyfileobj(kept, stream)
        stream.truncate()


def _set_times(path: str, was: Entry) -> None:
    is_link = stat.S_ISLNK(was.mode)
    if not is_link or os.utime in os.supports_follow_symlinks:
        os.utime(path, ns=was.times[:2], follow_symlinks=not is_link)


@contextmanager
def _locked(path: Path, limit_s: float | None = None) -> Iterator[None]:
    """Hold the lock of a project, against other runs, each of which may remove the file.

    Raises:
        AsideError: If another run holds it for longer than ``LOCK_S``, or ``limit_s``.
    """
    ends = time.monotonic() + (LOCK_S if limit_s is None else limit_s)
    while True:
        try:
            stream = path.open("w")
        except OSError as error:
            raise AsideError(f"can't be kept ({error})") from error
        with stream:
            inode = os.fstat(stream.fileno()).st_ino
            if _has_locked(stream.fileno()) and _entry(str(path)).inode == inode:
                yield
                return
        if time.monotonic() > ends:
            raise AsideError("is in use by another run of these tests")
        time.sleep(0.01)


def _has_locked(descriptor: int) -> bool:
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not POSIX: two runs at once are not told apart
        return True
    except OSError:
        return False
    return True


def recover(base: Path, note: Callable[[str], None]) -> None:
    """Put back what a run that was killed had kept; leave alone what was changed since."""
    folders = [path for path in base.glob("*") if path.is_dir()]
    if not folders:
        return
    with suppress(AsideError, OSError), _locked(base / LOCK):
        for folder in folders:
            with suppress(OSError, ValueError, TypeError, MsgspecError):
                _recover(folder, note)


def _recover(folder: Path, note: Callable[[str], None]) -> None:
    running = folder / RUNNING
    if running.exists():  # nobody is at it: the lock is ours
        until_ns = running.stat().st_mtime_ns + int(float(running.read_text("ascii")) * 1e9)
        read = json.loads((folder / JOURNAL).read_text("ascii"))
        entries = convert(read, dict[str, Entry])
        done, missing = _put_back(entries, folder, until_ns)
        if missing:
            note(f"{missing[0]} could not be put back: its copy is in {folder}. (put-back)")
            return
        if done:
            note(put_back_words(sorted(done)))
    elif _is_alive(int(folder.name.partition("-")[0])):
        return
    shutil.rmtree(folder, ignore_errors=True)


def put_back_words(files: Sequence[str]) -> str:
    """Return which files an earlier run left changed, and that they are as they were."""
    named = f"{count(len(files), 'file')} restored: {listed(files)}"
    return f"An earlier run was ended while it re-ran tests: {named}. (put-back)"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
