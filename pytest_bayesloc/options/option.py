"""The declaration of one option, the values that options have, and which of them need trust."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise
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
    "swallowed",
    "tests",
    "names",
    "changed",
    "counterfactual",
    "values",
    "assertions",
    "mutants",
    "llm",
    "generated",
    "loops",
    "world-model",
    "prompt",
    "redaction",
)
REPORT_KINDS = (
    "html",
    "json",
    "sarif",
    "gitlab",
    "markdown",
    "github",
    "junit",
    "graphml",
    "dot",
    "node-link",
)
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
MAX_SHOWN = 80  # characters of a value that is refused
EXPECTED_ACTIONS = "stats, stats-json, forget:ID, merge:A,B, export:FILE, import:FILE"


class Launch(NamedTuple):
    """``sys.path``, ``os.environ`` and the umask, before pytest and the tests changed them."""

    path: tuple[str, ...]
    environment: Mapping[str, str]
    umask: int


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


def check_prices(models: LlmModels, limits: LlmLimits) -> None:
    """Refuse a limit of the cost that can't be kept.

    Raises:
        pytest.UsageError: If a model that is asked has no price.
    """
    unpriced = {models.main, models.fast or models.main} - models.prices.keys()
    if limits.cost < inf and unpriced:
        raise pytest.UsageError(
            f"cost={limits.cost:g} in bayesloc_llm_limits can't be kept: the price of "
            f"{', '.join(sorted(unpriced))} is not known. Give bayesloc_llm_model as "
            f"{EXPECTED_MODEL}."
        )


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


def ini_of(config: pytest.Config) -> Path:
    """Return the project's ini file; its folder where it has none."""
    return config.inipath or config.rootpath


def refusal_of(refused: Mapping[str, str], config: pytest.Config) -> str:
    """Return what is told of settings that nobody trusted, with their values."""
    from pytest_bayesloc.domain.redaction import redacted  # its patterns take a while

    path = ini_of(config)
    with suppress(ValueError):
        path = path.relative_to(config.invocation_params.dir)
    said = ", ".join(f"{name} = {redacted(value)[:MAX_SHOWN]}" for name, value in refused.items())
    return (
        f"{path} sets {said}: that reaches beyond running its tests, and does not count until you "
        f"trust it. pytest --bayesloc-trust={path} does, once; or give it on the command line or "
        "in PYTEST_ADDOPTS. (untrusted-settings)"
    )


def _as_given(_: str, given: Any, __: pytest.Config) -> Any:  # noqa: ANN401 - text, list or bool
    if isinstance(given, bool):
        return given
    return str(given) if isinstance(given, str) else tuple(map(str, given))


