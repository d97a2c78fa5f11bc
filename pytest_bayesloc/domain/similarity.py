"""How much two texts have in common."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def cosines(query: Mapping[str, int], others: Sequence[Mapping[str, int]]) -> list[float]:
    """Per text, the cosine of its features and those of ``query``, in [0, 1]; TF-IDF.

    What is rare among all of them is heavy.

    Args:
        query: Per feature, how often it is there.
        others: Likewise.
    """
    counts = [query, *others]
    n_with = Counter(feature for found in counts for feature in found)
    weights = {feature: 1 + log(len(counts) / n) for feature, n in n_with.items()}
    vectors = [_unit(found, weights) for found in counts]
    own = vectors[0]
    return [_dot(own, other) for other in vectors[1:]]


def _unit(found: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, float]:
    vector = {feature: (1 + log(n)) * weights[feature] for feature, n in found.items()}
    length = sqrt(sum(value * value for value in vector.values()))
    return {feature: value / length for feature, value in vector.items()} if length else {}


def _dot(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    small, large = sorted((a, b), key=len)
    return sum(value * large[feature] for feature, value in small.items() if feature in large)
