"""Inspections by two runners: they end in any order, and the answer is that of one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.inspection.loop import InspectionLoop
from pytest_bayesloc.inspection.strategies.assertions import Assertions
from pytest_bayesloc.inspection.strategy import Limits
from tests.fakes.clock import Clock
from tests.fakes.runner import FakePool, FakeRunner
from tests.unit.inspection.test_loop import LIMITS, case, outcomes, propose, violates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun
    from pytest_bayesloc.ranking.case import Case

WAIT_S = 10.0


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


def run(pool: FakePool, limits: Limits = LIMITS, started: Case | None = None) -> Case:
    started = started or case()
    InspectionLoop(pool, [Assertions(propose)], limits, Clock(), lambda *_: None).run(started)
    return started


def two(like: FakeRunner) -> tuple[FakePool, FakeRunner, FakeRunner]:
    """A pool whose first runner is the slower one."""
    event = threading.Event()
    slow, quick = Waiting(like, event), Telling(like, event)
    return FakePool(slow, quick), slow, quick


def test_answer_of_two_runners_is_that_of_one_whatever_ends_first() -> None:
    pool, slow, quick = two(violates("c"))
    alone = run(FakePool(violates("c")))
    together = run(pool)

    assert outcomes(together) != outcomes(alone)  # b ended before a
    assert set(outcomes(together)) == set(outcomes(alone))
    assert together.belief.probabilities == pytest.approx(alone.belief.probabilities)
    assert {name for name, _ in slow.asked if name} | {n for n, _ in quick.asked if n} == {*"abc"}


def test_no_more_is_started_than_may_be_made() -> None:
    pool = FakePool(violates(), violates())
    done = run(pool, Limits(threshold=0.99, budget_s=60.0, n_inspections=2))

    assert len(done.inspections) == 2
    assert done.stop == "2 inspections made, as many as allowed"


def test_what_is_under_way_is_cancelled_when_the_belief_is_decided() -> None:
    released = threading.Event()

    class Stuck(FakeRunner):
        def rerun(
            self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
        ) -> Rerun:
            if patch is not None:
                assert released.wait(WAIT_S)
            return super().rerun(patch, tests, limit_s=limit_s)

        def cancel(self) -> None:
            released.set()

    stuck = Stuck(answer=violates().answer)
    pool = FakePool(stuck, violates("b"))
    done = run(pool, Limits(threshold=0.8, budget_s=60), case(model="independent"))

    assert [name for name, _ in outcomes(done)] == ["b"]
    assert done.stop.endswith("reached the threshold of 0.8")


def test_loss_of_all_places_reaches_the_stage() -> None:
    dying = FakeRunner(dies_at=1)
    first = violates()
    pool = FakePool(first, dying)

    with pytest.raises(ExecutionError):
        run(pool)
