"""Inspections by two runners: they end in any order, and the answer is that of one."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.inspection.batch import Alone
from pytest_bayesloc.inspection.loop import Loop
from pytest_bayesloc.inspection.selection import Limits, greedy
from pytest_bayesloc.inspection.strategies.assertions import Assertions
from tests.fakes.clock import Clock
from tests.fakes.runner import FakeRunner, as_port
from tests.unit.inspection.test_loop import LIMITS, case, outcomes, propose, violates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun
    from pytest_bayesloc.domain.ports import Crew, Runner
    from pytest_bayesloc.ranking.case import Case

WAIT_S = 10.0


@dataclass
class FakeCrew:
    """Two runners, ready at once."""

    first: Runner
    other: Runner

    def muster(self, work_s: float) -> Sequence[Runner]:
        del work_s
        return (self.first, self.other)

    def close(self) -> None:
        return


class Waiting(FakeRunner):
    """Ends its first patch when the other runner has ended two."""

    def __init__(self, like: FakeRunner, waits_for: threading.Event) -> None:
        super().__init__(answer=like.answer)
        self.waits_for = waits_for

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        if patch is not None:
            assert self.waits_for.wait(WAIT_S)
        return super().rerun(patch, tests, limit_s=limit_s)


class Telling(FakeRunner):
    """Says so when it has ended its second patch: its first result was taken by then."""

    def __init__(self, like: FakeRunner, says: threading.Event) -> None:
        super().__init__(answer=like.answer)
        self.says = says

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        done = super().rerun(patch, tests, limit_s=limit_s)
        if {"b", "c"} <= {name for name, _ in self.asked}:
            self.says.set()
        return done


def run(crew: Crew, limits: Limits = LIMITS, started: Case | None = None) -> Case:
    started = started or case()
    Loop(crew, [Assertions(propose)], limits, greedy, Clock(), lambda *_: None).run(started)
    return started


def two(like: FakeRunner) -> tuple[FakeCrew, FakeRunner, FakeRunner]:
    """A crew whose first runner is the slower one."""
    event = threading.Event()
    slow, quick = Waiting(like, event), Telling(like, event)
    return FakeCrew(as_port(slow), as_port(quick)), slow, quick


def test_answer_of_two_runners_is_that_of_one_whatever_ends_first() -> None:
    crew, slow, quick = two(violates("c"))
    alone = run(Alone(as_port(violates("c"))))
    together = run(crew)

    assert outcomes(together) != outcomes(alone)  # b ended before a
    assert set(outcomes(together)) == set(outcomes(alone))
    assert together.belief.probabilities == pytest.approx(alone.belief.probabilities)
    assert {name for name, _ in slow.asked if name} | {n for n, _ in quick.asked if n} == {*"abc"}


def test_no_more_is_started_than_may_be_made() -> None:
    crew = FakeCrew(as_port(violates()), as_port(violates()))
    done = run(crew, Limits(threshold=0.99, budget_s=60.0, n_inspections=2))

    assert len(done.inspections) == 2
    assert done.stop == "2 inspections made"


def test_what_is_under_way_is_called_off_when_the_belief_is_decided() -> None:
    released = threading.Event()

    class Stuck(FakeRunner):
        def rerun(
            self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
        ) -> Rerun:
            if patch is not None:
                assert released.wait(WAIT_S)
            return super().rerun(patch, tests, limit_s=limit_s)

        def call_off(self) -> None:
            released.set()

    stuck = Stuck(answer=violates().answer)
    crew = FakeCrew(as_port(stuck), as_port(violates("b")))
    done = run(crew, Limits(threshold=0.8, budget_s=60), case(model="independent"))

    assert [name for name, _ in outcomes(done)] == ["b"]
    assert done.stop.startswith("threshold 0.8 reached")


def test_loss_of_all_places_reaches_the_stage() -> None:
    dying = FakeRunner(dies_at=1)
    first = violates()
    crew = FakeCrew(as_port(first), as_port(dying))

    with pytest.raises(ExecutionError):
        run(crew)
