from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.causes.order import MAX_RERUNS, N_AGREEING, OrderSearch
from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.inspection import Rerun, TestRun, Verdict
from tests.fakes.clock import Clock
from tests.fakes.runner import PASSED, FakeRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch

EARLIER = [f"t{n}" for n in range(100)]
FAILURE = Failure(node_id="victim", phase="call", exc_type="KeyError", message="'a'")
SPOILED = TestRun(verdict=Verdict.FAIL, error="KeyError: 'a'")


class OrderedRunner(FakeRunner):
    """The last test of each re-run ends as those before it say."""

    def __init__(self, ends: Callable[[set[str]], TestRun]) -> None:
        super().__init__()
        self._ends = ends

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        super().rerun(patch, tests, limit_s=limit_s)
        return Rerun(tests={tests[-1]: self._ends(set(tests[:-1]))})


def search(runner: FakeRunner, clock: Clock | None = None, deadline: float = 60.0) -> OrderSearch:
    return OrderSearch(runner, FAILURE, clock or Clock(), deadline)


def spoiled_by(*spoilers: str, run: TestRun = SPOILED) -> OrderedRunner:
    return OrderedRunner(lambda before: run if before >= set(spoilers) else PASSED)


@pytest.mark.parametrize("spoilers", [("t0",), ("t99",), ("t3", "t70"), ("t9", "t10")])
def test_smallest_set_of_spoilers_is_found_in_their_order(spoilers: tuple[str, ...]) -> None:
    assert search(spoiled_by(*spoilers)).spoilers(EARLIER) == spoilers


def test_one_spoiler_of_many_is_found_by_halving() -> None:
    runner = spoiled_by("t63")

    search(runner).spoilers(EARLIER)

    assert len(runner.asked) <= 20


def test_test_that_passes_after_all_of_them_is_flaky() -> None:
    order = search(OrderedRunner(lambda _: PASSED))

    assert (order.spoilers(EARLIER), order.is_flaky) == ((), True)


def test_test_that_fails_alone_as_well_has_no_spoiler() -> None:
    order = search(OrderedRunner(lambda _: SPOILED))

    assert (order.spoilers(EARLIER), order.is_flaky) == ((), False)


@pytest.mark.parametrize(
    "other",
    [
        TestRun(verdict=Verdict.FAIL, error="ValueError: 'a'"),
        TestRun(verdict=Verdict.FAIL, error="assert 1 == 2"),
        TestRun(verdict=Verdict.TIMEOUT),
    ],
)
def test_other_end_is_no_sign_of_a_spoiler(other: TestRun) -> None:
    order = search(spoiled_by("t5", run=other))

    assert (order.spoilers(EARLIER), order.is_flaky) == ((), False)


@pytest.mark.parametrize(
    ("exc_type", "error"),
    [
        ("AssertionError", "assert 1 == 2"),
        ("AssertionError", "AssertionError: no"),
        ("Refused", "shop.errors.Refused: no"),
        ("Refused", "shop.errors.Refused"),
    ],
)
def test_same_type_of_exception_is_the_same_failure(exc_type: str, error: str) -> None:
    runner = spoiled_by("t5", run=TestRun(verdict=Verdict.FAIL, error=error))
    failure = Failure(node_id="victim", phase="call", exc_type=exc_type, message="")

    assert OrderSearch(runner, failure, Clock(), 60.0).spoilers(EARLIER) == ("t5",)


def test_spoilers_that_fail_to_spoil_again_are_chance() -> None:
    turns = iter([SPOILED, *[PASSED] * N_AGREEING, *[SPOILED] * 8, PASSED])
    runner = OrderedRunner(lambda _: next(turns))

    assert search(runner).spoilers(EARLIER) == ()


def test_search_ends_in_time_with_what_is_left() -> None:
    runner = spoiled_by("t63")

    order = search(runner, Clock(step=1.0), deadline=12.0)
    found = order.spoilers(EARLIER)

    assert order.is_cut
    assert "t63" in found
    assert 1 < len(found) < len(EARLIER)
    assert max(runner.limits) <= 12.0


def test_number_of_re_runs_is_bounded() -> None:
    runner = OrderedRunner(lambda before: SPOILED if len(before) > 80 else PASSED)

    assert search(runner).spoilers(EARLIER)
    assert len(runner.asked) <= MAX_RERUNS + 1


def test_variables_that_have_to_be_put_back_are_found() -> None:
    tests, changed = ("t5", "victim"), ("m.py::m.A", "m.py::m.B", "::os.environ['C']")
    enough = [changed, ("m.py::m.B", "::os.environ['C']"), ("m.py::m.B",)]
    runner = FakeRunner(
        states={tests: changed}, restorations={(tests, names): PASSED for names in enough}
    )

    order = search(runner)

    assert [*order.needed(["t5"], order.changed_by(["t5"]))] == ["m.py::m.B"]


def test_no_variable_is_named_where_putting_all_back_is_not_enough() -> None:
    order = search(FakeRunner(states={("t5", "victim"): ["m.py::m.A"]}))

    assert order.needed(["t5"], order.changed_by(["t5"])) == {}
