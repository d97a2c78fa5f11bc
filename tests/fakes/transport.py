"""A transport whose servers answer at once, until it is lost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import LostError
from pytest_bayesloc.rerun.effects import Effects
from pytest_bayesloc.rerun.link import Transport, Workspaces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.rerun.link import Message, RerunServer


class FakeTransport(Transport):
    """Notes what it is asked for.

    Attributes:
        lost_at: Number of the request (from 1) at which it is lost; 0: never.
        asked: The tests of each request.
        is_silent: Whether servers are hung up on before they are ready.
        n_open: Servers that were started and not ended.
    """

    def __init__(self, name: str = "here", *, lost_at: int = 0, is_silent: bool = False) -> None:
        super().__init__(
            name=name,
            n_servers=1,
            may_fork=True,
            rootdir=Path("/"),
            workspaces=Workspaces("/", "/"),
            start=self.serve,
            effects=Effects(),
        )
        self.lost_at = lost_at
        self.is_silent = is_silent
        self.asked: list[tuple[str, ...]] = []
        self.n_open = 0

    def serve(self, tests: Sequence[str], once: Message | None, fence: Message) -> FakeServer:
        del tests, once, fence
        self.n_open += 1
        return FakeServer(self)


@dataclass
class FakeServer:
    """All its tests pass."""

    transport: FakeTransport
    is_ended: bool = False

    def ready(self, limit_s: float) -> Message:
        del limit_s
        return {} if self.transport.is_silent else {"ready": [], "n_threads": 1}

    def exchange(self, request: Message | None, limit_s: float) -> Sequence[Message]:
        del limit_s
        assert request is not None
        self.transport.asked.append(tuple(request["tests"]))
        if self.transport.lost_at and len(self.transport.asked) >= self.transport.lost_at:
            raise LostError(f"{self.transport.name} does not answer.", slug="lost-executor")
        passed = {"verdict": "pass", "error": "", "output": "", "covered": True}
        passed |= {"violations": [], "sides": [], "frames": []}
        ended = [{"end": test, **passed} for test in request["tests"]]
        return [*ended, {"done": "ok", "seconds": 0.0, "cpu_s": 0.0}]

    def hang_up(self) -> None:
        return

    def end(self) -> None:
        if not self.is_ended:
            self.is_ended = True
            self.transport.n_open -= 1


def as_port(server: FakeServer) -> RerunServer:
    """``server`` as what it stands for: the type checker holds it to the port."""
    return server
