"""The words and values that candidates share with failing tests: names, bodies, literals.

Every value lies in [0, 1], and is 0 where nothing is said. What a word is worth depends on how few
of the candidates have it.

Reference:
    Robertson, Zaragoza: The probabilistic relevance framework: BM25 and beyond. 2009.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, fsum, log
from pathlib import PurePosixPath

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.failure import Situation
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.ranking.belief import fullness
from pytest_bayesloc.ranking.fitted import TEXT
from pytest_bayesloc.ranking.likelihoods import of_ratio, weigh

#: Failing tests of a group that are read.
MAX_TESTS = 8
#: BM25's saturation of repeated words, and how much a long body pays.
K1, B = 1.2, 0.75
#: Characters of a text that are read.
LIMIT = 20_000
#: What counts as said, of all failing tests together.
MOST = 0.5
_EMPTY = frozenset({"test", "tests", "testing", "case", "cases", "check", "self", "def", "assert"})
_SUFFIXES = ("ings", "ing", "ers", "er", "ies", "ed", "es", "s", "ly", "e")
_LEAST = 3  # letters of a word's stem
_WORD = re.compile(r"[A-Za-z]+|\d+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LITERAL = re.compile(
    r"""(?<![\w])[rbufRBUF]{0,2}("(?:[^"\\\n]|\\.){3,60}"|'(?:[^'\\\n]|\\.){3,60}')|"""
    r"""(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])"""
)
_RAISES = re.compile(r"^\s+raise\b", re.MULTILINE)
_COMMON = frozenset({"0", "1", "2"})
_NAMED = ("name in test", "test in name", "file in test", "test file in place")

#: Of candidates that share less with the failing tests than most.
_LESS = (StaticOutcome.NAME_ABSENT, "others share more words with the failing test")

Terms = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One failing test as it reads.

    Attributes:
        node_id: Of the test.
        text: Of its function; empty if it can't be read.
        message: Type and text of its error.
    """

    node_id: str
    text: str
    message: str


def text_terms(
    tests: Sequence[Said], candidates: Iterable[Location], read: Callable[[Location], str]
) -> dict[Location, Terms]:
    """Return per candidate how far its names and its body say what ``tests`` say.

    Args:
        tests: Failing tests of one group; of more than ``MAX_TESTS`` the first count.
        candidates: Code that may be at fault.
        read: Gives the lines of a candidate.
    """
    places = [_Place.of(where, read(where)[:LIMIT]) for where in candidates]
    names = _Rarity(place.names for place in places)
    literals = _Rarity(place.literals for place in places)
    bodies = _Bodies(places)
    read_tests = [_Test.of(said) for said in tests[:MAX_TESTS]]
    found: dict[Location, Terms] = {
        place.where: {"class body": float(place.is_class), "raises": float(place.raises)}
        for place in places
    }
    for test in read_tests:
        for place, said in zip(places, bodies.scores(test.words), strict=True):
            terms = {
                "name exact": float(_holds(test.sequence, place.sequence)),
                "name in test": names.share(place.own, test.named),
                "test in name": names.share(test.own, place.names, known_only=True),
                "file in test": names.share(place.file, test.named | test.file),
                "test file in place": names.share(test.file, place.names | place.file),
                "body says test": said,
                "literals": literals.weight(place.literals & test.literals),
            }
            own = found[place.where]
            for name, value in terms.items():
                own[name] = own.get(name, 0.0) + value / len(read_tests)
    return found


def text_evidence(
    said: Mapping[Location, Terms],
    *,
    model: str,
    situation: Situation = Situation.NEW_TEST,
) -> list[Evidence]:
    """Weigh the terms of each candidate, as ``text_terms`` gives them, beside the others'."""
    weights, evidence = TEXT[situation], []
    for where, terms in sorted(beside_others(said).items()):
        nats = fsum(weight * terms.get(name, 0.0) for name, weight in weights.items())
        outcome, why = _in_words(said[where]) if nats >= 0.0 else _LESS
        learned = of_ratio(exp(nats))
        evidence.append(weigh(model, outcome, where, source="names", why=why, learned=learned))
    return evidence


def beside_others(said: Mapping[Location, Terms]) -> dict[Location, Terms]:
    """Return the terms of each candidate less the mean of all: what most say is neutral."""
    scale = fullness(len(said))
    total: Terms = {}
    for terms in said.values():
        for name, value in terms.items():
            total[name] = total.get(name, 0.0) + value / len(said)
    return {
        where: {name: scale * (value - total[name]) for name, value in terms.items()}
        for where, terms in said.items()
    }


def _in_words(terms: Terms) -> tuple[StaticOutcome, str]:
    """Name the first of these that most of the failing tests show."""
    if terms.get("name exact", 0.0) >= MOST:
        return StaticOutcome.NAME_EXACT, "its name matches a failing test's name"
    if terms.get("literals", 0.0) >= MOST:
        return StaticOutcome.TEXT_SHARED, "it holds a rare value that the failing test holds"
    if max(terms.get(name, 0.0) for name in _NAMED) >= MOST:
        return StaticOutcome.NAME_PART, "its name partly matches a failing test's name"
    return StaticOutcome.TEXT_SHARED, "it has words of the failing test"


