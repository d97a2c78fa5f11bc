"""Command line and ini file to frozen settings.

Each field of ``Settings`` is the one declaration of what a person can set: its flag, its ini name,
its default and help, how it is read, and its row in ``docs/options.md``.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from itertools import pairwise
from math import inf, isfinite
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
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TIMES = re.compile(r"(\d+)\*(.+)", re.DOTALL)
_EXECUTOR = re.compile(
    r"(popen|ssh=|vagrant_ssh=|socket=|docker(-image)?:(?!-)|dask:).*", re.DOTALL
)
_NEEDS_NAME = ("ssh=", "vagrant_ssh=", "socket=", "docker:", "docker-image:", "dask:")
_MODEL = "NAME or NAME IN OUT with the prices of a million tokens, as 'gpt-4.1-mini 0.40 1.60'"
_ACTIONS = "stats, stats-json, forget:ID, merge:A,B, export:FILE, import:FILE"


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
            theirs = self._given_in(_addopts(config)) if self.repeats else [given]
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
        theirs, typed = self._given_in(_addopts(config)), _typed_words(config)
        if self.repeats and config.getoption(self.name):
            return theirs
        is_overridden = any(word.startswith(f"{self.name}=") for word in _overrides(typed))
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
            raise pytest.UsageError(
                f"{self.name} in the ini file can't be read ({error}): expected {self.help}."
            ) from error


_SHORT_INI = 19


def _option(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - of the field's annotation
    """Return a field of ``Settings`` that declares an option; arguments as of ``Option``."""
    return field(metadata={"option": Option(*args, **given)})


# -- how values are read


def _number(kind: Callable[[Any], float], accepts: Callable[[float], bool], expected: str) -> Read:
    def read(shown: str, given: str, _: pytest.Config) -> float:
        try:
            number = kind(given)
            good = accepts(number)
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            raise pytest.UsageError(f"{shown}={given} is not {expected}.")
        return number

    return read


def _choice(known: Sequence[str]) -> Read:
    def read(shown: str, given: str, _: pytest.Config) -> str:
        if given not in known:
            raise pytest.UsageError(f"{shown}={given} is not known: expected {', '.join(known)}.")
        return str(given)

    return read


def _sources(shown: str, given: Sequence[str], config: pytest.Config) -> tuple[str, ...]:
    for entry in given:
        parts = entry.split(".")
        places = (Path(entry), Path(*parts), Path("src", *parts))
        is_there = any(os.path.exists(config.rootpath / place) for place in places)  # noqa: PTH110 - raises never
        if not is_there and not _is_importable(parts[0]):
            raise pytest.UsageError(
                f"{shown}={entry} is neither a folder in {config.rootpath} nor a package that can "
                "be imported: give what is under test, for example src."
            )
    return tuple(given)


def _is_importable(name: str) -> bool:
    try:
        return bool(name) and find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _green(shown: str, given: str, config: pytest.Config) -> str:
    """Return the revision; one that git does not know is refused, if a person typed it.

    The ini file is for other machines as well, whose clones may be shallow.
    """
    revision = "HEAD" if given == AUTO else given
    if given and _is_typed(config, shown) and not _is_revision(config.rootpath, revision):
        raise pytest.UsageError(
            f"{shown}={given} is not known to git in {config.rootpath}: give a revision that "
            "`git log` knows."
        )
    return given


def _is_revision(folder: Path, revision: str) -> bool:
    import subprocess  # it takes a while, and is seldom needed

    command = ["git", "-c", "core.fsmonitor=false", "rev-parse", "--verify", "--quiet"]
    command += ["--end-of-options", f"{revision}^{{commit}}"]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, timeout=5, check=False)
    except subprocess.TimeoutExpired:
        return True  # the run itself has more time
    except OSError:
        return False
    return run.returncode == 0


def _memory(shown: str, given: str, config: pytest.Config) -> str:
    if "://" in given and not given.startswith("postgresql://"):
        raise pytest.UsageError(
            f"{shown}={given.partition('://')[0]}://... is no database that is known: expected on, "
            "off, a path, or postgresql://USER@HOST/NAME."
        )
    if given not in {"on", "off"} and "://" not in given:
        _check_file(f"{shown}={given}", config.rootpath / given)
    return given


def _check_file(shown: str, path: Path) -> None:
    """Refuse a place where no file can be."""
    # pathlib raises for a name that is too long, which is told when it is written.
    is_folder = os.path.isdir(path)  # noqa: PTH112
    nearest = next(filter(os.path.exists, path.parents), path.parent)
    if is_folder or not os.path.isdir(nearest):  # noqa: PTH112
        what = "is a folder" if is_folder else f"would lie in {nearest}, which is a file"
        raise pytest.UsageError(f"{shown} {what}: give the path of a file.")


def _parts(shown: str, given: Sequence[str], config: pytest.Config) -> frozenset[str]:
    read = _choice(PARTS)
    return frozenset(read(shown, name, config) for name in given)


def _fix(shown: str, given: str, config: pytest.Config) -> str:
    mode: str = _choice(FIX_MODES)(shown, given, config)
    if mode not in {"off", "suggest"} and not _is_typed(config, "--bayesloc-fix"):
        raise pytest.UsageError(
            f"bayesloc_fix={mode} in the ini file, or in addopts, would change files in every "
            f"run: expected off or suggest there; give --bayesloc-fix={mode} on the command line."
        )
    return mode


def _trust(shown: str, given: str, config: pytest.Config) -> str:
    if given and not _is_typed(config, shown):
        raise pytest.UsageError(
            f"{shown}={given} in addopts would let a project trust itself: give it on the command "
            "line."
        )
    return given


def _is_typed(config: pytest.Config, flag: str) -> bool:
    """Whether a person gave the flag, not a file of the project."""
    words = map(str, config.invocation_params.args)
    return any(word == flag or word.startswith(f"{flag}=") for word in words)


def _typed_words(config: pytest.Config) -> list[str]:
    """Return the command line, and what the user's environment adds to it."""
    words = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    return [*words, *map(str, config.invocation_params.args)]


