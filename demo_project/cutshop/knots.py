"""Knot vectors of B-splines."""

from __future__ import annotations

from collections.abc import Sequence


def check_knots(knots: Sequence[float], degree: int) -> None:
    """Refuse what is no knot vector of a curve of ``degree``."""
    if degree < 1:
        raise ValueError(f"degree {degree} is too low: a curve has degree 1 or more")
    if len(knots) < 2 * degree + 2:
        raise ValueError(
            f"a curve of degree {degree} needs at least {2 * degree + 2} knots, got {len(knots)}"
        )
    for left, right in zip(knots, knots[1:]):
        if right < left:
            raise ValueError(f"knots must not descend, but {right} follows {left}")


def clamped_knots(n_points: int, degree: int, end: float = 1.0) -> list[float]:
    """Evenly spaced knots on [0, end] that make the curve start and end on its outer points."""
    n_spans = n_points - degree
    if n_spans < 1:
        raise ValueError(f"degree {degree} needs more than {n_points} points")
    inner = [end * i / n_spans for i in range(1, n_spans)]
    return [0.0] * (degree + 1) + inner + [end] * (degree + 1)


def domain(knots: Sequence[float], degree: int) -> tuple[float, float]:
    """First and last parameter at which the curve is defined."""
    return knots[degree], knots[-degree - 1]


def find_span(knots: Sequence[float], degree: int, t: float) -> int:
    """Index of the knot that opens the non-empty interval around ``t``."""
    start, end = domain(knots, degree)
    if not start <= t <= end:
        raise ValueError(f"parameter {t} lies outside [{start}, {end}]")
    if t == end:
        return max(i for i, knot in enumerate(knots) if knot < end)
    low, high = degree, len(knots) - degree - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= t:
            low = middle
        else:
            high = middle
    return low


def multiplicity(knots: Sequence[float], t: float) -> int:
    """How often ``t`` occurs in ``knots``."""
    return sum(1 for knot in knots if knot == t)
