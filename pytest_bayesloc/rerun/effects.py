"""Learns what tests do outside of temporary folders, from re-runs of them as they are."""

from __future__ import annotations

import errno
import os
import re
import threading
from collections import defaultdict
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.rerun.aside import BESIDE
from pytest_bayesloc.rerun.fence import ACT, AWAY, NEW, PLUGINS, REMOVE, STARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_bayesloc.rerun.aside import Aside
    from pytest_bayesloc.rerun.fence import Message

MAX_TRIES = 60  # of a re-run, each of which shows a change that the next one may make
TOO_MUCH = f"changes more than {MAX_TRIES} files that were there before"
MAX_BESIDE, MAX_BESIDE_BYTES = 200, 16 << 20  # of files beside those that tests make
#: Of files that people edit, and that no C extension writes.
EDITED = (".cfg", ".ini", ".md", ".py", ".pyi", ".rst", ".toml")
#: In errors of code that was held by Landlock, or by a limit of memory or of the size of files.
_BOUNDS = re.compile(
    rf"\[Errno (?:{errno.EACCES}|{errno.EFBIG}|{errno.ENOMEM})\]|MemoryError"
    "|unable to open database|readonly database"
)
MAX_ERROR = 100  # characters of it in a line
COLLECTION = ""  # in the place of a test
_PHASES = {COLLECTION: "collecting tests", PLUGINS: "importing plugins"}
WITHOUT = "without "  # before a path, likewise
PASSED, OUTSIDE = 0, -1  # in the place of a line


