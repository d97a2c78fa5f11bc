from __future__ import annotations

import builtins
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

from pytest_bayesloc.rerun.contents import (
    MAX_ELEMENTS,
    MAX_PARTS,
    MAX_TEXT,
    contents_of,
    is_object,
    is_shared,
    parts_of,
)
from tests.fakes.hostile import Hostile

FROZEN_DICT: Any = getattr(builtins, "frozendict", dict)  # from Python 3.15 on


class Plain:
    def __init__(self) -> None:
        self.knots = [1, 2]
        self.degree = 3


@dataclass(slots=True)
class Slotted:
    x: float
    y: float


class Below(Slotted):
    def __init__(self) -> None:
        self.x = 1.5
        self.name = "below"


def test_attributes_of_an_object_are_given_by_name() -> None:
    plain = Plain()

    assert contents_of(plain) == {"knots": [1, 2], "degree": 3}
    assert (contents_of(plain) or {})["knots"] is plain.knots


def test_slots_are_attributes_and_those_never_set_are_left_out() -> None:
    assert contents_of(Slotted(1.5, 2.5)) == {"x": 1.5, "y": 2.5}
    assert contents_of(Below()) == {"name": "below", "x": 1.5}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([5, 6], {0: 5, 1: 6}),
        ((5,), {0: 5}),
        (deque([5]), {0: 5}),
        ({5}, {0: 5}),
        ({"a": 1, 2: "b", (3,): "c"}, {"a": 1, 2: "b"}),
        (defaultdict(int, a=1), {"a": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (FROZEN_DICT(a=1), {"a": 1}),
    ],
)
def test_elements_of_a_built_in_container_are_given_by_index_or_key(
    value: object, expected: dict[Any, Any]
) -> None:
    held = contents_of(value) or {}

    assert {key: held[key] for key in expected} == expected


def test_what_python_keeps_of_an_exception_is_none_of_its_attributes() -> None:
    error = ValueError("no")
    error.code = 5  # type: ignore[attr-defined]

    assert contents_of(error) == {"code": 5}


@pytest.mark.parametrize("value", [1, "text", None, len, Plain, pytest])
def test_nothing_is_looked_into_that_is_no_container(value: object) -> None:
    assert contents_of(value) is None


def test_only_the_first_elements_are_given() -> None:
    assert len(contents_of(list(range(10_000))) or {}) == MAX_ELEMENTS


class OwnDict:
    @property
    def __dict__(self) -> NoReturn:  # type: ignore[override]
        raise AssertionError("asked for __dict__")


class OwnList(list[int]):
    def __iter__(self) -> NoReturn:
        raise AssertionError("iterated")


def test_no_code_of_an_object_is_run() -> None:
    hostile = Hostile()
    object.__setattr__(hostile, "knots", [1])

    assert contents_of(hostile) == {"knots": [1]}
    assert contents_of(OwnDict()) is None
    assert contents_of(OwnList([1])) == {}
    assert not is_shared(hostile)
    assert is_object(hostile)


@pytest.mark.parametrize("value", [None, True, 7, -3, "x", "", b"", (), frozenset(), int])
def test_small_values_may_be_the_same_object_by_chance(value: object) -> None:
    assert is_shared(value)


@pytest.mark.parametrize("value", [1.5, 10_000, "a text of many more words", [], {}, (1,), [1]])
def test_other_values_are_objects_of_their_own(value: object) -> None:
    assert not is_shared(value)


def test_parts_of_a_value_are_given_by_their_path() -> None:
    order = {"items": [Slotted(1.5, 2.5)], "tags": {"b", "a"}, "notes": []}

    assert dict(parts_of(order)) == {
        "": "dict of 3",
        "['items']": "list of 1",
        "['items'][0]": "Slotted",
        "['items'][0].x": "1.5",
        "['items'][0].y": "2.5",
        "['tags']": "{'a', 'b'}",
        "['notes']": "[]",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x" * (MAX_TEXT + 1), "str of 1001 characters"),
        (10**5000, "int"),
        ({Plain()}, "set of 1"),
        (Plain, "type"),
        (None, "None"),
    ],
    ids=["long", "huge", "set", "class", "none"],
)
def test_value_that_can_not_be_written_is_told_by_its_type(value: object, text: str) -> None:
    assert list(parts_of(value)) == [("", text)]


def test_parts_end_where_a_value_holds_itself_or_very_much() -> None:
    knot: list[Any] = []
    knot.append(knot)

    assert len(list(parts_of(knot))) == 5
    assert len(list(parts_of([[0] * 50] * 50))) == MAX_PARTS
