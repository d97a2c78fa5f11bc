"""Evidence from the failing tests' names: a test is often called after what it tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.ranking.likelihoods import weigh

Words = tuple[str, ...]

SOURCE = "names"
MAX_TESTS = 50
MIN_NAME, MIN_WORD = 3, 4  # letters, for a name or a word of it to say anything
_EMPTY = frozenset({"test", "tests", "testing", "case", "check"})
_BOUNDARY = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


def name_evidence(
    failing: Sequence[str], candidates: Iterable[Location], *, model: str
) -> list[Evidence]:
    """Weigh how far the names of the tests ``failing`` name each of ``candidates``.

    Where several tests fail, what at least half of them name counts.

    Args:
        failing: Node ids of one group.
        candidates: Locations that a belief covers; tests are passed over.
        model: Name of the belief model.
    """
    tests = [_test_words(node_id) for node_id in failing[:MAX_TESTS]]
    evidence = []
    for where in sorted(candidates):
        if where.is_test or not tests:
            continue
        target = _target(where)
        levels = sorted(_level(test, target) for test in tests)
        outcome, why = _LEVELS[levels[len(levels) // 2]]
        evidence.append(weigh(model, outcome, where, source=SOURCE, why=why))
    return evidence


_LEVELS = (
    (StaticOutcome.NAME_ABSENT, "no failing test's name mentions it"),
    (StaticOutcome.NAME_PART, "its name partly matches a failing test's name"),
    (StaticOutcome.NAME_EXACT, "its name matches a failing test's name"),
)


def _test_words(node_id: str) -> tuple[Words, list[Words], Words]:
    """Return the words of a test's name, of its classes and of its file."""
    file, *names = node_id.split("::")
    own = _words(names[-1].partition("[")[0]) if names else ()
    return own, [_words(name) for name in names[:-1]], _words(PurePosixPath(file).stem)


def _level(test: tuple[Words, list[Words], Words], target: tuple[Words, Words, Words]) -> int:
    """Return 2 if the test is called after the target's name, 1 if after a part or its place."""
    (own, classes, file), (name, owner, stem) = test, target
    if _holds(own, name):
        return 2
    if any(_holds(words, name) for words in (*classes, file)):
        return 1
    if any(_holds(words, owner) for words in (own, *classes)):
        return 1
    if stem and stem == file:
        return 1
    return int(any(len(word) >= MIN_WORD for word in set(name) & set(own)))


def _holds(words: Words, name: Words) -> bool:
    """Return whether ``name`` stands in ``words``, one word after the other or written as one."""
    joined = "".join(name)
    if len(joined) < MIN_NAME:
        return False
    spans = range(len(words) - len(name) + 1)
    if any(words[i : i + len(name)] == name for i in spans):
        return True
    return len(joined) > MIN_WORD and joined in "".join(words)


@lru_cache(maxsize=4096)
def _words(name: str) -> Words:
    found = (word.lower() for word in _BOUNDARY.split(name) if word)
    return tuple(word for word in found if word not in _EMPTY)


def _target(where: Location) -> tuple[Words, Words, Words]:
    """Return the words of a location's own name, of the class around it, and of its file."""
    stem = _words(PurePosixPath(where.file).stem)
    if where.qualname == MODULE:
        return stem, (), stem
    *around, own = (part for part in where.qualname.split(".") if part != "<locals>")
    if own.startswith("__") and own.endswith("__") and around:
        own = around.pop()
    return _words(own), _words(around[-1]) if around else (), stem
