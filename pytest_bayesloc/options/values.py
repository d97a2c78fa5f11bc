"""Values that options have, and the names that they know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pytest

#: Takes how the user would name the option, what was given (text, list or bool) and the config.
Read = Callable[[str, Any, pytest.Config], Any]
#: Takes a value that was read, and the config: whether it reaches beyond running the tests here.
Reaches = Callable[[Any, pytest.Config], bool]
#: Takes an ini file, a setting that it asks for, and the value: whether the user trusts that.
Trusts = Callable[[Path, str, str], bool]
#: Makes the text of a report of the JSON document.
Format = Callable[[Mapping[str, Any]], str]

AUTO = "auto"
LOCAL = "local"
DRY_RUN = "dry-run"
RECORD = "record"
LOOP = "loop"
FORMULAS = ("blend", "tarantula", "ochiai", "dstar2", "op2", "barinel")
MODELS = ("single-fault", "independent")
#: Kinds of evidence, of advice and of the page that can be left out.
PARTS = (
    "traceback",
    "guard",
    "origin",
    "tests",
    "names",
    "changed",
    "counterfactual",
    "values",
    "assertions",
    "mutants",
    "repairs",
    "returns",
    "llm",
    "generated",
    "loops",
    "world-model",
    "prompt",
    "redaction",
)
REPORT_KINDS = ("html", "json", "sarif", "gitlab", "markdown", "github", "junit")
COLLECT = ("auto", "always", "on-failure", "never")
FIX_MODES = ("off", "suggest", "review", "apply", "undo", "tools")
LLM_MODES = ("live", "replay", "record", DRY_RUN)
#: What ``--bug-memory`` does, and whether it needs ``:`` and something behind it.
MEMORY_ACTIONS = {
    "stats": False,
    "stats-json": False,
    "forget": True,
    "merge": True,
    "export": True,
    "import": True,
}
EXPECTED_MODEL = (
    "NAME or NAME IN OUT with the prices of a million tokens, as 'gpt-4.1-mini 0.40 1.60'"
)
EXPECTED_ACTIONS = "stats, stats-json, forget:ID, merge:A,B, export:FILE, import:FILE"


class Launch(NamedTuple):
    """``sys.path`` and ``os.environ`` of the process, before pytest and the tests changed them."""

    path: tuple[str, ...]
    environment: Mapping[str, str]


class Report(NamedTuple):
    """A report to write: its kind, and where (None: the default place, of ``loop`` stdout)."""

    kind: str
    path: Path | None = None


class LlmModels(NamedTuple):
    """Names of models at the endpoint.

    Attributes:
        main: Asked wherever no other is named.
        fast: For summaries; empty: the main one.
        embedding: For finding past bugs; empty: they are found by their words alone.
        prices: Per model, the prices of a million tokens of prompts and of answers.
    """

    main: str
    fast: str
    embedding: str
    prices: Mapping[str, tuple[float, float]]


class LlmLimits(NamedTuple):
    """Limits of one run.

    Attributes:
        calls: HTTP requests, retries included.
        tokens: Of prompts and answers.
        cost: Money, by the models' prices.
        functions: Functions of a fault that it inspects or rewrites.
        prompt: Characters of one prompt: 24,000 are some 6,000 tokens.
        answer: Tokens of one answer, those in which a model thinks included.
        parallel: Requests under way at once.
    """

    calls: int = 40
    tokens: int = 400_000
    cost: float = inf
    functions: int = 3
    prompt: int = 24_000
    answer: int = 8_000
    parallel: int = 4
