"""The composition root: collect, localize, inspect, report."""

from __future__ import annotations

import platform
import time
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.collection.spectra import Sources, build_failures, build_spectrum
from pytest_bayesloc.domain.errors import BayeslocError, StoreError
from pytest_bayesloc.domain.result import Result
from pytest_bayesloc.memory.green import GreenMemory
from pytest_bayesloc.report.files import FOLDER, own_folder
from pytest_bayesloc.report.json import dumps, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_bayesloc.collection.recorder import Recorder
    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.inspection.case import Case
    from pytest_bayesloc.inspection.cases import Group
    from pytest_bayesloc.inspection.changes import Changes
    from pytest_bayesloc.inspection.invariants import Invariant
    from pytest_bayesloc.inspection.kind import Kind
    from pytest_bayesloc.options import Launch, Report, Settings

# Bound now: tests patch it (freezegun).
_monotonic, _time_ns = time.monotonic, time.time_ns

N_SUSPECTS = 5  # of each fault, whose calls are shown


class BayeslocWarning(pytest.PytestWarning):
    """Something of ours went wrong; the tests and pytest's exit status are as they would be."""


class LocalizationSession:
    """One run: from what the recorder saw to the terminal and the reports.

    Args:
        config: pytest's.
        settings: What the user asked for.
        recorder: Records the run, registered as a plugin of its own.
        launch: What the process was started with.
    """

    def __init__(
        self, config: pytest.Config, settings: Settings, recorder: Recorder, launch: Launch
    ) -> None:
        self._config = config
        self._settings = settings
        self._recorder = recorder
        self._launch = launch
        self._sources = Sources(recorder.files)
        self._seconds: dict[str, float] = {}
        self._document: dict[str, object] | None = None
        self._written: dict[str, Path] = {}
        self._notes: list[str] = []
        self._stopped_by_hand = False
        self._at_revision: dict[str, Mapping[str, str]] = {}
        self._started_ns = _time_ns()

    # -- pytest's side

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Stop recording right after the last test, before outer plugins stop measuring."""
        try:
            return (yield)
        finally:
            self._recorder.stop()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Tell Ctrl-C from an end that pytest chose, which is an interrupt to it as well."""
        self._stopped_by_hand = excinfo.type is KeyboardInterrupt

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Localize; whatever goes wrong costs one line, never the run."""
        self._recorder.stop()
        try:
            if not all(self._recorder.recorded.verdicts.values()):
                self._localize()
            self._remember()
        except KeyboardInterrupt:
            self._notes.append("Localization was interrupted.")
        except BayeslocError as error:
            self._notes.append(str(error))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take the summary down
            self._warn(error)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the answer below the failures."""
        if self._document is None and not self._notes:
            return
        try:
            self._print(terminalreporter)
        except Exception as error:  # noqa: BLE001 - see above
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        text = (
            f"pytest-bayesloc failed ({type(error).__name__}: {error}): the tests and the exit "
            "status are not affected. Please report it, or run with --no-bayesloc. (own-fault)"
        )
        self._notes.append(text)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            with suppress(BayeslocWarning):  # where warnings are errors, the note has to do
                self._config.issue_config_time_warning(BayeslocWarning(text), stacklevel=2)

    def _print(self, reporter: pytest.TerminalReporter) -> None:
        from pytest_bayesloc.report.terminal import brief, full

        width = reporter._tw.fullwidth  # noqa: SLF001 - no public way leads to the width
        lines = []
        if self._document is not None:
            written = {kind: str(path) for kind, path in self._written.items()}
            show_all = self._settings.inspect
            lines = (
                full(self._without_notes(), width=width, reports=written)
                if show_all
                else brief(self._document, width=width)
            )
        if lines or self._notes:
            reporter.section("bayesloc", bold=True)
        for line in lines:
            reporter.write_line(line.text, **line.markup)
        for note in self._notes:
            reporter.write_line(f"bayesloc: {note}", yellow=True)

    def _without_notes(self) -> dict[str, object]:
        """The result without what is printed below it, in full."""
        assert self._document is not None  # noqa: S101 - asked for when there is one
        partial = self._document["partial"]
        rest = [text for text in partial if text not in self._notes]  # type: ignore[attr-defined]
        return {**self._document, "partial": rest}

    # -- the stages

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        started = _monotonic()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + _monotonic() - started

    def _localize(self) -> None:
        from pytest_bayesloc.inspection.cases import Reader, Terms, open_groups

        recorded = self._recorder.recorded
        with self._stage("localize"):
            self._recorder.take_hits()
            spectrum = build_spectrum(recorded, self._sources)
            failures = build_failures(recorded, self._sources)
            groups = open_groups(
                spectrum,
                failures,
                Reader(read=self._sources.map, module=self._sources.module, changes=self._changes),
                Terms(
                    formula=self._settings.formula,
                    model=self._settings.model,
                    without=self._settings.without,
                ),
            )
            cases = [group.case() for group in groups]
        if not any(executed & spectrum.failing for executed in spectrum.executed.values()):
            where = ", ".join(map(self._recorder.files.relative, self._recorder.files.directories))
            self._notes.append(
                f"No failing test executed any file under {where!r}: only the tests themselves are "
                "suspects. Check bayesloc_source. (empty-spectrum)"
            )
        if self._settings.inspect and not self._stopped_by_hand:
            with self._stage("inspect"):
                self._inspect(cases)
        self._tell_others(groups, cases)
        with self._stage("report"):
            self._document = self._result(groups, cases)
            self._write()

    def _changes(self, failing: Sequence[str]) -> Changes:
        """What changed since these tests passed, as far as that is remembered."""
        from pytest_bayesloc.inspection.changes import Changes, changes_since

        try:
            texts = self._green_texts(failing)
        except StoreError as error:
            self._note(error)
            return Changes()
        return changes_since(texts, self._sources.read, self._sources.map)

    def _green_texts(self, failing: Sequence[str]) -> Mapping[str, str]:
        revision = self._settings.green
        if revision:
            return self._texts_at(revision)
        if not self._settings.remembers:
            return {}
        green = self._green_memory().last_green(failing)
        return {} if green is None else green.texts

    def _texts_at(self, revision: str) -> Mapping[str, str]:
        """Read once, however many groups ask."""
        from pytest_bayesloc.memory.git import texts_at

        if revision not in self._at_revision:
            self._at_revision[revision] = texts_at(self._config.rootpath, revision)
        return self._at_revision[revision]

    def _remember(self) -> None:
        """Note what the tests that passed have passed on."""
        verdicts = self._recorder.recorded.verdicts
        passed = [node_id for node_id, has_passed in verdicts.items() if has_passed]
        files = self._recorder.files_in_use() if passed and self._settings.remembers else {}
        if not files:
            return
        try:
            with suppress(OSError):  # what can't be made is said below
                own_folder(self._config.rootpath)
            self._green_memory().remember(passed, files, self._started_ns)
        except StoreError as error:
            if self._document is not None:  # a green run stays quiet: nothing was asked of it
                self._note(error)

    def _note(self, error: StoreError) -> None:
        """Say it once, however many groups ask."""
        if str(error) not in self._notes:
            self._notes.append(str(error))

    def _green_memory(self) -> GreenMemory:
        return GreenMemory(self._config.rootpath / FOLDER / "green.sqlite")

    def _inspect(self, cases: Sequence[Case]) -> None:
        """Run the loop on each group in turn; they share the budget and the warm server."""
        from pytest_bayesloc.execution.command import command_for
        from pytest_bayesloc.execution.local import LocalRunner
        from pytest_bayesloc.inspection.kind import outlooks
        from pytest_bayesloc.inspection.loop import Loop
        from pytest_bayesloc.localization.selection import Informative, Limits, greedy

        order = {node_id: i for i, node_id in enumerate(self._recorder.recorded.verdicts)}
        wanted = {node_id for case in cases for node_id in case.tests()}
        tests = sorted(wanted, key=lambda node_id: order.get(node_id, len(order)))
        files = {where.file for case in cases for where in case.belief.probabilities}
        texts = {file: text for file in files if (text := self._sources.read(file)) is not None}
        limits = Limits(
            threshold=self._settings.threshold,
            budget_s=self._settings.budget_s,
            n_inspections=self._settings.n_inspections,
        )
        command = command_for(self._config, self._launch.path, self._launch.environment)
        runner = LocalRunner(command, tests, texts)
        progress = _Progress(self._config)
        try:
            kinds = self._kinds()
            informative = Informative(outlooks(kinds, self._settings.model))
            select = greedy if self._settings.selection == "greedy" else informative
            loop = Loop(runner, kinds, limits, select, _monotonic, progress.show)
            for n_left, case in zip(range(len(cases), 0, -1), cases, strict=True):
                loop.run(case, share=1 / n_left)
        except BayeslocError as error:
            _stop_all(cases, "tests could not be run again")
            self._notes.append(str(error))
        except KeyboardInterrupt:
            _stop_all(cases, "inspections were interrupted")
            self._notes.append("Inspections were interrupted: the ranking is what was known then.")
        except Exception as error:  # noqa: BLE001 - the ranking stands without inspections
            _stop_all(cases, "inspections failed")
            self._warn(error)
        finally:
            runner.close()
            progress.clear()

    def _kinds(self) -> list[Kind]:
        from pytest_bayesloc.inspection.kinds.assertions import Assertions
        from pytest_bayesloc.inspection.kinds.counterfactual import Counterfactual
        from pytest_bayesloc.inspection.kinds.mutants import Mutants

        kinds: list[Kind] = [
            Counterfactual(),
            Assertions(self._propose),
            Mutants(self._propose_mutants),
        ]
        return [kind for kind in kinds if kind.name not in self._settings.without]

    def _propose_mutants(
        self, target: Location, suspiciousness: Mapping[int, float]
    ) -> Iterator[InspectionPatch]:
        from pytest_bayesloc.inspection.proposals import mutants

        found = self._sources.unit(target)
        if found is not None:
            yield from mutants.propose(*found, suspiciousness)

    def _propose(
        self, target: Location, invariants: Sequence[Invariant]
    ) -> Sequence[InspectionPatch]:
        from pytest_bayesloc.inspection.proposals import assertions

        found = self._sources.unit(target)
        if found is None:
            return ()
        source, unit = found
        patches = []
        # A heartbeat alone is evidence in the reference model only.
        if invariants or self._settings.model == "independent":
            patches.append(assertions.propose(source, unit, invariants))
        return [*patches, *self._proposed_by_others(target, source.text)]

    def _proposed_by_others(self, target: Location, text: str) -> Sequence[InspectionPatch]:
        """Patches of other plugins; one that breaks costs a note, once."""
        try:
            proposed = self._config.hook.pytest_bayesloc_propose_patches(
                config=self._config, location=target, source=text
            )
            return [patch for patches in proposed for patch in patches]
        except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
            note = (
                f"A plugin's pytest_bayesloc_propose_patches failed ({type(error).__name__}: "
                f"{error}): patches of other plugins are left out. (broken-proposals)"
            )
            if note not in self._notes:
                self._notes.append(note)
            return ()

    def _tell_others(self, groups: Sequence[Group], cases: Sequence[Case]) -> None:
        try:
            self._config.hook.pytest_bayesloc_localized(
                config=self._config, groups=groups, cases=cases
            )
        except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
            self._notes.append(
                f"A plugin's pytest_bayesloc_localized failed ({type(error).__name__}: {error}): "
                "what it is for is missing. (broken-listener)"
            )

    def _result(self, groups: Sequence[Group], cases: Sequence[Case]) -> dict[str, object]:
        from pytest_bayesloc.inspection.cases import combined

        recorded = self._recorder.recorded
        faults = tuple(group.fault(case) for group, case in zip(groups, cases, strict=True))
        result = Result(
            n_passed=sum(recorded.verdicts.values()),
            n_failed=sum(not passed for passed in recorded.verdicts.values()),
            collector=recorded.collector,
            formula=self._settings.formula,
            model=self._settings.model,
            threshold=self._settings.threshold,
            seconds=self._seconds,
            ranking=combined(faults),
            faults=faults,
            edges=_calls_around(faults, cases),
            partial=(*recorded.partial, *self._notes),
        )
        return to_json(
            result, pytest_version=pytest.__version__, python_version=platform.python_version()
        )

    # -- reports

    def _write(self) -> None:
        for report in self._settings.reports:
            path = self._write_one(report)
            if path is not None:
                self._written[report.kind] = path

    def _write_one(self, report: Report) -> Path | None:
        from pytest_bayesloc.report.files import write

        try:
            return write(self._render(report), report.kind, report.path, self._config.rootpath)
        except OSError as error:
            self._notes.append(
                f"The {report.kind} report can't be written to {report.path}: {error}. "
                "Give a path that can, as --bayesloc-report=KIND:PATH. (report-not-written)"
            )
            return None

    def _render(self, report: Report) -> str:
        assert self._document is not None  # noqa: S101 - written after it was made
        if report.kind == "json":
            return dumps(self._document)
        from pytest_bayesloc.report.html import render

        read: Callable[[str], str | None] = self._sources.read
        return render(self._document, read)


