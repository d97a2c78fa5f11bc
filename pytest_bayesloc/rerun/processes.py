"""What differs between platforms: how processes start, are held, and end.

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

from pytest_bayesloc.rerun.link import Caller, Pipes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.rerun.link import Link
    from pytest_bayesloc.rerun.wire import Message

    Started = tuple[subprocess.Popen[bytes], Link]

FORK_VARIABLE = "PYTEST_BAYESLOC_FORK"
IS_WINDOWS = sys.platform == "win32"
MAX_FILE_BYTES = 1 << 30  # that a child may write to one file
MAX_GENERATIONS = 5  # of processes that were left behind
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux


def may_fork() -> bool:
    """Whether processes are forked here."""
    return hasattr(os, "fork") and os.environ.get(FORK_VARIABLE) != "off"


def started(
    start: Callable[..., subprocess.Popen[bytes]], tell: Callable[[Message], None]
) -> Started:
    """A process with a group of its own, and the line to it.

    Args:
        start: Starts it.
        tell: Leaves for it how the line is reached.

    Raises:
        OSError: If it can't be started.
    """
    return _with_pipes(start, tell) if may_fork() else _to_call_back(start, tell)


def _with_pipes(
    start: Callable[..., subprocess.Popen[bytes]], tell: Callable[[Message], None]
) -> Started:
    request_read, requests = os.pipe()
    replies, reply_write = os.pipe()
    link = Pipes(replies, requests)
    try:
        tell({"read": request_read, "write": reply_write})
        return start(pass_fds=(request_read, reply_write), start_new_session=True), link
    except OSError:
        link.close()
        raise
    finally:
        os.close(request_read)
        os.close(reply_write)


def _to_call_back(
    start: Callable[..., subprocess.Popen[bytes]], tell: Callable[[Message], None]
) -> Started:
    processes: list[subprocess.Popen[bytes]] = []
    link = Caller(lambda: not processes or processes[0].poll() is None)
    group: dict[str, Any] = {"start_new_session": True}
    if IS_WINDOWS:
        group = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    try:
        tell(link.told())
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
    """CPU seconds of the children that ended, finer than ``os.times`` tells."""
    import resource  # there wherever fork is

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill_group(pid: int) -> None:
    """End the group of ``pid``."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of what a child leaves behind, also where it left the child's group."""
    with contextlib.suppress(OSError, AttributeError, ValueError):  # not Linux
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The processes whose parent this one is; none where nobody tells."""
    pid = os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as stream:  # noqa: PTH123
            return {int(child) for child in stream.read().split()}
    except (OSError, ValueError):
        return set()


def end_orphans(own: set[int]) -> None:
    """End what a request left behind, and what that leaves behind in turn."""
    for _ in range(MAX_GENERATIONS):
        for pid in children() - own:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def limit_resources(limit_s: float) -> None:
    """CPU time and memory bounds of a child, so that a runaway ends by itself."""
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
