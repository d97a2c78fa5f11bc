"""Calls of an OpenAI-compatible endpoint: chat completions and embeddings, in time."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.domain.ports import Later
from pytest_bayesloc.domain.redaction import redacted

if TYPE_CHECKING:
    from openai import OpenAI

DEADLINE_S = 120.0  # of one call: models that think take their time
EMBEDDING_S = 15.0
RETRIES = 2
MAX_ANSWER = 1 << 20  # bytes of one answer that are read
#: Statuses that are tried again by the client.
_TRANSIENT = frozenset({408, 409, 429})
_SERVER = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A function that the model calls.

    Attributes:
        id: By which its answer is given.
        arguments: JSON, as the model wrote it.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The answer to one request.

    Attributes:
        text: Of the answer.
        refusal: Why the model refused; empty if it did not.
        is_cut: Whether it ended at the limit of tokens.
        tokens: Of the prompt and of the answer, as the server counts; None if it does not say.
        n_calls: HTTP requests that it took.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    refusal: str = ""
    is_cut: bool = False
    tokens: tuple[int, int] | None = None
    n_calls: int = 1

    @property
    def answer(self) -> str:
        """The text; where a function is called, the arguments of the first."""
        return self.calls[0].arguments if self.calls else self.text


@dataclass(eq=False)
class CallError(Exception):
    """A call that failed.

    Attributes:
        what: In a few words.
        status: Of HTTP; 0 if there was no answer.
        n_calls: HTTP requests that it took.
        is_final: Whether no other call of this run would fare better.
        hint: What to do about it.
    """

    what: str
    status: int = 0
    n_calls: int = 1
    is_final: bool = False
    hint: str = ""

    def __str__(self) -> str:
        return self.what


class Endpoint(Protocol):
    """Takes requests for chat completions."""

    @property
    def address(self) -> str:
        """Its URL, without credentials."""

    def send(self, body: Mapping[str, Any], *, n_calls: int, seconds: float) -> ChatReply:
        """Return the answer to a request for a chat completion.

        Raises:
            CallError: If there is none.
        """


class OpenAIEndpoint:
    """The endpoint that the client's variables name: ``OPENAI_BASE_URL``, ``OPENAI_API_KEY``, ...

    Args:
        environment: The variables; None: those of the process as they are.
        before_first: Called before anything is sent.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        before_first: Callable[[], None] = lambda: None,
    ) -> None:
        self._access = _access(environment)
        self._before_first = before_first
        self._lock = threading.Lock()
        self._has_sent = False

    @property
    def address(self) -> str:
        """Its URL, without credentials."""
        parts = urlsplit(self._access[0])
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"

    def send(self, body: Mapping[str, Any], *, n_calls: int, seconds: float) -> ChatReply:
        """Return the answer to ``body``, in ``n_calls`` HTTP requests and ``seconds`` at most.

        Raises:
            CallError: If there is no answer that holds a message.
        """
        with self._lock:
            if not self._has_sent:
                self._has_sent = True
                self._before_first()
        try:
            call = Later(lambda: self._read(body, n_calls - 1, seconds))
            data, n_retries = call.result(seconds)
        except TimeoutError as error:
            raise CallError(str(error), hint="Is the server busy or stuck?") from error
        except ModuleNotFoundError as error:
            raise CallError(
                f"{error.name} is missing",
                n_calls=0,
                is_final=True,
                hint="pip install 'pytest-bayesloc[llm]'",
            ) from error
        except CallError:
            raise
        except Exception as error:  # of the client, or of what it stands on
            status = int(getattr(error, "status_code", 0) or 0)
            is_retried = status in _TRANSIENT or status >= _SERVER
            said = f"{type(error).__name__}: {error}" if not status else f"HTTP {status}: {error}"
            hint, is_final = _HINTS.get(status, ("", False))
            taken = n_calls if is_retried else 1
            if type(error).__name__ in _UNREACHED:
                hint, is_final = "See OPENAI_BASE_URL and OPENAI_API_KEY.", True
                taken = 0 if type(error).__name__ == _NOT_SENT else n_calls
            elif not status:  # it was sent, and the answer was lost
                taken = 1
            hint = hint.format(model=str(body.get("model")))
            raise CallError(
                said, status=status, n_calls=taken, is_final=is_final, hint=hint
            ) from error
        return _reply(data, n_retries + 1)

    def _read(self, body: Mapping[str, Any], n_retries: int, limit_s: float) -> tuple[bytes, int]:
        """Return the bytes of the answer, and how many retries they took."""
        with _client(self._access, n_retries, limit_s) as client:
            streamed = client.chat.completions.with_streaming_response.create(**body)
            with streamed as response:
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > MAX_ANSWER:
                        raise CallError(f"an answer of more than {MAX_ANSWER} bytes")
                return bytes(data), getattr(response, "retries_taken", 0)


