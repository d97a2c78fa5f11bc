"""Which past failures a failure is like.

Reference:
    docs/memory.md, section "Retrieval".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TypeAlias

from pytest_bayesloc.domain.bug import Category
from pytest_bayesloc.domain.similarity import cosines
from pytest_bayesloc.domain.words import trigrams, words

K1, B = 1.2, 0.75  # of BM25, as its authors advise


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
    return cosines(_features(query), [_features(entry) for entry in entries])


def bm25(query: Entry, entries: Sequence[Entry]) -> list[float]:
    """Okapi BM25 of the words of message and tags, as a share of what the query itself would get.

    The type of the exception says nothing: one bug shows in several, and many bugs in one.

    Reference:
        Robertson, Zaragoza: The probabilistic relevance framework. FTIR 2009, eq. 3.15.
    """
    found = [_without_type(entry) for entry in (query, *entries)]
    n_with = Counter(word for counts in found for word in counts)
    mean_length = sum(counts.total() for counts in found) / len(found) or 1.0
    n = len(found)
    idf = {word: log(1 + (n - with_ + 0.5) / (with_ + 0.5)) for word, with_ in n_with.items()}
    own = found[0]
    scores = [_bm25(own, counts, idf, counts.total() / mean_length) for counts in found]
    return [min(1.0, score / scores[0]) if scores[0] else 0.0 for score in scores[1:]]


def _bm25(
    query: Mapping[str, int], counts: Mapping[str, int], idf: Mapping[str, float], length: float
) -> float:
    damping = K1 * (1 - B + B * length)
    return sum(
        idf[word] * counts[word] * (K1 + 1) / (counts[word] + damping)
        for word in query
        if word in counts
    )


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Share of what is in both, in [0, 1]; 0 of nothing."""
    return len(a & b) / len(a | b) if a or b else 0.0


def _word_counts(entry: Entry) -> Counter[str]:
    found = Counter(words(entry.signature))
    found.update(f"t:{tag}" for tag in entry.tags)
    found.update(word for tag in entry.tags for word in words(tag.partition(":")[2]))
    return found


def _without_type(entry: Entry) -> Counter[str]:
    message = entry.signature.partition(": ")[2]
    tags = frozenset(tag for tag in entry.tags if not tag.startswith("error:"))
    return _word_counts(Entry(signature=message, tags=tags, category=entry.category))


def _features(entry: Entry) -> Counter[str]:
    found = _word_counts(entry)
    found.update(f"3:{three}" for three in trigrams(entry.signature))
    return found


Score: TypeAlias = "Callable[[Entry, Sequence[Entry]], list[float]]"
SCORES: Mapping[str, Score] = {
    "reference": reference,
    "tf-idf": tf_idf,
    "bm25": bm25,
}
