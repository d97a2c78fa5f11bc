from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.inspection.strategy import InspectionStrategy, Limits, likeliest, stop_reason
from pytest_bayesloc.ranking.belief import IndependentBelief
from tests.fakes.case import location

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location

ADD, TOTAL, TAX = (location(name, "shop/cart.py") for name in ("add", "total", "tax"))
TEST = location("test_add", "shop/cart.py", is_test=True)

LIMITS = Limits(threshold=0.9, budget_s=60.0, n_inspections=20)
WAY = InspectionStrategy()


def test_difference_by_rounding_is_a_tie() -> None:
    belief = IndependentBelief({TAX: 0.3, ADD: 0.3 - 1e-14})

    assert likeliest(belief, [(TAX, WAY), (ADD, WAY)]) == (ADD, WAY)


@pytest.mark.parametrize(
    ("likely", "spent_s", "n_made", "reason"),
    [
        ({TEST: 0.9, ADD: 0.1}, 99.0, 20, "shop/cart.py:1 test_add reached the threshold of 0.9"),
        ({TOTAL: 0.5}, 60.0, 20, "the budget of 60 s is spent"),
    ],
    ids=["a test, whatever else is reached", "time"],
)
def test_loop_ends_at_the_first_limit_that_is_reached(
    likely: dict[Location, float], spent_s: float, n_made: int, reason: str
) -> None:
    belief = IndependentBelief(likely)

    assert stop_reason(belief, LIMITS, spent_s=spent_s, n_made=n_made) == reason
