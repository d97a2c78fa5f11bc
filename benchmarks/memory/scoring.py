"""How good fingerprints and retrieval are on the labelled set."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.bug import Category
from pytest_bayesloc.memory.retrieval import SCORES, Entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """How fingerprints pair failures.

    Attributes:
        precision: Share of the pairs with one fingerprint that are of one bug.
        recall: Share of the pairs of one bug that have one fingerprint.
        stable: Share of the tests whose fingerprint is the same in all variants.
    """

    precision: float
    recall: float
    stable: float


def pairs(rows: Sequence[Row]) -> Pairs:
    """Over all pairs of failures."""
    same = _n_pairs(Counter(row["fingerprint"] for row in rows))
    of_bug = _n_pairs(Counter(row["bug"] for row in rows))
    both = _n_pairs(Counter((row["bug"], row["fingerprint"]) for row in rows))
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        seen[row["bug"], row["test"]].add(row["fingerprint"])
    return Pairs(
        precision=both / same,
        recall=both / of_bug,
        stable=sum(len(found) == 1 for found in seen.values()) / len(seen),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """How retrieval does.

    Attributes:
        n: Queries: failures whose bug has one with another fingerprint.
        at_3: Share of them with such a one among the first three.
        mrr: Mean of 1 / the rank of the first such one.
    """

    n: int
    at_3: float
    mrr: float


def hits(rows: Sequence[Row], score: str) -> Hits:
    """Query each distinct failure against all others, those of its own fingerprint left out."""
    distinct = list({(row["bug"], row["fingerprint"]): row for row in rows}.values())
    entries = [entry_of(row) for row in distinct]
    ranks = []
    for i, row in enumerate(distinct):
        others = [
            j for j, other in enumerate(distinct) if other["fingerprint"] != row["fingerprint"]
        ]
        right = {j for j in others if distinct[j]["bug"] == row["bug"]}
        if right:
            scores = SCORES[score](entries[i], [entries[j] for j in others])
            best = max(s for s, j in zip(scores, others, strict=True) if j in right)
            better = sum(s > best for s in scores)
            tied = sum(s == best for s in scores) - 1
            ranks.append(better + 1 + tied / 2)
    return Hits(
        n=len(ranks),
        at_3=sum(rank <= 3 for rank in ranks) / len(ranks),
        mrr=sum(1 / rank for rank in ranks) / len(ranks),
    )


def entry_of(row: Row) -> Entry:
    """A row as retrieval takes it."""
    return Entry(
        signature=row["signature"],
        tags=frozenset(row["tags"]),
        category=Category(row["category"]),
    )


def _n_pairs(counts: Mapping[Any, int]) -> int:
    return sum(comb(n, 2) for n in counts.values())
