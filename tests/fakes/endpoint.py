"""An endpoint of language models that answers what a test told it to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.llm.endpoint import CallError, ChatReply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.llm.endpoint import Endpoint


@dataclass
class FakeEndpoint:
    """Notes what it is asked.

    Attributes:
        answers: What it says, in turn; the last one again and again.
        asked: The requests.
    """

    answers: list[object]
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    address: str = "http://fake/v1"

    def send(self, body: Mapping[str, Any], *, n_calls: int, seconds: float) -> ChatReply:
        del n_calls, seconds
        self.asked.append(body)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, CallError):
            raise answer
        if isinstance(answer, ChatReply):
            return answer
        return ChatReply(text=answer if isinstance(answer, str) else json.dumps(answer))

    @property
    def prompt(self) -> str:
        """What it was asked last."""
        return str(self.asked[-1]["messages"][1]["content"])


def calling(*calls: tuple[str, object]) -> ChatReply:
    """A reply that calls functions, each by its name and arguments."""
    made = (
        ToolCall(
            id=f"id{n}", name=name, arguments=given if isinstance(given, str) else json.dumps(given)
        )
        for n, (name, given) in enumerate(calls)
    )
    return ChatReply(text="Let me see.", calls=tuple(made))


def as_port(endpoint: FakeEndpoint) -> Endpoint:
    """``endpoint`` as what it stands for: the type checker holds it to the port."""
    return endpoint
