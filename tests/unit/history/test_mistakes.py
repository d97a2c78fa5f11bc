"""The kind of mistake that a fix shows, by the code before and after."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.history.changes import Changes, FileChange
from pytest_bayesloc.history.mistakes import mistake_of


def mistake(before: str, after: str) -> str:
    texts = [f"import os\n\n\ndef f(a, b, n=None):\n    {body}\n" for body in (before, after)]
    maps = [SourceMap(text, "shop.py") for text in texts]
    return mistake_of(Changes(files={"shop.py": FileChange(before=maps[0], now=maps[1])}))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("return a if a < b else b", "return a if a >= b else b",
         "condition inverted: `a < b` had to be `a >= b`"),
        ("return not a", "return a", "condition inverted: `not a` had to be `a`"),
        ("return a if a is None else b", "return a if a is not None else b",
         "condition inverted: `a is None` had to be `a is not None`"),
        ("return a < b", "return a <= b", "off by one: `a < b` had to be `a <= b`"),
        ("return list(range(a))", "return list(range(a + 1))", "off by one: `a` had to be `a + 1`"),
        ("return a[0]", "return a[1]", "off by one: `0` had to be `1`"),
        ("return a < b", "return a > b",
         "comparison the wrong way round: `a < b` had to be `a > b`"),
        ("return a - b", "return a + b", "wrong operator: `a - b` had to be `a + b`"),
        ("return a and b", "return a or b",
         "`and` and `or` mixed up: `a and b` had to be `a or b`"),
        ("return a['nett']", "return a['net']", "wrong key: `a['nett']` had to be `a['net']`"),
        ("return a.get('nett', 0)", "return a.get('net', 0)",
         "wrong key: `a.get('nett', 0)` had to be `a.get('net', 0)`"),
        ("return max(a, b)", "return max(b, a)",
         "arguments in the wrong order: `max(a, b)` had to be `max(b, a)`"),
        ("return len(n)", "return len(n) if n is not None else 0",
         "missing check for None: `len(n)` had to be `len(n) if n is not None else 0`"),
        ("return len(n)", "if n is None:\n        return 0\n    return len(n)",
         "missing check for None: `if n is None:` was missing"),
        ("return a / b", "if b == 0:\n        return 0\n    return a / b",
         "missing check: `if b == 0:` was missing"),
        ("a + b", "return a + b", "missing return: `a + b` had to be `return a + b`"),
        ("return a + b", "return a + n", "wrong name: `b` had to be `n`"),
        ("return a * 0.7", "return a * 0.07", "wrong value: `0.7` had to be `0.07`"),
    ],
    ids=lambda text: text[:24],
)  # fmt: skip
def test_kind_of_mistake_is_named_with_its_code(before: str, after: str, words: str) -> None:
    assert mistake(before, after) == words


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return a + b", "total = a\n    for i in b:\n        total += i\n    return total"),
        ("return a + b['x']", "return a - b['y']"),
        ("return a", "'''Return it.'''\n    return a"),
    ],
    ids=["rewriting", "several kinds", "docstring"],
)
def test_change_without_one_kind_says_nothing(before: str, after: str) -> None:
    assert mistake(before, after) == ""
