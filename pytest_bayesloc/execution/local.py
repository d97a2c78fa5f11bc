"""Re-runs on this machine: one warm server, and a fresh process where a swap can't reach."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_bayesloc.domain.clock import monotonic
from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.inspection import Rerun, TestRun, Verdict
from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.execution.compiled import excerpt
from pytest_bayesloc.execution.processes import kill_tree, may_fork, started
from pytest_bayesloc.execution.wire import SERVER_VARIABLE, LineBuffer, Message, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.execution.command import Command

START_UP_S = 120.0
GRACE_S = 10.0
END_S = 2.0


class LocalRunner:
    """Answers ``domain.ports.Runner`` with processes of its own.

    Args:
        command: How a server is started.
        tests: Node ids that may be asked for, in the order of the main run.
        texts: Text of each file that holds a target, by its path relative to rootdir.
    """

    def __init__(self, command: Command, tests: Sequence[str], texts: Mapping[str, str]) -> None:
        self._command = command
        self._tests = tuple(tests)
        self._texts = texts
        self._server: _Process | None = None
        self._may_fork = may_fork()
        self._map = lru_cache(maxsize=64)(SourceMap)

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        """Run ``tests`` under ``patch``: forked where a swap reaches it, else fresh."""
        request: Message = {"tests": list(tests), "limit_s": limit_s}
        forked = self._may_fork and all("::" in node_id for node_id in tests)
        if patch is not None:
            parts = (patch, *patch.companions)
            request["patches"] = [self._wire_patch(part) for part in parts]
            swapped = all(wired["keys"] for wired in request["patches"])
            forked = forked and swapped and not any(part.fresh for part in parts)
        if forked:
            answer = self._ask_warm(request)
            if answer is not None:
                rerun = _rerun(answer, tests, "fork")
                if patch is None or answer.unusable or rerun.n_swapped or _any_covered(rerun):
                    return rerun
        return _rerun(self._ask_fresh(request), tests, "fresh")

    def record(
        self,
        tests: Sequence[str],
        targets: Sequence[Location],
        *,
        limit_s: float,
        sample: bool = False,
    ) -> Recording:
        """Run ``tests`` as they are and note the calls of the functions among ``targets``."""
        units = [unit for unit in map(self._unit, targets) if unit is not None and unit.is_function]
        wire = [
            [self._path(u.location.file), u.first_line, u.location.qualname.rpartition(".")[2]]
            for u in units
        ]
        request: Message = {
            "tests": list(tests),
            "limit_s": limit_s,
            "targets": wire,
            "sample": sample,
        }
        answer = (self._ask_warm(request) if self._may_fork else None) or self._ask_fresh(request)
        return _recording(answer, [unit.location for unit in units])

    def trace(self, tests: Sequence[str], *, limit_s: float) -> str:
        """Run ``tests`` in a process that records what they execute, one after the other.

        Returns:
            What its recorder tells, of the tests that ended in ``limit_s`` wall seconds; empty if
            it could not.
        """
        request: Message = {"tests": list(tests), "limit_s": limit_s, "trace_s": limit_s}
        return self._ask_fresh(request).traced

    def close(self) -> None:
        """End the server."""
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def _path(self, file: str) -> str:
        return os.path.normpath(self._command.rootdir / file)

    def _unit(self, location: Location) -> Unit | None:
        text = self._texts.get(location.file)
        if text is None:
            return None
        return self._map(text, location.file, is_test=location.is_test).unit(location)

    def _wire_patch(self, patch: InspectionPatch) -> Message:
        source = self._map(patch.original, patch.target.file, is_test=patch.target.is_test)
        units = [source.unit(where) for where in (patch.target, *patch.others)]
        chains = [source.enclosing(u) for u in units if u is not None and u.is_function]
        whole = len(chains) == len(units)  # else there is more to change than functions
        path = self._path(patch.target.file)
        first = chains[0][0] if len(chains) == 1 else None
        around = (first.first_line, first.location.end_line) if first is not None else (0, 0)
        return {
            "filename": path,
            "code_filename": path,
            "original": patch.original,
            "patched": patch.patched,
            "excerpt": excerpt(patch.original, patch.patched, *around) if first else None,
            "keys": [
                [u.first_line, u.location.qualname.rpartition(".")[2]]
                for chain in chains
                for u in chain
                if whole and u.is_function
            ],
        }

    # -- processes

    def _ask_warm(self, request: Message) -> _Answer | None:
        """The server's answer; None if forking is unsafe here."""
        if self._server is None:
            self._server = self._start(None)
            ready = self._server.ready(START_UP_S)
            if ready["n_threads"] > 1:
                self._may_fork = False
                self._server.end()
        if not self._may_fork:
            return None
        self._server.send(request)
        answer = self._server.answer(request["limit_s"] + GRACE_S)
        if answer.lost:
            self._server.end()
            self._server = None
        return answer

    def _ask_fresh(self, request: Message) -> _Answer:
        started = monotonic()
        process = self._start(request)
        try:
            answer = process.answer(request["limit_s"] + GRACE_S)
        finally:
            process.end()
        answer.seconds = monotonic() - started
        answer.finished = answer.finished or not answer.lost
        return answer

    def _start(self, once: Message | None) -> _Process:
        tests = self._tests if once is None else once["tests"]
        # A folder of its own: a server that is hung up on removes it.
        scratch = tempfile.mkdtemp(prefix="bayesloc-")
        options = {**self._command.options, "basetemp": str(Path(scratch, "basetemp"))}
        spec = {"tests": list(tests), "options": options, "once": once, "scratch": scratch}
        return _Process(self._command, self._command.files_of(tests), spec, scratch)


