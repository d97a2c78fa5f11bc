from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.syntax.expressions import (
    demanded,
    names_of,
    on_one_line,
    only_raises,
    strength,
)


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


def test_text_of_an_expression_is_read() -> None:
    assert on_one_line(" f(\n  a,\n)") == "f(a)"
    assert names_of("len(a) > b.c") == {"len", "a", "b"}


def test_statement_is_no_expression() -> None:
    with pytest.raises(SyntaxError):
        on_one_line("a = 1")


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("assert f(1)", "assert f(1) == 2"),
        ("assert f(1) or f(2) == 2", "assert f(1) and f(2) == 2"),
        ("assert f(1) is not None", "assert f(1) > 2"),
        ("self.assertTrue(f(1))", "self.assertEqual(f(1), 2)"),
        ("with pytest.raises(Exception): f(1)", "with pytest.raises(ValueError): f(1)"),
        ("assert True", "assert f(1)"),
    ],
)
def test_test_that_checks_more_is_stronger(less: str, more: str) -> None:
    assert strength(ast.parse(less)) < strength(ast.parse(more))
