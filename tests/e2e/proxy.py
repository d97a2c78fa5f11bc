"""A way to a server that is cut where a test says so."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1 << 16


@dataclass
class Proxy:
    """Passes bytes on in both directions.

    Attributes:
        port: Where it listens, on loopback.
        to: The server's port.
        cut_before: What must not reach the server: the connection is cut there.
        cut_behind: What reaches it, while its answer doesn't come back.
        at_most: Times that it cuts.
        n_cuts: How often it cut.
    """

    port: int
    to: int
    cut_before: bytes = b""
    cut_behind: bytes = b""
    at_most: int = 1000
    n_cuts: int = 0
    _lines: list[socket.socket] = field(default_factory=list)

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
                self._lines += [client, server]
                for args in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass_on, args=args, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                may_cut = asks and self.n_cuts < self.at_most
                if may_cut and self.cut_before and self.cut_before in data:
                    break
                if may_cut and self.cut_behind and self.cut_behind in data:
                    source.shutdown(socket.SHUT_RDWR)
                    target.sendall(data)
                    self.n_cuts += 1
                    return
                target.sendall(data)
            else:
                asks = False
            self.n_cuts += asks
        for line in (source, target):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Cut all."""
        for line in self._lines:
            line.close()


@contextmanager
def running_proxy(to: int) -> Iterator[Proxy]:
    """A proxy to a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(listener.getsockname()[1], to)
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        yield proxy
    proxy.end()
