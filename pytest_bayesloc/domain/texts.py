"""Texts as Python reads them, as databases take them, and how much two have in common.

A passing run imports this module.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from functools import lru_cache
from itertools import takewhile
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any


def as_python_reads(data: bytes) -> str:
    """Return the text of a file in its declared encoding, its lines ended as Python sees them.

    Raises:
        SyntaxError: If it declares an unknown encoding.
        UnicodeError: If it is not in that encoding.
    """
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    with io.TextIOWrapper(io.BytesIO(data), encoding) as stream:
        return stream.read()


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; empty if it can't be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def text_digest(text: str, length: int = 64) -> str:
    """Return the first ``length`` hexadecimal digits of the SHA-256 of any text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:length]


def storable(text: str) -> str:
    """Return ``text`` with its lone surrogates spelt out, which no database takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def with_texts(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with each text in it changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {key: with_texts(item, change) for key, item in value.items()}
    return value


def common_ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many equal items two texts, or lists of lines, begin with and end with."""
    start = _n_common(one, other)
    return start, _n_common(one[start:][::-1], other[start:][::-1])


def _n_common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


K1, B = 1.2, 0.75  # of BM25, as its authors advise
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Return the words of ``text`` in lower case, names also in parts: ``addKnot`` is three."""
    found: list[str] = []
    for word in _WORD.findall(text):
        parts = _HUMP.split(word)
        found.append(word.lower())
        if len(parts) > 1:
            found += [part.lower() for part in parts]
    return tuple(found)


def numbered(found: Iterable[str], project: str) -> frozenset[int]:
    """Return words of a project as numbers of 63 bits, the same on every machine."""
    return frozenset(_number(f"{project}\0{word}") for word in found)


@lru_cache(maxsize=65536)
def _number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big") >> 1


def bm25(query: Mapping[str, int], others: Sequence[Mapping[str, int]]) -> list[float]:
    """Score texts by Okapi BM25, as shares of the score of the query itself, in [0, 1].

    Args:
        query: Per word, how often it is there.
        others: Likewise.

    Reference:
        Robertson, Zaragoza: The probabilistic relevance framework. FTIR 2009, eq. 3.15.
    """
    texts = [query, *others]
    n = len(texts)
    n_with = Counter(word for counts in texts for word in counts)
    lengths = [sum(counts.values()) for counts in texts]
    mean_length = sum(lengths) / n or 1.0
    idf = {word: log(1 + (n - with_ + 0.5) / (with_ + 0.5)) for word, with_ in n_with.items()}
    scores = [
        _score(query, counts, idf, length / mean_length)
        for counts, length in zip(texts, lengths, strict=True)
    ]
    return [min(1.0, score / scores[0]) if scores[0] else 0.0 for score in scores[1:]]


def _score(
    query: Mapping[str, int], counts: Mapping[str, int], idf: Mapping[str, float], length: float
) -> float:
    damping = K1 * (1 - B + B * length)
    return sum(
        idf[word] * counts[word] * (K1 + 1) / (counts[word] + damping)
        for word in query
        if word in counts
    )
