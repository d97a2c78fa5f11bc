from __future__ import annotations

from functools import partial
from math import log
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.inspection.selection import (
    Action,
    Limits,
    Prospect,
    information,
    likeliest,
    most_informative,
    stop_reason,
)
from pytest_bayesloc.inspection.strategy import InspectionStrategy
from pytest_bayesloc.ranking.belief import IndependentBelief, SingleFaultBelief

if TYPE_CHECKING:
    from collections.abc import Sequence


def location(name: str, line: int = 1, *, is_test: bool = False) -> Location:
    return Location(
        file="shop/cart.py", start_line=line, end_line=line + 1, qualname=name, is_test=is_test
    )


ADD, TOTAL, TAX = location("add", 4), location("total", 12), location("tax", 20)
TEST = location("test_add", is_test=True)

LIMITS = Limits(threshold=0.9, budget_s=60.0, n_inspections=20)


class Way(InspectionStrategy):
    """A strategy of known chances."""

    def __init__(self, *chances: tuple[float, float], seconds: float = 1.0) -> None:
        self._chances = chances
        self.seconds = seconds

    def chances(self, model: str) -> Sequence[tuple[float, float]]:
        assert model == "m"
        return self._chances


SURE = Way((0.9, 0.1), (0.1, 0.9))
SURE_TOO = Way((0.9, 0.1), (0.1, 0.9))
SLOW = Way((0.9, 0.1), (0.1, 0.9), seconds=1000.0)
VAGUE = Way((0.6, 0.5), (0.4, 0.5))


def actions(*targets: Location, ways: Sequence[Way] = (SURE, SURE_TOO)) -> list[Action]:
    return [Action(target=target, strategy=way) for target in targets for way in ways]


def test_greedy_choice_is_the_likeliest_location_in_its_first_way() -> None:
    belief = SingleFaultBelief({ADD: 0.2, TOTAL: 0.5, TAX: 0.3})

    assert likeliest(belief, actions(ADD, TOTAL, TAX)) == Action(target=TOTAL, strategy=SURE)


def test_greedy_choice_breaks_a_tie_by_location() -> None:
    assert likeliest(SingleFaultBelief({TAX: 0.5, ADD: 0.5}), actions(TAX, ADD)) == Action(
        target=ADD, strategy=SURE
    )


def test_difference_by_rounding_is_a_tie() -> None:
    chosen = likeliest(IndependentBelief({TAX: 0.3, ADD: 0.3 - 1e-14}), actions(TAX, ADD))

    assert chosen == Action(target=ADD, strategy=SURE)


def test_nothing_is_chosen_of_nothing() -> None:
    assert likeliest(SingleFaultBelief({TAX: 1.0}), []) is None
    assert most_informative("m", SingleFaultBelief({TAX: 1.0}), []) is None


def test_informative_choice_is_the_way_that_tells_more() -> None:
    open_actions = actions(ADD, ways=(VAGUE, SURE))
    chosen = most_informative("m", IndependentBelief({ADD: 0.5}), open_actions)

    assert chosen == Action(target=ADD, strategy=SURE)


def test_informative_choice_pays_for_its_seconds() -> None:
    open_actions = actions(ADD, ways=(VAGUE, SLOW))
    chosen = most_informative("m", IndependentBelief({ADD: 0.5}), open_actions)

    assert chosen == Action(target=ADD, strategy=VAGUE)


def test_informative_choice_prefers_the_doubtful_to_the_nearly_certain() -> None:
    belief = SingleFaultBelief({ADD: 0.97, TAX: 0.03})

    assert most_informative("m", belief, actions(TAX, ADD)) == Action(target=ADD, strategy=SURE)
    assert information(0.5, SURE.chances("m")) > information(0.97, SURE.chances("m"))


def test_information_is_none_where_nothing_can_be_learned() -> None:
    assert information(0.5, ((0.3, 0.3), (0.7, 0.7))) == 0.0
    assert information(0.0, SURE.chances("m")) == 0.0
    assert information(1.0, SURE.chances("m")) == 0.0