class Effects:
    """The effects of the tests of one project, and which of them are not run under patches.

    Args:
        aside: Keeps the files that tests change; None where that is not possible: such tests are
            left out.
        note: Takes the sentence that says so.
        free: A folder in which anything may be done, since it is thrown away.
        ended: Returns how a test ended in the user's own run, or None if that is not known: the
            line of its file in which it failed, ``OUTSIDE`` if it failed in none, or ``PASSED``;
            and the message of its error.

    Attributes:
        refused: What patched re-runs would have done, one a re-run.
    """

    def __init__(
        self,
        aside: Aside | None = None,
        note: Callable[[str], None] = lambda _: None,
        *,
        free: str = "",
        ended: Callable[[str], tuple[int, str] | None] = lambda _: None,
    ) -> None:
        self._aside = aside
        self._note = note
        self._ended = ended
        self._changes: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._free = [os.path.realpath(free)] if free else []
        self._acts: dict[str, set[str]] = defaultdict(set)
        self._left_out: set[str] = set()
        self._learned: set[tuple[bool | str, ...]] = set()
        self._lock = threading.RLock()
        self.refused: list[str] = []

    def usable(self, tests: Sequence[str]) -> list[str]:
        """Return those of ``tests`` that may be run under patches.

        In a folder that gets new files, the kernel lets commands do anything.
        """
        for test in self.changing(tests):
            opens = any(kind in {NEW, REMOVE} for kind, _ in self._changes[test])
            if opens and (started := self._started_by(test)):
                self.leave_out([test], f"makes files, and {started}")
        if not self._left_out.isdisjoint({COLLECTION, PLUGINS}):
            return []
        return [test for test in tests if test not in self._left_out]

    def learnable(self, tests: Sequence[str]) -> list[str]:
        """Return those of ``tests`` that may be run as they are: not to learn of files for ever."""
        endless = {name for name, changes in self._changes.items() if len(changes) >= MAX_TRIES}
        self.leave_out(sorted(endless), TOO_MUCH)
        return [test for test in tests if endless.isdisjoint(self.changing([test]))]

    def allowed(self, tests: Iterable[str], *, holds: bool = False, log: str = "") -> Message:
        """Return what a re-run of ``tests`` may do, as ``Fence.close`` takes it."""
        changes = self._changes_of(tests)
        acts = {act for test in self._known(self._acts, tests) for act in self._acts[test]}
        return {
            "changes": {kind: sorted(paths) for kind, paths in changes.items() if paths},
            "free": self._free,
            "dirs": sorted(_opened(changes)),
            "acts": sorted(acts),
            "holds": holds,
            "log": log,
        }

    @contextmanager
    def kept(self, tests: Sequence[str], limit_s: float, *, holds: bool) -> Iterator[Message]:
        """Keep the files that ``tests`` change while they are run again.

        Yields:
            What ``allowed`` returns.

        Raises:
            AsideError: If they can't be kept.
        """
        changes = {kind: paths for kind, paths in self._changes_of(tests).items() if paths}
        if not changes or self._aside is None:
            yield self.allowed(tests, holds=holds)
            return
        # In a folder that gets new files, the kernel lets C extensions write to the others too.
        beside = {BESIDE: _files_in(_opened(changes))}
        with self._aside.kept({**changes, **beside}, limit_s) as log:
            yield self.allowed(tests, holds=holds, log=log)

    def take(
        self, messages: Iterable[Message], tests: Sequence[str], *, fresh: bool = False
    ) -> bool:
        """Learn from a re-run of ``tests`` as they are; return whether the next one may do more.

        One in a ``fresh`` process sees what plugins do as they are imported, too.
        """
        is_news = False
        with self._lock:
            for message in messages:
                if "did" in message:
                    kind, act = message["did"]
                    self._acts[message["by"]].add(act)
                    if kind == AWAY and message["by"] != PLUGINS:  # no fork does that again
                        self.leave_out([message["by"]], act)
                elif "refused" in message:
                    kind, what = message["refused"]
                    test = message["by"]
                    if self._aside is None:
                        self.leave_out([test], message["said"])
                    elif kind != ACT and (kind, what) not in self._changes[test]:
                        self._changes[test].add((kind, what))
                        is_news = True
                elif message.get("verdict") == "fail":
                    self._compare(message)
            self._learned.add((fresh, *tests))
        return is_news

    def _compare(self, message: Message) -> None:
        """Leave out a test that fails otherwise than in the user's run, for its bounds perhaps.

        The kernel does not say what it refuses to C extensions, and to processes that it starts.
        """
        test, before = message["end"], self._ended(message["end"])
        if before is None:
            return
        line, error = before
        why = ""
        if line != line_of(test, message["frames"]) and (started := self._started_by(test)):
            why = f"it {started}, and what it starts may only write to temporary folders"
        elif (bound := _BOUNDS.search(message["error"])) and bound[0] not in error:
            why = message["error"][:MAX_ERROR]
        if why:
            self.leave_out([test], f"fails otherwise when it is run again: {why}")

    def _started_by(self, test: str) -> str:
        """Return what a test does to start a process; empty if it starts none."""
        acts = sorted(self._acts[test])
        return next((act for act in acts if act == STARTS or act.startswith("runs ")), "")

    def without(self, path: str) -> str:
        """Return what stands for a test, and may remove ``path``; empty where nothing is kept."""
        if self._aside is None:
            return ""
        name = f"{WITHOUT}{path}"
        self._changes[name].add((REMOVE, path))
        return name

    def changing(self, tests: Iterable[str]) -> list[str]:
        """Return those of ``tests``, and of what is done to collect them, that change files."""
        return [test for test in self._known(self._changes, tests) if self._changes[test]]

    def leave_out(self, tests: Sequence[str], why: str) -> None:
        """Run ``tests`` no more under patches, since of what they do outside."""
        for test in tests:
            if test not in self._left_out:
                self._left_out.add(test)
                said = f"{_PHASES.get(test, test)} {why}"
                is_path = test.startswith(WITHOUT)
                what = "no test is run without it" if is_path else "no patch is tried with it"
                self._note(f"{said.removeprefix(WITHOUT)}, so {what}. (left-out)")

    def is_over(
        self, messages: Sequence[Message], tests: Sequence[str], *, holds: bool, fresh: bool
    ) -> bool:
        """Learn from a re-run, and return whether another one may do no more than it did."""
        if not holds:
            return not self.take(messages, tests, fresh=fresh)
        refused = [message["said"] for message in messages if "refused" in message]
        is_over = not refused or (fresh, *tests) in self._learned
        if is_over:
            self.refused += refused[-1:]
        return is_over

    def close(self) -> None:
        """Remove what was kept. May be called twice."""
        if self._aside is not None:
            self._aside.close()

    def _changes_of(self, tests: Iterable[str]) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for test in self._known(self._changes, tests):
            for kind, path in self._changes[test]:
                found[kind].add(path)
        return found

    def _known(self, table: Mapping[str, object], tests: Iterable[str]) -> list[str]:
        """The keys of ``table`` that collecting and running ``tests`` have; ``::*`` is a file's."""
        asked = [COLLECTION, PLUGINS, *tests]
        wholes = tuple(test[:-1] for test in asked if test.endswith("::*"))
        names = set(asked)
        return [t for t in table if t in names or (wholes and t.startswith(wholes))]


def line_of(test: str, frames: Iterable[tuple[str, int]]) -> int:
    """Return the innermost line of a traceback that is in a test's file; ``OUTSIDE`` if none is.

    Args:
        test: Its node id.
        frames: Files and lines, the outermost first.
    """
    file = file_of_test(test)
    own = [line for path, line in frames if f"/{path.replace(os.sep, '/')}".endswith(f"/{file}")]
    return own[-1] if own else OUTSIDE


def _opened(changes: Mapping[str, set[str]]) -> set[str]:
    """The folders in which the kernel must let anything be done, for these changes."""
    return {*changes.get(NEW, ()), *map(os.path.dirname, changes.get(REMOVE, ()))}


def _files_in(folders: Iterable[str]) -> list[str]:
    """The data files in ``folders``, but for large ones, and not too many."""
    found: list[str] = []
    size = 0
    for folder in sorted(folders):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if len(found) >= MAX_BESIDE or entry.name.endswith(EDITED):
                    continue
                if entry.is_file(follow_symlinks=False):
                    size += entry.stat().st_size
                    if size > MAX_BESIDE_BYTES:
                        return found
                    found.append(os.path.realpath(entry.path))
    return found