class _Answer:
    """What came back for one request."""

    def __init__(self) -> None:
        self.tests: dict[str, TestRun] = {}
        self.covered: set[str] = set()
        self.running = ""
        self.n_swapped = 0
        self.unusable = ""
        self.calls: dict[str, list[list[Any]]] = {}
        self.edges: list[list[int]] = []
        self.traced = ""
        self.seconds = 0.0
        self.cpu_s = 0.0
        self.timed_out = False
        self.lost = False
        self.finished = False

    def take(self, message: Message) -> None:
        """Add one message."""
        if "start" in message:
            self.running = message["start"]
        elif "end" in message:
            self.tests[message["end"]] = _test_run(message)
            self.running = ""
        elif "calls" in message:
            self.calls[message["of"]] = message["calls"]
        elif "covered" in message:
            self.covered.add(message["covered"])
        elif "done" in message:
            self.timed_out = message["done"] == "timeout"
            self.seconds, self.cpu_s = message["seconds"], message["cpu_s"]
            self.finished = True
        else:
            self.n_swapped = message.get("swapped", self.n_swapped)
            self.unusable = message.get("unusable", self.unusable)
            self.edges = message.get("edges", self.edges)
            self.traced = message.get("traced", self.traced)

    def run_of(self, node_id: str) -> TestRun:
        """How ``node_id`` went; what was running when the process ended timed out or crashed."""
        done = self.tests.get(node_id)
        if done is not None:
            return done
        verdict = Verdict.NOT_RUN
        if node_id == self.running:
            verdict = Verdict.TIMEOUT if self.timed_out else Verdict.CRASH
        return TestRun(verdict=verdict, covered=node_id in self.covered)


class _Process:
    """A server process, the line to it, and its folder of temporary files."""

    def __init__(self, command: Command, files: Sequence[str], spec: Message, scratch: str) -> None:
        self._scratch = scratch
        self._stderr: IO[bytes] = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - kept open
        told = Path(scratch, "server.json")
        environment = {**command.environment, SERVER_VARIABLE: str(told)}

        def start(**how: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - options of Popen
            return subprocess.Popen(
                [*command.argv, *files],
                cwd=command.cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=subprocess.STDOUT,
                **how,
            )

        def tell(line: Message) -> None:
            told.write_text(json.dumps({**spec, **line}), encoding="ascii")

        try:
            self._popen, self._link = started(start, tell)
        except OSError as error:
            raise ExecutionError(
                f"A re-run could not be started ({error}): no inspections are made. Check that "
                "processes may be started here.",
                slug="no-server",
            ) from error
        self._buffer = LineBuffer()
        self._ended = False

    def send(self, request: Message) -> None:
        """Send a request; a server that died is noticed by ``answer``."""
        with contextlib.suppress(BrokenPipeError):
            self._link.send(encode(request))

    def ready(self, limit_s: float) -> Message:
        """The server's first message.

        Raises:
            ExecutionError: If it did not come up.
        """
        for message in self._messages(limit_s):
            return message
        raise ExecutionError(
            f"The server for re-runs did not start: {self._last_words()}. The ranking stands "
            "without inspections; run pytest on the failing tests alone to see why.",
            slug="no-server",
        )

    def answer(self, limit_s: float) -> _Answer:
        """Everything up to the end of the request, of the process, or of the time."""
        answer = _Answer()
        deadline = monotonic() + limit_s
        for message in self._messages(limit_s):
            answer.take(message)
            if answer.finished:
                return answer
        answer.timed_out = monotonic() >= deadline
        answer.lost = True
        return answer

    def _messages(self, limit_s: float) -> Iterator[Message]:
        deadline = monotonic() + limit_s
        while (left := deadline - monotonic()) > 0:
            data = self._link.receive(left)
            if not data:
                return
            yield from self._buffer.feed(data)

    def _last_words(self) -> str:
        self._popen.poll()
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def end(self) -> None:
        """Kill the process with everything it started. May be called twice."""
        if self._ended:
            return
        self._ended = True
        self._link.hang_up()
        # It ends its child and itself when it notices; a killed server would leave the child.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout=END_S)
        kill_tree(self._popen.pid)
        self._popen.wait()
        self._link.close()
        self._stderr.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _test_run(message: Message) -> TestRun:
    return TestRun(
        verdict=Verdict(message["verdict"]),
        error=message["error"],
        covered=message["covered"],
        violations=tuple(message["violations"]),
        output=message["output"],
    )


def _rerun(answer: _Answer, tests: Sequence[str], how: str) -> Rerun:
    return Rerun(
        tests={node_id: answer.run_of(node_id) for node_id in tests},
        n_swapped=answer.n_swapped,
        seconds=answer.seconds,
        cpu_s=answer.cpu_s,
        log=answer.unusable,
        how=how,
    )


def _any_covered(rerun: Rerun) -> bool:
    return any(run.covered for run in rerun.tests.values())


def _recording(answer: _Answer, targets: Sequence[Location]) -> Recording:
    edges = {(targets[a], targets[b]): n for a, b, n in answer.edges}
    calls = {
        node_id: tuple(_call(raw, targets) for raw in raws)
        for node_id, raws in answer.calls.items()
    }
    return Recording(calls=calls, edges=edges)


def _call(raw: list[Any], targets: Sequence[Location]) -> Call:
    target, caller, entered, left, args, result, raised = raw
    return Call(
        location=targets[target],
        caller=caller,
        entered=entered,
        left=left,
        args={name: _value(value) for name, value in args.items()},
        result=None if result is None else _value(result),
        raised=raised,
    )


def _value(raw: list[Any]) -> Value:
    type_name, number, length, is_sorted, text, identity = raw
    return Value(
        type_name=type_name,
        number=number,
        length=length,
        is_sorted=is_sorted,
        text=text,
        identity=identity,
    )
