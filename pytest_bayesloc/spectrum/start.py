"""Which files are under test, and which collectors are tried in which order."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.spectrum.cache.key import file_name
from pytest_bayesloc.spectrum.cache.spectra import SpectrumCache
from pytest_bayesloc.spectrum.collectors.coverage_config import measured
from pytest_bayesloc.spectrum.collectors.coverage_py import CoverageCollector
from pytest_bayesloc.spectrum.collectors.monitoring import MonitoringCollector
from pytest_bayesloc.spectrum.recorder import Recorder
from pytest_bayesloc.spectrum.source_filter import TEST_DIRECTORIES, SourceFilter
from pytest_bayesloc.spectrum.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from pytest_bayesloc.spectrum.collectors.base import Collector


def recorder_for(
    config: pytest.Config,
    entries: Sequence[str],
    warn: Callable[[str], None],
    *,
    traces: bool = True,
    folder: Path | None = None,
) -> Recorder:
    """The recorder of a run.

    Args:
        config: pytest's.
        entries: Folders and packages under test, as the user named them; empty: what coverage.py
            is configured to measure, else everything below rootdir.
        warn: Told once if recording had to be given up.
        traces: Whether tests are traced while they run.
        folder: Where it is kept what tests execute; None: nowhere.
    """
    rootdir = config.rootpath
    omit: list[str] = []
    if not entries:
        entries, omit = measured(rootdir)
    folders = [folder for entry in entries for folder in _folders(entry, rootdir)]
    patterns = config.getini("python_files")
    files = SourceFilter(rootdir, folders, patterns, omit)
    recorder: Recorder

    def context_name(window: int) -> str:
        return f"{recorder.label(window)}|run" if recorder.label(window) else ""

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
    path = None if folder is None else folder / file_name([*source, *patterns, *omit])
    cache = SpectrumCache(path, Sources(files))
    recorder = Recorder(files, collectors if traces else [], warn, cache)
    return recorder


def _pytest_cov_starts_later(config: pytest.Config) -> bool:
    """Whether an outer measuring is still to come, which ours must be started on top of."""
    known = _options(config)
    source = getattr(known, "cov_source", [])  # None in a worker: a bare ``--cov``
    return (source is None or bool(source)) and not getattr(known, "no_cov", False)


def _options(config: pytest.Config) -> object:
    """The options as far as they are known: before conftest files are loaded, not all are."""
    return getattr(config, "known_args_namespace", config.option)


def _folders(entry: str, rootdir: Path) -> list[Path]:
    """The folder that ``entry`` names, or those of the package that it names."""
    top, *rest = parts = entry.split(".")
    if (rootdir / entry).is_dir() or not all(part.isidentifier() for part in parts):
        return [rootdir / entry]
    # What pytest's ``pythonpath`` adds may not be importable yet: the usual places come first.
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
