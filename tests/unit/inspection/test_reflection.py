from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.inspection import Check, InspectionPatch
from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.inspection.reflection import describe, innocents, reflect
from pytest_bayesloc.ranking.evidence.invariants import Invariant
from tests.fakes.case import location

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location

OUTER, INNER = location("outer"), location("inner")
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


def call(where: Location, caller: int, entered: int, left: int, result: float) -> Call:
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


def test_description_counts_checks_that_did_not_fail() -> None:
    one = InspectionPatch(target=OUTER, kind="k", original="", patched="", checks=(EXIT,))
    none = InspectionPatch(target=OUTER, kind="k", original="", patched="")

    assert (
        describe(PATCH, (), "")
        == "both conditions that held in passing calls also held in the failing test"
    )
    assert describe(one, (), "").startswith("a condition that held")
    assert describe(none, (), "") == "it was executed"


def test_rule_that_was_seen_in_no_call_is_not_said_to_have_held() -> None:
    rule = Check(number=0, at_exit=True, text="result <= net", support=0)
    patch = InspectionPatch(target=OUTER, kind="rule", original="", patched="", checks=(rule,))

    assert describe(patch, (0,), "") == "result <= net: false in the failing test"


def test_assertion_that_a_patch_does_not_list_is_no_fault_of_ours() -> None:
    patch = InspectionPatch(target=OUTER, kind="rule", original="", patched="")

    assert reflect(patch, (0,), frozenset()) == (Decision.NEUTRAL, "")
    assert describe(patch, (0,), "") == "an assertion of the patch failed in the failing test"
