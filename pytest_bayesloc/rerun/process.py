"""Starts, holds and ends processes, by the means of each platform.

Linux and macOS fork, and hand pipes on; on Windows each re-run is a process of its own that calls
back by a socket. ``PYTEST_BAYESLOC_FORK=off`` has the same done anywhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.link import ListeningSocket, Pipes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.rerun.link import Message

    Started = tuple[subprocess.Popen[bytes], Pipes | ListeningSocket]

FORK_VARIABLE = "PYTEST_BAYESLOC_FORK"
IS_WINDOWS = sys.platform == "win32"
MAX_FILE_BYTES = 1 << 30  # that a child may write to one file
MAX_GENERATIONS = 5  # of processes that were left behind
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux


def may_fork() -> bool:
    """Whether processes are forked here."""
    return hasattr(os, "fork") and os.environ.get(FORK_VARIABLE) != "off"


def start_linked(
    start: Callable[..., subprocess.Popen[bytes]], announce: Callable[[Message], None]
) -> Started:
    """Start a process in a group of its own, and return it with the line to it.

    Args:
        start: Starts it.
        announce: Stores the address of the line for it.

    Raises:
        OSError: If it can't be started.
    """
    return _with_pipes(start, announce) if may_fork() else _with_socket(start, announce)


def _with_pipes(
    start: Callable[..., subprocess.Popen[bytes]], announce: Callable[[Message], None]
) -> Started:
    request_read, requests = os.pipe()
    replies, reply_write = os.pipe()
    link = Pipes(replies, requests)
    try:
        announce({"read": request_read, "write": reply_write})
        return start(pass_fds=(request_read, reply_write), start_new_session=True), link
    except OSError:
        link.close()
        raise
    finally:
        os.close(request_read)
        os.close(reply_write)


def _with_socket(
    start: Callable[..., subprocess.Popen[bytes]], announce: Callable[[Message], None]
) -> Started:
    processes: list[subprocess.Popen[bytes]] = []
    link = ListeningSocket(lambda: not processes or processes[0].poll() is None)
    group: dict[str, Any] = {"start_new_session": True}
    if IS_WINDOWS:
        group = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    try:
        announce(link.address())
        processes.append(start(**group))
    except OSError:
        link.close()
        raise
    return processes[0], link


def kill_tree(pid: int) -> None:
    """End a process that was started here, with all that it started."""
    if IS_WINDOWS:
        command = ["taskkill", "/F", "/T", "/PID", str(pid)]
        with contextlib.suppress(OSError):
            subprocess.run(command, check=False, capture_output=True)
    else:
        kill_group(pid)


def cpu_of_children() -> float:
    """CPU seconds of the children that ended, more exact than ``os.times``."""
    import resource  # there wherever fork is

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def waited_for_cpu_s(pid: int | str = "self") -> float:
    """Seconds that a process was ready to run and had no CPU; 0 where the platform does not say."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as stream:  # noqa: PTH123 - before fakes
            return int(stream.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def kill_group(pid: int) -> None:
    """End the group of ``pid``."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of processes that a child leaves behind, also outside its group."""
    with contextlib.suppress(OSError, AttributeError, ValueError):  # not Linux
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The child processes of this one; none where the platform does not say."""
    pid = os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as stream:  # noqa: PTH123
            return {int(child) for child in stream.read().split()}
    except (OSError, ValueError):
        return set()


def end_orphans(own: set[int]) -> None:
    """End the processes that a request left behind, and those that they leave behind in turn."""
    for _ in range(MAX_GENERATIONS):
        for pid in children() - own:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def limit_resources(limit_s: float) -> None:
    """Bound CPU time and memory of a child, so that a runaway ends by itself."""
    try:
        import resource
    except ImportError:  # not POSIX
        return
    seconds = int(limit_s) + 2
    for kind, wanted in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_AS, _address_space() + (4 << 30)),
    ):
        _soft, hard = resource.getrlimit(kind)
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(kind, (bound, hard))
        except (ValueError, OSError):
            continue


def _address_space() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:  # noqa: PTH123 - before fakes
            return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 4 << 30
