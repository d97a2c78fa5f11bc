"""What is said about language models."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.options.reading import HOW_MANY, MODES_OF_LLM, choice_of, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_AMOUNT = "an amount of money: give a number of 0 or more, for example 0.50"
_PRICE = "NAME IN OUT, the prices of a million tokens, for example 'gpt-4.1-mini 0.40 1.60'"
_AT_LEAST_ONE = "a number of requests: give a whole number of 1 or more, for example 4"
_LEAST_PROMPT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """How language models are asked.

    Attributes:
        model: Its name at the endpoint.
        fast_model: For summaries; empty: the same.
        mode: ``live``, ``replay`` or ``record``.
        is_dry: Whether prompts are printed and nothing is sent.
        n_calls: HTTP requests a run.
        n_tokens: A run.
        cost: Money a run, by ``prices``; ``inf``: no limit.
        prices: Per model, the prices of a million tokens of prompts and of answers.
        max_prompt: Characters of one prompt.
        n_parallel: Requests that may be under way at once.
        n_inspections: Functions of a fault that assertions are written for.
        never_send: Globs of files whose text never leaves the machine.
        folder: Where requests and answers are kept, relative to rootdir.
    """

    model: str
    fast_model: str
    mode: str
    is_dry: bool
    n_calls: int
    n_tokens: int
    cost: float
    prices: Mapping[str, tuple[float, float]]
    max_prompt: int
    n_parallel: int
    n_inspections: int
    never_send: tuple[str, ...]
    folder: str

    @classmethod
    def from_config(cls, config: pytest.Config) -> LlmSettings | None:
        """Read and check everything; None if no language model is to be asked.

        Raises:
            pytest.UsageError: If a value is not usable; the text names it.
        """
        prices = _prices(config)
        cost = number_of(config, "llm_max_cost", float, lambda x: 0 <= x < inf, _AMOUNT)
        made = cls(
            model=text_of(config, "llm_model", "a model's name")[1],
            fast_model=text_of(config, "llm_fast_model", "a model's name")[1],
            mode=choice_of(config, "llm_mode", MODES_OF_LLM),
            is_dry=bool(config.getoption("bayesloc_llm_dry_run")),
            n_calls=number_of(config, "llm_max_calls", int, lambda n: n >= 0, HOW_MANY),
            n_tokens=number_of(config, "llm_max_tokens", int, lambda n: n >= 0, HOW_MANY),
            cost=cost or inf,
            prices=prices,
            max_prompt=number_of(
                config,
                "llm_max_prompt",
                int,
                lambda n: n >= _LEAST_PROMPT,
                f"a number of characters: give a whole number of {_LEAST_PROMPT} or more",
            ),
            n_parallel=number_of(config, "llm_parallel", int, lambda n: n > 0, _AT_LEAST_ONE),
            n_inspections=number_of(config, "llm_inspections", int, lambda n: n >= 0, HOW_MANY),
            never_send=tuple(config.getini("bayesloc_llm_never_send")),
            folder=text_of(config, "llm_folder", "a folder")[1],
        )
        unpriced = {made.model, made.fast_model or made.model} - prices.keys()
        if cost and unpriced:
            raise pytest.UsageError(
                f"bayesloc_llm_max_cost={cost:g} can't be kept: the price of "
                f"{', '.join(sorted(unpriced))} is not known. Give bayesloc_llm_price as {_PRICE}."
            )
        is_on = config.getoption("bayesloc_llm") or config.getini("bayesloc_llm") or made.is_dry
        return made if is_on else None


def add_llm_options(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    """Declare what has no value of its own, or is for the ini file alone."""
    text = "ask a language model (OPENAI_BASE_URL, OPENAI_API_KEY) about what fails"
    group.addoption("--bayesloc-llm", action="store_true", help=text)
    parser.addini("bayesloc_llm", text, type="bool")
    dry = "print what a language model would be asked, and send nothing"
    group.addoption("--bayesloc-llm-dry-run", action="store_true", help=dry)
    for name, text in (
        ("bayesloc_llm_price", f"a line a model: {_PRICE}"),
        ("bayesloc_llm_never_send", "globs of files whose text never leaves the machine"),
    ):
        parser.addini(name, text, type="linelist", default=[])


def _prices(config: pytest.Config) -> dict[str, tuple[float, float]]:
    found = {}
    for entry in config.getini("bayesloc_llm_price"):
        try:
            model, price_in, price_out = str(entry).split()
            prices = float(price_in), float(price_out)
            good = all(isfinite(price) and price >= 0 for price in prices)
        except ValueError:
            good = False
        if not good:
            raise pytest.UsageError(f"bayesloc_llm_price={entry} is not {_PRICE}.")
        found[model] = prices
    return found
