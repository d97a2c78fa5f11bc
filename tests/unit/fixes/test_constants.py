"""Constants that a function uses become what the failed comparison asks for."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.inspection import OtherValue
from pytest_bayesloc.domain.source import FunctionNode, SourceMap
from pytest_bayesloc.fixes.mutations.constants import (
    Sides,
    constant_edits,
    imported_by,
    other_value,
    sides_of,
    used_by,
    values_of,
)
from pytest_bayesloc.syntax.text import Text

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
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OF = next(node for node in ast.walk(TREE) if isinstance(node, FunctionNode))


def changed(
    left: str, right: str, test: str = "", of: Callable[[str, float], object] = lambda *_: None
) -> list[tuple[str, str]]:
    """Each constant that is edited, with what it becomes, in order.

    Args:
        left: One side.
        right: The other.
        test: Text of the test.
        of: What is computed when a constant, given as it is written, is another.
    """
    made: list[tuple[str, str]] = []

    def seen() -> Sequence[Sides]:
        computed = of(made[-1][0], ast.literal_eval(made[-1][1]))
        return [] if computed is None else sides_of(repr(computed), right, test)

    for _, edit in constant_edits(
        [(Text(CODE), used_by(TREE, OF))], sides_of(left, right, test), test, seen
    ):
        old, _, new = edit.words.partition(" to ")
        made.append((old, new))
    return made


@pytest.mark.parametrize(
    ("left", "right", "of", "edit"),
    [
        ("200", "2000", lambda old, new: 2 * new if old == "100" else 200, ("100", "1000")),
        ("120.0", "150.0 ± 1e-04", lambda o, n: 100 * (1 + n) if o == "0.2" else 120,
         ("0.2", "0.5")),
        ("[1, 19]", "[1, 20]", lambda o, n: [1, 10 + n] if o == "9" else [1, 19], ("9", "10")),
        ("{'n': 5}", "{'n': 2}", lambda o, n: {"n": 14 - n} if o == "9" else {"n": 5}, ("9", "12")),
        ("50", "10", lambda o, n: 5000 / n if o == "100" else 50, ("100", "500")),
    ],
)  # fmt: skip
def test_a_number_becomes_what_the_result_says_when_it_moves(
    left: str, right: str, of: Callable[[str, float], object], edit: tuple[str, str]
) -> None:
    assert edit in changed(left, right, 'of("km")', of)


@pytest.mark.parametrize(
    ("left", "right", "edit"),
    [
        ("'a;b;c'", "'a, b, c'", ('";"', '", "')),
        ("True", "False", ("True", "False")),
        ("None", "3", ("9", "10")),
        ("'x'", "[3]", ("9", "8")),
        ("['a']", "['b']", ("0.2", "2.0")),
        ("['a']", "['b']", ("0.2", "0.02")),
    ],
)
def test_texts_flags_and_numbers_beside_are_tried(
    left: str, right: str, edit: tuple[str, str]
) -> None:
    assert edit in changed(left, right)


def test_the_side_that_the_test_writes_is_the_expected_one() -> None:
    assert sides_of("200", "20", "assert of(1) == 20") == [(200, 20)]
    assert sides_of("20", "200", "assert 20 == of(1)") == [(200, 20)]


def test_entries_that_the_test_names_come_first_and_others_not_at_all() -> None:
    found = changed("200", "2000", 'assert of("km") == 2000')

    assert found[0] == ("100", "102")
    assert not {old for old, _ in found} & {"1", "0.001", "42", "5", "7", '"metre"'}


def test_texts_of_a_template_change_where_the_results_differ() -> None:
    code = 'GREETING = "Helo, {}!"\n\n\ndef greet(name):\n    return GREETING.format(name)\n'

    texts = edited(code, "'Helo, Al!'", "'Hello, Al!'")

    assert code.replace("Helo", "Hello") in texts
    assert all(ast.parse(text) for text in texts)


def test_a_text_that_was_not_computed_is_left_alone() -> None:
    code = 'SAME = ("axis", "fish")\n\n\ndef single(word):\n    return word in SAME or word[:-1]\n'

    assert not [text for text in edited(code, "'glas'", "'glass'") if "ss" in text]


def edited(code: str, left: str, right: str) -> list[str]:
    """The code with each edit of what its last function uses."""
    tree = ast.parse(code)
    function = tree.body[-1]
    assert isinstance(function, FunctionNode)
    edits = constant_edits(
        [(Text(code), used_by(tree, function))], sides_of(left, right, ""), "", list
    )
    return [Text(code).edited(edit) for _, edit in edits]


def test_text_around_what_is_filled_in_is_left_alone(prefix: str) -> None:
    code = f"def f(n):\n    return {prefix}'{{n}} kms'\n"

    assert edited(code, "'3 kms'", "'3 km'") == []


def test_docstrings_are_left_alone() -> None:
    code = "def f(n):\n    'Helo'\n    return 'Helo' + n\n"

    assert set(edited(code, "'Helo Al'", "'Hello Al'")) == {code.replace("'Helo' +", "'Hello' +")}


def test_names_of_other_modules_are_found_with_their_values() -> None:
    code = "from shop.rates import VAT, FEE as fee\nimport limits\nfrom . import taxes\n\n\n"
    code += "def f(x):\n    return x * VAT + fee + limits.MOST - taxes.LEAST\n"
    tree = ast.parse(code)
    function = tree.body[-1]
    assert isinstance(function, FunctionNode)

    names = imported_by(tree, function)

    assert names == {"rates": {"VAT", "FEE"}, "limits": {"MOST"}, "taxes": {"LEAST"}}
    values = values_of(ast.parse("VAT = 0.2\nOTHER = 3\nFEE: int = 5\n"), names["rates"])
    assert [ast.unparse(value) for value in values] == ["0.2", "5"]


def test_slips_of_a_number_are_tried_where_no_difference_says_more() -> None:
    def seen() -> Sequence[Sides]:
        return [(19, 20)]  # as before

    text = Text("N = 5\n")
    edits = constant_edits([(text, [ast.parse("N = 5\n")])], [(19, 20)], "", seen)

    assert [edit.text for _, edit in edits] == ["7", "6", "4", "0.05"]


HELD = """\
import re
from decimal import Decimal
from shop import loaded