class DryRunEndpoint:
    """Sends nothing, and adds the texts of requests to ``prompts``."""

    address = ""

    def __init__(self, prompts: list[str]) -> None:
        self._prompts = prompts

    def send(self, body: Mapping[str, Any], *, n_calls: int, seconds: float) -> ChatReply:
        """Never answer.

        Raises:
            CallError: Always.
        """
        del n_calls, seconds
        parts = [f"--- {m['role']}\n{m['content']}" for m in body["messages"]]
        self._prompts.append(f"model: {body['model']}\n" + "\n".join(parts))
        raise CallError("nothing was sent", n_calls=0)


class EndpointEmbedder:
    """Asks the endpoint that the client's variables name (``OPENAI_BASE_URL``, ...).

    Without an ``environment``, they are those of the process as they are.
    """

    def __init__(
        self,
        model: str,
        deadline_s: float = EMBEDDING_S,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.model = model
        self._deadline_s = deadline_s
        self._access = _access(environment)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text, in their order.

        Raises:
            EndpointError: If there is no answer, or one of another shape.
        """
        try:
            vectors = Later(lambda: self._asked(texts)).result(self._deadline_s)
        except ModuleNotFoundError as error:
            missing = f"{error.name} is missing: pip install 'pytest-bayesloc[llm]'"
            raise self._failed(missing) from error
        except Exception as error:  # of the client, of what it stands on, or of the answer
            raise self._failed(f"{type(error).__name__}: {error}") from error
        if len({len(vector) for vector in vectors}) != 1 or len(vectors) != len(texts):
            raise self._failed(
                f"{len(vectors)} vectors came for {len(texts)} texts, or of different lengths"
            )
        return vectors

    def _asked(self, texts: Sequence[str]) -> list[list[float]]:
        with _client(self._access, RETRIES, self._deadline_s) as client:
            answer = client.embeddings.create(
                model=self.model, input=list(texts), encoding_format="float"
            )
        ordered = sorted(answer.data, key=lambda item: item.index)
        return [[float(x) for x in item.embedding] for item in ordered]

    def _failed(self, why: str) -> EndpointError:
        said = redacted(" ".join(why.split()))[:200]
        return EndpointError(
            f"The embeddings of {self.model} failed ({said}): past bugs are found by their words "
            "alone. See OPENAI_BASE_URL and OPENAI_API_KEY, or take embedding:NAME out of "
            "bayesloc_llm_model.",
            slug="embeddings",
        )


def _access(environment: Mapping[str, str] | None) -> tuple[str, str | None]:
    """Return address and key.

    A key of the user's goes to the user's address: neither is taken from what the project set since
    the process began, if there was a key then.
    """
    known = environment if environment and environment.get("OPENAI_API_KEY") else os.environ
    address, key = known.get("OPENAI_BASE_URL"), known.get("OPENAI_API_KEY")
    # A server of one's own mostly wants no key, but the client insists on one.
    return address or "https://api.openai.com/v1", key or ("none" if address else None)


def _client(access: tuple[str, str | None], n_retries: int, limit_s: float) -> OpenAI:
    from openai import OpenAI

    address, key = access
    return OpenAI(base_url=address, api_key=key, timeout=limit_s, max_retries=max(0, n_retries))


_NOT_SENT = "OpenAIError"  # what the client raises where it has no key
_UNREACHED = frozenset({"APIConnectionError", "APITimeoutError", _NOT_SENT})
_KEY = ("See OPENAI_API_KEY.", True)
_HINTS: dict[int, tuple[str, bool]] = {
    401: _KEY,
    403: _KEY,
    404: ("Does the endpoint know {model}? See --bayesloc-llm-model and OPENAI_BASE_URL.", True),
    429: ("Try again later, or lower calls in bayesloc_llm_limits.", True),
}


def _reply(data: bytes, n_calls: int) -> ChatReply:
    try:
        answer = json.loads(data)
        choice = answer["choices"][0]
        message = choice["message"]
        calls = (_tool_call(n, call) for n, call in enumerate(message.get("tool_calls") or ()))
        used = answer.get("usage") or {}
        n_in, n_out = used.get("prompt_tokens"), used.get("completion_tokens")
        tokens = None
        if isinstance(n_in, int) and isinstance(n_out, int) and n_in >= 0 and n_out >= 0:
            tokens = n_in, n_out
        return ChatReply(
            text=str(message.get("content") or ""),
            calls=tuple(calls),
            refusal=str(message.get("refusal") or ""),
            is_cut=choice.get("finish_reason") == "length",
            tokens=tokens,
            n_calls=n_calls,
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise CallError(
            f"an answer that is no chat completion ({type(error).__name__}: {error})",
            n_calls=n_calls,
        ) from error


def _tool_call(number: int, call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    given = function.get("arguments") or "{}"
    return ToolCall(
        id=str(call.get("id") or f"call_{number}"),
        name=str(function["name"]),
        arguments=given if isinstance(given, str) else json.dumps(given),
    )


def failed(use: str, error: CallError) -> EndpointError:
    """Return one line for the user."""
    said = " ".join(str(error).split())[:200]
    hint = f" {error.hint}" if error.hint else ""
    return EndpointError(
        f"The language model gave no {use} ({said}): the answer is without it.{hint}",
        slug="llm-failed",
    )
