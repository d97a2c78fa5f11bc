"""The basis functions that blend the points of a curve."""

from __future__ import annotations

from collections.abc import Sequence

from cutshop.knots import find_span


def nonzero_basis(knots: Sequence[float], degree: int, span: int, t: float) -> list[float]:
    """The ``degree + 1`` basis functions that don't vanish on ``span``, at ``t``."""
    values = [1.0]
    left = [0.0]
    right = [0.0]
    for j in range(1, degree + 1):
        left.append(t - knots[span + 1 - j])
        right.append(knots[span + j] - t)
        saved = 0.0
        for r in range(j):
            part = values[r] / (right[r + 1] + left[j - r])
            values[r] = saved + right[r + 1] * part
            saved = left[j - r] * part
        values.append(saved)
    return values


def basis_row(knots: Sequence[float], degree: int, t: float) -> list[float]:
    """All basis functions at ``t``, one for each point of the curve."""
    span = find_span(knots, degree, t)
    row = [0.0] * (len(knots) - degree - 1)
    row[span - degree : span + 1] = nonzero_basis(knots, degree, span, t)
    return row


def greville(knots: Sequence[float], degree: int) -> list[float]:
    """The parameter at which each point pulls hardest on the curve."""
    n_points = len(knots) - degree - 1
    return [sum(knots[i + 1 : i + degree + 1]) / degree for i in range(n_points)]