VAT: Decimal = Decimal("0.02")
WORD = re.compile(
    "a+"
)
FIRST, SECOND = 1, 2
TABLE = loaded(3)


class Till:
    limit = 10

    def text(self, n, width=27, *, fill="-"):
        return fill * width * 5
"""
SOURCE = SourceMap(HELD, "rates.py")


@pytest.mark.parametrize(
    ("old", "new", "place", "value"),
    [
        ('"0.02"', '"0.2"', "<module>", OtherValue(owner="", name="VAT", text="Decimal('0.2')")),
        ('"a+"', '"b+"', "<module>", OtherValue(owner="", name="WORD", text="re.compile('b+')")),
        ("10", "11", "Till", OtherValue(owner="Till", name="limit", text="11")),
        ("width=27", "width=72", "Till",
         OtherValue(owner="Till.text", name="width", text="72", first_line=16)),
        ('"-"', '"+"', "Till",
         OtherValue(owner="Till.text", name="fill", text="'+'", first_line=16)),
    ],
)  # fmt: skip
def test_a_constant_is_held_where_its_variable_or_default_is_set(
    old: str, new: str, place: str, value: OtherValue
) -> None:
    line = HELD[: HELD.index(old)].count("\n") + 1

    held = other_value(SOURCE, HELD.replace(old, new), line)

    assert held is not None
    assert (held[0].qualname, held[1]) == (place, value)


@pytest.mark.parametrize(("old", "new"), [("1, 2", "1, 3"), ("(3)", "(4)"), ("* 5", "* 6")])
def test_a_constant_that_no_single_variable_holds_or_that_a_call_takes_has_no_place(
    old: str, new: str
) -> None:
    line = HELD[: HELD.index(old)].count("\n") + 1

    assert other_value(SOURCE, HELD.replace(old, new), line) is None


@pytest.mark.parametrize(
    ("left", "right", "pair"),
    [
        ("Decimal('35.30')", "Decimal('33.30')", (35.3, 33.3)),
        ("[Decimal('1'), Decimal('2')]", "[Decimal('1'), Decimal('3')]", (2.0, 3.0)),
        ("datetime.date(2024, 3, 11)", "datetime.date(2024, 3, 15)", (738956, 738960)),
        (
            "datetime.datetime(2024, 3, 11, 12, 0)",
            "datetime.datetime(2024, 3, 11, 0, 0)",
            (738955.5, 738955.0),
        ),
        ("datetime.timedelta(days=1, seconds=43200)", "datetime.timedelta(days=2)", (1.5, 2.0)),
    ],
)
def test_decimal_numbers_dates_and_spans_differ_as_numbers_do(
    left: str, right: str, pair: tuple[float, float]
) -> None:
    assert sides_of(left, right, f"assert f() == {right}") == [pair]


@pytest.mark.parametrize(
    "side",
    ["<object>", "[1, " * 3000, "Price(3)", "datetime.date(2024, 13, 1)", "Decimal(x)"],
    ids=["object", "endless", "call", "no date", "name"],
)
def test_side_that_is_no_plain_value_says_nothing(side: str) -> None:
    assert sides_of(side, "3", "") == []


def test_text_of_a_decimal_number_becomes_another_number() -> None:
    text = Text('RATE = Decimal("0.7")\n')
    used = [ast.parse('RATE = Decimal("0.7")\n')]
    made: list[str] = []

    def seen() -> Sequence[Sides]:
        return [(100 * float(made[-1].strip('"')), 7.0)]

    for _, edit in constant_edits([(text, used)], [(70.0, 7.0)], "", seen):
        made.append(edit.text)

    assert made == ['"1.4"', '"0.07"']
