from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.rerun import flow
from pytest_bayesloc.rerun.flow import FlowTracer, Origins, Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_bayesloc.rerun.flow import Activation

HERE = os.path.realpath(__file__)


@dataclass
class Curve:
    degree: int
    knots: list[float]


class Spline:
    def __init__(self, degree: int, knots: object) -> None:
        self.degree = degree
        self.knots = list(knots)  # type: ignore[call-overload]


def check(curve: object) -> None:
    del curve


def check_knots(knots: object) -> None:
    del knots


def check_number(number: object) -> None:
    del number


def followed(run: Callable[[], object]) -> FlowTracer:
    """What is noted while ``run`` runs."""
    tracer = FlowTracer(lambda filename: os.path.realpath(filename) == HERE)
    before = sys.getprofile()
    tracer.start()
    try:
        run()
    finally:
        tracer.stop()
        sys.setprofile(before)
    return tracer


def last_call(tracer: FlowTracer, name: str) -> Activation:
    return [call for call in tracer.activations if call.code.co_name == name][-1]


def makers(tracer: FlowTracer, name: str, *path: str) -> list[str]:
    """Who made the value that the last call of ``name`` was given, or an attribute of it."""
    call = last_call(tracer, name)
    return [s.maker.code.co_name for s in Origins(tracer).of_root(root_of(call, *path))]


def root_of(call: Activation, *path: str) -> Root:
    label, value = next(iter(call.args.items()))
    if not path:
        return Root(label=label, value=value, user=call)
    (key,) = path
    return Root(label=key, value=vars(value)[key], user=call, holder=value, key=key)


def test_value_that_was_put_into_an_attribute_is_whose_code_put_it_there() -> None:
    def makes() -> None:
        curve = Curve(1, [0.5])
        curve.knots = [1.5, 2.5]
        uses(curve)

    def uses(curve: Curve) -> None:
        check(curve)
        check_knots(curve.knots)

    tracer = followed(makes)

    assert makers(tracer, "check", "knots") == ["makes"]
    assert makers(tracer, "check_knots") == ["makes"]


def test_small_number_in_an_attribute_is_whose_code_put_it_there() -> None:
    def makes() -> None:
        spline = Spline(3, (1.5, 2.5))
        uses(spline)

    def uses(spline: Spline) -> None:
        spline.degree = 7
        check(spline)

    assert makers(followed(makes), "check", "degree") == ["uses"]


@pytest.mark.parametrize("name", ["degree", "knots"], ids=["small number", "copy"])
def test_value_made_of_an_argument_is_whose_the_argument_is(name: str) -> None:
    def makes() -> None:
        check(Spline(3, (1.5, 2.5)))

    assert makers(followed(makes), "check", name) == ["makes"]


def test_result_is_made_by_the_call_that_returned_it_first() -> None:
    def makes() -> None:
        check_number(through())

    def through() -> float:
        return inner()

    def inner() -> float:
        return float("1.5")

    assert makers(followed(makes), "check_number") == ["inner"]


@pytest.mark.parametrize("change", [(list.append, 2.5), (list.pop,)], ids=["put", "taken"])
def test_list_is_also_made_by_who_changed_it(change: tuple[Any, ...]) -> None:
    def makes() -> None:
        knots = [1.5, 3.5]
        spoils(knots)
        check_knots(knots)

    def spoils(knots: list[float]) -> None:
        method, *args = change
        method(knots, *args)

    assert makers(followed(makes), "check_knots") == ["makes", "spoils"]


def test_yielded_value_is_the_generators() -> None:
    def makes() -> None:
        for number in numbers():
            check_number(number)

    def numbers() -> Iterator[float]:
        yield float("1.5")

    assert makers(followed(makes), "check_number") == ["numbers"]


def test_giver_is_who_had_the_value_from_no_argument() -> None:
    def makes() -> None:
        outer(Curve(1, [1.5]))

    def outer(curve: Curve) -> None:
        inner(curve.knots)
        check_number(other())

    def inner(knots: list[float]) -> None:
        check_knots(knots)

    def other() -> float:
        return 2.25

    tracer = followed(makes)
    givers = []
    for name in ("check_knots", "check_number"):
        giver, _ = Origins(tracer).giver(root_of(last_call(tracer, name)))
        assert giver is not None
        givers.append(giver.code.co_name)

    assert givers == ["makes", "outer"]


def test_test_that_is_too_long_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def makes() -> None:
        for _ in range(20):
            check_number(1.5)

    monkeypatch.setattr(flow, "MAX_EVENTS", 10)
    tracer = followed(makes)

    assert tracer.is_cut
    assert not tracer.activations
