"""Servers on this machine: a process, the line to it, and its folder of temporary files.

Processes are started, held and ended by the means of each platform. Linux and macOS fork, and hand
pipes on; on Windows each re-run is a process of its own that calls back by a socket.
``PYTEST_BAYESLOC_FORK=off`` has the same done anywhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.rerun.link import (
    SERVER_VARIABLE,
    ListeningSocket,
    Message,
    Pipes,
    Transport,
    Workspaces,
    no_server,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.effects import Effects

    # Starts a process, given the address of the line for it, and options of ``Popen``.
    Start = Callable[..., subprocess.Popen[bytes]]
    Started = tuple[subprocess.Popen[bytes], Pipes | ListeningSocket]


FORK_VARIABLE = "PYTEST_BAYESLOC_FORK"
IS_WINDOWS = sys.platform == "win32"
MAX_FILE_BYTES = 1 << 30  # that a child may write to one file
MAX_GENERATIONS = 5  # of processes that were left behind
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux


def may_fork() -> bool:
    """Whether processes are forked here."""
    return hasattr(os, "fork") and os.environ.get(FORK_VARIABLE) != "off"


def _with_pipes(start: Start) -> Started:
    """Start a process in a group of its own, and return it with the line to it.

    Raises:
        OSError: If it can't be started.
    """
    request_read, requests = os.pipe()
    replies, reply_write = os.pipe()
    link = Pipes(replies, requests)
    try:
        address, ends = {"read": request_read, "write": reply_write}, (request_read, reply_write)
        return start(address, pass_fds=ends, start_new_session=True), link
    except OSError:
        link.close()
        raise
    finally:
        os.close(request_read)
        os.close(reply_write)


def _with_socket(start: Start) -> Started:
    """Do the same where no pipe is inherited."""
    processes: list[subprocess.Popen[bytes]] = []
    link = ListeningSocket(lambda: not processes or processes[0].poll() is None)
    group: dict[str, Any] = {"start_new_session": True}
    if IS_WINDOWS:
        group = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    try:
        processes.append(start(link.address(), **group))
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


def adopt_orphans() -> bool:
    """Become the parent of processes that a child leaves behind, also outside its group.

    Returns:
        Whether that is so.
    """
    try:
        return bool(ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError, ValueError):  # not Linux
        return False


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


def forget_fork_server() -> None:
    """Have a forked child start a fork server of its own for ``multiprocessing``.

    That of the parent is no child of it, so it could not be waited for.
    """
    module = sys.modules.get("multiprocessing.forkserver")
    if module is not None:
        server = module.ensure_running.__self__
        preloaded = {n: value for n, value in vars(server).items() if n.startswith("_preload")}
        server.__init__()
        vars(server).update(preloaded)


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


END_S = 2.0


class ServerProcess:
    """Implements ``RerunServer`` by a process of this machine.

    Its ``environment`` is complete, but for the folder of temporary files; its ``spec`` is the
    task: ``tests``, ``options``, ``once``, ``fence``.
    """

    _stderr: IO[bytes] | None = None

    def __init__(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], spec: Message
    ) -> None:
        self._started = monotonic()
        self._is_listening = self._ended = False
        try:
            # A folder of its own: a server that is hung up on removes it.
            self._scratch = tempfile.mkdtemp(prefix="bayesloc-")
            try:
                self._start(argv, cwd, environment, spec)
            except BaseException:
                self._forget()
                raise
        except OSError as error:
            raise ExecutionError(
                f"A re-run could not be started ({error}): no inspections are made. Check that "
                "processes may be started here.",
                slug="no-server",
            ) from error

    def _start(
        self, argv: Sequence[str], cwd: str, environment: Mapping[str, str], spec: Message
    ) -> None:
        task, free = Path(self._scratch, "server.json"), Path(self._scratch, "t")
        free.mkdir()
        temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(free))
        environment = {**environment, **temporary, SERVER_VARIABLE: str(task)}
        options = {**spec["options"], "basetemp": str(Path(self._scratch, "basetemp"))}
        spec = {**spec, "options": options, "scratch": self._scratch}
        self._stderr = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - kept open

        def start(address: Message, **how: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - of Popen
            task.write_text(json.dumps({**spec, **address}), encoding="ascii")
            return subprocess.Popen(
                argv,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=subprocess.STDOUT,
                **how,
            )

        self._popen, self._link = _with_pipes(start) if may_fork() else _with_socket(start)

    def ready(self, limit_s: float) -> Message:
        """Wait for the server's first message."""
        effects: list[Message] = []
        for message in self._link.messages(limit_s):
            if "ready" in message:
                self._is_listening = True
                return {**message, "effects": effects}
            effects.append(message)
        if effects:
            return {"effects": effects, "why": self._last_words()}
        raise no_server(self._last_words())

    def exchange(self, request: Message | None, limit_s: float) -> list[Message]:
        """Send ``request`` and collect all messages until it, the process or the time ends."""
        asked = self._started if request is None else monotonic()
        if request is not None:
            with contextlib.suppress(BrokenPipeError):  # noticed by what comes back
                self._link.send(request)
        messages = []
        deadline = monotonic() + limit_s
        for message in self._link.messages(limit_s):
            messages.append(message)
            if "done" in message:
                return messages
        done = "timeout" if monotonic() >= deadline else "ended"
        return [*messages, {"done": done, "seconds": monotonic() - asked, "is_last": True}]

    def _last_words(self) -> str:
        self._popen.poll()
        lines: list[str] = []
        if self._stderr is not None:
            self._stderr.seek(0)
            lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def hang_up(self) -> None:
        """Let it end its work and itself; may be called from any thread."""
        self._link.hang_up()
        if not self._is_listening:  # it looks at the line when it has collected, or has run all
            kill_tree(self._popen.pid)

    def end(self) -> None:
        """Kill the process with everything it started. May be called twice."""
        if self._ended:
            return
        self._ended = True
        self._link.hang_up()
        # It ends its child and itself when it notices; a killed server would leave the child.
        # Where libfaketime fakes the clock, nothing can sleep: OSError.
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            self._popen.wait(timeout=END_S)
        kill_tree(self._popen.pid)
        self._popen.wait()
        self._link.close()
        self._forget()

    def _forget(self) -> None:
        if self._stderr is not None:
            self._stderr.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def local_transport(command: Command, effects: Effects) -> Transport:
    """Return this machine as a place for servers that ``command`` starts.

    What tests do is known by ``effects``.
    """

    def start(tests: Sequence[str], once: Message | None, fence: Message) -> ServerProcess:
        spec: Message = {
            "tests": list(tests),
            "options": dict(command.options),
            "once": once,
            "umask": command.umask,
        }
        return ServerProcess(
            (*command.argv, *command.files_of(tests)),
            cwd=str(command.cwd),
            environment=command.environment,
            spec={**spec, "fence": fence},
        )

    root = str(command.rootdir)
    return Transport(
        name="local",
        n_servers=0,
        may_fork=may_fork(),
        rootdir=command.rootdir,
        workspaces=Workspaces(root, root),
        start=start,
        effects=effects,
        close=effects.close,
    )