def _addopts(config: pytest.Config) -> list[str]:
    """Return what the project's ini file adds to the command line."""
    return [str(word) for word in config.getini("addopts")]


def _overrides(words: Sequence[str]) -> list[str]:
    """Return what ``words`` give ``-o``: ``NAME=VALUE``."""
    marked = [re.sub(r"^(-o|--override-ini=)(?=.)", "", word) for word in words]
    return [*marked, *(b for a, b in pairwise(words) if a in {"-o", "--override-ini"})]


def _actions(
    shown: str, given: Sequence[str], config: pytest.Config
) -> tuple[tuple[str, str], ...]:
    theirs = [word for word in _addopts(config) if word.startswith(shown)]
    if given and theirs:
        raise pytest.UsageError(
            f"{' '.join(theirs)} in addopts would let a project change or copy what is remembered: "
            "give it on the command line."
        )
    found = []
    for text in given:
        verb, colon, argument = text.partition(":")
        if verb not in MEMORY_ACTIONS or MEMORY_ACTIONS[verb] != bool(colon and argument):
            raise pytest.UsageError(f"{shown}={text} is not known: expected one of {_ACTIONS}.")
        found.append((verb, argument))
    return tuple(found)


def _executors(shown: str, given: Sequence[str], _: pytest.Config) -> tuple[str, ...]:
    return tuple(spec for text in given for spec in _expanded(shown, text.strip()))


def _expanded(shown: str, text: str) -> list[str]:
    """The specifications that ``N*SPEC`` stands for."""
    times = _TIMES.fullmatch(text)
    number, spec = (int(times[1]), times[2]) if times else (1, text)
    is_known = spec == LOCAL or (_EXECUTOR.fullmatch(spec) and spec not in _NEEDS_NAME)
    if not is_known or not 1 <= number <= 1000:
        raise pytest.UsageError(
            f"{shown}={text} is not known: expected local, an execnet specification "
            "(popen, ssh=HOST, socket=HOST:PORT), docker:CONTAINER, docker-image:IMAGE, dask:local "
            "or dask:tcp://HOST:PORT, several servers by N*SPEC."
        )
    try:
        shlex.split(spec)
    except ValueError as error:
        raise pytest.UsageError(
            f"{shown}={text} can't be split into words ({error}): quote it as for a shell."
        ) from error
    return [spec] * number


