"""Asks a language model for answers of a given shape, by whatever way its server understands."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from pytest_bayesloc.domain.errors import AnswerError, EndpointError
from pytest_bayesloc.domain.texts import with_texts
from pytest_bayesloc.llm.answers import ModelAnswer, json_schema
from pytest_bayesloc.llm.budget import CHARS_A_TOKEN, CallBudget, Exchanges
from pytest_bayesloc.llm.endpoint import (
    DEADLINE_S,
    RETRIES,
    CallError,
    ChatReply,
    Endpoint,
    ToolCall,
    failed,
)
from pytest_bayesloc.llm.privacy import Privacy

R = TypeVar("R")
T = TypeVar("T", bound=ModelAnswer)

TEMPERATURE = 0.3
SEED = 20_200
#: Ways to say what shape is wanted, in the order in which they are tried.
WAYS = ("json_schema", "tool", "json_object", "text")
#: What a server answers that does not know a way; 5xx too, since some crash on a schema.
_UNKNOWN_WAY = frozenset({400, 404, 405, 415, 422, 500, 501, 502})
#: Parameters that some models refuse, and what they are replaced by.
_OPTIONAL = {"temperature": "", "seed": "", "max_tokens": "max_completion_tokens"}
_MAX_TEXT = 64_000  # characters of an answer that are looked at
_MAX_CALLS = 8  # functions of one answer that are looked at
_MAX_REPAIRED = 4_000  # characters of an answer that are sent back
_ANSWER = "answer"  # the name of schema and tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question.

    Attributes:
        use: In a word or two, for messages and files: ``ranking``, ``inspection``, ...
        system: Who the model is, and the rules.
        user: The question with its data.
        max_tokens: Of the answer.
        temperature: How freely it is worded.
        seed: Of what is drawn: another one, another answer.
    """

    use: str
    system: str
    user: str
    max_tokens: int
    temperature: float = TEMPERATURE
    seed: int = SEED


