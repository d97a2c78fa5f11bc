"""A table gets one more entry where the failing test tells it."""

from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.fixes.mutations.siblings import entry_edits
from pytest_bayesloc.fixes.soundness import unsound
from pytest_bayesloc.syntax.text import Text


def grown(code: str, *told: object) -> list[str]:
    text = Text(code)
    return [text.edited(edit) for edit in entry_edits(text, [ast.parse(code)], told)]


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ('x in ("a", "b")', 'x in ("a", "b", "n")'),
        ("KINDS = {'a', 'b'}", "KINDS = {'a', 'b', 'n'}"),
        ('N = [\n    "a",\n    "b",\n]', 'N = [\n    "a",\n    "b",\n    "n",\n]'),
        ("S = {'a': 'a', 'b': 'b'}", "S = {'a': 'a', 'b': 'b', 'n': 'n'}"),
        ("S = {'a': 1, 'b': 1}", "S = {'a': 1, 'b': 1, 'n': 1}"),
    ],
)
def test_entry_is_written_as_those_beside_it(code: str, after: str) -> None:
    assert grown(code, "n") == [after]
    assert unsound(code, after, ["f('n')"]) == ""


@pytest.mark.parametrize(
    "code",
    [
        "x = ('a',)",
        "x = ('a', b)",
        "x = ('a', 'n')",
        "x = ('a', 1)",
        "x = {'a': 1, 'b': 2}",
        "f('a')",
    ],
)
def test_table_of_other_things_gets_no_entry(code: str) -> None:
    assert grown(code, "n") == []


def test_entry_is_of_the_kind_of_the_others_and_the_nearest_are_tried() -> None:
    assert grown("x = (1, 2)", "n", 2, 3, True) == ["x = (1, 2, 3)"]
    assert len(grown("x = (1, 2)", *range(10))) < 8


def test_table_that_is_made_for_the_test_is_refused() -> None:
    assert unsound("x in ('a',)\n", "x in ('a', 'n')\n", ["f('n')"])
