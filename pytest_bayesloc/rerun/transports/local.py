"""Servers on this machine: a process, the line to it, and its folder of temporary files."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.rerun.link import SERVER_VARIABLE, Message
from pytest_bayesloc.rerun.process import kill_tree, may_fork, start_linked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.rerun.command import Command

END_S = 2.0


class ServerProcess:
    """Implements ``RerunServer`` by a process of this machine.

    Args:
        argv: The process with its arguments.
        cwd: The folder that it is started in.
        environment: All its variables.
        spec: Its task: ``tests``, ``options`` and ``once``.
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
        task = Path(self._scratch, "server.json")
        environment = {**environment, SERVER_VARIABLE: str(task)}
        options = {**spec["options"], "basetemp": str(Path(self._scratch, "basetemp"))}
        spec = {**spec, "options": options, "scratch": self._scratch}
        self._stderr = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - kept open

        def start(**how: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - options of Popen
            return subprocess.Popen(
                argv,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=subprocess.STDOUT,
                **how,
            )

        def announce(address: Message) -> None:
            task.write_text(json.dumps({**spec, **address}), encoding="ascii")

        self._popen, self._link = start_linked(start, announce)

    def ready(self, limit_s: float) -> Message:
        """Wait for the server's first message.

        Raises:
            ExecutionError: If it did not come up.
        """
        for message in self._link.messages(limit_s):
            self._is_listening = True
            return message
        raise ExecutionError(
            f"The server for re-runs did not start: {self._last_words()}. The ranking stands "
            "without inspections; run pytest on the failing tests alone to see why.",
            slug="no-server",
        )

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
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout=END_S)
        kill_tree(self._popen.pid)
        self._popen.wait()
        self._link.close()
        self._forget()

    def _forget(self) -> None:
        if self._stderr is not None:
            self._stderr.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


class LocalTransport:
    """This machine."""

    name = "local"
    n_servers = 0

    def __init__(self, command: Command) -> None:
        self._command = command
        self.may_fork = may_fork()

    def path_of(self, file: str) -> str:
        """The path of ``file`` below rootdir."""
        return os.path.normpath(self._command.rootdir / file)

    def here(self, text: str) -> str:
        """Return ``text`` as it is."""
        return text

    def start(self, tests: Sequence[str], once: Message | None) -> ServerProcess:
        """Start a process."""
        command = self._command
        return ServerProcess(
            (*command.argv, *command.files_of(tests)),
            cwd=str(command.cwd),
            environment=command.environment,
            spec={"tests": list(tests), "options": dict(command.options), "once": once},
        )

    def close(self) -> None:
        """Do nothing: servers are all that is started."""
