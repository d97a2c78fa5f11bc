"""The pytest plugin that drives a collector and notes how each test ended."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.spectrum import failures
from pytest_bayesloc.spectrum.collectors.child_processes import WithChildProcesses, data_file
from pytest_bayesloc.spectrum.explanations import Explanations
from pytest_bayesloc.spectrum.recorded import START_UP, Recorded
from pytest_bayesloc.spectrum.source_filter import FileKind
from pytest_bayesloc.spectrum.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from pytest_bayesloc.spectrum.cache.spectra import SpectrumCache
    from pytest_bayesloc.spectrum.collectors.base import Collector
    from pytest_bayesloc.spectrum.failures import RawFailure
    from pytest_bayesloc.spectrum.source_filter import SourceFilter

WINDOWS = "bayesloc-windows"
FAILURE_ATTRIBUTE = "_bayesloc_failure"
TRACED = (
    "Another tool traces this process (sys.settrace), such as a debugger: which code the tests "
    "execute is not recorded. (debugger)"
)


class Recorder:
    """Windows for the collector, verdicts and failures from the reports.

    Args:
        files: Tells what is under test.
        collectors: In the order of preference; the first that starts is used.
        warn: Told once if recording had to be given up.
        cache: What earlier runs traced.
    """

    def __init__(
        self,
        files: SourceFilter,
        collectors: Sequence[Collector],
        warn: Callable[[str], None],
        cache: SpectrumCache,
    ) -> None:
        self.files = files
        self.cache = cache
        self.recorded = Recorded()
        self._candidates = list(collectors)
        self._collector: Collector | None = None
        self._children = ""  # what the names of their data files begin with
        self._stopped: Collector | None = None
        self._warn = warn
        self.recorded.n_windows = START_UP + 1
        self.recorded.imports[START_UP] = ""
        self.recorded.unordered.add(START_UP)
        #: The window that is being recorded.
        self.current: int | None = None
        self._item: pytest.Item | None = None  # the last one that ran here
        self._raised: dict[str, RawFailure] = {}  # what it raised, by its phases
        #: Per window of a test, its node id.
        self.labels: dict[int, str] = {}
        self.explanations = Explanations(self._paused)

    @property
    def is_recording(self) -> bool:
        """Whether a collector is at work."""
        return self._collector is not None

    def label(self, window: int) -> str:
        """The node id that ``window`` belongs to; empty for a window of imports."""
        return self.labels.get(window, "")

    def start(self, *, early: bool) -> None:
        """Begin with the imports, unless it is known what they execute.

        Args:
            early: Whether some collectors must wait.
        """
        self._children = self._children or self._safely(data_file)
        if START_UP in self.recorded.cached:
            return
        if not self._collector and self._safely(self.cache.is_complete):
            self.recorded.cached[START_UP] = self.recorded.imports[START_UP]
        elif self._begin(early=early):
            self.switch(START_UP)
        else:
            return
        self.recorded.unordered.discard(START_UP)

    def _see_child_processes(self) -> None:
        begin = self._children or data_file()
        if begin:
            self.cache.variant += "+child-processes"
            self._candidates = [
                WithChildProcesses(collector, begin, self.files.is_code)
                for collector in self._candidates
            ]
            if self._collector is not None:
                self._collector = WithChildProcesses(self._collector, begin, self.files.is_code)

    def _begin(self, *, early: bool = False) -> bool:
        """Start the first collector that can, if it may start now; whether one is at work."""
        while self._collector is None and self._candidates:
            if early and not self._candidates[0].early:
                break
            candidate = self._candidates.pop(0)
            if self._safely(candidate.start):
                self._collector = candidate
                self.recorded.collector = candidate.name
            elif not self._candidates and not self.recorded.partial:
                self.recorded.partial.append(TRACED)
        return self._collector is not None

    def give_up(self) -> None:
        """Record verdicts only: other processes run the tests."""
        self.stop()
        self._candidates.clear()

    def stop(self) -> None:
        """Stop the collector, which keeps what it saw."""
        self.explanations.unmute()
        self._end()

    def _end(self) -> None:
        collector, self._collector = self._collector, None
        if collector is not None:
            self._safely(collector.stop)
            self._stopped = collector

    def take_seen(self) -> None:
        """Read what the stopped collector saw."""
        collector, self._stopped = self._stopped, None
        if collector is not None:
            self._safely(lambda: self.recorded.add(collector.seen()))

    def files_in_use(self) -> dict[str, Path]:
        """The files of the project that are imported, relative to rootdir, and where they are.

        Also those whose import failed, as far as the failures speak of them.
        """
        names = {*_imported_files(), *self.recorded.files}
        told = (failures.files_of(raw) for raw in self.recorded.failures.values())
        names.update(self.files.absolute(file) for named in told for file in named)
        kind, relative = self.files.kind, self.files.relative
        in_project = (name for name in sorted(names) if kind(name) is not FileKind.FOREIGN)
        return {relative(name): Path(name) for name in in_project}

    def _safely(self, action: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever it returns
        """Run our own code such that a fault of ours costs one warning and the recording."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's run goes on
            self._keep_what_there_is()
            text = f"Coverage recording stopped ({type(error).__name__}: {error})"
            if not self.recorded.partial:
                with suppress(Warning):  # where warnings are errors, the report has to say it
                    self._warn(
                        f"{text}: the tests run on, the ranking will be partial. (recording)"
                    )
            self.recorded.partial.append(text)
            self.recorded.is_broken = True
            return None

    def _keep_what_there_is(self) -> None:
        collector, self._collector = self._collector, None
        if collector is not None:
            with suppress(Exception):  # it failed before, so it may again
                collector.stop()
            self._stopped = collector

    def switch(self, window: int | None) -> None:
        """What is executed from now on belongs to ``window``; None: to nothing."""
        self.current = window
        collector = self._collector
        if collector is not None:
            self._safely(lambda: collector.switch(window))

    def rest(self) -> None:
        """Nothing that is executed is of interest until the next ``switch``."""
        self.current = None
        collector = self._collector
        if collector is not None:
            self._safely(collector.rest)

    @contextmanager
    def _paused(self) -> Iterator[None]:
        window = self.current
        self.switch(None)
        try:
            yield
        finally:
            self.switch(window)

    def open(self) -> int:
        """The number of a new window."""
        window = self.recorded.n_windows
        self.recorded.n_windows = window + 1
        return window

    # -- collection

    def pytest_report_header(self) -> list[str]:
        """Say what is missing from the start, if anything is."""
        return [f"bayesloc: {text}" for text in self.recorded.partial]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Begin with the collectors that must not start before other plugins' measuring."""
        records = self._collector is not None or self._candidates
        if records and not hasattr(session.config, "workerinput"):  # workers run at the same time
            self._safely(self._see_child_processes)
        self.start(early=False)
        self.switch(None)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Credit what importing a test module executes first to that module's tests."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        window = self.open()
        self.recorded.imports[window] = collector.nodeid
        if self._collector is None and self._safely(
            lambda: self.cache.knows_import(collector.nodeid)
        ):
            self.recorded.cached[window] = collector.nodeid
        else:
            if not self._begin():
                self.recorded.unordered.add(window)
            self.switch(window)
        try:
            report = yield
        finally:
            self.switch(None)
        if report.failed:
            self._safely(lambda: self._note_collection_error(collector, report, window))
        elif report.passed:
            # The second collector of a file, for its doctests, imports nothing any more.
            self.recorded.imported.setdefault(collector.nodeid, window)
        return report

    def _note_collection_error(
        self, collector: pytest.Collector, report: pytest.CollectReport, window: int
    ) -> None:
        node_id = collector.nodeid
        excinfo = getattr(getattr(report, "call", None), "excinfo", None)
        if excinfo is None:
            raw = failures.without_exception(node_id, "collect", str(report.longrepr))
        else:
            error = excinfo.value
            if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
                error = error.__cause__
            raw = failures.describe(error, self.files, node_id=node_id, phase="collect")
        raw["test_code"] = [(self.files.relative(str(collector.path)), 1, "<module>")]
        self.recorded.failures[node_id] = raw
        self.recorded.verdicts[node_id] = False
        self.recorded.windows_of[node_id] = [window]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Find out which tests have to be traced, if any."""
        self._safely(lambda: self._settle(session))

    def _settle(self, session: pytest.Session) -> None:
        known = self.cache.settle(_imported_files(), [item.nodeid for item in session.items])
        windows = Windows(self, known)
        manager = session.config.pluginmanager
        if manager.hasplugin(WINDOWS):  # ``--looponfail`` has it called twice
            manager.unregister(name=WINDOWS)
        if any(item.nodeid not in known for item in session.items) and self._begin():
            manager.register(windows, WINDOWS)
            return
        self._end()
        for item in session.items:
            if item.nodeid in known:
                windows.open(item)

    # -- running

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
        """Stop recording before a report is made: a ``__repr__`` run for it is no coverage.

        No wrapper: three of them a test would cost more than all else of a run that traces nothing.
        """
        self._item = item
        self._raised.pop(call.when, None)
        # pytest hands on what a unittest.TestCase raised in a hook that may run after this one.
        kept = getattr(item, "_excinfo", None)
        excinfo = kept[0] if kept else call.excinfo
        if excinfo is not None:
            self.switch(None)
            if not isinstance(excinfo.value, pytest.skip.Exception):
                self._safely(lambda: self._describe(item, excinfo.value, call.when))

    def _describe(self, item: pytest.Item, error: BaseException, phase: str) -> None:
        # At once: to keep the exception would keep all that its frames hold.
        self._raised[phase] = failures.describe(error, self.files, node_id=item.nodeid, phase=phase)

    # -- verdicts

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the verdict: failed in any phase fails the test."""
        if report.passed and report.when != "call":
            return
        if report.failed:
            self._safely(lambda: self._attach(report))
        self._safely(lambda: self._note(report))

    def _attach(self, report: pytest.TestReport) -> None:
        """Have the report carry its failure, also from a worker to the controller."""
        item = self._item
        if item is None or item.nodeid != report.nodeid or hasattr(report, FAILURE_ATTRIBUTE):
            return
        phase = str(report.when)
        raw = self._raised.get(phase) or failures.without_exception(
            item.nodeid, phase, str(report.longrepr)
        )
        raw["test_code"] = failures.test_code(item, self.files)
        # As text: a lone surrogate would break the report's way from a worker.
        setattr(report, FAILURE_ATTRIBUTE, json.dumps(raw))

    def _note(self, report: pytest.TestReport) -> None:
        node_id, recorded = report.nodeid, self.recorded
        outcome = str(report.outcome)
        if outcome == "rerun":
            recorded.verdicts.pop(node_id, None)
            recorded.failures.pop(node_id, None)
        elif outcome == "failed":
            recorded.verdicts[node_id] = False
            attached = getattr(report, FAILURE_ATTRIBUTE, None)
            raw = None if attached is None else json.loads(attached)
            if raw is None:  # made up by another plugin, for example of a worker that crashed
                text = str(report.longrepr)
                raw = failures.without_exception(node_id, str(report.when), text)
            recorded.failures.setdefault(node_id, raw)
        elif outcome == "passed" and report.when == "call":
            recorded.verdicts.setdefault(node_id, True)
        elif outcome == "skipped":
            recorded.excused[node_id] = "xfailed" if hasattr(report, "wasxfail") else "skipped"


def _imported_files() -> set[str]:
    """The files of all modules."""
    # No plain attribute: a module may answer with code of its own.
    own = [vars_of for m in tuple(sys.modules.values()) if (vars_of := _namespace(m))]
    return {name for module in own if isinstance(name := module.get("__file__"), str)}


def _namespace(module: object) -> dict[str, object]:
    """The attributes of a module itself; none of what stands in for one."""
    if not issubclass(type(module), ModuleType):
        return {}
    namespace: dict[str, object] = object.__getattribute__(module, "__dict__")
    return namespace
