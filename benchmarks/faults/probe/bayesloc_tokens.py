"""Where else the words of a failed comparison stand: in the tests, in the code under test."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT_LIMIT = 600
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\s\w]|_")
_UNITTEST = re.compile(r"^(.*?) (?:!=|==|not found in|is not|is) (.*?)(?: : .*)?$")
_ASSERT = re.compile(r"^assert (?:not )?(.*?) (?:==|!=|in|not in|is|is not|<=|>=|<|>) (.*)$")
_PATTERN = re.compile(r"(?:Regex|Expected regex): (.*)\n\s*(?:Input|Actual message): (.*)", re.S)


def tokens(text: str) -> list[str]:
    """Words, numbers and signs, in order."""
    return _TOKEN.findall(text)


def sides(message: str) -> tuple[str, str] | None:
    """What a failed comparison compares, as far as its message says so."""
    pattern = _PATTERN.search(message)
    if pattern:
        return pattern.group(1)[:TEXT_LIMIT], pattern.group(2)[:TEXT_LIMIT]
    rewritten = message.rsplit("\nassert ", maxsplit=1)
    first = "assert " + rewritten[1] if len(rewritten) == 2 else message
    first = first.partition("\n")[0]
    found = _ASSERT.match(first) or _UNITTEST.match(first)
    return (found.group(1)[:TEXT_LIMIT], found.group(2)[:TEXT_LIMIT]) if found else None


@dataclass(frozen=True, slots=True)
class Texts:
    """Counts of tokens, in what surrounds a failed comparison."""

    test: Counter[str]
    file: Counter[str]
    code: Counter[str]

    @classmethod
    def of(cls, test: str, file: str, code: Iterable[str]) -> Texts:
        """Of the text of a test, of its file, and of the code that it runs."""
        return cls(
            Counter(tokens(test)),
            Counter(tokens(file)),
            Counter(token for text in code for token in set(tokens(text))),
        )


def compared(message: str, texts: Texts) -> list[list[Any]] | None:
    """Per side, its number of tokens, and for each that the other side lacks where else it is."""
    found = sides(message)
    if found is None:
        return None
    left, right = (Counter(tokens(side)) for side in found)
    return [_side(left, right, texts), _side(right, left, texts)]


def _side(own: Counter[str], other: Counter[str], texts: Texts) -> list[Any]:
    lacking = [token for token in own - other if token.isalnum()][:20]
    where = [
        [len(token), texts.test[token], texts.file[token], texts.code[token]] for token in lacking
    ]
    return [sum(own.values()), sum((own - other).values()), where]
