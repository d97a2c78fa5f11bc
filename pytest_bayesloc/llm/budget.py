"""Limits what is asked in a run, counts what was, and keeps requests with their answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import MsgspecError, convert

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.domain.ports import Clock
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.llm.endpoint import CallError, ChatReply

Settle = Callable[[int, tuple[int, int]], None]
CHARS_A_TOKEN = 3.0  # a low guess, so that what is reserved is enough
MILLION = 1_000_000


class CallBudget:
    """Reserves before a call what it may take at most, then settles what it took.

    Args:
        clock: Monotonic seconds.
        n_calls: HTTP requests of one run at most, retries included.
        n_tokens: Of prompts and answers.
        cost: In the currency of ``prices``; ``inf`` for no cap.
        prices: Per model, the price of a million tokens of prompts and of answers.
        seconds: Wall seconds that the run may wait for answers, from its first call on.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        n_calls: int,
        n_tokens: int,
        cost: float = inf,
        prices: Mapping[str, tuple[float, float]] = MappingProxyType({}),
        seconds: float = 60.0,
    ) -> None:
        self._clock = clock
        self._max_calls, self._max_tokens, self._max_cost = n_calls, n_tokens, cost
        self._prices = prices
        self._seconds = seconds
        self._lock = threading.Lock()
        self._started: float | None = None
        self._n_calls = self._n_tokens = 0  # taken or set aside
        self._cost = 0.0
        self._is_priced = True
        self.calls = self.tokens_in = self.tokens_out = 0  # taken

    @property
    def cost(self) -> float | None:
        """The money spent; None if a model was asked that has no price."""
        return self._cost if self._is_priced else None

    def left_s(self) -> float:
        """Return the seconds left; all of them before the first call."""
        if self._started is None:
            return self._seconds
        return max(0.0, self._started + self._seconds - self._clock())

    def has_left(self, n_calls: int, n_tokens: int) -> bool:
        """Return whether so many calls and tokens, and some time, are left."""
        return (
            self._n_calls + n_calls <= self._max_calls
            and self._n_tokens + n_tokens <= self._max_tokens
            and self._cost < self._max_cost
            and self.left_s() > 0
        )

    def reserve(
        self, model: str, prompt: str, max_tokens: int, *, n_retries: int
    ) -> tuple[int, Settle]:
        """Set aside a call with as many retries as fit.

        Returns:
            The requests that it may take, and what books those that it took, with the tokens of
            the prompt and of the answer, in place of all that was set aside.

        Raises:
            EndpointError: If a limit is met.
        """
        n_tokens = int(len(prompt) / CHARS_A_TOKEN) + max_tokens
        with self._lock:
            if self._started is None:
                self._started = self._clock()
            n_calls = min(1 + n_retries, self._max_calls - self._n_calls)
            cost = self._price(model, n_tokens - max_tokens, max_tokens)
            if not self.left_s():
                raise _capped(f"{self._seconds:g} s were spent", "--bayesloc-budget")
            if n_calls < 1:
                raise _capped(f"{self._max_calls} calls were made", "calls in bayesloc_llm_limits")
            if self._n_tokens + n_tokens > self._max_tokens:
                used = f"{self._n_tokens} of {self._max_tokens} tokens were used"
                raise _capped(f"{used}, {n_tokens} more are due", "tokens in bayesloc_llm_limits")
            if self._cost + cost > self._max_cost:
                spent = f"{self._cost:.4f} of {self._max_cost:g} were spent"
                raise _capped(spent, "cost in bayesloc_llm_limits")
            self._n_calls += n_calls
            self._n_tokens += n_tokens
            self._cost += cost

        def settle(n_taken: int, tokens: tuple[int, int]) -> None:
            with self._lock:
                self._n_calls += n_taken - n_calls
                self._n_tokens += sum(tokens) - n_tokens
                self._cost += self._price(model, *tokens) - cost
                self._is_priced &= model in self._prices
                self.calls += n_taken
                self.tokens_in += tokens[0]
                self.tokens_out += tokens[1]

        return n_calls, settle

    def _price(self, model: str, tokens_in: int, tokens_out: int) -> float:
        price_in, price_out = self._prices.get(model, (0.0, 0.0))
        return (tokens_in * price_in + tokens_out * price_out) / MILLION


def _capped(what: str, setting: str) -> EndpointError:
    return EndpointError(
        f"The language model is not asked further: {what}. The answer is without the rest; "
        f"raise {setting} for more.",
        slug="llm-cap",
    )


FORMAT = 1
FOLDER = ".bayesloc/llm"  # relative to rootdir
_KEY_LENGTH = 24
_MAX_FILE = 4 << 20


class Exchanges:
    """Replies by the content of their requests, a file each.

    The mode ``live`` asks what is not kept, ``record`` asks always, ``replay`` never asks.
    """

    def __init__(self, folder: Path, mode: str, write: Callable[[Path, str], None]) -> None:
        self._folder = folder
        self.mode = mode
        self._write = write

    def find(self, use: str, body: Mapping[str, Any]) -> ChatReply | CallError | None:
        """Return what is kept of this request; None if it has to be sent.

        A request that failed is kept for replays alone: it may fare better now.
        """
        if self.mode == "record":
            return None
        kept = _read(self._path(use, body))
        if isinstance(kept, ChatReply):
            return kept
        if self.mode == "live":
            return None
        return kept or CallError(
            f"nothing is kept of this request in {self._folder.name}",
            n_calls=0,
            hint="Run once with bayesloc_llm_mode=record.",
        )

    def keep(self, use: str, body: Mapping[str, Any], answer: ChatReply | CallError) -> None:
        """Keep an answer, or that there was none; nothing is kept where nothing can be written."""
        document: dict[str, Any] = {"format": FORMAT, "use": use, "request": dict(body)}
        if isinstance(answer, ChatReply):
            document["reply"] = asdict(answer)
        else:
            document["error"] = {"what": answer.what, "status": answer.status}
        with suppress(OSError, ValueError):
            self._write(self._path(use, body), json.dumps(document, ensure_ascii=True, indent=1))

    def _path(self, use: str, body: Mapping[str, Any]) -> Path:
        text = json.dumps([FORMAT, body], sort_keys=True, ensure_ascii=True)
        return self._folder / f"{use}-{text_digest(text, _KEY_LENGTH)}.json"


def _read(path: Path) -> ChatReply | CallError | None:
    """Return the answer in a file; None if it is none of ours, or damaged."""
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError, MsgspecError):
        if path.stat().st_size <= _MAX_FILE:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["format"] == FORMAT:
                if "reply" in document:
                    return replace(convert(document["reply"], ChatReply), n_calls=0)
                return CallError(**document["error"], n_calls=0)
    return None
