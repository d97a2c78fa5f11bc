"""A conversation in which a language model looks around by calling functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pytest_bayesloc.domain.ports import Turn
from pytest_bayesloc.llm.agent import LlmAgent, Prompt, parsed, why
from pytest_bayesloc.llm.answers import NavigationAnswer, json_schema
from pytest_bayesloc.llm.endpoint import ChatReply, ToolCall
from pytest_bayesloc.llm.prompts import data

MAX_TURNS = 12
LAST_WORD = "name_suspects"  # the function by which a conversation ends
_SHARE = 8  # of the length of a prompt, for one answer
_LENGTHS = 4  # of a prompt, for a conversation
_NUDGE = f"Call a function. When you know enough, call {LAST_WORD}."
_LAST = f"There is no more time: call {LAST_WORD} now."
_WORD: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": LAST_WORD,
        "description": "End the search: explain the fault, then name the functions or tests that "
        "hold it, most suspect first, as FILE:LINE or by qualified name.",
        "parameters": json_schema(NavigationAnswer),
    },
}


class FunctionConversation:
    """One conversation; it ends when suspects are named, or at a limit.

    A prompt has ``max_prompt`` characters at most, a conversation four times as many. ``ended`` is
    called when suspects are named.
    """

    def __init__(
        self,
        agent: LlmAgent,
        model: str,
        prompt: Prompt,
        functions: Sequence[dict[str, Any]],
        max_prompt: int,
        ended: Callable[[], None],
    ) -> None:
        self._agent = agent
        self._model = model
        self._prompt = prompt
        self._functions = functions
        self._max_prompt = max_prompt
        self._ended = ended
        self._messages: list[dict[str, Any]] = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        self._asked: Sequence[ToolCall] = ()
        self._n_turns = 0

    def next(self, answers: Sequence[str]) -> Turn | None:
        """Return the model's next turn; None if it calls no functions, or can't be asked."""
        for call, answer in zip(self._asked, answers, strict=True):
            self._answer(call, answer)
        while self._n_turns < MAX_TURNS:
            reply = self._say()
            if reply is None or (self._n_turns == 1 and not reply.calls):
                return None
            if reply.calls and reply.calls[0].name != LAST_WORD and self._n_turns < MAX_TURNS:
                self._asked = reply.calls
                return Turn(calls=tuple((call.name, _arguments(call)) for call in reply.calls))
            try:
                named = parsed(reply, NavigationAnswer)
            except ValueError as error:
                self._correct(reply, why(error))
            else:
                self._ended()
                return Turn(suspects=tuple(named.suspects), why=named.explanation)
        return Turn()

    def _say(self) -> ChatReply | None:
        """Have the model say something, and keep it."""
        self._n_turns += 1
        length = sum(len(message["content"]) for message in self._messages)
        is_last = self._n_turns == MAX_TURNS or length > _LENGTHS * self._max_prompt
        if is_last:
            self._n_turns = MAX_TURNS
            self._messages.append({"role": "user", "content": _LAST})
        functions = [_WORD] if is_last else [*self._functions, _WORD]
        reply = self._agent.turn(self._prompt, self._model, self._messages, functions)
        if reply is not None:
            # The name of no function that is offered may be repeated to a server.
            known = {function["function"]["name"] for function in functions}
            calls = [replace(c, name=c.name if c.name in known else "unknown") for c in reply.calls]
            calls.sort(key=lambda call: call.name != LAST_WORD)
            reply = replace(reply, calls=tuple(calls))
            message: dict[str, Any] = {"role": "assistant", "content": reply.text}
            if calls:
                message["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": json.dumps(_arguments(call))},
                    }
                    for call in calls
                ]
            self._messages.append(message)
        return reply

    def _correct(self, reply: ChatReply, problem: str) -> None:
        for call in reply.calls:
            self._answer(call, f"That does not fit: {problem}.")
        if not reply.calls:
            self._messages.append({"role": "user", "content": _NUDGE})

    def _answer(self, call: ToolCall, text: str) -> None:
        room = self._max_prompt // _SHARE
        cut = text if len(text) <= room else f"{text[:room]}... (the rest is left out)"
        content = data(cut, call.name)
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    """Return the arguments by name; none where they are no JSON object."""
    with suppress(ValueError, RecursionError):
        given = json.loads(call.arguments)
        if isinstance(given, dict):
            return given
    return {}
