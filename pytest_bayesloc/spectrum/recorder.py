"""The pytest plugin that records what each test executes and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.spectrum import failures
from pytest_bayesloc.spectrum.coverage_py import ChildProcesses, data_file
from pytest_bayesloc.spectrum.run_record import START_UP, RunRecord, Window
from pytest_bayesloc.spectrum.sources import FileKind
from pytest_bayesloc.spectrum.tracer import ExplanationMute, Tracer
from pytest_bayesloc.spectrum.validity import variant_of

if TYPE_CHECKING:
    import warnings
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from pytest_bayesloc.spectrum.cache import SpectrumCache
    from pytest_bayesloc.spectrum.failures import RawFailure
    from pytest_bayesloc.spectrum.run_record import Collector, Payload
    from pytest_bayesloc.spectrum.sources import SourceFilter

WINDOWS = "bayesloc-windows"
FAILURE_ATTRIBUTE = "_bayesloc_failure"


class Recorder:
    """Opens windows for imports, and notes verdicts and failures from the reports.

    The first of ``collectors`` that starts is used. ``warn`` is called once if recording had to be
    given up.
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
        self.recorded = RunRecord()
        self._tracer = Tracer(self.recorded, collectors, warn)
        self._explanations = ExplanationMute(self._tracer.paused)
        self._variant = ""  # of the options that tests run with
        self._children = ""  # the start of the names of their data files
        self._item: pytest.Item | None = None  # the last one that ran here
        self._raised: dict[str, RawFailure] = {}  # its failures, by its phases

    def start(self, *, early: bool) -> None:
        """Begin with the imports, unless the cache knows what they execute."""
        self._children = self._children or self._tracer.guard(data_file)
        window = self.recorded.windows[START_UP]
        if window.cached_name is not None:
            return
        if not self._tracer.is_tracing and self._tracer.guard(self.cache.is_complete):
            window.cached_name = window.node_id
        elif self._tracer.begin(early=early):
            self._tracer.switch(START_UP)
        else:
            return
        window.is_ordered = True

    def give_up(self) -> None:
        """Record verdicts only: other processes run the tests."""
        self.stop()
        self._tracer.give_up()

    def stop(self) -> None:
        """Stop the collector, which keeps what it saw."""
        self._explanations.unmute()
        self._tracer.end()

    def take_result(self) -> None:
        """Move what the stopped collector saw to the record."""
        self._tracer.take_result()

    def payload(self, files: Iterable[str] = ()) -> Payload:
        """Stop recording, and return the record with the ``files`` that were imported."""
        self.stop()
        self.take_result()
        return self.recorded.payload(files)

    def files_in_use(self) -> dict[str, Path]:
        """The files of the project that are imported: paths relative to rootdir, and absolute.

        Files whose import failed are among them if a failure names them.
        """
        names = {*_imported_files(), *self.recorded.files}
        for raw in self.recorded.failures.values():
            names.update(self.files.absolute(file) for file in failures.files_of(raw))
        kind, relative = self.files.kind, self.files.relative
        in_project = (name for name in sorted(names) if kind(name) is not FileKind.FOREIGN)
        return {relative(name): Path(name) for name in in_project}

    # -- collection

    def pytest_configure(self, config: pytest.Config) -> None:
        """Note the options before other plugins change them."""
        self._variant = variant_of(config)

    def pytest_report_header(self) -> list[str]:
        """Say what is missing from the start, if anything is."""
        return [f"bayesloc: {text}" for text in self.recorded.partial]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Begin with the collectors that must not start before other plugins' measuring."""
        is_worker = hasattr(session.config, "workerinput")  # workers run at the same time
        begin = ""
        if self._tracer.may_trace and not is_worker:
            begin = self._tracer.guard(lambda: self._children or data_file())
        if begin:
            self._tracer.children = ChildProcesses(begin, self.files.is_code)
        self.cache.variant = f"{self._variant}+child-processes" if begin else self._variant
        self.start(early=False)
        self._tracer.switch(None)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Credit what importing a test module executes first to that module's tests."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        window = Window(node_id=collector.nodeid, is_import=True, is_ordered=True)
        number = self.recorded.open(window)
        if not self._tracer.is_tracing and self._tracer.guard(
            lambda: self.cache.knows_import(collector.nodeid)
        ):
            window.cached_name = collector.nodeid
        else:
            window.is_ordered = self._tracer.begin()
            self._tracer.switch(number)
        try:
            report = yield
        finally:
            self._tracer.switch(None)
        if report.failed:
            self._tracer.guard(lambda: self._note_collection_error(collector, report, number))
        elif report.passed:
            # The second collector of a file, for its doctests, imports nothing any more.
            self.recorded.imported.setdefault(collector.nodeid, number)
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
            trace = excinfo.tb if error is excinfo.value else None
            raw = failures.describe(
                error, self.files, node_id=node_id, phase="collect", trace=trace
            )
        raw["test_code"] = [(self.files.relative(str(collector.path)), 1, "<module>")]
        self.recorded.failures[node_id] = raw
        self.recorded.verdicts[node_id] = False
        self.recorded.windows_of[node_id] = [window]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Find out which tests have to be traced, if any."""
        self._tracer.guard(lambda: self._choose_traced(session))

    def _choose_traced(self, session: pytest.Session) -> None:
        known = self.cache.settle(_imported_files(), [item.nodeid for item in session.items])
        windows = TestWindows(self.recorded, self._tracer, self._explanations, known)
        manager = session.config.pluginmanager
        if manager.hasplugin(WINDOWS):  # ``--looponfail`` has it called twice
            manager.unregister(name=WINDOWS)
        if any(item.nodeid not in known for item in session.items) and self._tracer.begin():
            manager.register(windows, WINDOWS)
            return
        self._tracer.end()
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
            self._tracer.switch(None)
            if not isinstance(excinfo.value, pytest.skip.Exception):
                self._tracer.guard(lambda: self._describe(item, excinfo, call.when))

    def _describe(
        self, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException], phase: str
    ) -> None:
        # At once: to keep the exception would keep all that its frames hold.
        self._raised[phase] = failures.describe(
            excinfo.value, self.files, node_id=item.nodeid, phase=phase, trace=excinfo.tb
        )

    # -- verdicts

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the verdict: failed in any phase fails the test."""
        if report.passed and report.when != "call":
            return
        if report.failed:
            self._tracer.guard(lambda: self._attach(report))
        self._tracer.guard(lambda: self._note(report))

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
        setattr(report, FAILURE_ATTRIBUTE, raw)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, nodeid: str
    ) -> None:
        """Note of what coroutines a test made and never awaited."""
        text = str(warning_message.message)
        if nodeid and "was never awaited" in text:
            self.recorded.unawaited.setdefault(nodeid, text)

    def _note(self, report: pytest.TestReport) -> None:
        node_id, recorded = report.nodeid, self.recorded
        outcome = str(report.outcome)
        recorded.order.setdefault(getattr(report, "worker_id", ""), {})[node_id] = None
        if outcome == "rerun":
            recorded.reruns[node_id] += 1
            recorded.verdicts.pop(node_id, None)
            recorded.failures.pop(node_id, None)
        elif outcome == "failed":
            recorded.verdicts[node_id] = False
            raw = getattr(report, FAILURE_ATTRIBUTE, None)
            if raw is None:  # made up by another plugin, for example of a worker that crashed
                text = str(report.longrepr)
                raw = failures.without_exception(node_id, str(report.when), text)
            recorded.failures.setdefault(node_id, raw)
        elif outcome == "passed" and report.when == "call":
            recorded.verdicts.setdefault(node_id, True)
        elif outcome == "skipped":
            recorded.excused[node_id] = "xfailed" if hasattr(report, "wasxfail") else "skipped"


