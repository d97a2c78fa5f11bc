"""Replays of edit-test sequences: some are loops, others are not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from pytest_bayesloc.domain.bug import Sighting
from pytest_bayesloc.memory.loops import LoopKind, loops

START = datetime(2026, 11, 22, tzinfo=timezone.utc)


def seen(
    error: str,
    state: str,
    edited: str = "knots.py check",
    *,
    is_aimed: bool = True,
    test_state: str = "t",
    n_failing: int = 1,
) -> Sighting:
    return Sighting(
        seen_at=START, error=error, tests="t", code_state=state, test_state=test_state,
        edited=(edited,) if edited else (), is_aimed=is_aimed, n_failing=n_failing, command="c",
    )  # fmt: skip


def replay(history: list[Sighting], *, in_test: bool = False) -> list[list[LoopKind]]:
    """Per run, the loops that it closes."""
    timed = [
        Sighting(**{n: getattr(s, n) for n in Sighting.__slots__} | {"seen_at": START + i * HOUR})
        for i, s in enumerate(history)
    ]
    return [
        [LoopKind(loop.kind) for loop in loops(timed[: n + 1], in_test=in_test)]
        for n in range(len(timed))
    ]


HOUR = timedelta(hours=1)


def test_same_error_is_told_from_the_third_state_on() -> None:
    told = replay([seen("A", f"s{n}") for n in range(8)])

    assert [i for i, kinds in enumerate(told, 1) if LoopKind.SAME_ERROR in kinds] == [*range(3, 9)]


def test_same_error_in_fewer_tests_is_no_loop() -> None:
    told = replay([seen("A", f"s{n}", n_failing=9 - n) for n in range(8)])

    assert not any(told)


def test_alternating_errors_are_told_after_three_cycles() -> None:
    told = replay([seen("AB"[n % 2], f"s{n}") for n in range(8)])

    assert [i for i, kinds in enumerate(told, 1) if LoopKind.ALTERNATION in kinds] == [6, 7, 8]


def test_alternating_states_are_told_after_two_cycles() -> None:
    told = replay([seen("A", "xy"[n % 2]) for n in range(6)])

    assert [i for i, kinds in enumerate(told, 1) if LoopKind.ALTERNATION in kinds] == [4, 5, 6]


@pytest.mark.parametrize("period", [3, 5])
def test_longer_cycles_are_told_too(period: int) -> None:
    told = replay([seen(str(n % period), f"s{n}") for n in range(3 * period)])

    assert told[-1] == [LoopKind.ALTERNATION]


@pytest.mark.parametrize(
    ("errors", "told_before"),
    [
        ("A" * 3, 0),
        ("A" * 5, 2),
        ("AB" * 3, 0),
        ("AB" * 4, 2),
        ("ABC" * 3, 0),
        ("BC" + "AB" * 3, 0),
    ],
)
def test_loop_knows_how_often_it_was_told(errors: str, told_before: int) -> None:
    history = [seen(error, f"s{n}") for n, error in enumerate(errors)]

    (loop,) = loops(history, in_test=False)

    assert loop.n_told == told_before


def test_code_that_failed_before_is_recognised() -> None:
    told = replay([seen("A", "s0"), seen("B", "s1"), seen("A", "s0")])

    assert told == [[], [], [LoopKind.SEEN_STATE]]


def test_edits_of_unlikely_places_are_told_from_the_third_on() -> None:
    told = replay([seen("A", "s0", "far.py f", is_aimed=False) for _ in range(5)])

    assert [i for i, kinds in enumerate(told) if LoopKind.WRONG_PLACE in kinds] == [3, 4]


def test_edits_of_code_are_told_where_the_error_stands_in_the_test() -> None:
    told = replay([seen("A", f"s{n}") for n in range(4)], in_test=True)

    assert [i for i, kinds in enumerate(told) if LoopKind.TEST_AT_FAULT in kinds] == [2, 3]


def test_same_command_without_an_edit_is_told_from_the_fourth_time_on() -> None:
    told = replay([seen("A", "s0", "") for _ in range(5)])

    assert told == [[], [], [], [LoopKind.NO_EDIT], [LoopKind.NO_EDIT]]


def test_other_commands_without_an_edit_are_no_loop() -> None:
    assert not any(replay([replace(seen("A", "s0", ""), command=f"c{n}") for n in range(9)]))


def test_runs_after_edits_of_other_code_are_no_loop() -> None:
    assert not any(replay([replace(seen("A", "s0", ""), command="") for _ in range(9)]))


def test_two_edits_that_no_test_executes_are_told() -> None:
    told = replay([replace(seen("A", "s0", ""), untested=("b.py f",)) for _ in range(3)])

    assert told == [[], [LoopKind.UNTESTED_EDIT], [LoopKind.UNTESTED_EDIT]]


def test_bug_hunt_with_a_new_error_each_time_is_no_loop() -> None:
    hunt = [seen(f"E{n}", f"s{n}", f"m{n}.py f", is_aimed=False) for n in range(12)]

    assert not any(replay(hunt))


def test_renames_are_no_loop() -> None:
    """Of edits that only rename nothing is kept in a sighting, though the code's state is new."""
    assert not any(replay([seen("A", f"s{n}", "") for n in range(9)]))


def test_changed_error_ends_a_streak() -> None:
    told = replay([seen("A", "s0"), seen("A", "s1"), seen("B", "s2"), seen("A", "s3")])

    assert not any(told)
