"""The words of an error by which it is found again."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """The words of ``text`` in lower case, names also in their parts: ``addKnot`` is three."""
    found: list[str] = []
    for word in _WORD.findall(text):
        parts = _HUMP.split(word)
        found.append(word.lower())
        if len(parts) > 1:
            found += [part.lower() for part in parts]
    return tuple(found)


@lru_cache(maxsize=8192)
def trigrams(text: str) -> tuple[str, ...]:
    """The overlapping threes of characters of each word, with its ends marked."""
    padded = (f" {word.lower()} " for word in _WORD.findall(text))
    return tuple(word[i : i + 3] for word in padded for i in range(len(word) - 2))


def numbered(found: Iterable[str], project: str) -> frozenset[int]:
    """Words of a project as numbers of 63 bits, the same on every machine."""
    return frozenset(_number(f"{project}\0{word}") for word in found)


@lru_cache(maxsize=65536)
def _number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big") >> 1
