from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.ranking.evidence.invariants import RESULT, Invariant, broken, mine, seen_values
from pytest_bayesloc.rerun.calls import note
from tests.fakes.case import location

if TYPE_CHECKING:
    from collections.abc import Sequence

F = location("f")
NOTHING = object()


def value(of: object) -> Value:
    return Value(*note(of))


def call(argument: object, result: object = NOTHING) -> Call:
    return Call(
        location=F,
        caller=-1,
        entered=0,
        left=1,
        args={"self": value(3), "x": value(argument)},
        result=None if result is NOTHING else value(result),
    )


def mined(pairs: Sequence[tuple[object, object]]) -> tuple[Invariant, ...]:
    """What was mined of values."""
    recording = Recording(calls={"t": tuple(call(*pair) for pair in pairs)})
    return tuple(i for i in mine(recording, ["t"]).get(F, ()) if not i.at_raise)


def words(*results: object, at_exit: bool = True) -> list[str]:
    """What was mined of the results (or arguments) of calls."""
    pairs = [(None, r) if at_exit else (r, NOTHING) for r in results]
    return [i.words for i in mined(pairs) if i.at_exit is at_exit]


def is_broken(invariant: Invariant, argument: object, result: object) -> bool:
    """Whether the source text of ``invariant`` fails for a call."""
    names: dict[str, Any] = {"x": argument, "_bayesloc_in_x": argument, RESULT: result}
    return not eval(invariant.condition, names)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([1, 2, 3], ["the result is int", "the result > 0"]),
        ([0, 2, 3], ["the result is int", "the result >= 0"]),
        ([-1, -2, -3.5], ["the result is float or int", "the result < 0"]),
        ([1, -1, 3], ["the result is int"]),
        ([1, None, "a"], ["the result is NoneType or int or str"]),
        ([1, None, "a", b""], []),
        (["a", "bc", "d"], ["the result is str", "the result is not empty"]),
        ([[1, 2], [3, 4], []], ["the result is list"]),
        ([[1], [1], [1]], ["the result is list", "the result is not empty"]),
        ([[]] * 9, ["the result is list"]),
        ([(1, 9)] * 8, ["the result is tuple", "len(the result) == 2", "the result is sorted"]),
        ([True] * 8, ["the result is bool", "the result in (True)"]),
        ([1.0, 2.0, float("nan")], ["the result is float"]),
        ([1, 2, 3, 10**400], ["the result is int"]),
        ([3, 4], []),
    ],
)
def test_what_held_in_all_calls_is_mined(results: list[object], expected: list[str]) -> None:
    assert words(*results) == expected
    assert words(*results, at_exit=False) == [w.replace("the result", "x") for w in expected]


def test_few_values_of_many_calls_are_a_set() -> None:
    assert "the result in ('a', 'b')" in words(*["a", "b"] * 8)
    assert "the result in ('a', 'b')" not in words(*["a", "b"] * 7)
    assert not any(" in (" in w for w in words(*["a", "b", "c", "d"] * 9))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(1, 1), (2, 5), (3, 3), (4, 9)], "the result is no less than x"),
        ([(1, 1), (2, 0), (3, 3), (4, 1)], "the result is no more than x"),
        ([("a", [1]), ("ab", [2, 1]), ("", []), ("abc", [1, 5, 2])], "the result is as long as x"),
    ],
)
def test_relations_between_what_goes_in_and_out_are_mined(
    pairs: list[tuple[object, object]], expected: str
) -> None:
    assert expected in [i.words for i in mined(pairs)]
    assert expected not in [i.words for i in mined(pairs[:3])]
    assert expected not in [i.words for i in mined([pairs[0]] * 4)]  # one value is no relation


def test_calls_that_an_exception_left_teach_nothing() -> None:
    raised = Call(location=F, caller=-1, entered=0, left=1, args={"x": value(1)}, raised=True)

    assert mine(Recording(calls={"t": (raised,) * 5}), ["t"]) == {}


def test_a_function_that_never_raised_is_expected_to_go_on_so() -> None:
    passing = tuple(call(n, n) for n in range(4))
    left = Call(location=F, caller=-1, entered=0, left=1, args={"x": value(1)}, raised=True)

    (never,) = (i for i in mine(Recording(calls={"t": passing}), ["t"])[F] if i.at_raise)

    assert (never.words, never.support, never.at_exit) == ("it raises nothing", 4, True)
    assert never.holds(passing[0])
    assert not never.holds(left)
    once = Recording(calls={"t": (*passing, left)})
    assert [i for i in mine(once, ["t"])[F] if i.at_raise] == []