class LlmAgent:
    """Asks within the budget; what fails costs a line, and never the run.

    As many as ``n_parallel`` requests are under way at once.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        budget: CallBudget,
        exchanges: Exchanges,
        privacy: Privacy,
        note: Callable[[str], None],
        n_parallel: int = 4,
    ) -> None:
        self._endpoint = endpoint
        self.budget = budget
        self._exchanges = exchanges
        self._privacy = privacy
        self._note = note
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(n_parallel)
        self._ways: dict[str, str] = {}  # per model, the first that it may understand
        self._refused: dict[str, set[str]] = {}  # per model, parameters that it refuses
        self._is_over = False
        self._n_silent = 0  # calls in a row without any answer
        self.n_replayed = 0

    def ask(self, prompt: Prompt, shape: type[T], model: str) -> T | None:
        """Return an answer of ``shape``, or None. May be called from several threads."""
        clean = self._privacy.clean
        prompt = replace(prompt, system=clean(prompt.system), user=clean(prompt.user))
        return self._noted(prompt.use, lambda: self._by_any_way(prompt, shape, model))

    def turn(
        self,
        prompt: Prompt,
        model: str,
        messages: Sequence[dict[str, Any]],
        functions: Sequence[dict[str, Any]],
    ) -> ChatReply | None:
        """Return the next message of a conversation, in which the model may call functions.

        None if there is no answer, or if the endpoint knows no functions; may be called from
        several threads. The ``messages`` are all that was said so far, the prompt too.
        """
        cleaned = with_texts([*messages], self._privacy.clean)
        body = {**_body(prompt, model, cleaned), "tools": [*functions]}

        def say() -> ChatReply | None:
            try:
                reply = self._send(prompt, body, n_retries=RETRIES)
            except CallError as error:
                if error.is_final or error.status not in _UNKNOWN_WAY:
                    raise
                return None
            self._n_silent = 0
            return reply

        return self._noted(prompt.use, say)

    def _noted(self, use: str, ask: Callable[[], R | None]) -> R | None:
        """Return what is answered; None, and a line for the user, if that fails."""
        with self._slots:
            if self._is_over:
                return None
            try:
                return ask()
            except CallError as error:
                self._n_silent += error.n_calls > 0
                self._is_over |= error.is_final or self._n_silent > 1
                self._note(str(failed(use, error)))
            except (AnswerError, EndpointError) as error:
                self._is_over |= isinstance(error, EndpointError)
                self._note(str(error))
        return None

    def _by_any_way(self, prompt: Prompt, shape: type[T], model: str) -> T:
        first = WAYS.index(self._ways.get(model, WAYS[0]))
        for n, way in enumerate(WAYS[first:]):
            user = prompt.user
            if way in {"json_object", "text"}:
                schema = json.dumps(json_schema(shape))
                user += (
                    "\n\nAnswer with one JSON object of this JSON schema, and nothing else:\n"
                    f"{schema}"
                )
            messages = [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": user},
            ]
            body = {**_body(prompt, model, messages), **_wanted(shape, way)}
            try:
                reply = self._send(prompt, body, n_retries=0 if n else RETRIES)
            except CallError as error:
                if error.is_final or error.status not in _UNKNOWN_WAY or way == WAYS[-1]:
                    raise
                continue
            self._n_silent = 0
            is_understood = reply.refusal or reply.is_cut or next(_objects(reply.answer), None)
            if is_understood or way == WAYS[-1]:
                self._ways[model] = way
                return self._read(reply, prompt, body, shape)
        raise AssertionError("the last way returns or raises")

    def _read(self, reply: ChatReply, prompt: Prompt, body: dict[str, Any], shape: type[T]) -> T:
        """Return the answer in a reply; one that does not fit is sent back once."""
        clean = self._privacy.clean
        try:
            return parsed(reply, shape)
        except ValueError as error:
            if reply.refusal:
                raise _dropped(prompt, f"refused: {reply.refusal}") from error
            wrong = clean(why(error))
        correction = (
            f"That does not fit: {wrong}. Answer again with one JSON object of this JSON schema, "
            f"and nothing else:\n{json.dumps(json_schema(shape))}"
        )
        messages = [
            *body["messages"],
            {"role": "assistant", "content": reply.answer[:_MAX_REPAIRED]},
            {"role": "user", "content": correction},
        ]
        second = self._send(prompt, {**body, "messages": messages}, n_retries=0)
        try:
            return parsed(second, shape)
        except ValueError as error:
            raise _dropped(prompt, clean(why(error))) from error

    def _send(self, prompt: Prompt, body: dict[str, Any], *, n_retries: int) -> ChatReply:
        """Send one request; what a model refuses of it is left out of all that follow.

        Raises:
            CallError: If there is no answer.
            EndpointError: If a cap is met.
        """
        refused = self._refused.setdefault(body["model"], set())
        while True:
            sent = {_OPTIONAL.get(k, k) if k in refused else k: v for k, v in body.items()}
            sent.pop("", None)
            try:
                return self._exchange(prompt, sent, n_retries)
            except CallError as error:
                names = [n for n in _OPTIONAL if n in str(error) and n not in refused]
                if error.status not in (400, 422) or not names:
                    raise
                refused.add(names[0])

    def _exchange(self, prompt: Prompt, body: dict[str, Any], n_retries: int) -> ChatReply:
        use = re.sub(r"\W+", "-", prompt.use)
        kept = self._exchanges.find(use, body)
        if isinstance(kept, CallError):
            raise kept
        if kept is not None:
            with self._lock:
                self.n_replayed += 1
            return kept
        text = json.dumps([body["messages"], *body.get("tools", ())])
        n_calls, tokens = 0, (0, 0)
        n_reserved, settle = self.budget.reserve(
            body["model"], text, prompt.max_tokens, n_retries=n_retries
        )
        try:
            seconds = min(DEADLINE_S, self.budget.left_s())
            reply = self._endpoint.send(body, n_calls=n_reserved, seconds=seconds)
            n_calls = reply.n_calls
            tokens = reply.tokens or (_guess(text), _guess(reply.text + reply.answer))
        except CallError as error:
            n_calls = error.n_calls
            error.what = self._privacy.clean(error.what)
            if error.status:
                self._exchanges.keep(use, body, error)
            raise
        finally:
            settle(n_calls, tokens)
        reply = replace(
            reply,
            text=self._privacy.clean(reply.text[:_MAX_TEXT]),
            calls=tuple(self._cleaned(call) for call in reply.calls[:_MAX_CALLS]),
            refusal=self._privacy.clean(reply.refusal[:1_000]),
            is_cut=reply.is_cut or len(reply.answer) > _MAX_TEXT,
            tokens=tokens,
        )
        self._exchanges.keep(use, body, reply)
        return reply

    def _cleaned(self, call: ToolCall) -> ToolCall:
        arguments = self._privacy.clean(call.arguments[:_MAX_TEXT])
        return replace(call, id=call.id[:100], name=call.name[:100], arguments=arguments)


def _guess(text: str) -> int:
    return int(len(text) / CHARS_A_TOKEN)


def _body(prompt: Prompt, model: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "model": model,
        "messages": messages,
        "temperature": prompt.temperature,
        "seed": prompt.seed,
        "max_tokens": prompt.max_tokens,
    }


def _wanted(shape: type[ModelAnswer], way: str) -> dict[str, Any]:
    """Return the part of a request that says what shape is wanted."""
    schema = json_schema(shape)
    if way == "json_schema":
        wanted = {"name": _ANSWER, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if way == "tool":
        function = {"name": _ANSWER, "description": "Give the answer.", "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": _ANSWER}},
        }
    return {"response_format": {"type": "json_object"}} if way == "json_object" else {}


def parsed(reply: ChatReply, shape: type[T]) -> T:
    """Return the answer in a reply, wherever it stands in the text.

    Raises:
        ValueError: If there is none.
    """
    if reply.refusal:
        raise ValueError(reply.refusal)
    problem: ValueError = ValueError(
        "there is no JSON object in it" if reply.answer.strip() else "it is empty"
    )
    for text in _objects(reply.answer):
        try:
            return shape.model_validate_json(text)
        except ValidationError as error:  # noqa: PERF203 - a few, and each may be the one
            problem = error
    if reply.is_cut:
        raise ValueError("it is cut off: it has to be shorter")
    raise problem


def _objects(text: str) -> Iterator[str]:
    """Yield the JSON objects that stand in ``text``: the whole, else those cut out of it."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(20):
        at = text.find("{", at)
        if at < 0:
            return
        end = at + 1
        with suppress(ValueError, RecursionError):
            _, end = decoder.raw_decode(text, at)
            yield text[at:end]
        at = end


def why(error: ValueError) -> str:
    """Return what does not fit, in one line."""
    if isinstance(error, ValidationError):
        parts = (
            f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)[:3]
        )
        return "; ".join(parts)
    return " ".join(str(error).split())[:200]


def _dropped(prompt: Prompt, what: str) -> AnswerError:
    return AnswerError(
        f"The language model's {prompt.use} is not used ({what[:200]}): the answer is without it. "
        "A larger model may do better: --bayesloc-llm-model.",
        slug="llm-answer",
    )
