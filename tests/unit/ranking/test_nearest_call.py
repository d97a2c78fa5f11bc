from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.ranking.faults import MAX_VALUES, nearest_call
from pytest_bayesloc.rerun.calls import note
from pytest_bayesloc.rerun.contents import parts_of
from tests.fakes.case import location

if TYPE_CHECKING:
    from pytest_bayesloc.domain.result import NearestCall

F = location("f")


def value(of: object) -> Value:
    return replace(Value(*note(of)), parts=list(parts_of(of)))


def call(result: object = None, *, raised: bool = False, **args: object) -> Call:
    return Call(
        location=F,
        caller=-1,
        entered=0,
        left=1,
        args={name: value(of) for name, of in args.items()},
        result=None if raised else value(result),
        raised=raised,
    )


def nearest(failing: list[Call], **passing: Call) -> NearestCall:
    calls = {"bad": tuple(failing), **{name: (one,) for name, one in passing.items()}}
    found = nearest_call(Recording(calls=calls), F, ["bad"], passing)
    assert found is not None
    return found


def order(*prices: object) -> dict[str, Any]:
    return {"to": "Rome", "items": [{"price": price} for price in prices]}


def test_passing_call_whose_arguments_differ_least_is_chosen() -> None:
    failing = call(order=order(3, 12.5, None), n=1)

    found = nearest(
        [failing], a=call(order=order(3, 2, 1), n=9), b=call(order=order(3, 12.5, 1), n=1)
    )

    assert (found.failing_test, found.passing_test) == ("bad", "b")
    assert found.values == {
        "order['items'][2]['price']": ("1", "None"),
        "n": ("1", "1"),
        "return": ("None", "None"),
    }


def test_closest_number_is_nearest() -> None:
    found = nearest([call(n=100)], a=call(n=1), b=call(n=90), c=call(n="x"))

    assert found.passing_test == "b"


def test_part_on_one_side_alone_is_empty_on_the_other() -> None:
    values = nearest([call(prices=[1, 2])], a=call(prices=[1])).values

    assert values["prices"] == ("list of 1", "list of 2")
    assert values["prices[1]"] == ("", "2")
    assert "prices[0]" not in values


def test_call_that_raised_is_the_failing_one() -> None:
    found = nearest([call(n=50), call(n=3, raised=True), call(n=70)], a=call(2, n=4))

    assert found.values == {"n": ("4", "3"), "return": ("2", "an exception")}


def test_call_that_is_least_like_a_passing_one_is_the_failing_one() -> None:
    found = nearest([call(n=1), call(n=None), call(n=1)], a=call(n=1))

    assert found.values["n"] == ("1", "None")


def test_object_that_is_the_same_in_both_is_left_out() -> None:
    values = nearest([call(self={"a": 1}, n=2)], a=call(self={"a": 1}, n=3)).values

    assert list(values) == ["n", "return"]


def test_parts_that_differ_are_capped() -> None:
    found = nearest([call(n=list(range(30)))], a=call(n=list(range(1, 31))))

    assert len(found.values) == MAX_VALUES
    assert found.n_more == 30 + 1 - MAX_VALUES


def test_without_a_call_on_both_sides_there_is_nothing_to_compare() -> None:
    recording = Recording(calls={"bad": (call(n=1),)})

    assert nearest_call(recording, F, ["bad"], ["good"]) is None
    assert nearest_call(recording, F, ["good"], ["bad"]) is None
