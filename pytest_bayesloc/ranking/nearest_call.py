"""Compares a call in a failing test with the passing call whose arguments differ least."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from typing import TypeAlias

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.domain.result import NearestCall

MAX_CALLS = 100  # of each side
MAX_VALUES = 20
LEAST_DISTANCE = 0.5  # of two numbers that differ; 1 of all else that does

#: A call and its test.
_Made: TypeAlias = tuple[str, Call]
#: Per path, as ``order.items[2]``, the text of what stands there.
_Parts: TypeAlias = Mapping[str, str]


def nearest_call(
    recording: Recording, where: Location, failing: Iterable[str], passing: Iterable[str]
) -> NearestCall | None:
    """Return the call of ``where`` in a failing test beside the nearest one in a passing test.

    Of several failing calls it is the one that raised, else the one that is least like any passing
    call; the last one where that is a tie. None if there is no call on either side.
    """
    bad, good = list(_calls(recording, where, failing)), list(_calls(recording, where, passing))
    bad = [made for made in bad if made[1].raised] or bad
    if not bad or not good:
        return None
    texts = {id(call): _arguments(call) for _, call in (*bad, *good)}

    def distance(pair: tuple[_Made, _Made]) -> float:
        (_, ours), (_, theirs) = pair
        return _distance(texts[id(ours)], texts[id(theirs)])

    pairs = [min(product([made], good), key=distance) for made in reversed(bad)]
    (failing_test, ours), (passing_test, theirs) = max(pairs, key=distance)
    rows = list(_rows(theirs, ours))
    return NearestCall(
        location=where,
        failing_test=failing_test,
        passing_test=passing_test,
        values=dict(rows[:MAX_VALUES]),
        n_more=max(0, len(rows) - MAX_VALUES),
    )


def _calls(recording: Recording, where: Location, tests: Iterable[str]) -> Iterator[_Made]:
    """Yield the first and the last calls: the last ones are nearest to a failure."""
    calls = ((test, call) for test in tests for call in recording.calls.get(test, ()))
    made = [(test, call) for test, call in calls if call.location == where]
    half = MAX_CALLS // 2
    yield from made[:half]
    yield from made[half:][-half:]


def _arguments(call: Call) -> _Parts:
    return {path: text for name, v in call.args.items() for path, text in _parts(name, v).items()}


def _parts(name: str, value: Value) -> _Parts:
    parts = value.parts or (("", value.text or value.type_name),)
    return {f"{name}{path}": text for path, text in parts}


def _distance(ours: _Parts, theirs: _Parts) -> float:
    differing = (path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path))
    return sum(_difference(ours.get(path), theirs.get(path)) for path in differing)


def _difference(ours: str | None, theirs: str | None) -> float:
    """Return how much two texts that differ do: numbers less, the closer they are."""
    try:
        a, b = float(ours or ""), float(theirs or "")
    except ValueError:
        return 1.0
    return LEAST_DISTANCE * (1 + min(1.0, abs(a - b) / (abs(a) + abs(b) or 1.0)))


def _rows(passing: Call, failing: Call) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield per path the texts of the passing and of the failing call.

    Of a value that is the same in both one row is yielded, of others the parts that differ.
    """
    for name in failing.args:
        if name in passing.args:
            yield from _sides(name, passing.args[name], failing.args[name])
    if passing.result is not None and failing.result is not None:
        yield from _sides("return", passing.result, failing.result)
    elif passing.raised or failing.raised:
        texts = ["an exception" if c.raised else _whole(c.result) for c in (passing, failing)]
        yield "return", (texts[0], texts[1])


def _whole(value: Value | None) -> str:
    return "" if value is None else next(iter(_parts("", value).values()))


def _sides(name: str, passing: Value, failing: Value) -> Iterator[tuple[str, tuple[str, str]]]:
    good, bad = _parts(name, passing), _parts(name, failing)
    paths = [path for path in dict.fromkeys([*bad, *good]) if bad.get(path) != good.get(path)]
    if paths:
        yield from ((path, (good.get(path, ""), bad.get(path, ""))) for path in paths)
    elif name not in ("self", "cls"):
        path, text = next(islice(bad.items(), 1))
        yield path, (text, text)
