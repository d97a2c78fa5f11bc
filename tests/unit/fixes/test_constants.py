"""Constants that a function uses become what the failed comparison asks for."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.mutations.constants import constant_edits, sides_of
from pytest_bayesloc.fixes.syntax import Text

CODE = dedent(
    '''
    FACTORS = {"m": 1, "km": 100, "mm": 0.001}
    UNIT, SPARE = "metre", 7
    SEPARATOR = ";"
    IS_STRICT = True
    OTHER = 42


    class Scale:
        top = 9
        spare = 5

        def of(self, value, rate=0.2, *, digits=6):
            """Scale it by 3."""
            size = FACTORS[value] * rate + self.top
            return SEPARATOR.join(str(size)) if IS_STRICT else 11
    '''
)
TREE = ast.parse(CODE)
OF = next(node for node in ast.walk(TREE) if isinstance(node, FunctionNode))


def changed(left: str, right: str, test: str = "") -> list[tuple[str, str]]:
    """Each constant that is edited, with what it becomes, in order."""
    edits = constant_edits(TREE, OF, Text(CODE), sides_of(left, right, test), test)
    return [tuple(edit.words.split(" to ")) for edit in edits]  # type: ignore[misc]  # two each


@pytest.mark.parametrize(
    ("left", "right", "edit"),
    [
        ("200", "2000", ("100", "1000")),
        ("19", "20", ("9", "10")),
        ("0.4", "0.5", ("0.2", "0.25")),
        ("[1, 5, 'a']", "[1, 6, 'a']", ("9", "10")),
        ("{'n': 200}", "{'n': 2000}", ("100", "1000")),
        ("'a;b;c'", "'a, b, c'", ('";"', '", "')),
        ("True", "False", ("True", "False")),
        ("None", "3", ("11", "12")),
    ],
)
def test_a_constant_becomes_what_the_comparison_asks_for(
    left: str, right: str, edit: tuple[str, str]
) -> None:
    assert edit in changed(left, right, 'of("km")')


def test_the_side_that_the_test_writes_is_the_expected_one() -> None:
    assert ("100", "10") in changed("200", "20", 'assert of("km") == 20')
    assert ("100", "10") in changed("20", "200", 'assert 20 == of("km")')


def test_entries_that_the_test_names_come_first_and_others_not_at_all() -> None:
    found = changed("200", "2000", 'assert of("km") == 2000')

    assert found[0] == ("100", "1000")
    assert not {old for old, _ in found} & {"1", "0.001", "42", "5", "7", '"metre"'}


def test_texts_of_a_template_change_where_the_results_differ() -> None:
    code = 'GREETING = "Helo, {}!"\n\n\ndef greet(name):\n    return GREETING.format(name)\n'
    tree = ast.parse(code)
    greet = tree.body[1]
    assert isinstance(greet, FunctionNode)
    sides = sides_of("'Helo, Al!'", "'Hello, Al!'", "")

    texts = [Text(code).edited(e) for e in constant_edits(tree, greet, Text(code), sides, "")]

    assert code.replace("Helo", "Hello") in texts
    assert all(ast.parse(text) for text in texts)


def test_what_is_no_literal_says_nothing() -> None:
    assert sides_of("<object>", "3", "") == []
    assert sides_of("[1, " * 3000, "3", "") == []
