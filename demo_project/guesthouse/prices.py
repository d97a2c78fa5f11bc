"""What a stay costs. Money is in whole cents."""

from __future__ import annotations

from datetime import date
from math import floor

from guesthouse.rooms import Room
from guesthouse.stays import Stay, is_weekend

SUMMER = (6, 7, 8)
SUMMER_RATE = 1.25
WEEKEND_EXTRA = 1_000
LONG_STAYS = ((14, 0.15), (7, 0.10))


def to_cents(amount: float) -> int:
    """``amount`` cents, rounded half up."""
    return floor(amount + 0.5)


def night_price(room: Room, night: date) -> int:
    """The price of one night: more in summer, and on weekends."""
    price = to_cents(room.price * SUMMER_RATE) if night.month in SUMMER else room.price
    return price + WEEKEND_EXTRA if is_weekend(night) else price


def long_stay_rate(n_nights: int) -> float:
    """The discount of a long stay, as a fraction."""
    for at_least, rate in LONG_STAYS:
        if n_nights >= at_least:
            return rate
    return 0.0


def stay_price(room: Room, stay: Stay) -> int:
    """The price of all nights, less the discount."""
    full = sum(night_price(room, night) for night in stay.nights())
    return to_cents(full * (1 - long_stay_rate(stay.n_nights)))