class TestWindows:
    """Opens and closes the windows of tests; a plugin that is there while tests are traced.

    The ``known`` tests need not be traced, each with the name that it is known as.
    """

    __test__ = False  # not a test class for pytest

    def __init__(
        self,
        recorded: RunRecord,
        tracer: Tracer,
        explanations: ExplanationMute,
        known: Mapping[str, str],
    ) -> None:
        self._recorded = recorded
        self._tracer = tracer
        self._explanations = explanations
        self._known = known
        self._shared: dict[pytest.FixtureDef[Any], int] = {}
        self._own: list[int] = []  # of the running test

    def open(self, item: pytest.Item) -> int:
        """Open a window for ``item``; a rerun gets one of its own, for the last counts."""
        recorded = self._recorded
        cached_name = self._known.get(item.nodeid)
        number = recorded.open(Window(node_id=item.nodeid, cached_name=cached_name))
        self._own = [number, START_UP]
        module = item.getparent(pytest.Module)
        if module is not None and module.nodeid in recorded.imported:
            self._own.append(recorded.imported[module.nodeid])
        if cached_name is not None or self._tracer.is_tracing:
            recorded.windows_of[item.nodeid] = self._own
        return number

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin the item's window."""
        self._explanations.mute()
        number = self.open(item)
        if item.nodeid in self._known:
            self._tracer.rest()
        else:
            self._tracer.switch(number)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        """Credit the setup of a shared fixture, or of a class, to all tests that use it."""
        __tracebackhide__ = True  # pytest tells of an error in the fixture, not of us
        if fixturedef.scope == "function":
            return (yield)
        around = self._tracer.current
        node_id = "" if around is None else self._recorded.windows[around].node_id
        number = self._recorded.open(Window(node_id=node_id))
        self._shared[fixturedef] = number
        self._own.append(number)
        self._tracer.switch(number)
        try:
            return (yield)
        finally:
            self._tracer.switch(around)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Credit the teardown to the item, too, after a report was made in between."""
        asked = getattr(getattr(item, "_request", None), "_fixture_defs", {}).values()
        used = (*failures.named_fixtures(item), *asked)
        shared = {self._shared[fixture] for fixture in used if fixture in self._shared}
        self._own.extend(sorted(shared.difference(self._own)))
        if item.nodeid not in self._known:
            self._tracer.switch(self._own[0])


def _imported_files() -> set[str]:
    """The files of all modules."""
    # What stands in for a module is left out, and no attribute is asked for plainly: either may
    # answer with code of its own.
    modules = [m for m in tuple(sys.modules.values()) if issubclass(type(m), ModuleType)]
    own = (object.__getattribute__(module, "__dict__") for module in modules)
    return {name for attributes in own if isinstance(name := attributes.get("__file__"), str)}
