"""Makes the recorder of a run: its source files, its collectors in their order, and its cache.

Brings the records of pytest-xdist's workers together in the controller. A record travels as JSON
text: a path object or a lone surrogate in ``workeroutput`` would silently lose all that a worker
reports.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.texts import listed
from pytest_bayesloc.spectrum.cache import SpectrumCache
from pytest_bayesloc.spectrum.coverage_py import CoverageCollector, texts
from pytest_bayesloc.spectrum.monitoring import MonitoringCollector
from pytest_bayesloc.spectrum.recorder import Recorder
from pytest_bayesloc.spectrum.sources import TEST_DIRECTORIES, SourceFilter, Sources
from pytest_bayesloc.spectrum.validity import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.spectrum.run_record import Collector

    CoverageSource = tuple[list[str], list[str]]


FILES = (".coveragerc", "setup.cfg", "tox.ini", "pyproject.toml")
_MARKS = ("coverage:", "tool.coverage", "[run]")
_KEYS = ("source", "source_pkgs", "omit")


def recorder_for(
    config: pytest.Config,
    entries: Sequence[str],
    warn: Callable[[str], None],
    *,
    traces: bool = True,
    folder: Path | None = None,
) -> Recorder:
    """Make the recorder of a run, which traces tests while they run if it ``traces`` at all.

    The ``entries`` are the folders and packages under test, as the user named them; without any,
    what coverage.py is configured to measure, else everything below rootdir. Without a ``folder``
    there is no cache.
    """
    rootdir = config.rootpath
    omit: list[str] = []
    if not entries:
        entries, omit = coverage_source(rootdir)
    folders = [folder for entry in entries for folder in _folders(entry, rootdir)]
    patterns = config.getini("python_files")
    names = config.getini("python_functions"), config.getini("python_classes")
    files = SourceFilter(rootdir, folders, patterns, omit, names)
    recorder: Recorder

    def context_name(number: int) -> str:
        window = recorder.recorded.windows[number]
        return "" if window.is_import or not window.node_id else f"{window.node_id}|run"

    outer_context = getattr(_options(config), "cov_context", None) == "test"
    by_coverage = CoverageCollector(
        files.is_code,
        files.directories,
        sorted(TEST_DIRECTORIES),
        context_name if outer_context else None,
    )
    by_coverage.early = not _pytest_cov_starts_later(config)
    collectors: list[Collector] = [MonitoringCollector(files.is_code), by_coverage]
    source = map(files.relative, files.directories)  # a checkout may be moved, or copied
    path = (
        None
        if folder is None
        else folder / file_name([*source, *patterns, *omit, *names[0], *names[1]])
    )
    cache = SpectrumCache(path, Sources(files))
    recorder = Recorder(files, collectors if traces else [], warn, cache)
    return recorder


def _pytest_cov_starts_later(config: pytest.Config) -> bool:
    """Whether pytest-cov starts measuring later; ours must start on top of that."""
    known = _options(config)
    source = getattr(known, "cov_source", [])  # None in a worker: a bare ``--cov``
    return (source is None or bool(source)) and not getattr(known, "no_cov", False)


def _options(config: pytest.Config) -> object:
    """The options that are known now: before conftest files are loaded, not all are."""
    return getattr(config, "known_args_namespace", config.option)


def _folders(entry: str, rootdir: Path) -> list[Path]:
    """The folder that ``entry`` names, or those of the package that it names."""
    top, *rest = parts = entry.split(".")
    if (rootdir / entry).is_dir() or not all(part.isidentifier() for part in parts):
        return [rootdir / entry]
    # Folders of pytest's ``pythonpath`` may not be importable yet: the usual places come first.
    for folder in (Path(rootdir, *parts), Path(rootdir, "src", *parts)):
        if folder.is_dir():
            return [folder]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return [rootdir / entry]
    folders = spec.submodule_search_locations
    return [Path(folder, *rest) for folder in folders] if folders else [rootdir]


# -- what coverage.py is configured to measure


def coverage_source(rootdir: Path) -> CoverageSource:
    """Return coverage.py's ``source`` (folders and packages) and ``omit``.

    They are read without importing it, which costs 40 ms, from the first file that configures it.
    """
    for name in FILES:
        text = ""
        with suppress(OSError):
            text = (rootdir / name).read_text(encoding="utf-8", errors="replace")
        if any(mark in text for mark in _MARKS):
            try:
                source, packages, omit = map(_plain, _values(name, text))
            except (ValueError, LookupError):
                return _read_by_coverage(rootdir / name)
            return [*source, *packages], omit
    return [], []


def _values(name: str, text: str) -> list[Any]:
    """The values of ``_KEYS``.

    Raises:
        ValueError: If the file can't be read.
        LookupError: If it can't here.
    """
    if name.endswith(".toml"):
        # On Python 3.10, where pytest brings it along, it goes by the name that it had then.
        tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
        table = tomllib.loads(text).get("tool", {}).get("coverage", {}).get("run", {})
        return [table.get(key, []) for key in _KEYS]
    from configparser import Error, RawConfigParser

    parser = RawConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except Error as error:
        raise ValueError(name) from error
    sections = ("coverage:run", "run") if name == ".coveragerc" else ("coverage:run",)
    section = next((s for s in sections if parser.has_section(s)), None)
    return [parser.get(section, key, fallback="") if section else "" for key in _KEYS]


def _plain(value: object) -> list[str]:
    """A list as coverage.py reads it.

    Raises:
        ValueError: If there is more to it, such as variables.
    """
    items = re.split(r"[,\n]", value) if isinstance(value, str) else value
    if not isinstance(items, list) or any("$" in str(item) for item in items):
        raise ValueError(value)
    return [item for item in (str(item).strip() for item in items) if item]


def _read_by_coverage(path: Path) -> CoverageSource:
    from coverage import Coverage
    from coverage.exceptions import ConfigError, CoverageException

    try:
        cov = Coverage(data_file=None, config_file=str(path))
    except (ConfigError, CoverageException):  # of old, two families
        return [], []
    named = [*texts(cov.get_option("run:source")), *texts(cov.get_option("run:source_pkgs"))]
    return named, texts(cov.get_option("run:omit"))


KEY = "bayesloc"


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker."""
    return hasattr(config, "workerinput")


