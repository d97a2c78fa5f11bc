"""Each operator's examples, and what edits of a function must leave alone."""

from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.domain.edits import Text, own_nodes
from pytest_bayesloc.domain.source import SourceMap, Unit, parse
from pytest_bayesloc.fixes.edits.operators import MAX_BITS, OPERATORS, Operator

EXAMPLES = [
    pytest.param(operator, before, after, id=f"{operator.name}: {before}")
    for operator in OPERATORS
    for before, after in operator.examples
]


def function(body: str, name: str = "f", above: str = "") -> tuple[Unit, Text]:
    """The function ``name``, of ``f`` with the given body or within that."""
    text = f"{above}def f():\n    {body}\n"
    units = SourceMap(text, "m.py").units
    return next(u for u in units if u.location.qualname.endswith(name)), Text(text)


def edited(body: str, operators: tuple[Operator, ...] = OPERATORS, above: str = "") -> list[str]:
    """The bodies that ``operators`` make of ``body``."""
    unit, text = function(body, above=above)
    head = f"{above}def f():\n    "
    wholes = [text.edited(e) for operator in operators for e in operator.operate(unit.node, text)]
    assert all(whole.startswith(head) for whole in wholes)
    return [whole.removeprefix(head).removesuffix("\n") for whole in wholes]


def named(name: str) -> tuple[Operator, ...]:
    return tuple(operator for operator in OPERATORS if operator.name == name)


@pytest.mark.parametrize(("operator", "before", "after"), EXAMPLES)
def test_operator_does_what_its_example_says(operator: Operator, before: str, after: str) -> None:
    made = edited(before, (operator,))

    assert after in made
    parse(f"def f():\n    {after}\n")


def test_every_operator_has_a_name_of_its_own_and_an_example() -> None:
    assert len({operator.name for operator in OPERATORS}) == len(OPERATORS)
    assert all(operator.examples for operator in OPERATORS)


def test_edit_behind_text_of_several_bytes_a_letter_lands_in_its_place() -> None:
    made = edited("x = 'ßé漢😀'; y = a < b", named("change comparison"), above="# ÄÖ\n")

    assert made == ["x = 'ßé漢😀'; y = a <= b", "x = 'ßé漢😀'; y = a > b"]


def test_edit_below_a_form_feed_and_lines_ended_by_carriage_returns_lands_in_its_place() -> None:
    above = "A = 1\r\n\x0c\r\nB = '\u2028'\n"

    assert edited("x = a + b", named("change arithmetic"), above=above) == ["x = a - b"]


@pytest.mark.parametrize(
    "body",
    [
        "x = f'{a < 1} {b or c:{2}}'",
        "def g():\n        return 1 < 2",
        "class K:\n        x = 1 < 2",
        "g = lambda n: n < 1",
        "'''A docstring: 1 < 2.'''",
        "assert a < 1 and f(b, 2)",
    ],
)
def test_what_is_not_the_functions_own_computation_is_left_alone(body: str) -> None:
    assert edited(body) == []


def test_nested_function_is_edited_as_itself_only() -> None:
    body = "x = 1\n    def g():\n        return 2"
    inner, text = function(body, "g")
    outer, _ = function(body)

    constant = named("change constant")[0]
    assert {edit.line for edit in constant.operate(inner.node, text)} == {4}
    assert {edit.line for edit in constant.operate(outer.node, text)} == {2}


def test_nodes_come_in_the_order_of_the_text() -> None:
    unit, _ = function("x = 1\n    if y:\n        z = 2\n    return 3")

    constants = [n.value for n in own_nodes(unit.node) if isinstance(n, ast.Constant)]
    assert constants == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("if not (\n        a\n        or b\n    ): c()", "negate condition"),
        ("if a: return (b or\n        c)\n    return d", "change return"),
        ("if(a)and(b): c()", "change boolean"),
        ("return[1]", "change return"),
        ('return"a"if b else"c"', "change return"),
        ("x = 1if a else 2", "change constant"),
        ('if"a"in b: c()', "relax condition"),
        ('if"a"in b: c()', "change comparison"),
        ("x = a[-1:-b]", "change constant"),
        ("return (a)*(-b)", "change arithmetic"),
        ("return a - -b", "change arithmetic"),
        ("if a: b()\n    elif c: return 1\n    return 2", "drop statement"),
        ("f((a), (b, c), *d)", "swap arguments"),
        ("x = (a\n        is not b)", "change comparison"),
    ],
)
def test_edit_keeps_words_and_brackets_apart(body: str, changed: str) -> None:
    unit, text = function(body)
    before = set(_names(text.of(unit.node)))  # type: ignore[arg-type]

    made = edited(body, named(changed))

    assert made
    for each in made:
        assert set(_names(f"def f():\n    {each}\n")) <= before


def _names(text: str) -> list[str]:
    return [node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)]


def test_operator_next_to_a_comment_is_left_alone() -> None:
    assert edited("x = (a  # < b\n        < b)", named("change comparison")) == []


def test_template_on_the_left_of_a_percent_sign_is_no_number() -> None:
    assert edited("x = '%s' % a", named("change arithmetic")) == []


def test_constant_of_thousands_of_digits_is_left_alone() -> None:
    assert edited(f"x = 0x{'f' * 5000}", named("change constant")) == []
    assert len(edited(f"x = {2**MAX_BITS - 1}", named("change constant"))) == 2


def test_condition_that_binds_a_name_is_not_replaced() -> None:
    assert edited("if (a := b()): c(a)", named("relax condition")) == []


def test_loop_is_never_made_endless_by_its_condition() -> None:
    assert edited("while a: b()", named("relax condition")) == ["while False: b()"]


def test_arguments_that_are_spread_are_not_swapped() -> None:
    assert edited("f(*a, b)\n    f(a, *b)", named("swap arguments")) == []


def test_assignment_to_a_name_is_never_dropped() -> None:
    assert edited("x = f()", named("drop statement")) == []
