"""Reading one value: command line, ini file, default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FORMULAS = ("blend", "tarantula", "ochiai", "dstar2", "op2", "barinel")
MODELS = ("single-fault", "independent")
SELECTIONS = ("information", "greedy")
#: Kinds of evidence that can be left out.
EVIDENCE = (
    "traceback",
    "guard",
    "origin",
    "tests",
    "names",
    "order",
    "changed",
    "counterfactual",
    "assertions",
    "mutants",
    "llm",
    "generated",
)
#: Reports as the CI service shows them, where there is one.
AUTO = "auto"
REPORT_KINDS = ("html", "json", "sarif", "gitlab", "markdown", "github", "junit")
#: When it is traced what tests execute.
COLLECT = ("auto", "always", "on-failure", "never")
#: Of OpenAI's; asked only where the user says so.
EMBEDDING_MODEL = "text-embedding-3-small"
#: What is counted towards a loop.
LOOPS = ("errors", "misses", "cycles", "code_edits")
#: Of OpenAI's, too; asked only with --bayesloc-llm.
MODEL = "gpt-4.1-mini"
FIX_MODES = ("off", "suggest", "review", "apply", "undo")
MODES_OF_LLM = ("live", "replay", "record")
HOW_MANY = "a number: give a whole number of 0 or more, for example 3"


class Option(NamedTuple):
    """One value on the command line and its ini twin."""

    name: str
    metavar: str
    help: str
    default: str


VALUES = (
    Option("budget", "SECONDS", "wall seconds that inspections may take", "60"),
    Option("inspections", "N", "inspections at most, for each fault", "40"),
    Option("threshold", "P", "probability at which a suspect is decided, in (0, 1)", "0.9"),
    Option("formula", "NAME", f"prior: {', '.join(FORMULAS)}", "blend"),
    Option("model", "NAME", f"belief: {', '.join(MODELS)}", "single-fault"),
    Option("selection", "NAME", f"next inspection by: {', '.join(SELECTIONS)}", "information"),
    Option("collect", "WHEN", f"trace tests: {', '.join(COLLECT)}", "auto"),
    Option("workers", "N|auto", "servers that run tests again side by side", AUTO),
    Option("host_workspace", "DIR", "the project's folder here, where it has two names", ""),
    Option("container_workspace", "DIR", "the same folder where tests are run again", ""),
    Option("docker_command", "COMMAND", "client of docker:... and docker-image:...", "docker"),
    Option("docker_run", "ARGS", "more options of docker run, for docker-image:...", ""),
    Option("mutants", "on|off", "whether small edits are tried in memory", "on"),
    Option("memory", "on|off|PATH|URL", "where bugs are remembered from run to run", "on"),
    Option("memory_limit", "N", "bugs that are kept; the oldest closed ones go first", "10000"),
    Option("experiment", "off|ab", "ab shows advice on half of the days, to measure it", "off"),
    Option("max_similar_bugs", "N", "past bugs that advice shows", "3"),
    Option("max_failed_strategies", "N", "failed attempts that advice shows", "5"),
    Option("embedding_model", "off|on|NAME", "of an endpoint, to find past bugs by", "off"),
    Option("world_model", "on|off", "whether advice tells what is known beyond one bug", "on"),
    Option("loop_errors", "N", "code states with one error that are a loop; 0: never", "3"),
    Option("loop_misses", "N", "edits in a wrong place that are a loop; 0: never", "3"),
    Option("loop_cycles", "N", "repetitions of a cycle that are a loop; 0: never", "3"),
    Option("loop_code_edits", "N", "edits of code for a test's fault that are a loop", "2"),
    Option("loops", "on|off", "whether to warn of loops", "on"),
    Option("llm_model", "NAME", "of an endpoint, which --bayesloc-llm asks", MODEL),
    Option("llm_fast_model", "NAME", "a cheaper one, for summaries", ""),
    Option("llm_mode", "|".join(MODES_OF_LLM), "ask what is not kept; never ask; ask all", "live"),
    Option("llm_max_calls", "N", "requests a run, retries included", "40"),
    Option("llm_max_tokens", "N", "tokens a run, of prompts and answers", "200000"),
    Option("llm_max_cost", "AMOUNT", "money a run, by bayesloc_llm_price; 0: no limit", "0"),
    Option("llm_max_prompt", "CHARS", "characters of one prompt", "24000"),
    Option("llm_inspections", "N", "functions of a fault that it writes assertions for", "3"),
    Option("llm_parallel", "N", "requests that may be under way at once", "4"),
    Option("llm_folder", "DIR", "where requests and answers are kept", ".bayesloc/llm"),
    Option("record", "PATH", "keep what the tests did, to be merged with other runs", ""),
    Option("report_prompt", "on|off", "whether the page offers a prompt for an assistant", "on"),
    Option("fix", "|".join(FIX_MODES), "search fixes, and what to do with them", "off"),
    Option("green", "REV", "git revision at which the tests are known to pass", ""),
)


def number_of(
    config: pytest.Config,
    name: str,
    kind: Callable[[Any], Any],
    accepts: Callable[[Any], bool],
    expected: str,
) -> Any:  # noqa: ANN401 - int or float, as ``kind`` makes it
    """The value of an option as a number.

    Raises:
        pytest.UsageError: If it is none, or none that is accepted.
    """
    shown, value = text_of(config, name, expected)
    try:
        number = kind(value)
        good = accepts(number)
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise pytest.UsageError(f"{shown}={value} is not {expected}.")
    return number


def choice_of(config: pytest.Config, name: str, known: tuple[str, ...]) -> str:
    """The value of an option that is one of ``known``.

    Raises:
        pytest.UsageError: If it is not.
    """
    shown, value = text_of(config, name, f"one of {', '.join(known)}")
    if value not in known:
        raise pytest.UsageError(f"{shown}={value} is not known: expected {', '.join(known)}.")
    return value


def text_of(config: pytest.Config, name: str, expected: str) -> tuple[str, str]:
    """How the user would name the option, and its value: command line, ini, default.

    Raises:
        pytest.UsageError: If the ini file holds a value of another type than is expected.
    """
    given = config.getoption(f"bayesloc_{name}")
    if given is not None:
        return f"--bayesloc-{name.replace('_', '-')}", str(given)
    try:
        written = config.getini(f"bayesloc_{name}")
    except (TypeError, ValueError, pytest.UsageError) as error:
        text = f"bayesloc_{name} in the ini file is not {expected} ({error})."
        raise pytest.UsageError(text) from error
    default = next(option.default for option in VALUES if option.name == name)
    return f"bayesloc_{name}", default if written in (None, "", []) else str(written)