def test_calls_of_other_tests_teach_nothing() -> None:
    assert mine(Recording(calls={"t": (call(1, 2),) * 5}), ["u"]) == {}


# Passing calls, and values that none of them had.
OBSERVED: list[list[object]] = [
    [1, 2, 3, 4, 5],
    [1.5, float("nan"), 2.5, 3.5],
    [float("inf"), 1, 2, 3],
    [10**400, 5, 6, 7],
    [[1, 2], [1, 3, 4], [5, 6], [1, "a"], [[], 2], list(range(200, 0, -1))],
    [("a", "b"), ("b", "c"), ("c", "d"), (None, object())],
    ["yes"] * 9,
    [True, False] * 9,
    [None, 1, "a", 1],
    [{1: 2}, {3: 4}, {5: 6}],
]


class Touchy:
    def __repr__(self) -> str:
        raise AssertionError

    __len__ = __gt__ = __iter__ = __getitem__ = __bool__ = __repr__


STRANGE: list[object] = [
    Touchy(), [Touchy(), Touchy()], None, -1, 0.0, float("nan"), "", "no", [], [2, 1], [1, "a"],
    ("b", 3), 10**400, {}, True,
]  # fmt: skip


@pytest.mark.parametrize("seen", OBSERVED, ids=range(len(OBSERVED)))
def test_text_of_an_invariant_holds_in_every_call_that_it_was_mined_from(
    seen: list[object],
) -> None:
    pairs = list(zip(seen, reversed(seen), strict=True))
    invariants = mined(pairs)

    assert invariants
    for invariant in invariants:
        assert all(invariant.holds(call(*pair)) for pair in pairs)
        assert not any(is_broken(invariant, *pair) for pair in pairs), invariant.condition


@pytest.mark.parametrize("seen", OBSERVED, ids=range(len(OBSERVED)))
def test_text_of_an_invariant_is_safe_for_values_of_any_type(seen: list[object]) -> None:
    invariants = mined(list(zip(seen, seen, strict=True)))

    assert invariants
    for invariant in invariants:
        for strange in STRANGE:
            is_broken(invariant, strange, strange)


def test_text_and_recording_agree_on_what_breaks() -> None:
    seen = [[1, 2], [3, 4], [5, 6, 7]]
    invariants = mined([(s, s) for s in seen])

    for odd, is_odd in (([2, 1], True), ([1, 2], False), ([], True), ("ab", True)):
        by_text = [i.words for i in invariants if i.at_exit and is_broken(i, odd, odd)]
        by_record = [i.words for i in broken(invariants, call(odd, odd), at_exit=True)]
        assert by_text == by_record
        assert bool(by_text) == is_odd


def test_broken_tells_what_went_in_from_what_came_out() -> None:
    invariants = mined([(n, n) for n in (1, 2, 3)])

    assert [i.words for i in broken(invariants, call(1, "a"), at_exit=True)] == [
        "the result is int"
    ]
    assert broken(invariants, call(1, "a"), at_exit=False) == ()
    assert [i.words for i in broken(invariants, call(-1, 1), at_exit=False)] == ["x > 0"]
    assert broken(invariants, call(1), at_exit=True) == ()  # it did not return


def test_values_of_passing_and_failing_calls_are_summed_up_side_by_side() -> None:
    recording = Recording(
        calls={
            "p": (call(1, [1, 2]), call(7, [1]), call(3, [1]), call(4, [1])),
            "f": (call("a" * 50), call("b")),
        }
    )

    assert seen_values(recording, ["f"], ["p"]) == {
        F: {
            "x": ("int, 1 to 7 (4 calls)", "str, 'b', length 1 to 50 (2 calls)"),
            "return": ("list, length 1 to 2 (4 calls)", ""),
        }
    }


def test_bound_that_was_reached_again_and_again_is_a_bound() -> None:
    reached = [0, 0, 0, 5, 9, 12]

    assert "0 <= the result" in words(*reached)
    assert not any("<=" in w for w in words(*reached[1:]))
