from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.inspection.strategy import (
    Action,
    InspectionStrategy,
    Limits,
    likeliest,
    stop_reason,
)
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


SURE, SURE_TOO = InspectionStrategy(), InspectionStrategy()


def actions(
    *targets: Location, ways: Sequence[InspectionStrategy] = (SURE, SURE_TOO)
) -> list[Action]:
    return [(target, way) for target in targets for way in (SURE, SURE_TOO)]


def test_choice_is_the_likeliest_location_in_its_first_way() -> None:
    belief = SingleFaultBelief({ADD: 0.2, TOTAL: 0.5, TAX: 0.3})

    assert likeliest(belief, actions(ADD, TOTAL, TAX)) == (TOTAL, SURE)


def test_difference_by_rounding_is_a_tie() -> None:
    chosen = likeliest(IndependentBelief({TAX: 0.3, ADD: 0.3 - 1e-14}), actions(TAX, ADD))

    assert chosen == (ADD, SURE)


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
    assert reason({TOTAL: 0.9, ADD: 0.1}) == "shop/cart.py:12 total reached the threshold of 0.9"


def test_test_that_is_the_likeliest_fault_ends_the_loop_too() -> None:
    assert reason({TEST: 0.95, ADD: 0.1}) == "shop/cart.py:1 test_add reached the threshold of 0.9"


def test_spent_budget_ends_the_loop() -> None:
    assert reason({TOTAL: 0.5}, spent_s=60.0) == "the budget of 60 s is spent"


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (20, "20 inspections made, as many as allowed"),
        (1, "1 inspection made, as many as allowed"),
        (0, "0 inspections made, as many as allowed"),
    ],
)
def test_number_of_inspections_ends_the_loop(n: int, sentence: str) -> None:
    limits = Limits(threshold=0.9, budget_s=60, n_inspections=n)

    assert reason({TOTAL: 0.5}, limits, n_made=n) == sentence


def test_any_number_of_inspections_fits_no_limit() -> None:
    assert reason({TOTAL: 0.5}, Limits(threshold=0.9, budget_s=60), n_made=10**6) is None


def test_threshold_is_the_first_reason() -> None:
    assert reason({TOTAL: 0.95}, spent_s=99, n_made=20) == (
        "shop/cart.py:12 total reached the threshold of 0.9"
    )
