"""The line between the main run and a server: two pipes, or a socket where none is inherited."""

from __future__ import annotations

import os
import secrets
import select
import socket
from math import inf
from typing import TYPE_CHECKING, Protocol

from pytest_bayesloc.domain.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.rerun.wire import Message

# Bound now: tests patch these (pyfakefs).
_read, _write, _close = os.read, os.write, os.close

CHUNK = 1 << 20
KNOCK_S = 0.1
LOOPBACK = "127.0.0.1"


class Link(Protocol):
    """One end of a line."""

    def send(self, data: bytes) -> None:
        """Send all of ``data``.

        Raises:
            OSError: If the other end is closed.
        """

    def receive(self, limit_s: float | None = None) -> bytes | None:
        """What has come; empty if the other end is closed, None if nothing came in time."""

    def fileno(self) -> int:
        """What to wait for."""

    def hang_up(self) -> None:
        """Let the other end know that nothing more comes from here."""

    def leave(self) -> None:
        """Read no more here: another process goes on with it."""

    def close(self) -> None:
        """End. May be called twice."""


class Pipes:
    """Two pipes.

    Args:
        read: The end of one that is read from.
        write: The end of the other one.
    """

    def __init__(self, read: int, write: int) -> None:
        self._ends = {"read": read, "write": write}

    def send(self, data: bytes) -> None:
        """Send all of ``data``."""
        end = self._ends.get("write")
        if end is None:
            raise BrokenPipeError
        while data:
            data = data[_write(end, data) :]

    def receive(self, limit_s: float | None = None) -> bytes | None:
        """What has come."""
        if limit_s is not None and not select.select([self], [], [], limit_s)[0]:
            return None
        return _read(self._ends["read"], CHUNK)

    def fileno(self) -> int:
        """The end that is read from."""
        return self._ends["read"]

    def hang_up(self) -> None:
        """Close the end that is written to."""
        self._close("write")

    def leave(self) -> None:
        """Close the end that is read from."""
        self._close("read")

    def close(self) -> None:
        """Close both."""
        self.hang_up()
        self.leave()

    def _close(self, end: str) -> None:
        descriptor = self._ends.pop(end, None)
        if descriptor is not None:
            _close(descriptor)


class Caller:
    """The end of a socket that a server calls: of the machine itself, by a word that it was told.

    Args:
        is_alive: Whether there is somebody who may call yet.
    """

    def __init__(self, is_alive: Callable[[], bool]) -> None:
        self._is_alive = is_alive
        self._listener = socket.create_server((LOOPBACK, 0))
        self._listener.settimeout(KNOCK_S)
        self._word = secrets.token_hex(16)
        self._line: socket.socket | None = None

    def told(self) -> Message:
        """What the server needs to call."""
        return {"port": self._listener.getsockname()[1], "word": self._word}

    def _called(self, limit_s: float) -> socket.socket | None:
        """The line; None if nobody who knows the word has called in time, or nobody will."""
        deadline = monotonic() + limit_s
        while self._line is None and monotonic() < deadline:
            try:
                line, _ = self._listener.accept()
            except TimeoutError:
                if not self._is_alive():
                    break
                continue
            line.settimeout(KNOCK_S * 10)
            if _word(line, len(self._word)) == self._word.encode():
                line.settimeout(None)
                self._line = line
            else:
                line.close()
        return self._line

    def send(self, data: bytes) -> None:
        """Send all of ``data``; nobody to send it to is as good as a closed line."""
        line = self._called(limit_s=inf)
        if line is None:
            raise BrokenPipeError
        line.sendall(data)

    def receive(self, limit_s: float | None = None) -> bytes | None:
        """What has come."""
        limit_s = inf if limit_s is None else limit_s
        deadline = monotonic() + limit_s
        line = self._called(limit_s)
        if line is None:
            return None if monotonic() >= deadline else b""
        return _received(line, deadline - monotonic())

    def fileno(self) -> int:
        """The listener, until somebody has called."""
        return (self._line or self._listener).fileno()

    def hang_up(self) -> None:
        """Nothing more comes from here."""
        if self._line is not None:
            _hang_up(self._line)
        self._listener.close()

    def leave(self) -> None:
        """A socket has one end for both."""

    def close(self) -> None:
        """End."""
        self._listener.close()
        if self._line is not None:
            self._line.close()


class Called:
    """The end of a server that has called.

    Args:
        port: Of the machine itself.
        word: By which it is known.
    """

    def __init__(self, port: int, word: str) -> None:
        self._line = socket.create_connection((LOOPBACK, port))
        self._line.sendall(word.encode())
        self.send = self._line.sendall  # bound now: tests patch sockets

    def receive(self, limit_s: float | None = None) -> bytes | None:
        """What has come."""
        return _received(self._line, limit_s)

    def fileno(self) -> int:
        """The socket."""
        return self._line.fileno()

    def hang_up(self) -> None:
        """Nothing more comes from here."""
        _hang_up(self._line)

    def leave(self) -> None:
        """A socket has one end for both."""

    def close(self) -> None:
        """End."""
        self._line.close()


def answering(spec: Message) -> Link:
    """A server's end of the line that ``spec`` describes."""
    if "port" in spec:
        return Called(spec["port"], spec["word"])
    for descriptor in (spec["read"], spec["write"]):
        os.set_inheritable(descriptor, False)
    return Pipes(spec["read"], spec["write"])


def _received(line: socket.socket, limit_s: float | None) -> bytes | None:
    wait_s = None if limit_s in (None, inf) else max(0.0, limit_s or 0.0)
    if not select.select([line], [], [], wait_s)[0]:
        return None
    try:
        return line.recv(CHUNK)
    except ConnectionError:
        return b""


def _word(line: socket.socket, length: int) -> bytes:
    word = b""
    try:
        while len(word) < length and (more := line.recv(length - len(word))):
            word += more
    except OSError:
        return b""
    return word


def _hang_up(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_WR)
    except OSError:  # it has hung up itself
        return