def _stop_all(cases: Sequence[Case], reason: str) -> None:
    """Give every case that has not ended its reason."""
    from pytest_bayesloc.inspection.cases import NOT_INSPECTED

    for case in cases:
        if case.stop == NOT_INSPECTED:
            case.stop = reason


def _calls_around(
    faults: Sequence[Fault], cases: Sequence[Case]
) -> tuple[tuple[Location, Location, int], ...]:
    """The calls near the top suspects, of those that were recorded."""
    edges = {edge: n for case in cases for edge, n in case.recording.edges.items()}
    if not edges:
        return ()
    from pytest_bayesloc.localization.callgraph import around, call_graph

    suspects = [row.location for fault in faults for row in fault.ranking[:N_SUSPECTS]]
    graph = around(call_graph(edges), suspects)
    return tuple(sorted(graph.edges(data="calls")))


class _Progress:
    """One line that is rewritten while inspections run, on a terminal only."""

    def __init__(self, config: pytest.Config) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        shown = reporter is not None and reporter.isatty and config.getoption("verbose") >= 0
        self._reporter = reporter if shown else None
        self._started = _monotonic()

    def show(self, number: int, target: Location | None, belief: float) -> None:
        """What is done now, for how long it has been going on, and what is believed so far."""
        if self._reporter is None:
            return
        what = "running the failing tests again"
        if target is not None:
            what = f"inspection {number}, {target}, P = {belief:.0%}"
        self._reporter.ensure_newline()  # the dots stay
        width = self._reporter._tw.fullwidth  # noqa: SLF001 - as above
        spent_s = _monotonic() - self._started
        self._reporter.rewrite(f"bayesloc {spent_s:.0f} s: {what}"[: width - 1], erase=True)

    def clear(self) -> None:
        """Leave an empty line."""
        if self._reporter is not None:
            self._reporter.rewrite("", erase=True)
