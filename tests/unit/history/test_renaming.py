from __future__ import annotations

import pytest

from pytest_bayesloc.history.mistakes import is_renaming
from tests.unit.history.test_edits import CODE, changes


@pytest.mark.parametrize(
    ("old", "new"), [("total", "amount"), ("net", "netto"), ("LIMIT", "MOST"), ("price", "cost")]
)
def test_name_that_became_another_everywhere_was_renamed(old: str, new: str) -> None:
    assert is_renaming(changes(CODE.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return total", "return price"),
        ("price / rate", "price * rate"),
        ("LIMIT = 3", "LIMIT = 4"),
        ("return net(price, LIMIT)", "return net(price, OTHER)"),
        ("def gross(price)", "def gross(prices)"),
        ("total", "price"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("LIMIT = 3", "from m import LIMIT"),
    ],
    ids=[
        "another name",
        "operator",
        "constant",
        "unknown name",
        "half of it",
        "known name",
        "another type",
        "import",
    ],
)
def test_other_edits_are_no_renaming(old: str, new: str) -> None:
    assert not is_renaming(changes(CODE.replace(old, new)))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("def f(xs, n):\n    return xs[n:]\n", "def f(xs, m):\n    return xs[:m]\n"),
        ("def f(*, a=1, b):\n    return a\n", "def f(*, x, b=1):\n    return x\n"),
        ("def f(a):\n    global A\n    A = a\n", "def f(x):\n    global B\n    A = x\n"),
        ("def f(a):\n    return a or 1\n", "def f(x):\n    return x or True\n"),
    ],
    ids=["slice", "defaults", "global", "type"],
)
def test_edit_beside_a_renaming_is_seen(before: str, now: str) -> None:
    assert not is_renaming(changes(now, before))


def test_text_that_does_not_parse_is_no_renaming() -> None:
    assert not is_renaming(changes("def f(a:\n", "def f(b:\n"))
