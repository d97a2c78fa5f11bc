"""Completes the record of what tests execute by earlier runs, and by re-runs of some tests."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.report.files import FOLDER, own_folder
from pytest_bayesloc.spectrum.cache.files import written_ns
from pytest_bayesloc.spectrum.recorded import named
from pytest_bayesloc.spectrum.tracer import TRACED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pytest

    from pytest_bayesloc.options import Launch, Settings
    from pytest_bayesloc.spectrum.recorder import Recorder
    from pytest_bayesloc.spectrum.sources import SourceFilter

N_FAILING = 50  # that are traced after the run, at most
N_PASSING = 100  # beside them, where none was traced
LIMIT_S = 20.0
N_CACHES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """Completes the record of a run.

    Attributes:
        config: pytest's.
        settings: Of the user.
        launch: Environment and path at the start of the process.
        recorder: Of the run.
        note: Tells the user, once.
    """

    config: pytest.Config
    settings: Settings
    launch: Launch
    recorder: Recorder
    note: Callable[[str], None]

    def complete(self, *, may_run: bool) -> None:
        """Find out what the tests execute that were not traced in this run.

        Failing tests whose cached row is not of a failing run are re-run in a process of their
        own, with some passing ones if none of these is known.

        Args:
            may_run: Whether tests may be run once more.
        """
        self.recorder.take_seen()
        recorded, cache = self.recorder.recorded, self.recorder.cache
        spoilt = recorded.spoilt_tests()
        if spoilt:
            recorded.partial.append(
                f"{named(spoilt)} set a trace function: what was executed then is not known"
            )
        if self.settings.collect != "never":
            outcomes = cache.outcomes()
            known = {window.known_as for window in recorded.windows}
            run = {*recorded.verdicts, *recorded.excused, *known}
            passed = (node_id for node_id, outcome in outcomes.items() if outcome == "passed")
            recorded.remember([node_id for node_id in passed if node_id not in run])
            failing = self._untraced(outcomes)
            if failing and may_run and TRACED not in recorded.partial:
                self._trace([*failing[:N_FAILING], *self._passing(failing)])
            still = self._untraced(outcomes)
            if still:
                recorded.partial.append(f"It is not known what {named(still)} executed")
        cache.recall(recorded)

    def _untraced(self, outcomes: Mapping[str, str]) -> list[str]:
        """Failing tests that have no row of a failing run."""
        recorded = self.recorder.recorded
        known = recorded.windows_of.keys()

        def is_doubtful(node_id: str) -> bool:
            name = recorded.windows[recorded.windows_of[node_id][0]].known_as
            return name is not None and outcomes.get(name) != "failed"

        return [
            node_id
            for node_id, passed in recorded.verdicts.items()
            if not passed and "::" in node_id and (node_id not in known or is_doubtful(node_id))
        ]

    def _passing(self, failing: Sequence[str]) -> list[str]:
        """Passing tests, those of the same files first; none if the row of any is known."""
        recorded = self.recorder.recorded
        passed = [n for n, passed in recorded.verdicts.items() if passed]
        if recorded.remembered or any(n in recorded.windows_of for n in passed):
            return []
        files = {node_id.partition("::")[0] for node_id in failing}
        passed.sort(key=lambda node_id: node_id.partition("::")[0] not in files)
        return passed[:N_PASSING]

    def _trace(self, tests: Sequence[str]) -> None:
        from pytest_bayesloc.rerun.command import command_for
        from pytest_bayesloc.rerun.runner import ServerRunner
        from pytest_bayesloc.rerun.transports.local import LocalTransport

        sources = (f"--bayesloc-source={entry}" for entry in self.settings.source)
        ours = ("--bayesloc-collect=always", *sources)
        path, environment = self.launch.path, self.launch.environment
        command = command_for(self.config, path, environment, ours=ours)
        runner = ServerRunner(LocalTransport(command), tests, {})
        try:
            payload = runner.trace(tests, limit_s=LIMIT_S)
        except ExecutionError as error:
            self.note(str(error))
            return
        finally:
            runner.close()
        if payload:
            recorded = self.recorder.recorded
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


def keep(recorder: Recorder, rootdir: Path) -> None:
    """Keep what was traced for later runs; if that fails, they trace it again."""
    recorder.take_seen()
    with suppress(OSError, sqlite3.Error, ValueError):
        if recorder.cache.has_news(recorder.recorded):
            own_folder(rootdir)
            recorder.cache.keep(recorder.recorded, recorder.files_in_use())
            _forget(rootdir / FOLDER)


def _forget(folder: Path) -> None:
    """Delete the oldest caches, whose interpreters and packages are no longer used."""
    found = sorted(folder.glob("spectra-*.sqlite"), key=written_ns)
    for path in found[:-N_CACHES]:
        path.unlink(missing_ok=True)
