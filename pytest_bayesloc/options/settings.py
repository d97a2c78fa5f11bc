"""The table of options, which is everything that a person can set.

Each field of ``Settings`` is the one declaration of what a person can set: its flag, its ini name,
its default and help, how it is read, and its row in ``docs/options.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.options import readers
from pytest_bayesloc.options.option import (
    AUTO,
    COLLECT,
    DRY_RUN,
    EXPECTED_ACTIONS,
    FIX_MODES,
    FORMULAS,
    LLM_MODES,
    LOOP,
    MODELS,
    PARTS,
    RECORD,
    REPORT_KINDS,
    LlmLimits,
    LlmModels,
    Option,
    Report,
    Trusts,
    are_executors_elsewhere,
    are_limits_raised,
    are_reports_elsewhere,
    check_prices,
    ini_of,
    is_memory_elsewhere,
    refusal_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _option(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - of the field's annotation
    """Return a field of ``Settings`` that declares an option; arguments as of ``Option``."""
    return field(metadata={"option": Option(*args, **given)})


_report = partial(_option, section="Reports")
_memory = partial(_option, section="Memory")
_rerun = partial(_option, section="Where tests are run again")
_fix = partial(_option, section="Fixes")
_llm = partial(_option, section="Language model")


# Made at every start of pytest: nobody compares or prints it.
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Settings:
    """Everything that a person can set, checked."""

    inspect: bool = _option(
        "--bayesloc", "", "inspect the suspects of a failing run; write HTML", is_common=True
    )
    disabled: bool = _option("--no-bayesloc", "", "the plugin does nothing at all", is_common=True)
    source: tuple[str, ...] = _option(
        "--bayesloc-source",
        "DIR",
        "folder or package under test; repeatable",
        read=readers.sources,
        repeats=True,
        is_common=True,
        default_words="coverage's `source`, else rootdir",
    )
    budget_s: float = _option(
        "--bayesloc-budget",
        "SECONDS",
        "seconds that inspections may take (60)",
        default="60",
        read=readers.number(
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
        read=readers.number(
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
        read=readers.number(
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
        read=readers.choice(FORMULAS),
    )
    model: str = _option(
        "--bayesloc-model",
        "NAME",
        f"model of the belief: {', '.join(MODELS)}",
        default="single-fault",
        read=readers.choice(MODELS),
    )
    without: frozenset[str] = _option(
        "--bayesloc-without",
        "PART",
        f"leave a part out; repeatable: {', '.join(PARTS)}",
        read=readers.parts,
        repeats=True,
        reaches=lambda value, _: "redaction" in value,
    )
    collect: str = _option(
        "--bayesloc-collect",
        "WHEN",
        f"trace tests: {', '.join(COLLECT)}",
        default=AUTO,
        read=readers.choice(COLLECT),
    )
    green: str = _option(
        "--bayesloc-green",
        "REV",
        "git revision at which the tests are known to pass; auto: search all commits for it",
        default_words="what is remembered, else found in git",
        read=readers.revision,
    )
    never_edited: tuple[str, ...] = _option(
        "--bayesloc-never-edit",
        "NAME",
        "function, method or module whose callers are not edited, even in memory; repeatable",
        repeats=True,
    )
    reports: tuple[Report, ...] = _report(
        "--bayesloc-report",
        "KIND[:PATH]",
        f"write a report; repeatable: {', '.join((*REPORT_KINDS, RECORD, LOOP, AUTO))}",
        read=readers.reports,
        repeats=True,
        is_common=True,
        default_words="`html` with `--bayesloc`",
        reaches=are_reports_elsewhere,
    )
    merge: tuple[Path, ...] = _report(
        "--bayesloc-merge",
        "PATH",
        "run no test: take the records of other runs; repeatable",
        read=readers.paths,
        repeats=True,
        in_ini=False,
    )
    memory: str = _memory(
        "--bayesloc-memory",
        "on|off|PATH|URL",
        "place where bugs are remembered from run to run",
        read=readers.memory,
        default="on",
        reaches=is_memory_elsewhere,
    )
    advises: bool = _memory(
        "--bug-advice", "", "print similar past failures and what was tried", is_common=True
    )
    advice_last: bool = _memory(
        "--bug-advice-last",
        "",
        "print the advice of the last failed run; run no test",
        in_ini=False,
        is_common=True,
    )
    lesson: str = _memory(
        "--bug-note",
        "TEXT",
        "add a note to the open bugs of the selected tests",
        in_ini=False,
        is_common=True,
    )
    memory_actions: tuple[tuple[str, str], ...] = _memory(
        "--bug-memory",
        "ACTION",
        f"run no test: {EXPECTED_ACTIONS}",
        read=readers.memory_actions,
        repeats=True,
        in_ini=False,
        is_common=True,
    )
    executors: tuple[str, ...] = _rerun(
        "--bayesloc-executor",
        "[N*]SPEC",
        "place where tests are run again; repeatable: local, execnet, docker, dask",
        read=readers.executors,
        repeats=True,
        default_words="`local`, with as many servers as the run had processes, at most 4",
        reaches=are_executors_elsewhere,
    )
    workspace: tuple[str, str] = _rerun(
        "--bayesloc-workspace",
        "[HERE:]THERE",
        "the project's folder there, where it has another name than here",
        read=readers.workspace,
        default_words="rootdir, on both sides",
        reaches=lambda value, _: any(value),
    )
    fix: str = _fix(
        "--bayesloc-fix",
        "MODE",
        f"search fixes: {', '.join(FIX_MODES)}",
        default="off",
        read=readers.fix_mode,
        is_common=True,
    )
    allows_dirty: bool = _fix(
        "--bayesloc-allow-dirty",
        "",
        "apply fixes also to files with changes that are not committed",
        in_ini=False,
        reaches=lambda value, _: bool(value),
    )
    trust: str = _fix(
        "--bayesloc-trust",
        "PATH",
        "trust a fix tool of the project as it is now, or all in a folder, or the settings of its "
        "ini file that need it",
        read=readers.trusted,
        in_ini=False,
    )
    asks_llm: bool = _llm(
        "--bayesloc-llm",
        "",
        "ask a language model (OPENAI_BASE_URL, OPENAI_API_KEY)",
        is_common=True,
        reaches=lambda value, _: bool(value),
    )
    llm_models: LlmModels = _llm(
        "--bayesloc-llm-model",
        "[fast:|embedding:]NAME",
        "model of the endpoint, the one for summaries, the one for finding past bugs; "
        "repeatable; with prices of a million tokens: 'NAME IN OUT'",
        read=readers.llm_models,
        repeats=True,
        default_words="`gpt-4.1-mini`; no embeddings",
        reaches=lambda value, _: bool(value.embedding),
    )
    llm_mode: str = _llm(
        "--bayesloc-llm-mode",
        "MODE",
        "live: use the cache; replay: cache only; record: refresh the cache; dry-run: print "
        "prompts, send nothing",
        default="live",
        read=readers.choice(LLM_MODES),
    )
    llm_limits: LlmLimits = _llm(
        "--bayesloc-llm-limits",
        "NAME=N ...",
        "limits of a run: calls, tokens, cost (money, by the prices given with the model), "
        "functions of a fault, characters of a prompt, tokens of an answer, parallel requests",
        default="calls=40 tokens=400000 functions=3 prompt=24000 answer=8000 parallel=4",
        reaches=are_limits_raised,
        read=readers.llm_limits,
    )
    llm_never_send: tuple[str, ...] = _llm(
        "--bayesloc-llm-never-send",
        "GLOB",
        "files whose text never leaves the machine; repeatable",
        repeats=True,
    )

    #: What of the project's own files does not count, since nobody trusted it, for the user.
    refusal: str = ""

    @property
    def remembers(self) -> bool:
        """Whether anything is kept from run to run."""
        return self.memory != "off"

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
        values: dict[str, Any] = {
            name: option.value(config, is_refused=option.name in refused)
            for name, option in _declared()
        }
        values["refusal"] = refusal_of(refused, config) if refused else ""
        pages = [report for report in values["reports"] if report.kind not in {RECORD, LOOP}]
        if values["inspect"] and not pages:
            values["reports"] += (Report("html"),)
        values["asks_llm"] |= values["llm_mode"] == DRY_RUN
        check_prices(values["llm_models"], values["llm_limits"])
        return cls(**values)


def add_options(parser: pytest.Parser) -> None:
    """Declare the command line and the ini file."""
    group = parser.getgroup(
        "bayesloc",
        "fault localization (pytest-bayesloc): options that people use most; the others are in "
        "docs/options.md",
    )
    for option in declarations():
        option.declare(parser, group)


def declarations() -> list[Option]:
    """Return every option in the order in which they are declared."""
    return [option for _, option in _declared()]


def _declared() -> list[tuple[str, Option]]:
    own = fields(Settings)
    return [(f.name, f.metadata["option"]) for f in own if "option" in f.metadata]


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
