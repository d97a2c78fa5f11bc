from datetime import date

import pytest

from guesthouse.prices import long_stay_rate, night_price, stay_price, to_cents
from guesthouse.rooms import room_called
from guesthouse.stays import Stay, nights_from


@pytest.fixture
def garden():
    return room_called("garden")


@pytest.fixture
def whitsun():
    """The long weekend, from Friday to Monday."""
    return Stay(date(2026, 5, 25), date(2026, 5, 22))


@pytest.mark.parametrize(("amount", "cents"), [(10.4, 10), (10.5, 11), (0.0, 0)])
def test_cents_are_rounded_half_up(amount, cents):
    assert to_cents(amount) == cents


def test_night_in_spring(garden):
    assert night_price(garden, date(2026, 4, 1)) == 8_000


def test_night_in_summer_costs_more(garden):
    assert night_price(garden, date(2026, 7, 1)) == 10_000


def test_night_of_a_weekend_costs_more(garden):
    assert night_price(garden, date(2026, 5, 9)) == 9_000


def test_night_of_a_weekend_in_summer(garden):
    assert night_price(garden, date(2026, 7, 3)) == 11_000


@pytest.mark.parametrize(
    ("n_nights", "rate"), [(1, 0.0), (6, 0.0), (7, 0.10), (13, 0.10), (14, 0.15), (30, 0.15)]
)
def test_rate_of_a_long_stay(n_nights, rate):
    assert long_stay_rate(n_nights) == rate


def test_price_of_a_week(garden):
    assert stay_price(garden, nights_from(date(2026, 5, 4), 7)) == round(58_000 * 0.9)


def test_price_over_the_start_of_summer(garden):
    assert stay_price(garden, nights_from(date(2026, 5, 31), 2)) == 8_000 + 10_000


def test_price_of_whitsun(garden, whitsun):
    assert stay_price(garden, whitsun) == 2 * 9_000 + 8_000


def test_whitsun_is_no_long_stay(whitsun):
    assert long_stay_rate(whitsun.n_nights) == 0.0
