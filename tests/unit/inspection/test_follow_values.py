"""Which tests are followed, and what is learned from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import StaticOutcome
from pytest_bayesloc.domain.recording import Maker, ValueFlow, WrongValue
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.strategies.once_more import FollowValues
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.likelihoods import weigh
from tests.fakes.case import case_of, frame_in
from tests.fakes.clock import Clock
from tests.fakes.runner import FakeRunner, as_port
from tests.unit.inspection.conftest import spectrum_of

if TYPE_CHECKING:
    from pytest_bayesloc.ranking.case import Case

TEXTS = {
    "pay.py": "def pay(amount):\n    if amount < 0:\n        raise ValueError\n",
    "test_pay.py": "def test_a():\n    pay(-5)\ndef test_b():\n    pay(-6)\n",
}
MAPS = {f: SourceMap(t, f, is_test=f.startswith("test")) for f, t in TEXTS.items()}
PLACES = {u.location.qualname: u.location for source in MAPS.values() for u in source.units}
MODEL = "single-fault"


def flow(node_id: str, owner: str, *, error: str = "ValueError") -> ValueFlow:
    value = WrongValue(label="amount", makers=(Maker(frame=frame_in(PLACES[owner]), key="amount"),))
    return ValueFlow(
        node_id=node_id,
        error=error,
        user=frame_in(PLACES["pay"]),
        condition="amount < 0",
        values=(value,),
    )


def case(*failing: str) -> Case:
    tests = failing or ("t::a",)
    spectrum = spectrum_of(tests, (), PLACES["pay"])
    evidence = weigh(MODEL, StaticOutcome.RAISE_FRAME, PLACES["pay"], source="traceback")
    prior = {PLACES["pay"]: 0.8, PLACES["test_a"]: 0.2}
    made = case_of(spectrum, prior, evidence=(evidence,))
    made.errors = dict.fromkeys(tests, "ValueError")
    return made


def follow(made: Case, *flows: ValueFlow, usual_s: float = 0.1) -> FakeRunner:
    runner, clock = FakeRunner(flows=flows), Clock()
    budget = Budget(as_port(runner), clock, clock() + 60.0, made)
    budget.usual_s = usual_s
    assert not list(FollowValues(MAPS.get).open(made, budget))
    return runner


def test_owner_of_refused_data_is_suspected_in_place_of_the_check() -> None:
    made = case()

    follow(made, flow("t::a", "test_a"))

    assert made.guard is not None
    assert made.guard.owner == PLACES["test_a"]
    assert {e.location.qualname: e.outcome for e in made.evidence} == {
        "test_a": StaticOutcome.GUARD_NAMES_OWNER,
        "pay": StaticOutcome.GUARD_REFUSED,
    }
    assert made.belief.p(PLACES["test_a"]) == pytest.approx(15 * 0.2 / (15 * 0.2 + 0.5 * 0.8))


def test_check_that_refused_the_data_of_two_tests_stays_suspect() -> None:
    made = case("t::a", "t::b")

    follow(made, flow("t::a", "test_a"), flow("t::b", "test_b"))

    assert made.guard is None


def test_one_test_of_each_function_is_followed() -> None:
    runner = follow(case("t::a[1]", "t::a[2]", "t::b", "t::c"))

    assert runner.followed == [("t::a[1]", "t::b")]


def test_test_that_fails_in_another_way_when_followed_says_nothing() -> None:
    made = case()

    follow(made, flow("t::a", "test_a", error="KeyError"))

    assert made.guard is None


def test_slow_test_is_not_followed() -> None:
    assert not follow(case(), usual_s=4.0).followed
