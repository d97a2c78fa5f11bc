"""What differs from country to country."""

from __future__ import annotations

COUNTRIES = {
    "AT": ("EUR", 0.10),
    "CH": ("CHF", 0.038),
    "DE": ("EUR", 0.07),
}
HOUSE = {"country": "DE"}


def use_country(code: str) -> None:
    """From now on the house is in another country."""
    if code not in COUNTRIES:
        raise ValueError(f"no house in {code!r}: known are {', '.join(sorted(COUNTRIES))}")
    HOUSE["country"] = code


def currency() -> str:
    """The money that guests pay with."""
    return COUNTRIES[HOUSE["country"]][0]


def tax_rate() -> float:
    """The tax on a price, as a fraction."""
    return COUNTRIES[HOUSE["country"]][1]
