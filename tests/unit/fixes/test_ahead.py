"""What comes next is tried on other runners, and nothing else changes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.inspection import Rerun
from pytest_bayesloc.fixes.ahead import Ahead
from tests.fakes.runner import FakeRunner, as_port
from tests.unit.fixes.candidates import candidate

if TYPE_CHECKING:
    from pytest_bayesloc.domain.ports import Runner

WAIT_S = 30.0
FIRST, SECOND = candidate("a", "b"), candidate("a", "c")


def test_idle_runner_tries_what_is_begun_once() -> None:
    runner = as_port(FakeRunner())
    asked: list[Runner] = []

    def run(on: Runner) -> Rerun:
        asked.append(on)
        return Rerun(tests={})

    ahead = Ahead(lambda: [runner])
    ahead.begin(FIRST, run)
    ahead.begin(FIRST, run)

    assert ahead.take(FIRST) == Rerun(tests={})
    assert ahead.take(FIRST) is ahead.take(SECOND) is None
    assert asked == [runner]
    ahead.close()


def test_nothing_is_begun_without_an_idle_runner() -> None:
    released = threading.Event()

    def run(_: Runner) -> Rerun:
        assert released.wait(WAIT_S)
        return Rerun(tests={})

    ahead = Ahead(lambda: [as_port(runner)])
    runner = FakeRunner()
    ahead.begin(FIRST, run)
    ahead.begin(SECOND, run)
    released.set()

    assert [ahead.take(each) is None for each in (FIRST, SECOND)] == [False, True]
    alone = Ahead()
    alone.begin(FIRST, run)
    assert alone.take(FIRST) is None
    ahead.close()


def test_what_is_under_way_is_cancelled_at_the_end_and_its_runner_goes_on() -> None:
    released = threading.Event()

    class Stuck(FakeRunner):
        def cancel(self) -> None:
            super().cancel()
            released.set()

    def run(_: Runner) -> Rerun:
        assert released.wait(WAIT_S)
        return Rerun(tests={})

    stuck = Stuck()
    ahead = Ahead(lambda: [as_port(stuck)])
    ahead.begin(FIRST, run)
    ahead.close()

    assert released.is_set()
    assert not stuck.is_cancelled


def test_runner_that_is_lost_is_told_when_its_result_is_asked_for() -> None:
    def run(_: Runner) -> Rerun:
        raise ExecutionError("gone", slug="lost-executor")

    ahead = Ahead(lambda: [as_port(FakeRunner())])
    ahead.begin(FIRST, run)

    with pytest.raises(ExecutionError, match="gone"):
        ahead.take(FIRST)
    ahead.close()
