"""A runner that answers as a test tells it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.inspection import Rerun, TestRun, Verdict
from pytest_bayesloc.domain.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import Change, InspectionPatch, Reader
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Runner
    from pytest_bayesloc.domain.recording import AskedPattern, HandledError, Sample, ValueFlow
    from pytest_bayesloc.domain.source import Unit

    Answer = Callable[[InspectionPatch | None, str], TestRun]

FAILED = TestRun(verdict=Verdict.FAIL, covered=True)
PASSED = TestRun(verdict=Verdict.PASS, covered=True)


@dataclass
class FakeRunner:
    """Notes what it is asked for.

    Attributes:
        answer: How a test goes under a patch (None: as it is).
        recording: What every recording gives.
        flows: What every request to follow values gives.
        handled: Per test, the exceptions that code catches in it.
        states: Per tests that run, the shared variables that differ before the last one.
        restorations: Per tests that run and variables that are put back, how the last one goes.
        conditions: How every test goes under a condition with a value.
        asking: Per test, by condition, the code that asks for what it changes.
        patterns: Per test, the regular expressions that it asks.
        sampled: Per test, the values at points of functions.
        under_patch: The same under a patch, of all tests.
        followed: Per such request, the tests.
        watched: Per request for what is caught, the tests.
        dies_at: Number of the re-run (from 1) at which the server dies; 0: never.
        n_swapped: Functions replaced by a patch.
        seconds: What each re-run takes.
        asked: Per re-run, the target's name (empty: unpatched) and the tests.
        recorded: Per recording, the tests.
        detailed: The functions whose values were noted with their parts.
        limits: The seconds that each re-run or recording was given.
        closed: How often it was closed.
        is_cancelled: Whether nothing is to be run now.
        targets: What was recorded last.
    """

    answer: Answer = lambda _patch, _test: FAILED
    recording: Recording = field(default_factory=Recording)
    flows: Sequence[ValueFlow] = ()
    handled: Mapping[str, tuple[HandledError, ...]] = field(default_factory=dict)
    states: Mapping[tuple[str, ...], Sequence[str]] = field(default_factory=dict)
    restorations: Mapping[tuple[tuple[str, ...], tuple[str, ...]], TestRun] = field(
        default_factory=dict
    )
    conditions: Callable[[tuple[str, object]], TestRun] = lambda _: FAILED
    asking: Mapping[str, Mapping[str, Sequence[Reader]]] = field(default_factory=dict)
    patterns: Mapping[str, tuple[AskedPattern, ...]] = field(default_factory=dict)
    sampled: Mapping[str, Sequence[Sample]] = field(default_factory=dict)
    under_patch: Callable[[InspectionPatch], Sequence[Sample]] = lambda _: ()
    followed: list[tuple[str, ...]] = field(default_factory=list)
    watched: list[tuple[str, ...]] = field(default_factory=list)
    dies_at: int = 0
    n_swapped: int = 1
    seconds: float = 0.5
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    recorded: list[tuple[str, ...]] = field(default_factory=list)
    detailed: list[Location] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)
    closed: int = 0
    is_cancelled: bool = False
    targets: tuple[Location, ...] = ()

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        self.asked.append(("" if patch is None else patch.target.qualname, tuple(tests)))
        self.limits.append(limit_s)
        if len(self.asked) == self.dies_at:
            raise ExecutionError("The server is gone.", slug="no-server")
        return Rerun(
            tests={node_id: self.answer(patch, node_id) for node_id in tests},
            n_swapped=0 if patch is None else self.n_swapped,
            seconds=self.seconds,
            how="fresh" if patch is not None and patch.fresh else "fork",
        )

    def record(
        self,
        tests: Sequence[str],
        targets: Sequence[Location],
        *,
        limit_s: float,
        sample: bool = False,  # noqa: ARG002 - the port's signature
        detailed: Location | None = None,
    ) -> Recording:
        self.recorded.append(tuple(tests))
        self.limits.append(limit_s)
        self.targets = tuple(targets)
        self.detailed += filter(None, [detailed])
        return self.recording

    def follow(self, tests: Sequence[str], *, limit_s: float) -> Sequence[ValueFlow]:
        self.followed.append(tuple(tests))
        self.limits.append(limit_s)
        return self.flows

    def caught(
        self, tests: Sequence[str], *, limit_s: float
    ) -> Mapping[str, tuple[HandledError, ...]]:
        self.watched.append(tuple(tests))
        self.limits.append(limit_s)
        return {node_id: self.handled.get(node_id, ()) for node_id in tests}

    def patterns_asked(
        self, tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Mapping[str, tuple[AskedPattern, ...]]]:
        asked = {node_id: self.patterns[node_id] for node_id in tests if node_id in self.patterns}
        return self.rerun(None, tests, limit_s=limit_s), asked

    def samples(
        self,
        tests: Sequence[str],
        points: Sequence[tuple[Unit, Sequence[tuple[int, int]]]],  # noqa: ARG002 - the port's
        *,
        limit_s: float,
        patch: InspectionPatch | None = None,
        is_valued: bool = True,  # noqa: ARG002 - likewise
    ) -> Mapping[str, Sequence[Sample]]:
        self.limits.append(limit_s)
        if patch is not None:
            return {node_id: self.under_patch(patch) for node_id in tests}
        return {node_id: self.sampled.get(node_id, ()) for node_id in tests}

    def changed_state(self, tests: Sequence[str], *, limit_s: float) -> Sequence[str]:
        self.limits.append(limit_s)
        return self.states.get(tuple(tests), ())

    def under(
        self, condition: tuple[str, object], tests: Sequence[str], *, limit_s: float
    ) -> tuple[Rerun, Sequence[Reader]] | None:
        self.limits.append(limit_s)
        rerun = Rerun(tests=dict.fromkeys(tests, self.conditions(condition)))
        return rerun, self.asking.get("sets", {}).get("sets", ())

    def readers(self, test: str, *, limit_s: float) -> Mapping[str, Sequence[Reader]]:
        self.limits.append(limit_s)
        return self.asking.get(test, {})

    def restored(
        self, tests: Sequence[str], names: Sequence[str], *, limit_s: float
    ) -> tuple[TestRun, Mapping[str, Sequence[Change]]]:
        self.limits.append(limit_s)
        run = self.restorations.get((tuple(tests), tuple(names)), TestRun(verdict=Verdict.FAIL))
        return run, {}

    def cancel(self) -> None:
        self.is_cancelled = True

    def resume(self) -> None:
        self.is_cancelled = False

    def close(self) -> None:
        self.closed += 1


def as_port(runner: FakeRunner) -> Runner:
    """``runner`` as what it stands for: the type checker holds it to the port."""
    return runner
