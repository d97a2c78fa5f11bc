from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.inspection import Check, InspectionPatch
from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.inspection.reflection import describe, golden_rule, innocents, reflect
from pytest_bayesloc.ranking.evidence.invariants import Invariant
from tests.fakes.case import location

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_bayesloc.domain.location import Location

OUTER, MIDDLE, INNER, OTHER = (location(name) for name in ("outer", "middle", "inner", "other"))
ENTRY = Check(number=0, at_exit=False, text="x > 0", support=9)
EXIT = Check(number=1, at_exit=True, text="the result is int", support=5)
PATCH = InspectionPatch(
    target=OUTER, kind="assertions", original="", patched="", checks=(ENTRY, EXIT)
)
POSITIVE = Invariant(
    at_exit=True,
    condition="_",
    words="the result > 0",
    support=5,
    holds=lambda call: call.result is None or (call.result.number or 0) > 0,
)


def call(where: Location, caller: int, entered: int, left: int, result: float = 1) -> Call:
    value = Value(type_name="int", number=result)
    return Call(location=where, caller=caller, entered=entered, left=left, result=value)


@pytest.mark.parametrize(
    ("fired", "innocent", "decision"),
    [
        ((), frozenset(), Decision.NEUTRAL),
        ((1,), frozenset(), Decision.NEUTRAL),
        ((0, 1), frozenset(), Decision.NEUTRAL),
        ((0,), frozenset(), Decision.CONFIRMED_NOT_BUGGY),
        ((1,), frozenset({OUTER}), Decision.CONFIRMED_NOT_BUGGY),
        ((1,), frozenset({INNER}), Decision.NEUTRAL),
    ],
)
def test_target_is_cleared_by_a_callee_or_by_its_input(
    fired: tuple[int, ...], innocent: frozenset[Location], decision: Decision
) -> None:
    found, reason = reflect(PATCH, fired, innocent)

    assert found is decision
    assert bool(reason) == (decision is not Decision.NEUTRAL)


# outer( middle( inner() ) other() )
NESTED = (call(OUTER, -1, 0, 7), call(MIDDLE, 0, 1, 4), call(INNER, 1, 2, 3), call(OTHER, 0, 5, 6))
# outer(inner()) with a wrong inner, then outer() that is wrong by itself.
TWICE = (call(OUTER, -1, 0, 3), call(INNER, 0, 1, 2), call(OUTER, -1, 4, 5))
RECURSIVE = (call(OUTER, -1, 0, 5), call(INNER, 0, 1, 4), call(INNER, 1, 2, 3))
# A generator that middle made, and outer exhausted after middle had returned.
GENERATOR = (call(OUTER, -1, 0, 5), call(MIDDLE, 0, 1, 3), call(INNER, 1, 2, 4))
NEVER_LEFT = (call(OUTER, -1, 0, -1), call(MIDDLE, 0, 1, 4), call(INNER, 1, 2, -1))


@pytest.mark.parametrize(
    ("calls", "violating", "excused"),
    [
        pytest.param(NESTED, {2}, {OUTER, MIDDLE}, id="all that wait for the callee"),
        pytest.param(NESTED, {0, 1, 2}, {OUTER, MIDDLE}, id="also if they are wrong afterwards"),
        pytest.param(NESTED, {3}, {OUTER}, id="not a sibling"),
        pytest.param(NESTED, (), (), id="nobody without a violation"),
        pytest.param(TWICE, {0, 1}, {OUTER}, id="the caller of the wrong callee"),
        pytest.param(TWICE, {0, 1, 2}, (), id="not who is wrong by itself as well"),
        pytest.param(RECURSIVE, {1, 2}, {OUTER}, id="no function by itself"),
        pytest.param(GENERATOR, {2}, {OUTER}, id="not who ended before the callee"),
        pytest.param(NEVER_LEFT, {1}, {OUTER}, id="who was never left"),
        pytest.param(NEVER_LEFT, {2}, (), id="nobody by a callee that was never left"),
    ],
)
def test_callee_that_broke_its_invariant_excuses(
    calls: Sequence[Call], violating: Collection[int], excused: Collection[Location]
) -> None:
    assert golden_rule(calls, frozenset(violating)) == frozenset(excused)


def test_caller_of_a_function_that_broke_its_invariant_is_innocent() -> None:
    calls = (call(OUTER, -1, 0, 3, -1), call(INNER, 0, 1, 2, -1))
    invariants = {OUTER: (POSITIVE,), INNER: (POSITIVE,)}

    assert innocents(Recording(calls={"t": calls}), ["t"], invariants) == {OUTER}
    assert innocents(Recording(calls={"t": calls}), ["u"], invariants) == frozenset()
    assert innocents(Recording(calls={"t": calls}), ["t"], {}) == frozenset()


def test_excuse_in_one_test_does_not_hold_against_guilt_in_another() -> None:
    excused = (call(OUTER, -1, 0, 3, -1), call(INNER, 0, 1, 2, -1))
    guilty = (call(OUTER, -1, 0, 3, -1), call(INNER, 0, 1, 2, 1))
    invariants = {OUTER: (POSITIVE,), INNER: (POSITIVE,)}
    recording = Recording(calls={"t": excused, "u": guilty})

    assert innocents(recording, ["t", "u"], invariants) == frozenset()


def test_description_names_the_strongest_check_that_failed_results_first() -> None:
    assert describe(PATCH, (0, 1), "because") == (
        "the result is int: true in all 5 passing calls, false in the failing test; because"
    )
    assert describe(PATCH, (0,), "").startswith("x > 0: true in all 9")


def test_rule_that_was_seen_in_no_call_is_not_said_to_have_held() -> None:
    rule = Check(number=0, at_exit=True, text="result <= net", support=0)

    assert describe(replace(PATCH, checks=(rule,)), (0,), "") == (
        "result <= net: false in the failing test"
    )


def test_assertion_that_a_patch_does_not_list_is_no_fault_of_ours() -> None:
    patch = replace(PATCH, checks=())

    assert reflect(patch, (0,), frozenset()) == (Decision.NEUTRAL, "")
    assert describe(patch, (0,), "") == "an assertion of the patch failed in the failing test"