def _workspace(shown: str, given: str, config: pytest.Config) -> tuple[str, str]:
    here, colon, there = given.rpartition(":")
    if given and not (there.startswith("/") and (not colon or here.startswith("/"))):
        raise pytest.UsageError(
            f"{shown}={given} is not an absolute path, or two with a colon between them: give the "
            "project's folder there, as /srv/app, or here and there, as /home/me/app:/srv/app."
        )
    if colon and _is_typed(config, shown) and not Path(here).is_dir():
        raise pytest.UsageError(
            f"{shown}={given} names {here}, which is no folder here: give the project's folder."
        )
    return here, there


def _paths(_: str, given: Sequence[str], config: pytest.Config) -> tuple[Path, ...]:
    workers = getattr(config.option, "numprocesses", None)
    if given and workers:
        raise pytest.UsageError(
            f"--bayesloc-merge runs no test, and -n {workers} asks for processes that run them: "
            "give -n 0."
        )
    paths = {entry: config.invocation_params.dir / str(entry) for entry in given}
    for entry, path in paths.items():
        if not path.exists():
            raise pytest.UsageError(
                f"--bayesloc-merge={entry} does not exist: give a file that "
                "--bayesloc-report=record:PATH wrote, or a folder of them."
            )
    return tuple(paths.values())


def _models(shown: str, given: Sequence[str], _: pytest.Config) -> LlmModels:
    names = {"": "gpt-4.1-mini", "fast": "", "embedding": ""}
    prices = {}
    for text in given:
        role, colon, rest = text.strip().partition(":")
        role, rest = (role, rest) if colon and role in names else ("", text.strip())
        words = rest.split()
        cost = [float(word) for word in words[1:] if _is_price(word)]
        if not words or len(words) not in {1, 3} or len(cost) != len(words) - 1:
            raise pytest.UsageError(f"{shown}={text} is not {_MODEL}.")
        names[role] = words[0]
        if cost:
            prices[words[0]] = (cost[0], cost[1])
    return LlmModels(names[""], names["fast"], names["embedding"], prices)


def _is_price(text: str) -> bool:
    try:
        return isfinite(float(text)) and float(text) >= 0
    except ValueError:
        return False


def _limits(shown: str, given: str, _: pytest.Config) -> LlmLimits:
    limits: dict[str, Any] = {}
    for word in given.split():
        name, _equals, value = word.partition("=")
        kind = float if name == "cost" else int
        try:
            limits[name] = kind(value)
        except ValueError:
            limits[name] = -1
        if name not in LlmLimits._fields or not _LEAST.get(name, 0) <= limits[name] < inf:
            raise pytest.UsageError(
                f"{shown}={given} is not usable ({word}): expected calls=N tokens=N cost=AMOUNT "
                "functions=N prompt=N answer=N parallel=N, each a number of 0 or more, prompt of "
                "2000, answer of 200 and parallel of 1 or more, for example 'calls=40 cost=0.50'."
            )
    limits["cost"] = limits.get("cost") or inf
    return LlmLimits(**limits)


_LEAST = {"prompt": 2_000, "answer": 200, "parallel": 1}


def _reports(shown: str, given: Sequence[str], config: pytest.Config) -> tuple[Report, ...]:
    reports = [_report(shown, entry, config) for entry in given if entry != AUTO]
    _check_places(shown, reports)
    if AUTO in given:
        named = {report.kind for report in reports}
        reports += [Report(kind) for kind in _kinds_of_ci(os.environ) if kind not in named]
    return tuple(dict.fromkeys(reports))


def _report(shown: str, entry: str, config: pytest.Config) -> Report:
    kind, colon, path = entry.partition(":")
    known = (*REPORT_KINDS, RECORD, LOOP)
    if kind not in known:
        formats, error = offered_formats(config)
        # A plugin that can't say what it offers may offer this one: that is told in the end.
        known = (*known, *formats, *((kind,) if error and _NAME.fullmatch(kind) else ()))
    if kind not in known or (colon and not path) or (kind == RECORD and not path):
        raise pytest.UsageError(
            f"{shown}={entry} is not KIND or KIND:PATH: KIND is one of "
            f"{', '.join((*known, AUTO))}, for example html:report.html; record needs a path."
        )
    if kind == LOOP and path == "-":
        return Report(kind)
    if path:
        _check_file(f"{shown}={entry}", config.invocation_params.dir / path)
    return Report(kind, config.invocation_params.dir / path if path else None)