class Option(NamedTuple):
    """The declaration of one option.

    Attributes:
        flag: On the command line; the ini name is the same without ``--``, with ``_`` for ``-``.
        metavar: Names the value; empty: the option is a switch.
        help: One line.
        read: Checks and converts what was given; a switch and texts are taken as they are.
        section: Of ``docs/options.md``.
        default: As a person would write it.
        default_words: The default in words, where it depends on the run.
        repeats: Whether it may be given several times; in the ini file it is a list then.
        in_ini: Whether the ini file has it too.
        is_common: Whether ``pytest --help`` shows it.
        ini_type: Of pytest 8.4 and later; before it and otherwise a string, list or bool.
        reaches: Which values count from the project's own files only once a person trusted them;
            None: none needs trust.
    """

    flag: str
    metavar: str
    help: str
    read: Read = _as_given
    section: str = "Localization"
    default: str = ""
    default_words: str = ""
    repeats: bool = False
    in_ini: bool = True
    is_common: bool = False
    ini_type: str = ""
    reaches: Reaches | None = None

    @property
    def name(self) -> str:
        """The name in the ini file."""
        return self.flag.strip("-").replace("-", "_")

    def declare(self, parser: pytest.Parser, group: pytest.OptionGroup) -> None:
        """Add the flag and the ini entry."""
        given: dict[str, Any] = {"help": self.help if self.is_common else argparse.SUPPRESS}
        if not self.metavar:
            given["action"] = "store_true"
        elif self.repeats:
            given.update(action="append", metavar=self.metavar)
        else:
            given["metavar"] = self.metavar
        group.addoption(self.flag, **given)
        if not self.in_ini:
            return
        kind = "bool" if not self.metavar else "linelist" if self.repeats else "string"
        if self.ini_type and pytest.version_tuple >= (8, 4):
            kind = self.ini_type
        # A long name has a line of its own; the text is that of the flag, which stands above.
        text = f"as {self.flag}" if len(self.name) + len(kind) < _SHORT_INI else ""
        unset: Any = {"bool": False, "linelist": []}.get(kind)
        parser.addini(self.name, text, type=kind, default=unset)  # type: ignore[arg-type]

    def value(self, config: pytest.Config, *, is_refused: bool = False) -> Any:  # noqa: ANN401 - of the field's own type
        """The value from the command line, else from the ini file, else the default.

        Args:
            config: pytest's.
            is_refused: Whether what the project's own files say does not count.

        Raises:
            pytest.UsageError: If it is not usable; the text names it.
        """
        given = config.getoption(self.name)
        if is_refused:
            theirs = self._given_in(addopts(config)) if self.repeats else [given]
            given = (
                [value for value in given or () if value not in theirs] if self.repeats else None
            )
        if given not in (None, False, []):
            return self.read(self.flag, given, config)
        written = self._written(config) if self.in_ini and not is_refused else None
        if written in (None, "", []):
            written = [] if self.repeats else self.default if self.metavar else False
        return self.read(self.name, written, config)

    def of_project(self, config: pytest.Config) -> Any:  # noqa: ANN401 - text, list or bool
        """Return what the project's own files say that may count in this run; None: nothing."""
        theirs = self._given_in(addopts(config))
        typed = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
        typed += map(str, config.invocation_params.args)
        if self.repeats and config.getoption(self.name):
            return theirs
        marked = [re.sub(r"^(-o|--override-ini=)(?=.)", "", word) for word in typed]
        marked += [b for a, b in pairwise(typed) if a in {"-o", "--override-ini"}]
        is_overridden = any(word.startswith(f"{self.name}=") for word in marked)
        if self._given_in(typed) or is_overridden:
            return None
        if theirs:
            return theirs[-1]
        return self._written(config) if self.in_ini else None

    def _given_in(self, words: Sequence[str]) -> list[Any]:
        """Return the values that ``words`` of a command line give the flag."""
        if not self.metavar:
            return [True for word in words if word == self.flag]
        found = [word[len(self.flag) + 1 :] for word in words if word.startswith(f"{self.flag}=")]
        return found + [b for a, b in pairwise(words) if a == self.flag]

    def _written(self, config: pytest.Config) -> Any:  # noqa: ANN401 - of any ini type
        try:
            return config.getini(self.name)
        except (TypeError, ValueError, pytest.UsageError) as error:
            expected = self.help if self.metavar else "true or false"
            raise pytest.UsageError(
                f"{self.name} in the ini file can't be read ({error}): expected {expected}."
            ) from error


_SHORT_INI = 19


def is_typed(config: pytest.Config, flag: str) -> bool:
    """Whether a person gave the flag, not a file of the project."""
    words = map(str, config.invocation_params.args)
    return any(word == flag or word.startswith(f"{flag}=") for word in words)


def addopts(config: pytest.Config) -> list[str]:
    """Return what the project's ini file adds to the command line."""
    return [str(word) for word in config.getini("addopts")]


# -- what is asked before all plugins are loaded


def early(config: pytest.Config, name: str) -> Any:  # noqa: ANN401 - text, list or bool
    """Return the value of an option as far as it is known, unchecked."""
    return _parsed(config, name) or config.getini(name)


def is_enabled(config: pytest.Config) -> bool:
    """Return whether the plugin may do anything."""
    return not early(config, "no_bayesloc")


def is_listing(config: pytest.Config) -> bool:
    """Return whether no test is to be run, by pytest's own options."""
    return any(_parsed(config, name) for name in ("collectonly", "help", "version"))


def _parsed(config: pytest.Config, name: str) -> Any:  # noqa: ANN401 - text, list or bool
    return getattr(getattr(config, "known_args_namespace", config.option), name, None)


def is_about_memory(config: pytest.Config) -> bool:
    """Return whether the memory is asked or corrected, and no test is to be run."""
    return bool(config.getoption("bug_advice_last") or config.getoption("bug_memory"))


def is_about_fixes(config: pytest.Config) -> bool:
    """Return whether fix tools are listed or trusted, or fixes undone; no test is to be run."""
    asked = config.getoption("bayesloc_fix") in {"undo", "tools"}
    return bool(asked or config.getoption("bayesloc_trust"))
