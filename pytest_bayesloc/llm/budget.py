"""Limits what is asked in a run, and counts what was."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.domain.ports import Clock

CHARS_A_TOKEN = 3.0  # a low guess, so that what is reserved is enough
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """The limits of one run.

    Attributes:
        n_calls: HTTP requests, retries included.
        n_tokens: Of prompts and answers.
        cost: In the currency of ``prices``; ``inf`` for no cap.
        prices: Per model, the price of a million tokens of prompts and of answers.
        seconds: Wall seconds that the run may wait for answers, from its first call on.
        n_parallel: Requests under way at once.
    """

    n_calls: int
    n_tokens: int
    cost: float = inf
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    seconds: float = 60.0
    n_parallel: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The share that was set aside for one call: requests, tokens and money."""

    model: str
    n_calls: int
    n_tokens: int
    cost: float


class CallBudget:
    """Sets aside before a call what it may take at most, and books what it took.

    Args:
        limits: At most.
        clock: Monotonic seconds.
    """

    def __init__(self, limits: CallLimits, clock: Clock) -> None:
        self.limits = limits
        self._clock = clock
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
            return self.limits.seconds
        return max(0.0, self._started + self.limits.seconds - self._clock())

    def has_left(self, n_calls: int, n_tokens: int) -> bool:
        """Return whether so many calls and tokens, and some time, are left."""
        limits = self.limits
        return (
            self._n_calls + n_calls <= limits.n_calls
            and self._n_tokens + n_tokens <= limits.n_tokens
            and self._cost < limits.cost
            and self.left_s() > 0
        )

    def reserve(self, model: str, prompt: str, max_tokens: int, *, n_retries: int) -> Reservation:
        """Set aside a call with as many retries as fit.

        Raises:
            EndpointError: If a limit is met.
        """
        n_tokens = int(len(prompt) / CHARS_A_TOKEN) + max_tokens
        with self._lock:
            if self._started is None:
                self._started = self._clock()
            n_calls = min(1 + n_retries, self.limits.n_calls - self._n_calls)
            cost = self._price(model, n_tokens - max_tokens, max_tokens)
            self._check(n_calls, n_tokens, cost)
            self._n_calls += n_calls
            self._n_tokens += n_tokens
            self._cost += cost
        return Reservation(model=model, n_calls=n_calls, n_tokens=n_tokens, cost=cost)

    def _check(self, n_calls: int, n_tokens: int, cost: float) -> None:
        limits = self.limits
        if not self.left_s():
            raise _capped(f"{limits.seconds:g} s were spent", "--bayesloc-budget")
        if n_calls < 1:
            raise _capped(f"{limits.n_calls} calls were made", "calls in bayesloc_llm_limits")
        if self._n_tokens + n_tokens > limits.n_tokens:
            said = (
                f"{self._n_tokens} of {limits.n_tokens} tokens were used, {n_tokens} more are due"
            )
            raise _capped(said, "tokens in bayesloc_llm_limits")
        if self._cost + cost > limits.cost:
            raise _capped(
                f"{self._cost:.4f} of {limits.cost:g} were spent", "cost in bayesloc_llm_limits"
            )

    def settle(self, reserved: Reservation, *, n_calls: int, tokens: tuple[int, int]) -> None:
        """Book what a call took in place of what was set aside for it."""
        with self._lock:
            self._n_calls += n_calls - reserved.n_calls
            self._n_tokens += sum(tokens) - reserved.n_tokens
            self._cost += self._price(reserved.model, *tokens) - reserved.cost
            self._is_priced &= reserved.model in self.limits.prices
            self.calls += n_calls
            self.tokens_in += tokens[0]
            self.tokens_out += tokens[1]

    def _price(self, model: str, tokens_in: int, tokens_out: int) -> float:
        price_in, price_out = self.limits.prices.get(model, (0.0, 0.0))
        return (tokens_in * price_in + tokens_out * price_out) / MILLION


def _capped(what: str, setting: str) -> EndpointError:
    return EndpointError(
        f"The language model is not asked further: {what}. The answer is without the rest; "
        f"raise {setting} for more.",
        slug="llm-cap",
    )
