"""Where a function stands in a ranking, and how good a set of such places is.

Ties count by expectation: of m rows that share a score, each is equally likely to be looked at
first, second, ... m-th.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TOP = (1, 3, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The positions that a row may take among those that tie with it.

    Attributes:
        first: The best, from 1.
        last: The worst.
        n_rows: Length of the ranking.
    """

    first: int
    last: int
    n_rows: int

    @property
    def rank(self) -> float:
        """The expected position."""
        return (self.first + self.last) / 2

    @property
    def reciprocal(self) -> float:
        """The expected value of one over the position."""
        return mean(1 / position for position in range(self.first, self.last + 1))

    @property
    def share(self) -> float:
        """The share of the ranking that is looked at before it."""
        return self.rank / self.n_rows

    def p_within(self, k: int) -> float:
        """How likely it is among the first ``k``."""
        n_tied = self.last - self.first + 1
        return min(max(k - self.first + 1, 0), n_tied) / n_tied


def standing(scores: Sequence[float], index: int) -> Standing:
    """Where ``scores[index]`` stands, the highest score first."""
    mine = scores[index]
    slack = 1e-9 * max(abs(mine), 1e-9)
    n_above = sum(score > mine + slack for score in scores)
    n_tied = sum(abs(score - mine) <= slack for score in scores)
    return Standing(first=n_above + 1, last=n_above + n_tied, n_rows=len(scores))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a set of places amounts to.

    Attributes:
        n: Faults, those without a place included.
        top: Per k of ``TOP``, the expected share of faults among the first k.
        mean_rank: Mean expected rank of those that have a place; 0 if none has.
        mrr: Mean reciprocal rank, 0 for a fault without a place.
        n_missing: Faults without a place.
    """

    n: int
    top: tuple[float, ...]
    mean_rank: float
    mrr: float
    n_missing: int


def score(places: Sequence[Standing | None]) -> Score:
    """Sum up ``places``, one a fault; None counts as a miss."""
    found = [where for where in places if where is not None]
    n = max(len(places), 1)
    return Score(
        n=len(places),
        top=tuple(sum(where.p_within(k) for where in found) / n for k in TOP),
        mean_rank=mean(where.rank for where in found) if found else 0.0,
        mrr=sum(where.reciprocal for where in found) / n,
        n_missing=len(places) - len(found),
    )
