"""No limit is passed: what a call may take at most is set aside before it is made."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_bayesloc.domain.errors import EndpointError
from pytest_bayesloc.llm.budget import CallBudget
from tests.fakes.clock import Clock

LIMITS: dict[str, Any] = {"n_calls": 10, "n_tokens": 10_000, "prices": {"m": (1.0, 10.0)}}


def budget(**limits: float) -> CallBudget:
    return CallBudget(Clock(), **{**LIMITS, **limits})


def ask(of: CallBudget, *, n_calls: int = 1, tokens: tuple[int, int] = (10, 10)) -> None:
    _, settle = of.reserve("m", "x" * 30, 10, n_retries=2)
    settle(n_calls, tokens)


def test_what_was_taken_is_booked() -> None:
    own = budget()
    ask(own, n_calls=2, tokens=(100_000, 50_000))

    assert (own.calls, own.tokens_in, own.tokens_out) == (2, 100_000, 50_000)
    assert own.cost == pytest.approx(0.1 + 0.5)


@pytest.mark.parametrize(
    ("limits", "setting"),
    [({"n_calls": 2}, "calls"), ({"n_tokens": 50}, "tokens"), ({"cost": 0.0003}, "cost")],
)
def test_cap_that_is_met_is_named(limits: dict[str, float], setting: str) -> None:
    own = budget(**limits)
    ask(own)
    ask(own)

    with pytest.raises(EndpointError, match=rf"{setting} in bayesloc_llm_limits .*\(llm-cap\)"):
        ask(own, n_calls=0)


def test_calls_that_are_under_way_count() -> None:
    own = budget(n_calls=3)
    own.reserve("m", "", 10, n_retries=2)

    with pytest.raises(EndpointError, match="3 calls were made"):
        own.reserve("m", "", 10, n_retries=2)


def test_there_are_no_more_retries_than_calls_left() -> None:
    n_calls, _ = budget(n_calls=2).reserve("m", "", 10, n_retries=5)

    assert n_calls == 2


def test_time_runs_from_the_first_call_on() -> None:
    clock = Clock()
    own = CallBudget(clock, **{**LIMITS, "seconds": 5.0})
    clock.now = 100.0
    assert own.left_s() == 5.0
    own.reserve("m", "", 10, n_retries=0)
    clock.now = 104.0
    assert own.left_s() == 1.0
    clock.now = 106.0

    with pytest.raises(EndpointError, match="5 s were spent"):
        own.reserve("m", "", 10, n_retries=0)


def test_cost_is_unknown_once_a_model_without_a_price_was_asked() -> None:
    own = budget()
    assert own.cost == 0.0
    _, settle = own.reserve("n", "", 10, n_retries=0)
    settle(1, (1, 1))

    assert own.cost is None
