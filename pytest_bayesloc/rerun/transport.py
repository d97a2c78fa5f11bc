"""The ports of rerun: a transport starts servers on this machine, another one or a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.rerun.link import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReply:
    """The answer of a server to one request.

    Attributes:
        messages: In the order in which they were sent.
        is_done: Whether the server said that this was all.
        timed_out: Whether the time was up before that.
        seconds: Wall seconds of the server's own.
    """

    messages: Sequence[Message]
    is_done: bool = False
    timed_out: bool = False
    seconds: float = 0.0


class RerunServer(Protocol):
    """A pytest process that re-runs tests, wherever it is."""

    def ready(self, limit_s: float) -> Message:
        """Wait for its first message; it is empty if the server was hung up on.

        Raises:
            ExecutionError: If it did not come up.
        """

    def exchange(self, request: Message | None, limit_s: float) -> ServerReply:
        """Send ``request`` and wait ``limit_s`` seconds at most for all that comes of it.

        Args:
            request: None where the server was started with it.
            limit_s: Wall seconds.

        Raises:
            LostError: If the transport is lost.
        """

    def hang_up(self) -> None:
        """Let it end its work and itself; may be called from any thread."""

    def end(self) -> None:
        """End it with everything that it started. May be called twice."""


class Transport(Protocol):
    """Starts servers in one place."""

    @property
    def name(self) -> str:
        """The name by which a person knows it."""

    @property
    def n_servers(self) -> int:
        """The number of servers that may run at once; 0 if the user decides."""

    @property
    def may_fork(self) -> bool:
        """Whether a server there may fork."""

    def path_of(self, file: str) -> str:
        """The path there of a project file that is given relative to rootdir."""

    def here(self, text: str) -> str:
        """``text`` from there with the paths of this machine."""

    def start(self, tests: Sequence[str], once: Message | None) -> RerunServer:
        """Start a server for ``tests``; with ``once``, for that request only.

        Raises:
            ExecutionError: If none can be started.
        """

    def close(self) -> None:
        """End what was started there. May be called twice."""
