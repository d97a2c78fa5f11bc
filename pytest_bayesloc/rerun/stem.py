"""New processes without the start of one: forks of a server from before it loaded the project.

Most of the time of a start goes into pytest's plugins. A server forks its stem when these are
imported, and conftest files are not: what is forked of that has seen no code of the project.
Linux alone: there a server becomes the parent of processes that its stem leaves behind.
"""

from __future__ import annotations

import os
import sys
import threading
from types import ModuleType
from typing import TYPE_CHECKING

from pytest_bayesloc.rerun.fence import Real
from pytest_bayesloc.rerun.link import Pipes
from pytest_bayesloc.rerun.transports.local import may_fork

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_bayesloc.rerun.link import Message


class Stem:
    """A server's stem, seen from the server; in a process that is forked of it, what that is to do.

    Attributes:
        request: What this process was forked for; None in the server.
    """

    def __init__(self) -> None:
        (asked, ask), (hear, answer) = os.pipe(), os.pipe()
        is_stem = not os.fork()
        ends = (asked, answer) if is_stem else (hear, ask)
        for end in {asked, ask, hear, answer}.difference(ends):
            Real.close(end)
        self._line = Pipes(*ends)
        self.request = _next_request(self._line) if is_stem else None

    def forked(self, request: Message) -> int:
        """Return the pid of a process forked for ``request``; 0 if none can be: start one."""
        try:
            self._line.send(request)
            return int(next(self._line.messages(), {"pid": 0})["pid"])
        except OSError:
            return 0


def may_grow() -> bool:
    """Whether this process can have a stem."""
    return sys.platform == "linux" and may_fork() and threading.active_count() == 1


def _next_request(line: Pipes) -> Message:
    """Fork a process for each request; return in each of them, with its request."""
    for request in line.messages():
        pid = (
            0 if _are_loaded(patch["filename"] for patch in request["patches"]) else _left_behind()
        )
        if pid is None:
            line.close()
            return request
        line.send({"pid": pid})
    os._exit(0)


def _are_loaded(files: Iterable[str]) -> bool:
    """Whether any of ``files`` is a module already: the project may be a plugin, or set filters."""
    modules = [m for m in list(sys.modules.values()) if type(m) is ModuleType]
    known = [vars(module).get("__file__") for module in modules]
    loaded = {Real.realpath(file) for file in known if isinstance(file, str)}
    return not loaded.isdisjoint(map(Real.realpath, files))


def _left_behind() -> int | None:
    """Fork a process whose parent has ended; return its pid, and None in itself."""
    read, write = os.pipe()
    between = os.fork()
    if not between:
        pid = os.fork()
        if pid:
            Real.write(write, str(pid).encode("ascii"))
            os._exit(0)
    Real.close(write)
    told = Real.read(read, 20) if between else b""
    Real.close(read)
    if not between:
        return None
    os.waitpid(between, 0)
    return int(told or 0)
