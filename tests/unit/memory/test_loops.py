"""Replays of edit-test sequences: some are loops, others are not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from pytest_bayesloc.domain.bug import Sighting
from pytest_bayesloc.memory.advice import LoopKind, loops

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


def sequence(errors: str, states: str = "") -> list[Sighting]:
    """A run for each error; the code is another one in each unless ``states`` say otherwise."""
    return [seen(error, states[n] if states else f"s{n}") for n, error in enumerate(errors)]


#: Of a sequence of runs, counted from 0, those in which each kind of loop is told.
TOLD: dict[str, tuple[list[Sighting], dict[LoopKind, list[int]]]] = {
    "the same error, from the third state on":
        (sequence("A" * 8), {LoopKind.SAME_ERROR: [2, 3, 4, 5, 6, 7]}),
    "alternating errors, after three cycles":
        (sequence("AB" * 4), {LoopKind.ALTERNATION: [5, 6, 7]}),
    "alternating states, after two cycles":
        (sequence("A" * 6, "xyxyxy"),
         {LoopKind.SEEN_STATE: [2, 3, 4, 5], LoopKind.ALTERNATION: [3, 4, 5]}),
    "cycles of three": (sequence("ABC" * 3), {LoopKind.ALTERNATION: [8]}),
    "cycles of five": (sequence("ABCDE" * 3), {LoopKind.ALTERNATION: [14]}),
    "code that failed before": (sequence("ABA", "xyx"), {LoopKind.SEEN_STATE: [2]}),
    "edits of unlikely places, from the third on":
        ([seen("A", "s0", "far.py f", is_aimed=False)] * 5, {LoopKind.WRONG_PLACE: [3, 4]}),
    "the same command without an edit, from the fourth time on":
        ([seen("A", "s0", "")] * 5, {LoopKind.NO_EDIT: [3, 4]}),
    "two edits that no test executes":
        ([replace(seen("A", "s0", ""), untested=("b.py f",))] * 3,
         {LoopKind.UNTESTED_EDIT: [1, 2]}),
    # Nothing is told of these.
    "the same error in fewer tests": ([seen("A", f"s{n}", n_failing=9 - n) for n in range(8)], {}),
    "other commands without an edit":
        ([replace(seen("A", "s0", ""), command=f"c{n}") for n in range(9)], {}),
    "runs after edits of other code": ([replace(seen("A", "s0", ""), command="")] * 9, {}),
    "a bug hunt with a new error each time":
        ([seen(f"E{n}", f"s{n}", f"m{n}.py f", is_aimed=False) for n in range(12)], {}),
    # Of an edit that only renames nothing is kept in a sighting, though the code's state is new.
    "renames": ([seen("A", f"s{n}", "") for n in range(9)], {}),
    "an error that was another one in between": (sequence("AABA"), {}),
}  # fmt: skip


@pytest.mark.parametrize("what", TOLD)
def test_loops_are_told_and_nothing_else_is_one(what: str) -> None:
    history, expected = TOLD[what]

    told: dict[LoopKind, list[int]] = {}
    for n, kinds in enumerate(replay(history)):
        for kind in kinds:
            told.setdefault(kind, []).append(n)

    assert told == expected


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
    (loop,) = loops(sequence(errors), in_test=False)

    assert loop.n_told == told_before


def test_edits_of_code_are_told_where_the_error_stands_in_the_test() -> None:
    told = replay(sequence("AAAA"), in_test=True)

    assert [i for i, kinds in enumerate(told) if LoopKind.TEST_AT_FAULT in kinds] == [2, 3]
