"""Re-runs by servers of one place: a warm one, and a fresh one where a swap can't reach."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.clock import monotonic
from pytest_bayesloc.domain.errors import LostError
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.rerun.answer import Answer
from pytest_bayesloc.rerun.compiled import excerpt
from pytest_bayesloc.rerun.process import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.recording import Recording
    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.rerun.transport import Place, Server
    from pytest_bayesloc.rerun.wire import Message

START_UP_S = 120.0
GRACE_S = 10.0


class ServerRunner:
    """Answers ``domain.ports.Runner`` with servers of one place.

    Args:
        place: Where they run.
        tests: Node ids that may be asked for, in the order of the main run.
        texts: Text of each file that holds a target, by its path relative to rootdir.

    Attributes:
        start_s: Wall seconds that the warm server took to be ready; 0 until it was.
    """

    def __init__(self, place: Place, tests: Sequence[str], texts: Mapping[str, str]) -> None:
        self._place = place
        self._tests = tuple(tests)
        self._texts = texts
        self._warm: Server | None = None
        self._fresh: Server | None = None
        self._may_fork = place.may_fork
        self._is_called_off = False
        self._map = lru_cache(maxsize=64)(SourceMap)
        self.start_s = 0.0

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
                rerun = answer.rerun(tests, "fork")
                if patch is None or answer.unusable or rerun.n_swapped or _any_covered(rerun):
                    return rerun
        return self._ask_fresh(request).rerun(tests, "fresh")

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
        request: Message = {
            "tests": list(tests),
            "limit_s": limit_s,
            "targets": [
                [
                    self._place.path_of(unit.location.file),
                    unit.first_line,
                    unit.location.qualname.rpartition(".")[2],
                ]
                for unit in units
            ],
            "sample": sample,
        }
        answer = (self._ask_warm(request) if self._may_fork else None) or self._ask_fresh(request)
        return answer.recording([unit.location for unit in units])

    def trace(self, tests: Sequence[str], *, limit_s: float) -> str:
        """Run ``tests`` in a process that records what they execute, one after the other.

        Returns:
            What its recorder tells, of the tests that ended in ``limit_s`` wall seconds; empty if
            it could not.
        """
        request: Message = {"tests": list(tests), "limit_s": limit_s, "trace_s": limit_s}
        return self._ask_fresh(request).traced

    def make_ready(self) -> None:
        """Start the warm server, if there may be one.

        Raises:
            ExecutionError: If it does not come up.
        """
        if self._may_fork and self._warm is None and not self._is_called_off:
            self._start_warm()

    def call_off(self) -> None:
        """Let what is under way end, from another thread: nothing is run until ``resume``."""
        self._is_called_off = True
        for server in (self._warm, self._fresh):
            if server is not None:
                server.hang_up()

    def resume(self) -> None:
        """Run what is asked for again."""
        self._is_called_off = False

    def close(self) -> None:
        """End the servers. The place goes on."""
        self._end_warm()

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
        path = self._place.path_of(patch.target.file)
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

    # -- servers

    def _ask_warm(self, request: Message) -> Answer | None:
        """The server's answer; None if forking is unsafe here."""
        if self._is_called_off:
            return self._answer(_NOTHING)
        if self._warm is None:
            self._start_warm()
        if self._warm is None:
            return None
        try:
            reply = self._warm.exchange(request, request["limit_s"] + GRACE_S)
        except LostError:
            self._end_warm()
            raise
        if not reply.is_done:
            self._end_warm()
        return self._answer(reply)

    def _start_warm(self) -> None:
        started = monotonic()
        self._warm = self._place.start(self._tests, None)
        ready = self._warm.ready(START_UP_S)
        self.start_s = monotonic() - started
        if not ready:  # it was called off
            self._end_warm()
        elif ready["n_threads"] > 1:
            self._may_fork = False
            self._end_warm()

    def _end_warm(self) -> None:
        server, self._warm = self._warm, None
        if server is not None:
            server.end()

    def _ask_fresh(self, request: Message) -> Answer:
        if self._is_called_off:
            return self._answer(_NOTHING)
        server = self._fresh = self._place.start(request["tests"], request)
        try:
            reply = server.exchange(None, request["limit_s"] + GRACE_S)
        finally:
            self._fresh = None
            server.end()
        return self._answer(reply)

    def _answer(self, reply: Reply) -> Answer:
        return Answer(reply, self._place.here)


_NOTHING = Reply(messages=())


def _any_covered(rerun: Rerun) -> bool:
    return any(run.covered for run in rerun.tests.values())
