from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.recording import Call
from pytest_bayesloc.inspection.reflection import golden_rule
from tests.fakes.case import location

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location

OUTER, MIDDLE, INNER, OTHER = (location(name) for name in ("outer", "middle", "inner", "other"))


def call(where: Location, caller: int, entered: int, left: int) -> Call:
    return Call(location=where, caller=caller, entered=entered, left=left)


# outer( middle( inner() ) other() )
NESTED = (
    call(OUTER, -1, 0, 7),
    call(MIDDLE, 0, 1, 4),
    call(INNER, 1, 2, 3),
    call(OTHER, 0, 5, 6),
)


def test_callee_that_broke_its_invariant_excuses_all_callers_of_it() -> None:
    assert golden_rule(NESTED, {2}) == {OUTER, MIDDLE}


def test_callers_that_break_theirs_afterwards_are_excused_as_well() -> None:
    assert golden_rule(NESTED, {0, 1, 2}) == {OUTER, MIDDLE}


def test_caller_is_excused_by_a_callee_but_not_by_its_sibling() -> None:
    assert golden_rule(NESTED, {3}) == {OUTER}


def test_without_a_violation_nobody_is_excused() -> None:
    assert golden_rule(NESTED, set()) == frozenset()
    assert golden_rule((), set()) == frozenset()


def test_violation_of_its_own_takes_the_excuse_away() -> None:
    # outer(inner()) with a wrong inner, then outer() that is wrong by itself.
    calls = (call(OUTER, -1, 0, 3), call(INNER, 0, 1, 2), call(OUTER, -1, 4, 5))

    assert golden_rule(calls, {0, 1}) == {OUTER}
    assert golden_rule(calls, {0, 1, 2}) == frozenset()


def test_recursion_does_not_excuse_itself() -> None:
    calls = (call(OUTER, -1, 0, 5), call(INNER, 0, 1, 4), call(INNER, 1, 2, 3))

    assert golden_rule(calls, {1, 2}) == {OUTER}


def test_callee_that_outlives_its_caller_does_not_excuse_it() -> None:
    # A generator that middle made, and outer exhausted after middle had returned.
    calls = (call(OUTER, -1, 0, 5), call(MIDDLE, 0, 1, 3), call(INNER, 1, 2, 4))

    assert golden_rule(calls, {2}) == {OUTER}


def test_call_that_was_never_left_is_excused_and_never_excuses() -> None:
    calls = (call(OUTER, -1, 0, -1), call(MIDDLE, 0, 1, 4), call(INNER, 1, 2, -1))

    assert golden_rule(calls, {1}) == {OUTER}
    assert golden_rule(calls, {2}) == frozenset()