def _check_places(shown: str, reports: Sequence[Report]) -> None:
    """Refuse a report that would overwrite another."""
    kinds: dict[str, str] = {}
    for report in reports:
        if report.path is None:
            continue
        other = kinds.setdefault(os.path.normpath(report.path), report.kind)
        if other != report.kind:
            raise pytest.UsageError(
                f"{shown}={report.kind}:{report.path} would overwrite the {other} report: give "
                "each report a file of its own."
            )


def _kinds_of_ci(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The reports that the CI service shows by itself, and the page; none elsewhere."""
    if environment.get("GITHUB_ACTIONS") and environment.get("GITHUB_STEP_SUMMARY"):
        return "html", "github"
    return ("html", "gitlab") if environment.get("GITLAB_CI") else ()


def offered_formats(config: pytest.Config) -> tuple[dict[str, Format], str]:
    """Return the formats of other plugins by their kinds, and the error, if one broke."""
    formats: dict[str, Format] = {}
    try:
        for offered in config.hook.pytest_bayesloc_report_formats(config=config):
            formats.update(_checked(offered))
    except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
        return formats, f"{type(error).__name__}: {error}"
    return formats, ""


def _checked(offered: Mapping[str, Format]) -> Mapping[str, Format]:
    for kind, function in offered.items():
        if not callable(function) or not _NAME.fullmatch(kind):
            raise TypeError(f"{kind!r} is no name of a kind, or {function!r} no function")
    return offered


# -- what reaches beyond running the tests


def _leads_out(path: Path | str, config: pytest.Config) -> bool:
    """Whether a path leads out of the project, or to what git keeps there."""
    real, root = (Path(os.path.realpath(where)) for where in (path, config.rootpath))
    return not real.is_relative_to(root) or ".git" in real.relative_to(root).parts


def _is_memory_elsewhere(value: str, config: pytest.Config) -> bool:
    is_place = value not in {"on", "off"}
    return is_place and ("://" in value or _leads_out(config.rootpath / value, config))


def _are_reports_elsewhere(value: Sequence[Report], config: pytest.Config) -> bool:
    return any(report.path is not None and _leads_out(report.path, config) for report in value)


def _are_executors_elsewhere(value: Sequence[str], _: pytest.Config) -> bool:
    return not set(value) <= {LOCAL, "popen", "dask:local"}


def _are_limits_raised(value: LlmLimits, _: pytest.Config) -> bool:
    pairs = zip(value, LlmLimits(), strict=True)
    return any(given > usual for given, usual in pairs)


def _is_apply_unsafe(value: bool, config: pytest.Config) -> bool:
    return value and config.getoption("bayesloc_fix") == "apply"


def project_asks(config: pytest.Config) -> dict[str, str]:
    """Return what the project's own files set that needs trust, by the names of the settings.

    Raises:
        pytest.UsageError: If a value is not usable.
    """
    found = {}
    for option in declarations():
        given = None if option.reaches is None else option.of_project(config)
        if option.reaches is None or given in (None, "", [], False):
            continue
        if option.reaches(option.read(option.name, given, config), config):
            found[option.name] = " ".join(given) if isinstance(given, list) else str(given).lower()
    return found


def ini_of(config: pytest.Config) -> Path:
    """Return the project's ini file; its folder where it has none."""
    return config.inipath or config.rootpath


# -- the table

_ADVICE = "Memory"
_RERUN = "Where tests are run again"


# Made at every start of pytest: nobody compares or prints it.
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Settings:
    """Everything that a person can set, checked."""

    inspect: bool = _option(
        "--bayesloc",
        "",
        "inspect the suspects of a failing run; write HTML",
        is_common=True,
    )
    disabled: bool = _option("--no-bayesloc", "", "the plugin does nothing at all", is_common=True)
    source: tuple[str, ...] = _option(
        "--bayesloc-source",
        "DIR",
        "folder or package under test; repeatable",
        read=_sources,
        repeats=True,
        is_common=True,
        default_words="coverage's `source`, else rootdir",
    )
    budget_s: float = _option(
        "--bayesloc-budget",
        "SECONDS",
        "seconds that inspections may take (60)",
        default="60",
        read=_number(
            float,
            lambda x: 0 < x < 1e9,
            "a positive number of seconds: give the time that inspections may take, as 60",
        ),
        is_common=True,
        ini_type="float",
    )
    n_inspections: int = _option(
        "--bayesloc-inspections",
        "N",
        "inspections at most, for each fault",
        default="40",
        read=_number(
            int,
            lambda n: n >= 0,
            "a number of inspections: give a whole number of 0 or more, for example 40",
        ),
        ini_type="int",
    )
    threshold: float = _option(
        "--bayesloc-threshold",
        "P",
        "probability at which a suspect is decided, in (0, 1)",
        default="0.9",
        read=_number(
            float,
            lambda p: 0 < p < 1,
            "a probability between 0 and 1: give the belief that decides, for example 0.9",
        ),
        ini_type="float",
    )
    formula: str = _option(
        "--bayesloc-formula",
        "NAME",
        f"formula of the prior: {', '.join(FORMULAS)}",
        default="blend",
        read=_choice(FORMULAS),
    )
    model: str = _option(
        "--bayesloc-model",
        "NAME",
        f"model of the belief: {', '.join(MODELS)}",
        default="single-fault",
        read=_choice(MODELS),
    )
    without: frozenset[str] = _option(
        "--bayesloc-without",
        "PART",
        f"leave a part out; repeatable: {', '.join(PARTS)}",
        read=_parts,
        repeats=True,
        reaches=lambda value, _: "redaction" in value,
    )
    collect: str = _option(
        "--bayesloc-collect",
        "WHEN",
        f"trace tests: {', '.join(COLLECT)}",
        default=AUTO,
        read=_choice(COLLECT),
    )
    green: str = _option(
        "--bayesloc-green",
        "REV",
        "git revision at which the tests are known to pass; auto: search all commits for it",
        default_words="what is remembered, else found in git",
        read=_green,
    )
    never_edited: tuple[str, ...] = _option(
        "--bayesloc-never-edit",
        "NAME",
        "function, method or module whose callers are not edited, even in memory; repeatable",
        repeats=True,
    )
    reports: tuple[Report, ...] = _option(
        "--bayesloc-report",
        "KIND[:PATH]",
        f"write a report; repeatable: {', '.join((*REPORT_KINDS, RECORD, LOOP, AUTO))}",
        section="Reports",
        read=_reports,
        repeats=True,
        is_common=True,
        default_words="`html` with `--bayesloc`",
        reaches=_are_reports_elsewhere,
    )
    merge: tuple[Path, ...] = _option(
        "--bayesloc-merge",
        "PATH",
        "run no test: take the records of other runs; repeatable",
        section="Reports",
        read=_paths,
        repeats=True,
        in_ini=False,
    )
    memory: str = _option(
        "--bayesloc-memory",
        "on|off|PATH|URL",
        "place where bugs are remembered from run to run",
        section=_ADVICE,
        read=_memory,
        default="on",
        reaches=_is_memory_elsewhere,
    )
    advises: bool = _option(
        "--bug-advice",
        "",
        "print similar past failures and what was tried",
        section=_ADVICE,
        is_common=True,
    )
    advice_last: bool = _option(
        "--bug-advice-last",
        "",
        "print the advice of the last failed run; run no test",
        section=_ADVICE,
        in_ini=False,
        is_common=True,
    )
    lesson: str = _option(
        "--bug-note",
        "TEXT",
        "add a note to the open bugs of the selected tests",
        section=_ADVICE,
        in_ini=False,
        is_common=True,
    )
    memory_actions: tuple[tuple[str, str], ...] = _option(
        "--bug-memory",
        "ACTION",
        f"run no test: {_ACTIONS}",
        section=_ADVICE,
        read=_actions,
        repeats=True,
        in_ini=False,
        is_common=True,
    )
    executors: tuple[str, ...] = _option(
        "--bayesloc-executor",
        "[N*]SPEC",
        "place where tests are run again; repeatable: local, execnet, docker, dask",
        section=_RERUN,
        read=_executors,
        repeats=True,
        default_words="`local`, with as many servers as the run had processes, at most 4",
        reaches=_are_executors_elsewhere,
    )
    workspace: tuple[str, str] = _option(
        "--bayesloc-workspace",
        "[HERE:]THERE",
        "the project's folder there, where it has another name than here",
        section=_RERUN,
        read=_workspace,
        default_words="rootdir, on both sides",
        reaches=lambda value, _: any(value),
    )
    fix: str = _option(
        "--bayesloc-fix",
        "MODE",
        f"search fixes: {', '.join(FIX_MODES)}",
        section="Fixes",
        default="off",
        read=_fix,
        is_common=True,
    )
    shows_unsafe: bool = _option(
        "--bayesloc-fix-unsafe",
        "",
        "show fixes, too, that may change what the code means",
        section="Fixes",
        reaches=_is_apply_unsafe,
    )
    allows_dirty: bool = _option(
        "--bayesloc-allow-dirty",
        "",
        "apply fixes also to files with changes that are not committed",
        section="Fixes",
        in_ini=False,
        reaches=lambda value, _: bool(value),
    )
    trust: str = _option(
        "--bayesloc-trust",
        "PATH",
        "trust a fix tool of the project as it is now, or all in a folder, or the settings of its "
        "ini file that need it",
        section="Fixes",
        read=_trust,
        in_ini=False,
    )
    asks_llm: bool = _option(
        "--bayesloc-llm",
        "",
        "ask a language model (OPENAI_BASE_URL, OPENAI_API_KEY)",
        section="Language model",
        is_common=True,
        reaches=lambda value, _: bool(value),
    )
    llm_models: LlmModels = _option(
        "--bayesloc-llm-model",
        "[fast:|embedding:]NAME",
        "model of the endpoint, the one for summaries, the one for finding past bugs; "
        "repeatable; with prices of a million tokens: 'NAME IN OUT'",
        section="Language model",
        read=_models,
        repeats=True,
        default_words="`gpt-4.1-mini`; no embeddings",
        reaches=lambda value, _: bool(value.embedding),
    )
    llm_mode: str = _option(
        "--bayesloc-llm-mode",
        "MODE",
        "live: use the cache; replay: cache only; record: refresh the cache; dry-run: print "
        "prompts, send nothing",
        section="Language model",
        default="live",
        read=_choice(LLM_MODES),
    )
    llm_limits: LlmLimits = _option(
        "--bayesloc-llm-limits",
        "NAME=N ...",
        "limits of a run: calls, tokens, cost (money, by the prices given with the model), "
        "functions of a fault, characters of a prompt, tokens of an answer, parallel requests",
        section="Language model",
        default="calls=40 tokens=400000 functions=3 prompt=24000 answer=8000 parallel=4",
        reaches=_are_limits_raised,
        read=_limits,
    )
    llm_never_send: tuple[str, ...] = _option(
        "--bayesloc-llm-never-send",
        "GLOB",
        "files whose text never leaves the machine; repeatable",
        section="Language model",
        repeats=True,
    )

    #: What of the project's own files does not count, since nobody trusted it, for the user.
    refusal: str = ""

    @property
    def remembers(self) -> bool:
        """Whether anything is kept from run to run."""
        return self.memory != "off"

    @property
    def green_revision(self) -> str:
        """The git revision at which the tests are known to pass; empty if none is named."""
        return "" if self.green == AUTO else self.green

    @property
    def searches_fixes(self) -> bool:
        """Whether fixes are searched in this run."""
        return self.fix in {"suggest", "review", "apply"}

    @property
    def writes_fixes(self) -> bool:
        """Whether fixes may be written to files in this run."""
        return self.fix in {"review", "apply"}

    @property
    def record(self) -> Path | None:
        """The file that keeps what the tests did, for a merge; None: it is not kept."""
        return next((report.path for report in self.reports if report.kind == RECORD), None)

    @property
    def verdicts(self) -> tuple[Report, ...]:
        """The places for the verdict on loops, which passing runs have as well."""
        return tuple(report for report in self.reports if report.kind == LOOP)

    @classmethod
    def from_config(cls, config: pytest.Config, trusts: Trusts | None = None) -> Settings:
        """Read and check everything.

        Args:
            config: pytest's.
            trusts: Whether the user trusts what an ini file asks for; None: nothing needs trust.

        Raises:
            pytest.UsageError: If a value is not usable; the text names it.
        """
        asked = {} if trusts is None else project_asks(config)
        refused = {n: v for n, v in asked.items() if trusts and not trusts(ini_of(config), n, v)}
        values: dict[str, Any] = {}
        for name, option in _declared():
            values[name] = option.value(config, is_refused=option.name in refused)
        values["refusal"] = _refusal(refused, config) if refused else ""
        pages = [report for report in values["reports"] if report.kind not in {RECORD, LOOP}]
        if values["inspect"] and not pages:
            values["reports"] += (Report("html"),)
        values["asks_llm"] |= values["llm_mode"] == DRY_RUN
        models: LlmModels = values["llm_models"]
        unpriced = {models.main, models.fast or models.main} - models.prices.keys()
        if values["llm_limits"].cost < inf and unpriced:
            raise pytest.UsageError(
                f"cost={values['llm_limits'].cost:g} in bayesloc_llm_limits can't be kept: the "
                f"price of {', '.join(sorted(unpriced))} is not known. Give bayesloc_llm_model as "
                f"{_MODEL}."
            )
        return cls(**values)


def declarations() -> list[Option]:
    """Return every option in the order in which they are declared."""
    return [option for _, option in _declared()]


def _declared() -> list[tuple[str, Option]]:
    own = fields(Settings)
    return [(f.name, f.metadata["option"]) for f in own if "option" in f.metadata]


def _refusal(refused: Mapping[str, str], config: pytest.Config) -> str:
    from pytest_bayesloc.domain.redaction import redacted  # its patterns take a while

    path = ini_of(config)
    with suppress(ValueError):
        path = path.relative_to(config.invocation_params.dir)
    said = ", ".join(f"{name} = {redacted(value)[:_MAX_SHOWN]}" for name, value in refused.items())
    return (
        f"{path} sets {said}: that reaches beyond running its tests, and does not count until you "
        f"trust it. pytest --bayesloc-trust={path} does, once; or give it on the command line or "
        "in PYTEST_ADDOPTS. (untrusted-settings)"
    )


_MAX_SHOWN = 80  # characters of a value


def add_options(parser: pytest.Parser) -> None:
    """Declare the command line and the ini file."""
    group = parser.getgroup(
        "bayesloc",
        "fault localization (pytest-bayesloc): options that people use most; the others are in "
        "docs/options.md",
    )
    for option in declarations():
        option.declare(parser, group)


# -- what is asked before all plugins are loaded


def early(config: pytest.Config, name: str) -> Any:  # noqa: ANN401 - text, list or bool
    """Return the value of an option as far as it is known, unchecked."""
    return _typed(config, name) or config.getini(name)


def is_enabled(config: pytest.Config) -> bool:
    """Return whether the plugin may do anything."""
    return not early(config, "no_bayesloc")


def is_listing(config: pytest.Config) -> bool:
    """Return whether no test is to be run, by pytest's own options."""
    return any(_typed(config, name) for name in ("collectonly", "help", "version"))


def _typed(config: pytest.Config, name: str) -> Any:  # noqa: ANN401 - text, list or bool
    return getattr(getattr(config, "known_args_namespace", config.option), name, None)


def is_about_memory(config: pytest.Config) -> bool:
    """Return whether the memory is asked or corrected, and no test is to be run."""
    return bool(config.getoption("bug_advice_last") or config.getoption("bug_memory"))


def is_about_fixes(config: pytest.Config) -> bool:
    """Return whether fix tools are listed or trusted, or fixes undone; no test is to be run."""
    asked = config.getoption("bayesloc_fix") in {"undo", "tools"}
    return bool(asked or config.getoption("bayesloc_trust"))
