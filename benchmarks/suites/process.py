"""Child processes with a limit, their CPU time, and what they leave behind."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MARK = "REAL_SUITES_RUN"
MEMORY_LIMIT = 6 << 30  # a fault that loops may allocate without end
OUTPUT_LIMIT = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a child process ended.

    Attributes:
        exit_code: As of ``subprocess``: negative for a signal.
        seconds: Wall seconds.
        cpu_s: CPU seconds of it and of its descendants that were waited for.
        timed_out: Whether it was killed at its limit.
        output: Standard output and error, capped.
        left_behind: Processes of it that still ran when it had ended, and were then killed.
    """

    exit_code: int
    seconds: float
    cpu_s: float
    timed_out: bool
    output: str
    left_behind: int


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    limit_s: float,
    log: Path,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Run ``argv`` to its end; whatever of it is left after that is killed.

    Args:
        argv: Program and arguments.
        cwd: Where it runs.
        limit_s: Wall seconds after which it is killed.
        log: File that takes its output.
        env: Variables set on top of this process's own.
    """
    mark = uuid.uuid4().hex
    with log.open("wb") as sink:
        began = time.perf_counter()
        child = spawn(argv, cwd=cwd, sink=sink.fileno(), mark=mark, env=env)
        expired = threading.Event()

        def kill() -> None:
            expired.set()
            end_marked(mark)

        timer = threading.Timer(limit_s, kill)
        timer.daemon = True
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - began
            child.returncode = os.waitstatus_to_exitcode(status)
        finally:
            timer.cancel()
            left_behind = end_marked(mark)
    return Finished(
        exit_code=child.returncode,
        seconds=seconds,
        cpu_s=usage.ru_utime + usage.ru_stime,
        timed_out=expired.is_set(),
        output=text_of(log),
        left_behind=left_behind,
    )


def spawn(
    argv: Sequence[str], *, cwd: Path, sink: int, mark: str, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start ``argv`` in a session of its own, its descendants known by ``mark``."""
    with memory_limit(MEMORY_LIMIT):
        return subprocess.Popen(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **(env or {}), MARK: mark},
        )


@contextlib.contextmanager
def memory_limit(size: int) -> Iterator[None]:
    """Children started meanwhile inherit a limit on their address space."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def marked(mark: str) -> list[int]:
    """Ids of the live processes that inherited ``mark``; empty where there is no ``/proc``."""
    wanted = f"{MARK}={mark}".encode()
    return [pid for pid in _process_ids() if wanted in _environment(pid) and not _is_zombie(pid)]


def end_marked(mark: str) -> int:
    """Kill every process that inherited ``mark``, also one that left the group; how many."""
    ended = set[int]()
    for _ in range(20):  # one that forks while it is looked for is met in the next round
        pids = marked(mark)
        if not pids:
            break
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended.update(pids)
        time.sleep(0.01)
    return len(ended)


def text_of(log: Path) -> str:
    """Beginning and end of a log, without colours."""
    with contextlib.suppress(OSError):
        data = log.read_bytes()
        if len(data) > OUTPUT_LIMIT:
            data = data[: OUTPUT_LIMIT // 2] + b"\n...\n" + data[-OUTPUT_LIMIT // 2 :]
        return re.sub(r"\x1b\[[0-9;]*m", "", data.decode("utf-8", "replace"))
    return ""


def _process_ids() -> list[int]:
    proc = Path("/proc")
    return (
        [int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()]
        if proc.is_dir()
        else []
    )


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return True
