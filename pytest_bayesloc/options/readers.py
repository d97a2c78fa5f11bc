"""Readers of options: each checks what was given and converts it, or refuses it with a line."""

from __future__ import annotations

import os
import re
import shlex
from importlib.util import find_spec
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.options.option import (
    AUTO,
    EXPECTED_ACTIONS,
    EXPECTED_MODEL,
    FIX_MODES,
    LOCAL,
    LOOP,
    MEMORY_ACTIONS,
    PARTS,
    RECORD,
    REPORT_KINDS,
    Format,
    LlmLimits,
    LlmModels,
    Read,
    Report,
    addopts,
    is_typed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TIMES = re.compile(r"(\d+)\*(.+)", re.DOTALL)
_EXECUTOR = re.compile(
    r"(popen|ssh=|vagrant_ssh=|socket=|docker(-image)?:(?!-)|dask:).*", re.DOTALL
)
_NEEDS_NAME = ("ssh=", "vagrant_ssh=", "socket=", "docker:", "docker-image:", "dask:")


def number(kind: Callable[[Any], float], accepts: Callable[[float], bool], expected: str) -> Read:
    """Return a reader of numbers that ``accepts`` accepts; a refusal says what is ``expected``."""

    def read(shown: str, given: str, _: pytest.Config) -> float:
        try:
            value = kind(given)
            good = accepts(value)
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            raise pytest.UsageError(f"{shown}={given} is not {expected}.")
        return value

    return read


def choice(known: Sequence[str]) -> Read:
    """Return a reader of one of the ``known`` names."""

    def read(shown: str, given: str, _: pytest.Config) -> str:
        if given not in known:
            raise pytest.UsageError(f"{shown}={given} is not known: expected {', '.join(known)}.")
        return str(given)

    return read


def sources(shown: str, given: Sequence[str], config: pytest.Config) -> tuple[str, ...]:
    """Read folders or packages under test; each must be there."""
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


def revision(shown: str, given: str, config: pytest.Config) -> str:
    """Return the revision; one that git does not know is refused, if a person typed it.

    The ini file is for other machines as well, whose clones may be shallow.
    """
    revision = "HEAD" if given == AUTO else given
    if given and is_typed(config, shown) and not _is_revision(config.rootpath, revision):
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


def memory(shown: str, given: str, config: pytest.Config) -> str:
    """Read where bugs are remembered: on, off, a file, or a PostgreSQL server."""
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


def parts(shown: str, given: Sequence[str], config: pytest.Config) -> frozenset[str]:
    """Read the parts that are left out."""
    read = choice(PARTS)
    return frozenset(read(shown, name, config) for name in given)


def fix_mode(shown: str, given: str, config: pytest.Config) -> str:
    """Read what to do with fixes; files are changed only if the command line says so."""
    mode: str = choice(FIX_MODES)(shown, given, config)
    if mode not in {"off", "suggest"} and not is_typed(config, "--bayesloc-fix"):
        raise pytest.UsageError(
            f"bayesloc_fix={mode} in the ini file, or in addopts, would change files in every "
            f"run: expected off or suggest there; give --bayesloc-fix={mode} on the command line."
        )
    return mode


def trusted(shown: str, given: str, config: pytest.Config) -> str:
    """Read what to trust, which no file of the project can say."""
    if given and not is_typed(config, shown):
        raise pytest.UsageError(
            f"{shown}={given} in addopts would let a project trust itself: give it on the command "
            "line."
        )
    return given


def memory_actions(
    shown: str, given: Sequence[str], config: pytest.Config
) -> tuple[tuple[str, str], ...]:
    """Read what to do with the memory, as pairs of verb and argument."""
    theirs = [word for word in addopts(config) if word.startswith(shown)]
    if given and theirs:
        raise pytest.UsageError(
            f"{' '.join(theirs)} in addopts would let a project change or copy what is remembered: "
            "give it on the command line."
        )
    found = []
    for text in given:
        verb, colon, argument = text.partition(":")
        if verb not in MEMORY_ACTIONS or MEMORY_ACTIONS[verb] != bool(colon and argument):
            raise pytest.UsageError(
                f"{shown}={text} is not known: expected one of {EXPECTED_ACTIONS}."
            )
        found.append((verb, argument))
    return tuple(found)


def executors(shown: str, given: Sequence[str], _: pytest.Config) -> tuple[str, ...]:
    """Read where tests run again: one specification a server."""
    found: list[str] = []
    for text in map(str.strip, given):
        times = _TIMES.fullmatch(text)
        number, spec = (int(times[1]), times[2]) if times else (1, text)
        is_known = spec == LOCAL or (_EXECUTOR.fullmatch(spec) and spec not in _NEEDS_NAME)
        if not is_known or not 1 <= number <= 1000:
            raise pytest.UsageError(
                f"{shown}={text} is not known: expected local, an execnet specification "
                "(popen, ssh=HOST, socket=HOST:PORT), docker:CONTAINER, docker-image:IMAGE, "
                "dask:local or dask:tcp://HOST:PORT, several servers by N*SPEC."
            )
        try:
            shlex.split(spec)
        except ValueError as error:
            raise pytest.UsageError(
                f"{shown}={text} can't be split into words ({error}): quote it as for a shell."
            ) from error
        found += [spec] * number
    return tuple(found)


def workspace(shown: str, given: str, config: pytest.Config) -> tuple[str, str]:
    """Read the project's folder here and there; empty if it is the same."""
    here, colon, there = given.rpartition(":")
    if given and not (there.startswith("/") and (not colon or here.startswith("/"))):
        raise pytest.UsageError(
            f"{shown}={given} is not an absolute path, or two with a colon between them: give the "
            "project's folder there, as /srv/app, or here and there, as /home/me/app:/srv/app."
        )
    if colon and is_typed(config, shown) and not Path(here).is_dir():
        raise pytest.UsageError(
            f"{shown}={given} names {here}, which is no folder here: give the project's folder."
        )
    return here, there


def paths(_: str, given: Sequence[str], config: pytest.Config) -> tuple[Path, ...]:
    """Read the records of other runs to merge."""
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


def llm_models(shown: str, given: Sequence[str], _: pytest.Config) -> LlmModels:
    """Read the names of models, by their use, and their prices."""
    names = {"": "gpt-4.1-mini", "fast": "", "embedding": ""}
    prices = {}
    for text in given:
        role, colon, rest = text.strip().partition(":")
        role, rest = (role, rest) if colon and role in names else ("", text.strip())
        words = rest.split()
        cost = [float(word) for word in words[1:] if _is_price(word)]
        if not words or len(words) not in {1, 3} or len(cost) != len(words) - 1:
            raise pytest.UsageError(f"{shown}={text} is not {EXPECTED_MODEL}.")
        names[role] = words[0]
        if cost:
            prices[words[0]] = (cost[0], cost[1])
    return LlmModels(names[""], names["fast"], names["embedding"], prices)


def _is_price(text: str) -> bool:
    try:
        return isfinite(float(text)) and float(text) >= 0
    except ValueError:
        return False


def llm_limits(shown: str, given: str, _: pytest.Config) -> LlmLimits:
    """Read the limits of one run."""
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


def reports(shown: str, given: Sequence[str], config: pytest.Config) -> tuple[Report, ...]:
    """Read the reports to write; ``auto`` stands for those that the CI service shows."""
    reports = [_report(shown, entry, config) for entry in given if entry != AUTO]
    # A report must not overwrite another.
    kind_at: dict[str, str] = {}
    for report in reports:
        if report.path is None:
            continue
        other = kind_at.setdefault(os.path.normpath(report.path), report.kind)
        if other != report.kind:
            raise pytest.UsageError(
                f"{shown}={report.kind}:{report.path} would overwrite the {other} report: give "
                "each report a file of its own."
            )
    if AUTO in given:
        named = {report.kind for report in reports}
        kinds: tuple[str, ...] = ()  # that the CI service shows by itself, and the page
        if os.environ.get("GITHUB_ACTIONS") and os.environ.get("GITHUB_STEP_SUMMARY"):
            kinds = ("html", "github")
        elif os.environ.get("GITLAB_CI"):
            kinds = ("html", "gitlab")
        reports += [Report(kind) for kind in kinds if kind not in named]
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
