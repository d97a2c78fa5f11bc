"""Which past failures a failure is like.

Reference:
    docs/memory.md, section "Retrieval".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

from pytest_bayesloc.memory.words import trigrams, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.bug import Category


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is compared: a failure, past or present.

    Attributes:
        signature: Masked.
        tags: Of its bug.
        category: Of its bug.
    """

    signature: str
    tags: frozenset[str]
    category: Category


def reference(query: Entry, entries: Sequence[Entry]) -> list[float]:
    """0.4 Jaccard of the words + 0.4 Jaccard of the tags + 0.1 if the category is the same."""
    own = frozenset(words(query.signature))
    return [
        0.4 * jaccard(own, frozenset(words(entry.signature)))
        + 0.4 * jaccard(query.tags, entry.tags)
        + 0.1 * (query.category is entry.category)
        for entry in entries
    ]


def tf_idf(query: Entry, entries: Sequence[Entry]) -> list[float]:
    """Cosine of the words and threes of characters of signature and tags, the rare ones heavy."""
    counts = [_features(entry) for entry in (query, *entries)]
    n_with = Counter(feature for found in counts for feature in found)
    weights = {feature: 1 + log(len(counts) / n) for feature, n in n_with.items()}
    vectors = [_unit(found, weights) for found in counts]
    own = vectors[0]
    return [_dot(own, other) for other in vectors[1:]]


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Share of what is in both, in [0, 1]; 0 of nothing."""
    return len(a & b) / len(a | b) if a or b else 0.0


def _features(entry: Entry) -> Counter[str]:
    text = entry.signature
    found = Counter(words(text))
    found.update(f"3:{three}" for three in trigrams(text))
    found.update(f"t:{tag}" for tag in entry.tags)
    found.update(w for tag in entry.tags for w in words(tag.partition(":")[2]))
    return found


def _unit(found: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, float]:
    vector = {feature: (1 + log(n)) * weights[feature] for feature, n in found.items()}
    length = sqrt(sum(value * value for value in vector.values()))
    return {feature: value / length for feature, value in vector.items()} if length else {}


def _dot(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    small, large = sorted((a, b), key=len)
    return sum(value * large[feature] for feature, value in small.items() if feature in large)


SCORES: Mapping[str, Callable[[Entry, Sequence[Entry]], list[float]]] = {
    "reference": reference,
    "tf-idf": tf_idf,
}
