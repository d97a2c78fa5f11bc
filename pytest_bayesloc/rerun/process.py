"""A server's process on this machine, the line to it, and its folder of temporary files."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_bayesloc.domain.clock import monotonic
from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.rerun.processes import kill_tree, started
from pytest_bayesloc.rerun.wire import SERVER_VARIABLE, LineBuffer, Message, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

END_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a server is started.

    Attributes:
        argv: The process with its arguments.
        cwd: The folder that it is started in.
        environment: All its variables.
        spec: What it is told: ``tests``, ``options`` and ``once``.
    """

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    spec: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """All that came of one request.

    Attributes:
        messages: In the order in which they were sent.
        is_done: Whether the server said that this was all.
        timed_out: Whether that was not so when time was up.
        seconds: Wall seconds of the server's own.
    """

    messages: Sequence[Message]
    is_done: bool = False
    timed_out: bool = False
    seconds: float = 0.0


class ServerProcess:
    """Answers ``place.Server``.

    Args:
        opening: How it is started.
    """

    def __init__(self, opening: Opening) -> None:
        # A folder of its own: a server that is hung up on removes it.
        self._scratch = tempfile.mkdtemp(prefix="bayesloc-")
        self._started = monotonic()
        self._stderr: IO[bytes] = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - kept open
        told = Path(self._scratch, "server.json")
        environment = {**opening.environment, SERVER_VARIABLE: str(told)}
        options = {**opening.spec["options"], "basetemp": str(Path(self._scratch, "basetemp"))}
        spec = {**opening.spec, "options": options, "scratch": self._scratch}

        def start(**how: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - options of Popen
            return subprocess.Popen(
                opening.argv,
                cwd=opening.cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=subprocess.STDOUT,
                **how,
            )

        def tell(line: Message) -> None:
            told.write_text(json.dumps({**spec, **line}), encoding="ascii")

        try:
            self._popen, self._link = started(start, tell)
        except OSError as error:
            self._forget()
            raise ExecutionError(
                f"A re-run could not be started ({error}): no inspections are made. Check that "
                "processes may be started here.",
                slug="no-server",
            ) from error
        self._buffer = LineBuffer()
        self._is_listening = False
        self._ended = False

    def ready(self, limit_s: float) -> Message:
        """The server's first message.

        Raises:
            ExecutionError: If it did not come up.
        """
        for message in self._messages(limit_s):
            self._is_listening = True
            return message
        raise ExecutionError(
            f"The server for re-runs did not start: {self._last_words()}. The ranking stands "
            "without inspections; run pytest on the failing tests alone to see why.",
            slug="no-server",
        )

    def exchange(self, request: Message | None, limit_s: float) -> Reply:
        """Everything up to the end of the request, of the process, or of the time."""
        asked = self._started if request is None else monotonic()
        if request is not None:
            with contextlib.suppress(BrokenPipeError):  # noticed by what comes back
                self._link.send(encode(request))
        messages = []
        deadline = monotonic() + limit_s
        for message in self._messages(limit_s):
            messages.append(message)
            if "done" in message:
                return Reply(messages=messages, is_done=True, seconds=monotonic() - asked)
        is_late = monotonic() >= deadline
        return Reply(messages=messages, timed_out=is_late, seconds=monotonic() - asked)

    def _messages(self, limit_s: float) -> Iterator[Message]:
        deadline = monotonic() + limit_s
        while (left := deadline - monotonic()) > 0:
            data = self._link.receive(left)
            if not data:
                return
            yield from self._buffer.feed(data)

    def _last_words(self) -> str:
        self._popen.poll()
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def hang_up(self) -> None:
        """Let it end its work, and itself; from any thread."""
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
        self._stderr.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
