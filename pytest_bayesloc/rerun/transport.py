"""Where servers run: this machine, another one, a container, a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.rerun.process import Reply
    from pytest_bayesloc.rerun.wire import Message


class Server(Protocol):
    """A pytest that re-runs tests, wherever it is."""

    def ready(self, limit_s: float) -> Message:
        """Its first message; empty if it was hung up on.

        Raises:
            ExecutionError: If it did not come up.
        """

    def exchange(self, request: Message | None, limit_s: float) -> Reply:
        """Ask, and wait ``limit_s`` seconds at most for all that comes of it.

        Args:
            request: None where the server was started with it.
            limit_s: Wall seconds.

        Raises:
            LostError: If the place is lost.
        """

    def hang_up(self) -> None:
        """Let it end its work, and itself; from any thread."""

    def end(self) -> None:
        """End it with everything that it started. May be called twice."""


class Place(Protocol):
    """Starts servers."""

    @property
    def name(self) -> str:
        """What a person knows it by."""

    @property
    def n_servers(self) -> int:
        """How many servers it bears at once; 0 where that is for the user to say."""

    @property
    def may_fork(self) -> bool:
        """Whether a server there may fork."""

    def path_of(self, file: str) -> str:
        """Where a file of the project, given relative to rootdir, is there."""

    def here(self, text: str) -> str:
        """``text`` from there with the paths of this machine."""

    def start(self, tests: Sequence[str], once: Message | None) -> Server:
        """A server for ``tests``; with ``once``, for that request only.

        Raises:
            ExecutionError: If none can be started.
        """

    def close(self) -> None:
        """End what was started there. May be called twice."""
