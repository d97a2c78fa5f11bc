"""Command line and ini file to frozen settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.options.fix import FixSettings, add_fix_options
from pytest_bayesloc.options.llm import LlmSettings, add_llm_options
from pytest_bayesloc.options.reading import (
    AUTO,
    COLLECT,
    EMBEDDING_MODEL,
    EVIDENCE,
    FORMULAS,
    HOW_MANY,
    LOOPS,
    MODELS,
    REPORT_KINDS,
    SELECTIONS,
    VALUES,
    choice_of,
    number_of,
    text_of,
)
from pytest_bayesloc.options.reports import Report, reports_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_bayesloc.options.executor import ExecutorSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What the process was started with, before pytest and the tests changed it.

    Attributes:
        path: ``sys.path``.
        environment: ``os.environ``.
    """

    path: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user asked for.

    Attributes:
        inspect: Whether to run inspections.
        budget_s: Wall seconds for inspections.
        n_inspections: Inspections at most.
        threshold: Belief that decides, in (0, 1).
        formula: Name of the prior.
        model: Name of the belief model.
        selection: How the next inspection is chosen.
        without: Kinds of evidence that are left out.
        collect: When it is traced what tests execute.
        executor: Where tests are run again.
        never_edited: Functions, methods and modules whose callers are not edited, even in memory.
        memory: Where bugs are remembered: ``on``, ``off``, a path or a URL.
        memory_limit: Bugs that are kept at most.
        is_experiment: Whether advice is shown in half of the runs only.
        n_similar: Past bugs that advice shows at most.
        n_failed_strategies: Failed attempts that advice shows at most.
        embedding_model: Name of the model that past bugs are found by; empty: by words alone.
        tells_world: Whether advice tells what is known beyond single bugs.
        loop_limits: By the names of ``LOOPS``, how often is a loop; None: loops are not looked for.
        advises: Whether advice was asked for in full.
        lesson: What the user notes about the open bugs of this run's tests; empty: nothing.
        green: Git revision at which the tests are known to pass; empty: what is remembered.
        source: Folders or packages under test; empty: as coverage.py is configured, or rootdir.
        reports: What to write.
        record: Where what the tests did is kept; None: nowhere.
        merge: What others kept, files and folders: no test is run.
        offers_prompt: Whether the page holds a prompt for an assistant.
        never_sent: Globs of files whose text is in no prompt.
        llm: About language models; None: none is asked.
        fix: About fixes; None: none is searched.
    """

    inspect: bool
    budget_s: float
    n_inspections: int
    threshold: float
    formula: str
    model: str
    selection: str
    without: frozenset[str]
    collect: str
    executor: ExecutorSettings
    never_edited: tuple[str, ...]
    memory: str
    memory_limit: int
    is_experiment: bool
    n_similar: int
    n_failed_strategies: int
    embedding_model: str
    tells_world: bool
    loop_limits: Mapping[str, int] | None
    advises: bool
    lesson: str
    green: str
    source: tuple[str, ...]
    reports: tuple[Report, ...]
    record: Path | None
    merge: tuple[Path, ...]
    offers_prompt: bool
    never_sent: tuple[str, ...]
    llm: LlmSettings | None
    fix: FixSettings | None

    @property
    def remembers(self) -> bool:
        """Whether anything is kept from run to run."""
        return self.memory != "off"

    @classmethod
    def from_config(cls, config: pytest.Config) -> Settings:
        """Read and check everything.

        Raises:
            pytest.UsageError: If a value is not usable; the text names it.
        """
        from pytest_bayesloc.options.executor import ExecutorSettings  # not where it is off

        inspect = bool(config.getoption("bayesloc") or config.getini("bayesloc"))
        return cls(
            inspect=inspect,
            budget_s=number_of(config, "budget", float, lambda x: 0 < x < 1e9, _SECONDS),
            n_inspections=number_of(config, "inspections", int, lambda n: n >= 0, _COUNT),
            threshold=number_of(config, "threshold", float, lambda p: 0 < p < 1, _PROBABILITY),
            formula=choice_of(config, "formula", FORMULAS),
            model=choice_of(config, "model", MODELS),
            selection=choice_of(config, "selection", SELECTIONS),
            without=_without(config),
            collect=choice_of(config, "collect", COLLECT),
            executor=ExecutorSettings.from_config(config),
            never_edited=tuple(
                config.getoption("bayesloc_never_edit") or config.getini("bayesloc_never_edit")
            ),
            memory=text_of(config, "memory", "on, off, a path or a URL")[1],
            memory_limit=number_of(config, "memory_limit", int, lambda n: n > 0, _AT_LEAST_ONE),
            is_experiment=choice_of(config, "experiment", ("off", "ab")) == "ab",
            n_similar=number_of(config, "max_similar_bugs", int, lambda n: n >= 0, HOW_MANY),
            n_failed_strategies=number_of(
                config, "max_failed_strategies", int, lambda n: n >= 0, HOW_MANY
            ),
            embedding_model=_embedding_model(config),
            tells_world=choice_of(config, "world_model", ("on", "off")) == "on",
            loop_limits=_loop_limits(config),
            advises=bool(config.getoption("bug_advice") or config.getini("bug_advice")),
            lesson=config.getoption("bug_note") or "",
            green=text_of(config, "green", "a git revision")[1],
            source=source_entries(config),
            reports=reports_of(config, inspect=inspect),
            record=_path(config, text_of(config, "record", "a path")[1]),
            merge=_merge(config),
            offers_prompt=choice_of(config, "report_prompt", ("on", "off")) == "on",
            never_sent=tuple(config.getini("bayesloc_llm_never_send")),
            llm=LlmSettings.from_config(config),
            fix=FixSettings.from_config(config),
        )


_SECONDS = "a positive number of seconds: give the time that inspections may take, for example 60"
_COUNT = "a number of inspections: give a whole number of 0 or more, for example 40"
_AT_LEAST_ONE = "a number of bugs: give a whole number of 1 or more, for example 10000"
_PROBABILITY = "a probability between 0 and 1: give the belief that decides, for example 0.9"


def add_options(parser: pytest.Parser) -> None:
    """Declare the command line and the ini file."""
    group = parser.getgroup("bayesloc", "fault localization (pytest-bayesloc)")
    group.addoption(
        "--bayesloc", action="store_true", help="inspect the suspects of a failing run; write HTML"
    )
    for name, text in (
        ("bug-advice", "print what is remembered of each failure"),
        ("bug-advice-last", "print that of the last red run, without running a test"),
        ("bug-stats", "print what the memory has learned, and whether advice helps"),
        ("bug-stats-json", "the same as JSON"),
    ):
        group.addoption(f"--{name}", action="store_true", help=text)
    for name, metavar, text in (
        ("bug-note", "TEXT", "a lesson of yours, added to the open bugs of the selected tests"),
        ("bug-forget", "ID", "take a bug out of the memory, and never take its failures in again"),
        ("bug-merge", "A,B", "from now on, what was bug B is bug A"),
        ("bug-memory-export", "FILE", "write the memory of this project as lines of JSON"),
        ("bug-memory-import", "FILE", "take such a file into the memory; what is there stays"),
    ):
        group.addoption(f"--{name}", metavar=metavar, help=text)
    group.addoption("--no-bayesloc", action="store_true", help="the plugin does nothing at all")
    for option in VALUES:
        text = f"{option.help} (default: {option.default})" if option.default else option.help
        group.addoption(
            f"--bayesloc-{option.name.replace('_', '-')}", metavar=option.metavar, help=text
        )
        parser.addini(f"bayesloc_{option.name}", text, **_ini_type(option.name))
    for name, metavar, text in (
        ("source", "DIR", "folder or package under test; repeatable"),
        ("without", "KIND", f"leave evidence out, repeatable: {', '.join(EVIDENCE)}"),
        ("never_edit", "NAME", "do not try edits of what calls this; repeatable"),
        ("executor", "SPEC", "where tests are run again, repeatable: local, execnet, docker, dask"),
        ("merge", "PATH", "run no test: take what --bayesloc-record kept; repeatable"),
        (
            "report",
            "KIND[:PATH]",
            f"write a report, repeatable: {', '.join((*REPORT_KINDS, AUTO))}",
        ),
    ):
        flag = f"--bayesloc-{name.replace('_', '-')}"
        group.addoption(flag, action="append", metavar=metavar, help=text)
        parser.addini(f"bayesloc_{name}", text, type="linelist", default=[])
    add_llm_options(parser, group)
    add_fix_options(parser, group)
    parser.addini("bug_advice", "print what is remembered of each failure", type="bool")
    parser.addini("bayesloc", "inspect the suspects of every failing run", type="bool")
    parser.addini("no_bayesloc", "the plugin does nothing at all", type="bool")


def _ini_type(name: str) -> dict[str, Any]:
    """The ini type of an option: numbers where pytest knows them (8.4), else text.

    pytest 9's native TOML table takes ``bayesloc_budget = 60`` only for a numeric type.
    """
    if pytest.version_tuple >= (8, 4) and name in {"budget", "inspections", "threshold"}:
        return {"type": "int" if name == "inspections" else "float", "default": None}
    return {"type": "string", "default": None}


def is_enabled(config: pytest.Config) -> bool:
    """Whether the plugin may do anything; may be asked before all plugins are loaded."""
    known = getattr(config, "known_args_namespace", config.option)
    return not (getattr(known, "no_bayesloc", False) or config.getini("no_bayesloc"))


def is_listing(config: pytest.Config) -> bool:
    """Whether no test is to be run; may be asked before all plugins are loaded."""
    known = getattr(config, "known_args_namespace", config.option)
    return any(getattr(known, name, False) for name in ("collectonly", "help", "version"))


def is_question(config: pytest.Config) -> bool:
    """Whether the memory is asked or corrected, and no test is to be run."""
    about = ("advice_last", "stats", "stats_json")
    names = (*about, "forget", "merge", "memory_export", "memory_import")
    return any(config.getoption(f"bug_{name}") for name in names) or is_about_fixes(config)


def is_about_fixes(config: pytest.Config) -> bool:
    """Whether fix tools are listed or trusted, or fixes undone, and no test is to be run."""
    asked = any(config.getoption(f"bayesloc_{name}") for name in ("trust", "fix_tools"))
    return asked or config.getoption("bayesloc_fix") == "undo"


def source_entries(config: pytest.Config) -> tuple[str, ...]:
    """The folders and packages under test that were named; may be asked early."""
    known = getattr(config, "known_args_namespace", config.option)
    return tuple(getattr(known, "bayesloc_source", None) or config.getini("bayesloc_source"))


def early_text(config: pytest.Config, name: str) -> str:
    """The value of an option as far as it is known before all plugins are loaded, unchecked."""
    known = getattr(config, "known_args_namespace", config.option)
    given = getattr(known, f"bayesloc_{name}", None)
    return str(given or config.getini(f"bayesloc_{name}") or "")


def _loop_limits(config: pytest.Config) -> dict[str, int] | None:
    if choice_of(config, "loops", ("on", "off")) == "off":
        return None
    return {
        name: number_of(config, f"loop_{name}", int, lambda n: n >= 0, HOW_MANY) for name in LOOPS
    }


def _embedding_model(config: pytest.Config) -> str:
    value = text_of(config, "embedding_model", "off, on or a model")[1]
    return {"off": "", "on": EMBEDDING_MODEL}.get(value, value)


def _without(config: pytest.Config) -> frozenset[str]:
    given = config.getoption("bayesloc_without") or config.getini("bayesloc_without")
    for name in given:
        if name not in EVIDENCE:
            raise pytest.UsageError(
                f"--bayesloc-without={name} is not known: expected {', '.join(EVIDENCE)}."
            )
    has_mutants = choice_of(config, "mutants", ("on", "off")) == "on"
    return frozenset(given) if has_mutants else frozenset({*given, "mutants"})


def _merge(config: pytest.Config) -> tuple[Path, ...]:
    entries = config.getoption("bayesloc_merge") or config.getini("bayesloc_merge")
    workers = getattr(config.option, "numprocesses", None)
    if entries and workers:
        raise pytest.UsageError(
            f"--bayesloc-merge runs no test, and -n {workers} asks for processes that run them: "
            "give -n 0."
        )
    return tuple(config.invocation_params.dir / str(entry) for entry in entries)


def _path(config: pytest.Config, text: str) -> Path | None:
    """A path, relative to where pytest was started; None if none was given."""
    return config.invocation_params.dir / text if text else None