def is_controller(config: pytest.Config) -> bool:
    """Whether this process hands its tests to workers."""
    distributes = getattr(config.option, "dist", "no") != "no"
    return distributes and bool(getattr(config.option, "tx", None)) and not is_worker(config)


class Worker:
    """Sends the record at the end of a worker's session."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Any:  # noqa: ANN401 - a generator hook
        """Stop recording before outer plugins stop measuring."""
        try:
            return (yield)
        finally:
            self._recorder.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the record."""
        self._recorder.stop()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            files = map(str, self._recorder.files_in_use().values())
            output[KEY] = json.dumps(self._recorder.payload(files))


class Controller:
    """Merges the records that the workers send to the controller."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._has_lost = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401 - xdist's
        """Merge the record of a worker that ended, or say that it is missing."""
        text = (getattr(node, "workeroutput", None) or {}).get(KEY)
        recorded = self._recorder.recorded
        if text is not None:
            recorded.merge(json.loads(text))
            return
        name = getattr(getattr(node, "gateway", None), "id", "?")
        reason = f": {error}" if error else ""
        recorded.partial.append(f"Worker {name} sent no coverage{reason}")
        self._has_lost = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Bring the verdicts into an order that does not depend on who was faster."""
        recorded = self._recorder.recorded
        missing = sorted(recorded.verdicts.keys() - recorded.windows_of.keys())
        if self._has_lost and missing:
            recorded.partial.append(f"What {listed(missing)} executed was lost with it")
        recorded.verdicts = dict(sorted(recorded.verdicts.items()))
        recorded.failures = dict(sorted(recorded.failures.items()))
