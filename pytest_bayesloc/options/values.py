"""Values that options have, the names that they know, and which values need trust."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence


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


# -- values that reach beyond running the tests here: they need trust


def _leads_out(path: Path | str, config: pytest.Config) -> bool:
    """Whether a path leads out of the project, or to what git keeps there."""
    real, root = (Path(os.path.realpath(where)) for where in (path, config.rootpath))
    return not real.is_relative_to(root) or ".git" in real.relative_to(root).parts


def is_memory_elsewhere(value: str, config: pytest.Config) -> bool:
    """Whether the memory is a server, or a file out of the project."""
    is_place = value not in {"on", "off"}
    return is_place and ("://" in value or _leads_out(config.rootpath / value, config))


def are_reports_elsewhere(value: Sequence[Report], config: pytest.Config) -> bool:
    """Whether a report would be written out of the project."""
    return any(report.path is not None and _leads_out(report.path, config) for report in value)


def are_executors_elsewhere(value: Sequence[str], _: pytest.Config) -> bool:
    """Whether tests would run elsewhere than on this machine."""
    return not set(value) <= {LOCAL, "popen", "dask:local"}


def are_limits_raised(value: LlmLimits, _: pytest.Config) -> bool:
    """Whether more would be asked of a language model than by default."""
    pairs = zip(value, LlmLimits(), strict=True)
    return any(given > usual for given, usual in pairs)


def is_apply_unsafe(value: bool, config: pytest.Config) -> bool:
    """Whether fixes would be applied that may change what the code means."""
    return value and config.getoption("bayesloc_fix") == "apply"
