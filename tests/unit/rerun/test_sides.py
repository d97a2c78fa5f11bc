"""Sides of comparisons: plain values alone become text, and no code of theirs is run."""

from __future__ import annotations

import unittest
from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun.values import MAX_PARTS, MAX_TEXT, Sides, literal_of

if TYPE_CHECKING:
    from collections.abc import Callable


class Hostile:
    """Says that it was touched."""

    def __repr__(self) -> str:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = None  # type: ignore[assignment]


class Colour(IntEnum):
    RED = 1


class Text(str):
    """Speaks otherwise than it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise AssertionError

    __str__ = __repr__


LOOP: list[object] = []
LOOP.append(LOOP)
DEEP: object = 1
for _ in range(400):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [None, True, -1.5, "a'b", b"x", [1, (2, "3")], {"a": [None]}, {1, 2}, set(), ()],
    ids=repr,
)
def test_plain_values_are_literals(value: object) -> None:
    text = literal_of(value)

    assert text == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        [Hostile()],
        Colour.RED,
        OrderedDict(a=1),
        float("inf"),
        float("nan"),
        frozenset({1}),
        LOOP,
        DEEP,
        "x" * (MAX_TEXT + 1),
        [1] * (MAX_PARTS + 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_left_out(value: object) -> None:
    assert literal_of(value) == ""


def test_text_of_a_subclass_is_its_text() -> None:
    assert literal_of(Text("x")) == "'x'"
    assert literal_of([Text("x")]) == ""


def test_both_sides_of_an_equality_keep_their_place() -> None:
    sides = Sides()

    sides.pytest_assertrepr_compare("==", Hostile(), 3)

    assert sides.texts == ["", "3"]


def test_sides_of_an_order_say_nothing_about_the_value() -> None:
    sides = Sides()
    sides.pytest_assertrepr_compare("==", 1, 3)

    sides.pytest_assertrepr_compare("<", 1, 3)

    assert sides.texts == []


def raised(function: Callable[[], object]) -> pytest.CallInfo[object]:
    return pytest.CallInfo.from_call(function, "call")


def test_arguments_of_assert_equal_are_sides() -> None:
    sides = Sides()

    compare = unittest.TestCase().assertEqual

    sides.pytest_exception_interact(raised(lambda: compare([1], [2])))

    assert sides.texts == ["[1]", "[2]"]


def test_other_exceptions_have_no_sides() -> None:
    sides = Sides()

    sides.pytest_exception_interact(raised(lambda: 1 / 0))

    assert sides.texts == []
