"""What things cost. Money is in whole cents, rates are fractions of a price."""

from __future__ import annotations

from math import floor

CENTS_PER_METRE = {"acrylic": 180, "plywood": 120, "steel": 450}
SETUP_CENTS = {"acrylic": 250, "plywood": 250, "steel": 900}
VOLUME_RATES = ((500, 0.25), (200, 0.15), (50, 0.10), (10, 0.05))
COUPON_RATES = {"WELCOME5": 0.05, "SPRING10": 0.10, "FRIENDS20": 0.20}
VAT_RATES = {"AT": 0.20, "CH": 0.081, "DE": 0.19}
MAX_RATE = 0.30


def to_cents(amount: float) -> int:
    """``amount`` cents, rounded half up."""
    return floor(amount + 0.5)


def cut_price(length_mm: float, material: str) -> int:
    """Price of one cut of ``length_mm`` through ``material``."""
    if material not in CENTS_PER_METRE:
        raise ValueError(f"no price for {material!r}: known are {sorted(CENTS_PER_METRE)}")
    return to_cents(length_mm / 1000 * CENTS_PER_METRE[material])


def setup_price(material: str) -> int:
    """Price of putting a sheet of ``material`` on the table, once an order and material."""
    return SETUP_CENTS[material]


def volume_rate(quantity: int) -> float:
    """Discount for the number of pieces."""
    for at_least, rate in VOLUME_RATES:
        if quantity >= at_least:
            return rate
    return 0.0


def loyalty_rate(years: int) -> float:
    """Discount for the years that someone has been a customer: 2 % each, five years at most."""
    return 0.02 * min(max(years, 0), 5)


def coupon_rate(code: str) -> float:
    """Discount of a coupon, however it was typed."""
    cleaned = code.strip().upper()
    if cleaned not in COUPON_RATES:
        raise ValueError(f"unknown coupon {code!r}")
    return COUPON_RATES[cleaned]


def combined_rate(quantity: int, years: int, coupon: str | None = None) -> float:
    """All discounts together: each applies to what the others leave, up to ``MAX_RATE``."""
    left = (1 - volume_rate(quantity)) * (1 - loyalty_rate(years))
    rate = min(1 - left, MAX_RATE)
    if coupon:
        rate = 1 - (1 - rate) * (1 - coupon_rate(coupon))
    return round(rate, 6)


def express_fee(price: int, days: int) -> int:
    """Surcharge for delivery in fewer than five days: 10 % of the price for each day saved."""
    if days < 1:
        raise ValueError(f"nothing is cut in {days} days")
    return to_cents(price * 0.10 * max(5 - days, 0))


def vat(price: int, country: str) -> int:
    """Value-added tax on ``price``; none outside the countries we are registered in."""
    return to_cents(price * VAT_RATES.get(country, 0.0))
