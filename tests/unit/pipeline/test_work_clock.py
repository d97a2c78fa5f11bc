"""The budget is spent by work: what a busy machine takes away is no part of it."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from pytest_bayesloc.pipeline import inspect
from pytest_bayesloc.rerun.transports.local import waited_for_cpu_s
from tests.fakes.clock import Clock

if TYPE_CHECKING:
    from pytest_bayesloc.rerun.pool import Pool


@pytest.mark.parametrize(
    ("wall_s", "of_reruns_s", "own_s", "spent_s"),
    [(10, 0, 0, 15), (15, 4, 1, 15), (20, 10, 0, 20), (60, 30, 20, 60)],
)
def test_second_without_a_cpu_is_no_work_and_the_wall_bounds_it(
    monkeypatch: pytest.MonkeyPatch, wall_s: float, of_reruns_s: float, own_s: float, spent_s: float
) -> None:
    wall, pool, own = Clock(100.0), SimpleNamespace(waited_s=0.0), [7.0]
    monkeypatch.setattr(inspect, "monotonic", wall)
    monkeypatch.setattr(inspect, "waited_for_cpu_s", lambda: own[0])
    clock = inspect.BudgetClock(cast("Pool", pool))

    wall.now, pool.waited_s, own[0] = 100.0 + wall_s, of_reruns_s, 7.0 + own_s

    assert clock() == pytest.approx(100.0 + spent_s)


def test_time_without_a_cpu_is_known_of_processes_that_there_are() -> None:
    assert waited_for_cpu_s(os.getpid()) >= 0.0
    assert waited_for_cpu_s(2**22 + 1) == 0.0


def test_clock_never_runs_back_when_a_wait_becomes_known(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, pool, own = Clock(100.0), SimpleNamespace(waited_s=0.0), [0.0]
    monkeypatch.setattr(inspect, "monotonic", wall)
    monkeypatch.setattr(inspect, "waited_for_cpu_s", lambda: own[0])
    clock = inspect.BudgetClock(cast("Pool", pool))

    wall.now = 110.0
    worked = clock()
    own[0] = 6.0

    assert clock() == worked == pytest.approx(115.0)
    wall.now = 140.0
    assert clock() == pytest.approx(151.0)
