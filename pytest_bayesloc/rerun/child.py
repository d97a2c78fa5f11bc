"""Carries out one request in a process that ends right after."""

from __future__ import annotations

import builtins
import os
import sys
from itertools import pairwise
from math import inf
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pytest

from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.rerun.calls import CallTracer
from pytest_bayesloc.rerun.conditions import ABSENT, SETS, TASKS, TWIN, Made, apply
from pytest_bayesloc.rerun.flow_probe import FileNames, FlowProbe
from pytest_bayesloc.rerun.handled import HandledErrors
from pytest_bayesloc.rerun.readers import Readers
from pytest_bayesloc.rerun.samples import Sampler
from pytest_bayesloc.rerun.sets import Shuffle, texts_of
from pytest_bayesloc.rerun.shared import (
    KeptState,
    SharedFixtures,
    changed_state,
    shared_state,
    variables,
)
from pytest_bayesloc.rerun.swap import (
    DataOverlay,
    Overlay,
    codes_in,
    compile_patched,
    functions_by_file,
    key_of,
    real_path,
    swap_code,
    text_of,
)
from pytest_bayesloc.rerun.values import Sides, put_value
from pytest_bayesloc.rerun.watched import PatternWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType

    from pytest_bayesloc.rerun.boot import Boot
    from pytest_bayesloc.rerun.link import Message
    from pytest_bayesloc.rerun.swap import FunctionIndex

# Inspection patches speak to the probe by this name of ``builtins``, which Python does not mangle
# inside classes; no test can capture what it sends.
NAME = "__bayesloc__"
RECORDER = "bayesloc-recorder"  # the name of a plugin whose ``payload()`` is a record
OUTPUT_LIMIT = 4000
WHOLE = "::*"  # behind the name of a file: all its tests
ERROR_LIMIT = 500
N_ROUNDS = 30  # of a test beside its twin
MAX_FRAMES = 40  # of a traceback, the innermost


Frames: TypeAlias = list[tuple[str, int]]
FLOW = "flow"


class Recorder(Protocol):
    """Notes what happens in one test at a time."""

    def start(self) -> None:
        """Begin a test."""

    def stop(self) -> Any:  # noqa: ANN401 - JSON values
        """End it and return what was noted."""


class Probe:
    """Collects heartbeats and violations of the running test.

    Args:
        on_first_heartbeat: Called at once, since the test may crash right after.

    Attributes:
        builtins: For checks in files that hide a built-in name.
    """

    builtins = builtins

    def __init__(self, on_first_heartbeat: Callable[[], None]) -> None:
        self._on_first_heartbeat = on_first_heartbeat
        self.covered = False
        self.violations: list[int] = []

    def reset(self) -> None:
        """Begin the next test."""
        self.covered = False
        self.violations = []

    def heartbeat(self, fqn: str) -> None:  # noqa: ARG002 - shown in the patch's text
        """The target is executed: ``--- INSPECTION_START: {fqn} ---``."""
        if not self.covered:
            self.covered = True
            self._on_first_heartbeat()

    def violated(self, number: int, text: str) -> str:
        """Note that check ``number`` failed, even if the program swallows the assertion."""
        if number not in self.violations:
            self.violations.append(number)
        return text


