from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.syntax.expressions import demanded, only_raises


@pytest.mark.parametrize(
    ("head", "demand"),
    [
        ("if len(knots) < 2 * degree + 2:", "len(knots) >= 2 * degree + 2"),
        ("if not knots:", "knots"),
        ("if knots is None or degree in BAD:", "knots is not None and degree not in BAD"),
        ("if 0 < degree < 3:", "not 0 < degree < 3"),
        ("if knots:\n        pass\n    else:", "knots"),
    ],
)
def test_condition_that_would_not_raise_is_the_opposite(head: str, demand: str) -> None:
    tree = ast.parse(f"def f(knots, degree):\n    {head}\n        raise ValueError\n")

    assert demanded(tree, ast.unparse(tree).count("\n") + 1) == demand


def test_assertion_demands_what_it_says() -> None:
    assert demanded(ast.parse("def f(n):\n    assert n > 0, 'few'\n"), 2) == "n > 0"


def test_raise_that_nothing_guards_demands_nothing() -> None:
    assert not demanded(ast.parse("def f(n):\n    raise ValueError\n"), 2)


@pytest.mark.parametrize(
    ("body", "is_alone"),
    [
        ("raise NotImplementedError", True),
        ("text = 'no'\n    log(text)\n    raise ValueError(text)", True),
        ("if n:\n        raise KeyError\n    raise ValueError", True),
        ("if n:\n        raise ValueError", False),
        ("if n:\n        return 1\n    raise ValueError", False),
        ("yield n\n    raise ValueError", False),
    ],
)
def test_function_that_never_returns_is_known(body: str, is_alone: bool) -> None:
    (function,) = ast.parse(f"def f(n):\n    {body}\n").body

    assert only_raises(function) is is_alone
