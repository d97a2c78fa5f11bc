"""Carries messages between the main run and a server, wherever a transport starts it.

A message is one JSON value a line. The line is two pipes, or a socket where none is inherited.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import select
import socket
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.rerun.fence import Real

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_bayesloc.rerun.effects import Effects


# The environment variable that names the file with a server's start-up values, as JSON.
SERVER_VARIABLE = "PYTEST_BAYESLOC_SERVER"

#: What is done of a request for a new process that can't be forked: one has to be started.
UNFIT = "unfit"

Message = dict[str, Any]

CHUNK = 1 << 20
KNOCK_S = 0.1
LOOPBACK = "127.0.0.1"
_BEFORE = r"(?<![\w./\\-])"
_BEHIND = r"""(?=[/\\:;,'"()<>\[\]{}\s]|$)"""


class LinkEnd(ABC):
    """One end of the line."""

    _rest = b""  # the start of a message

    @abstractmethod
    def _put(self, data: bytes) -> None:
        """Send all of ``data``."""

    @abstractmethod
    def _receive(self, limit_s: float) -> bytes:
        """Return the data that came: empty if the other end is closed, or time is up."""

    def send(self, message: Message) -> None:
        """Send ``message`` as one line of ASCII.

        Raises:
            OSError: If the other end is closed.
        """
        self._put(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")

    def messages(self, limit_s: float = inf) -> Iterator[Message]:
        """Yield the messages that come until the other end is closed, or time is up."""
        deadline = monotonic() + limit_s
        while (left := deadline - monotonic()) > 0 and (data := self._receive(left)):
            *lines, self._rest = (self._rest + data).split(b"\n")
            yield from map(json.loads, lines)


class Pipes(LinkEnd):
    """One end of two pipes."""

    def __init__(self, read: int, write: int) -> None:
        self._ends = {"read": read, "write": write}

    def _put(self, data: bytes) -> None:
        end = self._ends.get("write")
        if end is None:
            raise BrokenPipeError
        while data:
            data = data[Real.write(end, data) :]

    def _receive(self, limit_s: float) -> bytes:
        return Real.read(self._ends["read"], CHUNK) if _has_data(self, limit_s) else b""

    def fileno(self) -> int:
        """The end that is read from."""
        return self._ends["read"]

    def hang_up(self) -> None:
        """Tell the other end that nothing more comes from here."""
        self._close("write")

    def leave(self) -> None:
        """Stop reading here: another process goes on."""
        self._close("read")

    def close(self) -> None:
        """Close both ends. May be called twice."""
        self.hang_up()
        self.leave()

    def _close(self, end: str) -> None:
        descriptor = self._ends.pop(end, None)
        if descriptor is not None:
            Real.close(descriptor)


class ListeningSocket(LinkEnd):
    """The main run's end of a socket: a server of this machine calls, and proves it by a token.

    It waits for the call while the server that may call ``is_alive``.
    """

    def __init__(self, is_alive: Callable[[], bool]) -> None:
        self._is_alive = is_alive
        self._listener = socket.create_server((LOOPBACK, 0))
        self._listener.settimeout(KNOCK_S)
        self._token = secrets.token_hex(16)
        self._line: socket.socket | None = None

    def address(self) -> Message:
        """The port and the token that the server needs to call."""
        return {"port": self._listener.getsockname()[1], "token": self._token}

    def _accept(self, limit_s: float) -> socket.socket | None:
        """Return the line; None if no server with the token has called in time, or none will."""
        deadline = monotonic() + limit_s
        while self._line is None and monotonic() < deadline:
            try:
                line, _ = self._listener.accept()
            except TimeoutError:
                if not self._is_alive():
                    break
                continue
            line.settimeout(KNOCK_S * 10)
            if _token(line, len(self._token)) == self._token.encode():
                line.settimeout(None)
                self._line = line
            else:
                line.close()
        return self._line

    def _put(self, data: bytes) -> None:
        line = self._accept(limit_s=inf)
        if line is None:
            raise BrokenPipeError
        line.sendall(data)

    def _receive(self, limit_s: float) -> bytes:
        deadline = monotonic() + limit_s
        line = self._accept(limit_s)
        return b"" if line is None else _data_of(line, deadline - monotonic())

    def hang_up(self) -> None:
        """Tell the server that nothing more comes."""
        if self._line is not None:
            with suppress(OSError):  # it has hung up itself
                self._line.shutdown(socket.SHUT_WR)
        self._listener.close()

    def close(self) -> None:
        """Close the line. May be called twice."""
        self._listener.close()
        if self._line is not None:
            self._line.close()


class CallingSocket(LinkEnd):
    """The server's end of a socket."""

    def __init__(self, port: int, token: str) -> None:
        self._line = socket.create_connection((LOOPBACK, port))
        self._line.settimeout(None)
        self._line.sendall(token.encode())
        self._sendall = self._line.sendall  # bound now: tests patch sockets

    def _put(self, data: bytes) -> None:
        self._sendall(data)

    def _receive(self, limit_s: float) -> bytes:
        return _data_of(self._line, limit_s)

    def fileno(self) -> int:
        """The socket."""
        return self._line.fileno()

    def leave(self) -> None:
        """Do nothing: a socket has one end for both directions."""

    def close(self) -> None:
        """Close the line."""
        self._line.close()


def open_link(spec: Message) -> Pipes | CallingSocket:
    """Open the server's end of the line that ``spec`` describes."""
    if "port" in spec:
        return CallingSocket(spec["port"], spec["token"])
    for descriptor in (spec["read"], spec["write"]):
        os.set_inheritable(descriptor, False)
    return Pipes(spec["read"], spec["write"])


def _has_data(end: Pipes | socket.socket, limit_s: float) -> bool:
    return bool(select.select([end], [], [], None if limit_s == inf else max(0.0, limit_s))[0])


def _data_of(line: socket.socket, limit_s: float) -> bytes:
    try:
        return line.recv(CHUNK) if _has_data(line, limit_s) else b""
    except ConnectionError:
        return b""


def _token(line: socket.socket, length: int) -> bytes:
    token = b""
    try:
        while len(token) < length and (more := line.recv(length - len(token))):
            token += more
    except OSError:
        return b""
    return token


class RerunServer(Protocol):
    """A pytest process that re-runs tests, wherever it is."""

    def ready(self, limit_s: float) -> Message:
        """Wait until it has collected the tests.

        Returns:
            Its message, with the ``effects`` of collecting; without ``ready`` if it ended because
            of these. Empty if it was hung up on.

        Raises:
            ExecutionError: If it did not come up.
        """

    def exchange(self, request: Message | None, limit_s: float) -> Sequence[Message]:
        """Send ``request`` and wait ``limit_s`` seconds at most for all that comes of it.

        Args:
            request: None where the server was started with it.
            limit_s: Wall seconds.

        Returns:
            The messages in their order. The last one has ``done`` and the wall ``seconds``, and
            ``is_last`` where the server answers no other request. None if it was hung up on.

        Raises:
            LostError: If the transport is lost.
        """

    def hang_up(self) -> None:
        """Let it end its work and itself; may be called from any thread."""

    def end(self) -> None:
        """End it with everything that it started. May be called twice."""


class Workspaces:
    """Maps absolute paths between a folder here and that folder elsewhere, also inside of texts."""

    def __init__(self, here: str, there: str) -> None:
        self.here_folder = here.rstrip("/") or "/"
        self.there_folder = there.rstrip("/") or "/"

    def there(self, text: str) -> str:
        """``text`` with the paths of the other side."""
        return _moved(text, self.here_folder, self.there_folder)

    def here(self, text: str) -> str:
        """``text`` with the paths of this side."""
        return _moved(text, self.there_folder, self.here_folder)


def _moved(text: str, old: str, new: str) -> str:
    return re.sub(f"{_BEFORE}{re.escape(old)}{_BEHIND}", lambda _: new, text)


@dataclass(kw_only=True, eq=False)
class Transport:
    """A place where servers are started.

    Attributes:
        name: The name by which a person knows it.
        n_servers: That may run there at once; 0 if the user decides.
        may_fork: Whether a server there may fork.
        rootdir: Of the project, on this machine.
        workspaces: A folder of the project's here and there.
        start: Starts a server for tests, which it collects behind a fence that allows what the
            last argument says; with a request, for that one only. Raises ``ExecutionError`` if none
            can be started.
        effects: What tests do there outside of their temporary folders.
        close: Ends what was started there. May be called twice.
    """

    name: str
    n_servers: int
    may_fork: bool
    rootdir: Path
    workspaces: Workspaces
    start: Callable[[Sequence[str], Message | None, Message], RerunServer]
    effects: Effects
    close: Callable[[], None] = lambda: None

    def path_of(self, file: str) -> str:
        """The path there of a project file that is given relative to rootdir."""
        return os.path.normpath(self.workspaces.there(str(self.rootdir / file)))


def no_server(why: str) -> ExecutionError:
    """The error where a server did not come up."""
    return ExecutionError(
        f"The server for re-runs did not start: {why}. The ranking stands "
        "without inspections; run pytest on the failing tests alone to see why.",
        slug="no-server",
    )


def may_answer_again(messages: Sequence[Message]) -> bool:
    """Whether the server that sent ``messages`` is fit for another request."""
    return bool(messages) and not messages[-1].get("is_last", False)