@dataclass(frozen=True, slots=True)
class _Place:
    """A candidate as words."""

    where: Location
    sequence: tuple[str, ...]
    own: frozenset[str]
    names: frozenset[str]
    file: frozenset[str]
    body: Counter[str]
    literals: frozenset[str]
    is_class: bool
    raises: bool

    @classmethod
    def of(cls, where: Location, text: str) -> _Place:
        file = PurePosixPath(where.file).stem
        *around, last = (part for part in where.qualname.split(".") if part != "<locals>")
        name = file if where.qualname == MODULE else last
        if last.startswith("__") and last.endswith("__") and around:
            name = around[-1]
        own = stems(f"{name} {last}")
        return cls(
            where=where,
            sequence=words(name),
            own=own,
            names=own | stems(" ".join(around)),
            file=stems(file),
            body=Counter(_stems(text)),
            literals=literals_of(text),
            is_class=text.lstrip().startswith("class "),
            raises=_RAISES.search(text) is not None,
        )


@dataclass(frozen=True, slots=True)
class _Test:
    """A failing test as words."""

    sequence: tuple[str, ...]
    own: frozenset[str]
    named: frozenset[str]
    file: frozenset[str]
    words: frozenset[str]
    literals: frozenset[str]

    @classmethod
    def of(cls, said: Said) -> _Test:
        file, *names = said.node_id.split("::")
        own = stems(names[-1]) if names else frozenset()
        return cls(
            sequence=words(names[-1].partition("[")[0]) if names else (),
            own=own,
            named=stems(" ".join(names)),
            file=stems(PurePosixPath(file).stem),
            words=own | stems(said.text),
            literals=literals_of(said.text) | literals_of(said.message),
        )


class _Rarity:
    """The worth of words: the logarithm of how few of the candidates have them."""

    def __init__(self, documents: Iterable[frozenset[str]]) -> None:
        known = list(documents)
        self._n = len(known)
        self._n_of = Counter(word for words in known for word in words)

    def of(self, word: str) -> float:
        return log((self._n + 1) / (self._n_of[word] + 0.5))

    def share(
        self, words: frozenset[str], within: frozenset[str], *, known_only: bool = False
    ) -> float:
        """The share of ``words`` that is in ``within``, by what they are worth."""
        worth = {word: self.of(word) for word in words if not known_only or word in self._n_of}
        total = fsum(worth.values())
        return fsum(worth[word] for word in worth if word in within) / total if total else 0.0

    def weight(self, words: frozenset[str]) -> float:
        """The worth of ``words`` together, as a share of one that a single candidate has."""
        if not words:
            return 0.0
        return min(1.0, fsum(self.of(word) for word in words) / log((self._n + 1) / 1.5 + 1))


class _Bodies:
    """The candidates' bodies, searched by BM25."""

    def __init__(self, places: Sequence[_Place]) -> None:
        self._bodies = [place.body for place in places]
        self._lengths = [body.total() for body in self._bodies]
        self._mean = sum(self._lengths) / max(1, len(places)) or 1.0
        self._rarity = _Rarity(frozenset(body) for body in self._bodies)

    def scores(self, query: Iterable[str]) -> list[float]:
        """Per candidate its score, as a share of the highest."""
        worth = {word: self._rarity.of(word) for word in query}
        found = []
        for body, length in zip(self._bodies, self._lengths, strict=True):
            damped = K1 * (1 - B + B * length / self._mean)
            shared = ((worth[word], body[word]) for word in worth.keys() & body.keys())
            found.append(fsum(w * n * (K1 + 1) / (n + damped) for w, n in shared))
        highest = max(found, default=0.0) or 1.0
        return [score / highest for score in found]


def literals_of(text: str) -> frozenset[str]:
    """Return the strings of three letters and more, and the numbers, that stand in ``text``."""
    found = ((string[1:-1], number) for string, number in _LITERAL.findall(text))
    return frozenset(string or number for string, number in found) - _COMMON


def words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case, without those that every test has."""
    found = (part.lower() for word in _WORD.findall(name) for part in _parts(word))
    return tuple(word for word in found if word not in _EMPTY)


def _holds(test: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Whether ``name`` stands in ``test``, one word after the other or written as one."""
    joined, spans = "".join(name), range(len(test) - len(name) + 1)
    if len(joined) < _LEAST:
        return False
    is_whole = any(test[i : i + len(name)] == name for i in spans)
    return is_whole or (len(joined) > _LEAST + 1 and joined in "".join(test))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words in ``text``."""
    return frozenset(_stems(text))


def _stems(text: str) -> list[str]:
    found = (_stem(part) for word in _WORD.findall(text) for part in _parts(word))
    return [stem for stem in found if stem and stem not in _EMPTY]


@lru_cache(maxsize=1 << 15)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(_PART.findall(word))


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> str:
    """A word without its ending; empty if it says nothing."""
    low = word.lower()
    if len(low) < 2:
        return ""
    for suffix in _SUFFIXES:
        if low.endswith(suffix) and len(low) - len(suffix) >= _LEAST:
            return low.removesuffix(suffix)
    return low
