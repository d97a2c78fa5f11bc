"""Texts as Python reads them, as databases take them, how alike two are, and what varies in one.

A passing run imports this module.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from enum import Enum
from functools import cache, lru_cache
from itertools import takewhile
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any


class TextEnum(str, Enum):
    """An enumeration of texts; a member is written as its text, as of Python 3.11's ``StrEnum``."""

    __str__ = str.__str__


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


def file_of_test(node_id: str) -> str:
    """Return the file in a node id, relative to rootdir."""
    return node_id.partition("::")[0]


def plain_name(node_id: str) -> str:
    """Return the name in a node id, without its file and class."""
    return node_id.rpartition("::")[2]


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


def count(n: int, noun: str) -> str:
    """Return ``1 test`` or ``2 tests``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def all_of(n: int, noun: str) -> str:
    """Return ``the test``, ``both tests`` or ``all 3 tests``."""
    return {1: f"the {noun}", 2: f"both {noun}s"}.get(n, f"all {n} {noun}s")


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return the first ``most`` names, and how many more there are: ``a, b, c and 2 more``."""
    n_more = len(names) - most
    return ", ".join(names[:most]) + (f" and {n_more} more" if n_more > 0 else "")


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

    Texts, and the query, are how often each of their words is there.

    Reference:
        Robertson, Zaragoza: The probabilistic relevance framework. FTIR 2009, eq. 3.15.
    """
    texts = [query, *others]
    n = len(texts)
    n_with = Counter(word for counts in texts for word in counts)
    lengths = [sum(counts.values()) for counts in texts]
    mean_length = sum(lengths) / n or 1.0
    idf = {word: log(1 + (n - with_ + 0.5) / (with_ + 0.5)) for word, with_ in n_with.items()}
    scores = []
    for counts, length in zip(texts, lengths, strict=True):
        damping = K1 * (1 - B + B * (length / mean_length))
        shared = ((idf[word], counts[word]) for word in query if word in counts)
        scores.append(sum(worth * n * (K1 + 1) / (n + damping) for worth, n in shared))
    return [min(1.0, score / scores[0]) if scores[0] else 0.0 for score in scores[1:]]


# -- what varies from run to run

#: Changes whenever a fingerprint may differ from that of the release before.
MASKING_VERSION = 1

MAX_MASKED = 20_000  # characters: nobody reads on, and patterns take their time

_QUOTED_TEXT = r"""(?<![\w'"])(?:'(?:[^'\\\n]|\\.){0,200}'|"(?:[^"\\\n]|\\.){0,200}")(?!\w)"""
_UNIT = r"(?:ns|[uµm]s|s|secs?|seconds?|min|minutes?|h|hours?|days?)"
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_DATETIME = r"datetime\.(?:datetime|date|time|timedelta)\([^()]*\)"
_EXPONENT = r"e[+-]?\d+"

# In the order in which they are applied: what a later pattern would take to pieces comes first.
_ALWAYS = (
    (r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])", "", 0),
    (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "<uuid>", re.IGNORECASE),
    (r"\b0x[0-9a-f]+\b", "<address>", re.IGNORECASE),
    (r"<((?:[\w.]|<\w+>)+)(?: object)? at <address>>", r"<\1>", 0),
    (r"<(\w+ (?:[\w.]|<\w+>)+) at <address>>", r"<\1>", 0),
    (
        r"(?:[A-Za-z]:)?[\w.~/\\-]*[/\\]pytest-of-[^/\\\s'\"]+(?:[/\\][^/\\\s'\":]+){0,2}",
        "<tmp>",
        0,
    ),
    (r"(?<![\w/])(?:/private)?(?:/var)?/tmp/[^/\s'\":,)]+", "<tmp>", 0),
    (r"(?<![\w/])/var/folders/[^/\s]+/[^/\s]+/T/[^/\s'\":,)]+", "<tmp>", 0),
    (r"[A-Za-z]:\\[^\s'\"]*\\Temp\\[^\\\s'\":,)]+", "<tmp>", re.IGNORECASE),
    (r"\b(?:popen-)?gw\d+\b", "<worker>", 0),
    (r"\b[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>)\]}]+", "<url>", re.IGNORECASE),
    (r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b", "<email>", 0),
    (r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b", "<ip>", 0),
    (r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])", "<ip>", re.IGNORECASE),
    (_DATETIME, "<date>", 0),
    (rf"\b{_DATE}", "<date>", 0),
    (r"\b\d\d?:\d\d:\d\d(?:[.,]\d+)?\b", "<time>", 0),
    (rf"(?<![\w.])\d+(?:\.\d+)?\s?{_UNIT}\b", "<duration>", 0),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b", "<hex>", re.IGNORECASE),
)
_MASKS = {"float": "<float>", "int": "<int>"}


def masked(text: str, rootdir: str = "") -> str:
    """Return ``text`` with masks such as ``<uuid>`` and ``<int>`` for what varies, blanks single.

    Names of exception types, quoted strings, keys of dictionaries and HTTP codes stay. ``rootdir``,
    the absolute path of the project, becomes ``<root>``.

    Reference:
        docs/memory.md, section "Fingerprint".
    """
    text = text[:MAX_MASKED]
    if len(rootdir) > 1:
        text = text.replace(rootdir, "<root>")
    return _masked(text)


@lru_cache(maxsize=4096)  # tests that fail alike say the same
def _masked(text: str) -> str:
    for pattern, mask, flags in _ALWAYS:
        text = re.sub(pattern, mask, text, flags=flags)
    text = _numbers().sub(lambda m: _MASKS.get(m.lastgroup or "", m.group()), text)
    return " ".join(text.split())


@cache
def _numbers() -> re.Pattern[str]:
    from http import HTTPStatus

    phrases = "|".join(sorted({re.escape(status.phrase) for status in HTTPStatus}))
    return re.compile(
        rf"(?P<quoted>{_QUOTED_TEXT})"
        r"|(?P<http>\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?:[_ ]?code)?)\W{0,4}[1-5]\d\d\b)"
        rf"|(?P<phrase>\b[1-5]\d\d (?:{phrases}))"
        r"|(?P<key>(?<=[{,])\s?-?\d+(?=:))"
        rf"|(?P<float>(?<![\w.])[+-]?(?:(?:\d[\d_]*\.\d*|\.\d+)(?:{_EXPONENT})?|\d+{_EXPONENT})(?!\w))"
        r"|(?P<int>(?<![\w.])[+-]?\d[\d_]*(?!\w))",
        re.IGNORECASE,
    )
