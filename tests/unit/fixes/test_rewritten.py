"""A string literal gets another value, and all else of it stays as it is written."""

from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.domain.source import parse
from pytest_bayesloc.fixes.pattern_candidates import rewritten

EXAMPLES = [
    ('r"[a-z]+"', "[a-z0-9]+", 'r"[a-z0-9]+"'),
    ("'[a-z]+'", r"[a-z]+\d", r"'[a-z]+\\d'"),
    (r"'\d+'", r"\d*", r"'\d*'"),
    (r"'\\d+'", r"\d+x", r"'\\d+x'"),
    (r"'a\tb\n'", "a\tb\nc", r"'a\tb\nc'"),
    ("r'''\n  a  # one\n'''", "\n  a+  # one\n", "r'''\n  a+  # one\n'''"),
    ("r'a' 'b'", "ax" + "b", "r'ax' 'b'"),
    ("'a'\n    r'b'", "a" + r"b\d", "'a'\n    r'b\\d'"),
    (r"'a\
b'", "abc", r"'a\
bc'"),
    ("'a'", 'a"', "'a\\\"'"),
    ("'ä'", "äö", "'äö'"),
    ("'a'", "a\n", r"'a\n'"),
]  # fmt: skip


def value_of(literal: str) -> str:
    expression = parse(f"({literal})").body[0]
    assert isinstance(expression, ast.Expr)
    return str(ast.literal_eval(expression.value))


@pytest.mark.parametrize(("before", "value", "after"), EXAMPLES)
def test_literal_is_rewritten_as_its_example_says(before: str, value: str, after: str) -> None:
    assert rewritten(before, value_of(before), value) == after


@pytest.mark.parametrize(
    ("before", "value"),
    [("r'a'", "a'"), ("r'a'", "a\n"), ("r'a'", "a\\"), ("f'{a}'", "b"), ("''", "b")],
)
def test_value_that_can_not_be_written_there_is_left_out(before: str, value: str) -> None:
    old = "a" if before != "''" else ""

    assert rewritten(before, old, value) is None
