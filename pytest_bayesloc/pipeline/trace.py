"""Completes the record of what tests execute, and keeps for later runs what this one showed.

What is missing comes from earlier runs, and from re-runs of some tests.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ExecutionError, StoreError
from pytest_bayesloc.domain.texts import file_of_test, listed
from pytest_bayesloc.history.runs import PastRuns
from pytest_bayesloc.options.option import AUTO
from pytest_bayesloc.pipeline.context import FOLDER, own_folder
from pytest_bayesloc.spectrum.cache_store import UNREADABLE
from pytest_bayesloc.spectrum.tracer import TRACED
from pytest_bayesloc.spectrum.validity import written_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.spectrum.run_record import RunRecord
    from pytest_bayesloc.spectrum.sources import SourceFilter

N_FAILING = 50  # that are traced after the run, at most
N_PASSING = 100  # beside them, where none was traced
LIMIT_S = 20.0
N_CACHES = 8


def complete_spectra(context: Context, *, may_run: bool) -> None:
    """Find out what the tests execute that were not traced in this run.

    If tests may be re-run, failing ones whose cached row is not of a failing run are, in a process
    of their own, with some passing ones if the row of none of these is known.
    """
    recorder = context.recorder
    recorder.take_result()
    recorded, cache = recorder.recorded, recorder.cache
    spoilt = recorded.spoilt_tests()
    if spoilt:
        recorded.partial.append(
            f"{listed(spoilt)} set a trace function: what was executed then is not known"
        )
    if context.settings.collect != "never":
        outcomes = cache.outcomes()
        cached = {window.cached_name for window in recorded.windows}
        ran = {*recorded.verdicts, *recorded.excused, *cached}
        passed = (node_id for node_id, outcome in outcomes.items() if outcome == "passed")
        recorded.remember([node_id for node_id in passed if node_id not in ran])
        failing = _untraced(recorded, outcomes)
        if failing and may_run and TRACED not in recorded.partial:
            _trace(context, [*failing[:N_FAILING], *_passing(recorded, failing)])
        still = _untraced(recorded, outcomes)
        if still:
            recorded.partial.append(f"It is not known what {listed(still)} executed")
    cache.recall(recorded)


def _untraced(recorded: RunRecord, outcomes: Mapping[str, str]) -> list[str]:
    """Failing tests that have no row of a failing run."""
    known = recorded.windows_of.keys()

    def is_doubtful(node_id: str) -> bool:
        name = recorded.windows[recorded.windows_of[node_id][0]].cached_name
        return name is not None and outcomes.get(name) != "failed"

    return [
        node_id
        for node_id, passed in recorded.verdicts.items()
        if not passed and "::" in node_id and (node_id not in known or is_doubtful(node_id))
    ]


def _passing(recorded: RunRecord, failing: Sequence[str]) -> list[str]:
    """Passing tests, those of the same files first; none if the row of any is known."""
    passed = [n for n, passed in recorded.verdicts.items() if passed]
    if recorded.remembered or any(n in recorded.windows_of for n in passed):
        return []
    files = {file_of_test(node_id) for node_id in failing}
    passed.sort(key=lambda node_id: file_of_test(node_id) not in files)
    return passed[:N_PASSING]


def _trace(context: Context, tests: Sequence[str]) -> None:
    """Re-run ``tests`` in a process that records what they execute, and merge its record."""
    from pytest_bayesloc.rerun.command import command_for
    from pytest_bayesloc.rerun.runner import ServerRunner
    from pytest_bayesloc.rerun.transports.local import local_transport

    sources = (f"--bayesloc-source={entry}" for entry in context.settings.source)
    ours = ("--bayesloc-collect=always", *sources)
    path, environment = context.launch.path, context.launch.environment
    command = command_for(context.config, path, environment, ours=ours)
    runner = ServerRunner(local_transport(command, context.effects), tests, {})
    try:
        payload = runner.trace(tests, limit_s=LIMIT_S)
    except ExecutionError as error:
        context.note(str(error))
        return
    finally:
        runner.close()
    if payload:
        recorded = context.recorder.recorded
        n_windows = len(recorded.windows)
        is_ordered = any(window.is_ordered for _, window in recorded.imports())
        recorded.merge(payload)
        if is_ordered:  # a module that is imported there first may not be first in the run
            for window in recorded.windows[n_windows:]:
                window.is_ordered = False


def note_empty_spectrum(files: SourceFilter, note: Callable[[str], None]) -> None:
    """Say that no code of the project was executed by any failing test."""
    where = ", ".join(map(files.relative, files.directories))
    note(
        f"No failing test executed any file under {where!r}: only the tests themselves are "
        "suspects. Check bayesloc_source. (empty-spectrum)"
    )


def past_runs(context: Context) -> PastRuns:
    """Open the snapshots of the project."""
    settings, recorder = context.settings, context.recorder
    named = "" if settings.green == AUTO else settings.green
    return PastRuns(
        context.rootdir,
        context.rootdir / FOLDER / "green.sqlite",
        context.sources,
        lambda: recorder.files_in_use().keys(),
        context.note,
        named or ("" if settings.remembers else None),
    )


def keep(context: Context, past: PastRuns) -> str:
    """Keep for later runs what was traced, and the code on which tests passed and failed.

    Returns:
        Why the code could not be kept; empty if it was. What was traced is traced again then.
    """
    recorder, recorded = context.recorder, context.recorder.recorded
    recorder.take_result()
    with suppress(OSError, *UNREADABLE):
        if recorder.cache.has_news(recorded):
            own_folder(context.rootdir)
            recorder.cache.keep(recorded, recorder.files_in_use())
            # The oldest caches go: their interpreters and packages are no longer used.
            caches = (context.rootdir / FOLDER).glob("spectra-*.sqlite")
            for path in sorted(caches, key=written_ns)[:-N_CACHES]:
                path.unlink(missing_ok=True)
    files = recorder.files_in_use() if recorded.verdicts and context.settings.remembers else {}
    if not files:
        return ""
    try:
        with suppress(OSError):  # the store says below what can't be made
            own_folder(context.rootdir)
        past.remember(recorded.verdicts, files)
    except StoreError as error:
        return str(error)
    return ""