def test_information_of_a_perfect_inspection_is_the_entropy() -> None:
    assert information(0.25, ((1.0, 0.0), (0.0, 1.0))) == pytest.approx(
        -0.25 * log(0.25) - 0.75 * log(0.75)
    )


def reason(
    probabilities: dict[Location, float],
    limits: Limits = LIMITS,
    *,
    spent_s: float = 0.0,
    n_made: int = 0,
) -> str | None:
    belief = IndependentBelief(probabilities)
    return stop_reason(belief, limits, spent_s=spent_s, n_made=n_made)


def test_loop_goes_on_below_every_limit() -> None:
    assert reason({TOTAL: 0.89}, spent_s=59.9, n_made=19) is None


def test_threshold_names_the_location_that_reached_it() -> None:
    assert reason({TOTAL: 0.9, ADD: 0.1}) == "threshold 0.9 reached by shop/cart.py:12 total"


def test_test_that_is_the_likeliest_fault_ends_the_loop_too() -> None:
    assert reason({TEST: 0.95, ADD: 0.1}) == "threshold 0.9 reached by shop/cart.py:1 test_add"


def test_spent_budget_ends_the_loop() -> None:
    assert reason({TOTAL: 0.5}, spent_s=60.0) == "budget of 60 s spent"


@pytest.mark.parametrize(
    ("n", "sentence"),
    [(20, "20 inspections made"), (1, "1 inspection made"), (0, "0 inspections made")],
)
def test_number_of_inspections_ends_the_loop(n: int, sentence: str) -> None:
    limits = Limits(threshold=0.9, budget_s=60, n_inspections=n)

    assert reason({TOTAL: 0.5}, limits, n_made=n) == sentence


def test_any_number_of_inspections_fits_no_limit() -> None:
    assert reason({TOTAL: 0.5}, Limits(threshold=0.9, budget_s=60), n_made=10**6) is None


def test_threshold_is_the_first_reason() -> None:
    assert reason({TOTAL: 0.95}, spent_s=99, n_made=20) == (
        "threshold 0.9 reached by shop/cart.py:12 total"
    )


def test_what_is_under_way_is_not_asked_twice() -> None:
    belief = SingleFaultBelief({ADD: 0.5, TOTAL: 0.3, TAX: 0.2})
    select = partial(most_informative, "m")

    assert select(belief, actions(ADD, TOTAL, TAX)) == Action(target=ADD, strategy=SURE)
    pending = [Action(target=ADD, strategy=SURE)]
    assert select(
        belief, [Action(target=ADD, strategy=SURE_TOO), *actions(TOTAL)], pending
    ) == Action(target=TOTAL, strategy=SURE)


@pytest.mark.parametrize("model", [IndependentBelief, SingleFaultBelief])
def test_prospects_are_the_beliefs_that_updates_would_give(
    model: type[IndependentBelief | SingleFaultBelief],
) -> None:
    belief = model({ADD: 0.5, TOTAL: 0.3, TAX: 0.2})
    outcomes = ((0.8, 0.3), (0.2, 0.7))
    prospects = [
        second
        for first in Prospect(belief).after(ADD, outcomes)
        for second in first.after(TAX, outcomes)
    ]
    updated = [
        belief.update_all([evidence(ADD, *a), evidence(TAX, *b)])
        for a in outcomes
        for b in outcomes
    ]

    assert sum(prospect.weight for prospect in prospects) == pytest.approx(1.0)
    for prospect, wanted in zip(prospects, updated, strict=True):
        for where, p in wanted.probabilities.items():
            assert prospect.p(where) == pytest.approx(p)


def evidence(where: Location, p_if_faulty: float, p_if_clean: float) -> Evidence:
    return Evidence(
        location=where,
        outcome=InspectionOutcome.INCONCLUSIVE,
        p_if_faulty=p_if_faulty,
        p_if_clean=p_if_clean,
        source="s",
        why="",
    )
