from __future__ import annotations

import time
from contextlib import closing
from math import inf
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.rerun.pool import Pool
from pytest_bayesloc.rerun.runner import ServerRunner
from tests.fakes.transport import FakeTransport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.ports import Runner

A = "test_m.py::test_a"


def pool(*fakes: FakeTransport, n_runners: int = 1, notes: list[str] | None = None) -> Pool:
    said = [] if notes is None else notes
    return Pool(fakes, n_runners, (A,), {}, said.append)


def all_ready(made: Pool, n_runners: int) -> Sequence[Runner]:
    """Start all runners and wait for them."""
    for _ in range(1000):
        if len(made.runners(inf)) == n_runners:
            break
        time.sleep(0.01)
    return made.runners(0.0)


def test_what_a_lost_place_had_under_way_is_done_again_by_another() -> None:
    lost, other = FakeTransport("lost", lost_at=2), FakeTransport("other")
    notes: list[str] = []
    with closing(pool(lost, other, notes=notes)) as made:
        runs = [made.first.rerun(None, [A], limit_s=1.0) for _ in range(3)]

    assert [run.tests[A].verdict for run in runs] == [Verdict.PASS] * 3
    assert (len(lost.asked), len(other.asked)) == (2, 2)
    assert notes == ["lost does not answer. (lost-executor)"]
    assert (lost.n_open, other.n_open) == (0, 0)


def test_two_places_of_one_name_are_not_lost_together() -> None:
    with closing(pool(FakeTransport(lost_at=1), FakeTransport())) as made:
        assert made.first.rerun(None, [A], limit_s=1.0).tests[A].verdict is Verdict.PASS


def test_request_that_costs_two_places_is_not_tried_on_a_third() -> None:
    third = FakeTransport("third")
    made = pool(FakeTransport("a", lost_at=1), FakeTransport("b", lost_at=1), third)

    with closing(made), pytest.raises(ExecutionError, match=r"Two places .*\(b\)"):
        made.first.rerun(None, [A], limit_s=1.0)

    assert third.asked == []


def test_loss_of_the_only_place_says_so() -> None:
    made = pool(FakeTransport("only", lost_at=1))

    with closing(made), pytest.raises(ExecutionError, match=r"Nothing answers .*\(only\)"):
        made.first.rerun(None, [A], limit_s=1.0)


def test_other_runners_are_started_only_where_there_is_work_for_them() -> None:
    transport = FakeTransport()
    with closing(pool(transport, n_runners=3)) as made:
        made.first.rerun(None, [A], limit_s=1.0)

        assert made.runners(0.0) == [made.first]
        assert transport.n_open == 1
        assert made.runners(1e6)[:1] == [made.first]
        assert len(all_ready(made, 3)) == 3
        assert transport.n_open == 3
    assert transport.n_open == 0


def test_runners_go_round_the_places() -> None:
    here, there = FakeTransport("here"), FakeTransport("there")
    with closing(pool(here, there, n_runners=2)) as made:
        made.first.rerun(None, [], limit_s=1.0)
        here.asked.clear()
        for runner in all_ready(made, 2):
            runner.rerun(None, [A], limit_s=1.0)

    assert (here.asked, there.asked) == ([(A,)], [(A,)])


def test_runner_that_is_called_off_runs_nothing_until_it_goes_on() -> None:
    transport = FakeTransport()
    with closing(pool(transport)) as made:
        made.first.cancel()
        assert made.first.rerun(None, [A], limit_s=1.0).tests[A].verdict is Verdict.NOT_RUN
        made.first.resume()
        assert made.first.rerun(None, [A], limit_s=1.0).tests[A].verdict is Verdict.PASS


def test_server_that_is_called_off_while_it_starts_is_started_again_when_needed() -> None:
    transport = FakeTransport(is_silent=True)
    with closing(ServerRunner(transport, (A,), {})) as runner:
        runner.make_ready()
        assert transport.n_open == 0
        transport.is_silent = False
        assert runner.rerun(None, [A], limit_s=1.0).tests[A].verdict is Verdict.PASS
