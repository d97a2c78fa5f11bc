"""Values at points of functions, as they were just before."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.samples import MAX_SAMPLES, Sampler
from pytest_bayesloc.rerun.swap import key_of, real_path

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class Thing:
    def __init__(self, n: int) -> None:
        self.n = n


def watched(x: Any, *more: Any) -> Any:  # noqa: ANN401 - whatever a test gives
    for y in more:
        if y:
            x = y
    return x


FIRST = watched.__code__.co_firstlineno
LOOP, CONDITION, CHANGE, END = FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4


def samples(
    run: Callable[[], object], *points: tuple[int, int], is_valued: bool = True
) -> list[dict[str, Any]]:
    code = watched.__code__
    known = {real_path(code.co_filename): {key_of(code): 0}}
    sampler = Sampler(known, [points], is_valued=is_valued)
    sampler.start()
    try:
        run()
    finally:
        raw = sampler.stop()
    names = ("function", "point", "then", "values", "classes")
    return [dict(zip(names, one, strict=True)) for one in json.loads(json.dumps(raw))]


def test_values_are_those_before_the_line() -> None:
    before, after = samples(lambda: watched(1, 2), (CHANGE, CHANGE), (END, END))

    assert before["values"]["x"][4] == "1"
    assert before["values"]["y"][4] == "2"
    assert after["values"]["x"][4] == "2"


def test_next_line_tells_how_a_condition_went() -> None:
    seen = samples(lambda: watched(1, 0, 3), (CONDITION, CONDITION))

    assert [(one["values"]["y"][4], one["then"]) for one in seen] == [("0", LOOP), ("3", CHANGE)]


def test_no_line_follows_the_last() -> None:
    assert [one["then"] for one in samples(lambda: watched(1), (END, END))] == [0]


def test_attributes_and_classes_of_objects_are_noted() -> None:
    (one,) = samples(lambda: watched(Thing(7)), (END, END))

    assert one["values"]["x.n"][4] == "7"
    assert one["classes"]["x"] == ["Thing"]


def test_same_values_are_noted_once_and_different_ones_up_to_a_limit() -> None:
    def many() -> None:
        for n in (1, 1, *range(2 * MAX_SAMPLES)):
            watched(n)

    assert len(samples(many, (END, END))) == MAX_SAMPLES


def test_points_alone_are_noted_once_each_without_values() -> None:
    seen = samples(lambda: watched(1, 0, 3), (CHANGE, CHANGE), (END, END), is_valued=False)

    assert [(one["point"], one["values"]) for one in seen] == [(0, {}), (1, {})]


def test_other_functions_and_other_lines_are_left_alone() -> None:
    assert samples(lambda: Thing(3), (END, END)) == []
    assert samples(lambda: watched(1), (CHANGE, CHANGE)) == []


def test_tracer_of_another_tool_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "gettrace", lambda: print)

    assert samples(lambda: watched(1), (END, END)) == []