class Child:
    """Runs tests, patched or recorded, and sends messages as it goes.

    The files that were ``collected`` come with the errors of those that could not be, and the
    frames of these as ``places``. Without ``functions`` that a swap can reach, the overlay is in
    place already.
    """

    def __init__(
        self,
        config: pytest.Config,
        items: Mapping[str, pytest.Item],
        collected: Mapping[str, str],
        places: Mapping[str, Frames],
        boot: Boot,
        functions: FunctionIndex | None,
    ) -> None:
        self._fence = boot.fence
        self._scratch: str = boot.spec["scratch"]
        self._config = config
        self._items = items
        self._collected = collected
        self._places = places
        self._send: Callable[[Message], None] = boot.link.send
        send = boot.link.send
        self._functions = functions
        self._frames: Frames = []
        self._current = ""
        self._probe = Probe(lambda: send({"covered": self._current}))
        self._tracer: CallTracer | None = None
        self._recorders: dict[str, Recorder] = {}  # by the name of what they note of a test
        self._sides: Sides | None = None
        self._before_last: Callable[[pytest.Item], None] = lambda _: None
        self._reports: list[pytest.TestReport] = []
        self._overlays: list[Overlay | DataOverlay] = []
        self._n_swapped = 0
        self._failed = ""  # with what a test of a whole file failed
        self._n_passed = 0  # of them

    def run(self, request: Message, overlays: Sequence[Overlay | DataOverlay] = ()) -> None:
        """Carry ``request`` out."""
        setattr(builtins, NAME, self._probe)
        patches = request.get("patches", ())
        if patches and self._functions is not None and not self._swap_all(patches):
            return
        self._overlays += overlays
        self._send_n_swapped()
        if request.get("value"):
            self._send({"swapped": put_value(request["value"], self._reachable())})
        elif request.get("patterns"):
            self._send({"swapped": self._pattern_watch(request).exchange(request["patterns"])})
        self._watch(request)
        if "condition" in request:
            name, value = request["condition"]
            if name == TWIN:
                self._run_often(request["tests"][0], has_twin=value)
                return
            self._put_condition(name, value, request["files"])
        self._run_tests(request["tests"], monotonic() + request.get("trace_s", inf))
        self._send_n_swapped()  # more of it, where tests import
        if self._tracer is not None:
            self._send({"edges": [[*edge, n] for edge, n in self._tracer.edges.items()]})

    def _watch(self, request: Message) -> None:
        """Look out for what ``request`` asks of its tests."""
        plugins, root = self._config.pluginmanager, str(self._config.rootpath)
        plugins.register(self, "bayesloc-child")
        if not request.get("patches"):
            self._sides = Sides()
            plugins.register(self._sides, "bayesloc-sides")
        self._note(request, root)
        if "flow" in request:
            flow = self._recorders[FLOW] = FlowProbe(FileNames(root, request["flow"]).name)
            plugins.register(flow, "bayesloc-flow")
        if "state" in request:
            self._watch_state(FileNames(root, request["state"]).name, request.get("restored"))

    def _note(self, request: Message, root: str) -> None:
        """Record in each test what ``request`` asks for, as far as no hooks are needed."""
        if "targets" in request:
            how = {name: request[name] for name in ("sample", "detailed")}
            tracer = CallTracer(_numbered(request["targets"]), **how)
            self._tracer = self._recorders["calls"] = tracer
        if "points" in request:
            numbered, points = _numbered(request["sampled"]), request["points"]
            sampler = Sampler(numbered, points, is_valued=request["valued"])
            self._recorders["samples"] = sampler
        if "handled" in request:
            name = FileNames(root, request["handled"]).name
            self._recorders["handled"] = HandledErrors(name)
        if "asked" in request:
            self._recorders["asked"] = self._pattern_watch(request)
        if "readers" in request:
            name = FileNames(root, request["readers"]).name
            self._recorders["readers"] = Readers(name, self._scratch)

    def _pattern_watch(self, request: Message) -> PatternWatch:
        name_of = FileNames(str(self._config.rootpath), request["files"]).name
        watch = PatternWatch()
        watch.install()
        watch.put_in_place(place for _, place in variables(name_of))
        return watch

    def _put_condition(self, name: str, value: Any, files: Mapping[str, str]) -> None:  # noqa: ANN401
        """Put a condition of ``conditions`` in place, another order of sets or turns of tasks."""
        if name == TASKS:
            from pytest_bayesloc.rerun.tasks import install  # loads asyncio, which tests may not

            paths = {file: real_path(path) for path, file in files.items()}
            slow, in_turn = (  # coroutine functions, each as its file, first line and name
                [(paths[file], (line, name.rpartition(".")[2])) for file, line, name in functions]
                for functions in value
            )
            texts = {path: text_of(path) for path, _ in (*slow, *in_turn)}
            install(self._reachable(), texts, slow, in_turn)
            return
        if name != SETS:
            apply(name, value)
            if name == ABSENT:
                self._recorders["readers"] = Made(value)
            return
        seed, only, names = value
        name_of = FileNames(str(self._config.rootpath), files).name
        shuffle = Shuffle(seed, name_of, tuple(only) if only else None)
        shuffle.install(self._reachable(), texts_of(files, names))
        self._recorders["readers"] = shuffle

    def _watch_state(self, name_of: Callable[[str], str], restored: Sequence[str] | None) -> None:
        """Tell before the last test what differs from now, or put it back."""
        fixtures = SharedFixtures(name_of)
        self._config.pluginmanager.register(fixtures, "bayesloc-fixtures")
        if restored is None:
            before = shared_state(name_of)

            def tell(_: pytest.Item) -> None:
                changed = changed_state(before, shared_state(name_of))
                self._send({"state": [*fixtures.changes(), *changed]})

            self._before_last = tell
            return
        kept = KeptState(restored, name_of)

        def restore(item: pytest.Item) -> None:
            changes = {**kept.changes(), **fixtures.changes()}
            self._send({"changed": {name: changes[name] for name in restored if name in changes}})
            kept.restore()
            fixtures.restore(restored, item)

        self._before_last = restore

    def _reachable(self) -> FunctionIndex:
        return functions_by_file() if self._functions is None else self._functions

    def _send_n_swapped(self) -> None:
        if self._overlays:
            n_loaded = sum(overlay.n_loaded for overlay in self._overlays)
            self._send({"swapped": self._n_swapped + n_loaded})

    def _swap_all(self, patches: Sequence[Message]) -> bool:
        """Put all of ``patches`` in place; False if they can't be, or only by an import."""
        try:
            codes = []
            for patch in patches:
                original, patched = patch["excerpt"] or (patch["original"], patch["patched"])
                codes.append(compile_patched(original, patched, patch["filename"]))
        except (SyntaxError, ValueError) as error:
            self._send({"unusable": f"{type(error).__name__}: {error}"})
            return False
        for patch, code in zip(patches, codes, strict=True):
            if not self._swap(patch, code):
                self._send({"swapped": 0})
                return False
        self._send({"swapped": self._n_swapped})
        return True

    def _swap(self, patch: Message, code: CodeType) -> bool:
        keys = {(line, name) for line, name in patch["keys"]}
        if not keys <= {key_of(inner) for inner in codes_in(code)}:
            return False  # lines were matched up in another way
        try:
            functions = self._reachable().get(os.path.realpath(patch["filename"]), ())
            n_swapped = swap_code(functions, code, keys)
        except ValueError:  # it would close over other variables
            return False
        if not n_swapped:
            overlay = Overlay(patch["filename"], patch["original"], patch["patched"])
            overlay.install()
            self._overlays.append(overlay)
        self._n_swapped += n_swapped
        return True

    def _run_tests(self, tests: Sequence[str], ends: float) -> None:
        runnable = [self._items[node_id] for node_id in tests if node_id in self._items]
        following = dict(pairwise(runnable))
        for node_id in tests:
            if monotonic() > ends:
                break
            if node_id in self._items:
                item = self._items[node_id]
                self._run_test(item, following.get(item))
            elif node_id.endswith(WHOLE):
                self._run_whole(node_id)
            elif node_id in self._collected:
                error = self._collected[node_id]
                self._send({"start": node_id})
                verdict = "fail" if error else "pass"
                self._frames = self._places.get(node_id, [])
                self._end(node_id, verdict, error.strip().rpartition("\n")[2], error)
        recorder = self._config.pluginmanager.get_plugin(RECORDER)
        if recorder is not None and runnable:
            self._send({"traced": recorder.payload()})

    def _run_often(self, test: str, *, has_twin: bool) -> None:
        """Run a test until it fails, but not for ever, and in a twin of this process meanwhile."""
        item, is_twin = self._items[test], has_twin and os.fork() == 0
        if is_twin:  # it ends with the group of its parent
            self._send = self._fence.send = lambda _: None
        for n in range(N_ROUNDS if not is_twin else sys.maxsize):
            self._run_test(item, None)
            if self._n_passed <= n and not is_twin:
                break

    def _run_whole(self, name: str) -> None:
        """Run all tests of a file; it passes if some do, and none fails."""
        self._failed, self._n_passed = "", 0
        frames: Frames = []
        for node_id, item in self._items.items():
            if node_id.startswith(name[:-1]):
                self._run_test(item, None)
                frames = frames or self._frames
        self._frames = frames
        self._send({"start": name})
        verdict = "pass" if self._n_passed else "not-run"
        self._end(name, "fail" if self._failed else verdict, self._failed, "")

    def _run_test(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self._current = self._fence.test = item.nodeid
        self._probe.reset()
        self._reports = []
        self._frames = []
        if self._sides is not None:
            self._sides.texts = []
        if following is None:
            self._before_last(item)
        self._send({"start": item.nodeid})
        for recorder in self._recorders.values():
            recorder.start()
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            noted = {name: recorder.stop() for name, recorder in self._recorders.items()}
        for name, seen in noted.items():
            if seen or name != FLOW:
                self._send({name: seen, "of": item.nodeid})
        failed = next((report for report in self._reports if report.failed), None)
        skipped = not self._reports or any(report.skipped for report in self._reports)
        verdict = "fail" if failed else "not-run" if skipped else "pass"
        error, output = _words(failed) if failed else ("", "")
        self._failed = self._failed or error
        self._n_passed += verdict == "pass"
        self._end(item.nodeid, verdict, error, output)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the reports of the running test; of reruns, the last one's."""
        if str(report.outcome) == "rerun":
            self._reports.clear()
        else:
            self._reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Keep the frames of the first error of the running test, the one that it fails with."""
        if not self._frames and call.excinfo is not None:
            self._frames = frames_of(call.excinfo.value)

    def _end(self, node_id: str, verdict: str, error: str, output: str) -> None:
        self._send(
            {
                "end": node_id,
                "verdict": verdict,
                "error": error[:ERROR_LIMIT],
                "output": output[-OUTPUT_LIMIT:],
                "covered": self._probe.covered,
                "violations": self._probe.violations,
                "sides": self._sides.texts if self._sides is not None else [],
                "frames": self._frames,
            }
        )


def frames_of(error: BaseException) -> Frames:
    """Return files and lines of a traceback, the innermost last; a syntax error ends in its own.

    An error in collection that pytest wraps in one of its own is told by the error within.
    """
    if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
        error = error.__cause__
    trace = walk_tb(error.__traceback__)
    frames = [(frame.f_code.co_filename, line) for frame, line in trace]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        frames.append((str(error.filename), error.lineno))
    return frames[-MAX_FRAMES:]


def _numbered(targets: Sequence[Sequence[Any]]) -> dict[str, dict[tuple[int, str], int]]:
    numbered: dict[str, dict[tuple[int, str], int]] = {}
    for number, (filename, first_line, name) in enumerate(targets):
        numbered.setdefault(os.path.realpath(filename), {})[first_line, name] = number
    return numbered


def _words(failed: pytest.TestReport) -> tuple[str, str]:
    """The first line of the error, and all that is said of it."""
    crash = getattr(failed.longrepr, "reprcrash", None)
    error = str(getattr(crash, "message", failed.longrepr)).partition("\n")[0]
    sections = "".join(f"\n-- {name} --\n{text}" for name, text in failed.sections)
    return error, f"{failed.longreprtext}{sections}"
