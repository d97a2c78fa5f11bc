"""What to inspect next, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.localization.belief import Belief

#: Probabilities that differ by less are equal: what is left is rounding.
TIE = 1e-12

NOTHING_LEFT = "nothing left to inspect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When the loop ends.

    Attributes:
        threshold: Belief at which a location is found.
        budget_s: Seconds that inspections may take.
        n_inspections: How many may be made; None for any number.
    """

    threshold: float
    budget_s: float
    n_inspections: int | None = None


def select(belief: Belief, done: Container[Location]) -> Location | None:
    """The likeliest inspectable code location that is not ``done``; ties in location order."""
    left = {
        where: p
        for where, p in belief.probabilities.items()
        if not where.is_test and where not in done and where.inspectable
    }
    if not left:
        return None
    bar = max(left.values()) - TIE
    return min(where for where, p in left.items() if p >= bar)


def stop_reason(
    belief: Belief,
    limits: Limits,
    *,
    spent_s: float,
    n_made: int,
    done: Container[Location],
) -> str | None:
    """Why the loop ends now, in words; None to go on.

    Args:
        belief: The present belief; the threshold is held against its likeliest location, code or
            test.
        limits: When to end.
        spent_s: Seconds spent on inspections.
        n_made: Inspections made.
        done: Locations with nothing new to try.
    """
    for where, p in belief.top(1):
        if p >= limits.threshold:
            return f"threshold {limits.threshold:g} reached by {where}"
    if spent_s >= limits.budget_s:
        return f"budget of {limits.budget_s:g} s spent"
    if limits.n_inspections is not None and n_made >= limits.n_inspections:
        return f"{n_made} inspection{'' if n_made == 1 else 's'} made"
    return NOTHING_LEFT if select(belief, done) is None else None
