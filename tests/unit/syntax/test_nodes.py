"""Names that code binds and uses, and the lines that come to a change."""

import ast
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.syntax.nodes import (
    argument_names,
    attributes_in,
    base_texts,
    decorator_names,
    every_bound,
    lines_at_change,
    lines_of_texts,
    names_in,
    stored_names,
)

CODE = """
import os.path as paths
from sums import *

class Basket:
    def add(self, item, *more):
        for one in more:
            self.items[one] = item.price
"""
TREE = ast.parse(CODE)


def test_names_are_those_of_variables_and_attributes_of_their_own() -> None:
    assert names_in(TREE) == {"one", "more", "self", "item"}
    assert stored_names(TREE) == {"one"}
    assert attributes_in(TREE) == {"items", "price"}


def test_whatever_a_file_binds_in_any_scope_is_bound() -> None:
    assert every_bound(TREE) == {"paths", "*", "Basket", "add", "self", "item", "more", "one"}


def test_parameters_of_functions_in_functions_count() -> None:
    tree = ast.parse("def f(a, *, b=lambda c: c):\n    def g(**d): ...")

    assert argument_names(tree) == {"a", "b", "c", "d"}


def test_what_decorates_is_named_whether_it_is_called_or_not() -> None:
    tree = ast.parse("@pytest.fixture(scope='module')\n@cache\ndef f(): ...\nx = 1")

    assert [decorator_names(node) for node in tree.body] == [["fixture", "cache"], []]


def test_classes_alone_have_bases() -> None:
    tree = ast.parse("class A(unittest.TestCase, B[int]): ...\ndef f(): ...")

    assert [base_texts(node) for node in tree.body] == [["unittest.TestCase", "B[int]"], []]


def test_texts_over_several_lines_have_all_of_them() -> None:
    tree = ast.parse("x = 'one'\ny = '''two\n\n# text\n'''\nz = f'''{x}\n'''")

    assert lines_of_texts(tree) == {2, 3, 4, 5, 6, 7}


BODY = """\
def f(n):
    "Of a number."
    if n > 2:
        n += 1
        for one in range(n):
            n -= one
    elif n == 1:
        return "one"
    else:
        try:
            n = 6 // n
        except ZeroDivisionError:
            n = 5
    return n
"""
EDITS = {
    "an expression": ("n += 1", "n += 2", range(4, 5)),
    "a header, with all below it": ("n == 1", "n == 0", range(7, 14)),
    "another name for a loop's own": ("n -= one", "n -= 1", range(6, 7)),
    "a statement less": ("        n += 1\n", "", range(4, 5)),
    "one more behind another": ("n += 1\n", "n += 1\n        n *= 2\n", range(4, 5)),
    "one more at the head of a block":
        ("            n = 6", "            n -= 1\n            n = 6", range(11, 12)),
    "one more behind a block": ("    return n\n", "    n += 1\n    return n\n", range(3, 14)),
    "a block around one":
        ("            n = 6", "            if n < 0:\n             n = 6", range(11, 12)),
    "another exception": ("ZeroDivisionError", "ValueError", range(10, 14)),
    "both branches": ("n += 1", "n += 2; return 1", range(4, 5)),
}  # fmt: skip


def function(text: str) -> FunctionNode:
    node = ast.parse(text).body[0]
    assert isinstance(node, FunctionNode)
    return node


def outcome(function: Callable[[int], object], n: int) -> tuple[str, set[int]]:
    """What a call gives, and the lines that it executes."""
    lines = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - as ``settrace`` has it
        if frame.f_code is function.__code__ and event == "line":
            lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        said = repr(function(n))
    except ZeroDivisionError as error:
        said = repr(error)
    finally:
        sys.settrace(before)
    return said, lines


@pytest.mark.parametrize("name", EDITS)
def test_whoever_executes_no_line_at_a_change_sees_none(name: str) -> None:
    old, new, expected = EDITS[name]
    texts = [BODY, BODY.replace(old, new)]
    functions = []
    for text in texts:
        made: dict[str, Any] = {}
        exec(compile(text, "f", "exec"), made)
        functions.append(made["f"])

    lines = lines_at_change(*map(function, texts))

    assert lines == expected
    for n in range(-2, 5):
        (was, executed), (now, _) = (outcome(f, n) for f in functions)
        assert was == now or executed.intersection(lines)


@pytest.mark.parametrize(
    ("old", "new"), [('return "one"', "yield n"), ("n += 1", "m = 1"), ("n += 1", "global m")]
)
def test_change_of_what_a_function_is_as_a_whole_has_no_line_of_its_own(old: str, new: str) -> None:
    assert lines_at_change(function(BODY), function(BODY.replace(old, new))) is None
