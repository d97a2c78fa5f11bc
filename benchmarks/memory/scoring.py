"""How good fingerprints and retrieval are on the labelled set."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import comb, inf
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.memory.labelled import ALONE
from pytest_bayesloc.domain.texts import words
from pytest_bayesloc.memory.retrieval import mixed, text_of, vectors_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_bayesloc.domain.ports import Embedder
    from pytest_bayesloc.memory.retrieval import Entry, Score

    Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """How fingerprints pair failures.

    Attributes:
        precision: Share of the pairs with one fingerprint that are of one bug.
        recall: Share of the pairs of one bug that have one fingerprint.
        recall_of_bug: The same of each bug, on average: a bug of many tests counts no more.
        stable: Share of the tests whose fingerprint is the same in all variants.
    """

    precision: float
    recall: float
    recall_of_bug: float
    stable: float


def pairs(rows: Sequence[Row]) -> Pairs:
    """Over all pairs of failures."""
    same = _n_pairs(Counter(row["fingerprint"] for row in rows))
    of_bug = _n_pairs(Counter(row["bug"] for row in rows))
    both = _n_pairs(Counter((row["bug"], row["fingerprint"]) for row in rows))
    by_bug: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_bug[row["bug"]].append(row["fingerprint"])
    several = [found for found in by_bug.values() if len(found) > 1]
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        seen[row["bug"], row["test"]].add(row["fingerprint"])
    return Pairs(
        precision=both / same,
        recall=both / of_bug,
        recall_of_bug=mean(_n_pairs(Counter(found)) / comb(len(found), 2) for found in several),
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


def hits(rows: Sequence[Row], score: Score, *, above: float = 0.0) -> Hits:
    """Query each failure that was seen alone against all those of whole runs.

    Those with the query's own fingerprint are left out; of each bug and fingerprint, one counts.

    Args:
        rows: All failures.
        score: Of a query and what it is compared with.
        above: What scores less is not shown, and no hit.
    """
    alone = [row for row in rows if row["variant"] == ALONE]
    known = _distinct(row for row in rows if row["variant"] != ALONE)
    ranks = []
    for row in _distinct(alone):
        others = [other for other in known if other["fingerprint"] != row["fingerprint"]]
        is_right = [other["bug"] == row["bug"] for other in others]
        if any(is_right):
            scores = score(entry_of(row), [entry_of(other) for other in others])
            best = max(s for s, right in zip(scores, is_right, strict=True) if right)
            if best <= above:
                ranks.append(inf)
                continue
            n_tied = sum(s == best for s in scores) - 1
            ranks.append(1 + sum(s > best for s in scores) + n_tied / 2)
    return Hits(
        n=len(ranks),
        at_3=sum(rank <= 3 for rank in ranks) / len(ranks),
        mrr=sum(1 / rank for rank in ranks) / len(ranks),
    )


def reference(rows: Sequence[Row]) -> Score:
    """0.4 Jaccard of the words + 0.4 Jaccard of the tags + 0.1 if the category is the same."""
    categories: dict[Entry, set[str]] = {}
    for row in rows:
        categories.setdefault(entry_of(row), set()).add(row["category"])

    def score(query: Entry, entries: Sequence[Entry]) -> list[float]:
        own = frozenset(words(query[0]))
        return [
            0.4 * _jaccard(own, frozenset(words(entry[0])))
            + 0.4 * _jaccard(query[1], entry[1])
            + 0.1 * bool(categories[query] & categories[entry])
            for entry in entries
        ]

    return score


def by_meaning(embedder: Embedder) -> Score:
    """The score of the embedding option."""

    def score(query: Entry, entries: Sequence[Entry]) -> list[float]:
        texts = list(dict.fromkeys(map(text_of, (query, *entries))))
        return mixed(query, entries, vectors_of(embedder, texts))

    return score


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({(row["bug"], row["fingerprint"]): row for row in rows}.values())


def entry_of(row: Row) -> Entry:
    """A row as retrieval takes it."""
    return row["signature"], frozenset(row["tags"])


def _n_pairs(counts: Mapping[Any, int]) -> int:
    return sum(comb(n, 2) for n in counts.values())


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the share of what is in both, in [0, 1]; 0 of nothing."""
    return len(a & b) / len(a | b) if a or b else 0.0
