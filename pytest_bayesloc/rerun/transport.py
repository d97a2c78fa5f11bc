"""The ports of rerun: a transport starts servers on this machine, another one or a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.rerun.link import Message


class RerunServer(Protocol):
    """A pytest process that re-runs tests, wherever it is."""

    def ready(self, limit_s: float) -> Message:
        """Wait for its first message; it is empty if the server was hung up on.

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


def may_answer_again(messages: Sequence[Message]) -> bool:
    """Whether the server that sent ``messages`` is fit for another request."""
    return bool(messages) and not messages[-1].get("is_last", False)
