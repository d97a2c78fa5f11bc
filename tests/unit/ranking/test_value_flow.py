from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.recording import Maker, ValueFlow, WrongValue
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.strategies.once_more import traced_guard
from tests.fakes.case import frame_in

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.ranking.evidence.guards import Guard

CODE, TEST = "curve.py", "test_curve.py"
TEXTS = {
    CODE: dedent(
        """\
        class Curve:
            def __init__(self, degree, knots):
                self.degree = degree
                self.knots = tuple(float(knot) for knot in knots)
                self.cache = {}
                self.length = measure(knots)

        def check(curve):
            if not valid(curve):
                raise ValueError

        def draw(curve):
            check(curve)

        def load(text):
            return Curve(2, text.split())

        def measure(knots):
            return len(knots)
        """
    ),
    TEST: dedent(
        """\
        def knots():
            return [0, 1]

        def test(knots):
            draw(Curve(2, knots))
        """
    ),
}
MAPS = {file: SourceMap(text, file, is_test=file == TEST) for file, text in TEXTS.items()}


def place(name: str) -> Location:
    units = (unit for source in MAPS.values() for unit in source.units)
    return next(unit.location for unit in units if unit.location.qualname == name)


def maker(
    name: str, key: str = "return", *, held: bool = False, **arguments: tuple[Maker, ...]
) -> Maker:
    return Maker(frame=frame_in(place(name)), key=key, is_held=held, arguments=arguments)


def flow(*values: WrongValue) -> ValueFlow:
    return ValueFlow(
        node_id="t",
        error="ValueError",
        user=frame_in(place("check")),
        condition="not valid(curve)",
        values=values,
    )


def guard_of(*values: WrongValue) -> Guard | None:
    return traced_guard(flow(*values), MAPS.get, [place("knots")])


def test_test_that_made_all_that_was_refused_owns_it() -> None:
    guard = guard_of(WrongValue(label="curve.knots", makers=(maker("test", "knots"),)))

    assert guard is not None
    assert (guard.function, guard.owner) == (place("check"), place("test"))
    assert (guard.condition, guard.value) == ("not valid(curve)", "`curve.knots`")
    assert not guard.in_fixture


def test_fixture_is_told_from_a_test() -> None:
    guard = guard_of(WrongValue(label="curve.knots", makers=(maker("knots"),)))

    assert guard is not None
    assert guard.in_fixture


def test_code_that_only_converts_its_argument_hands_it_on() -> None:
    converted = maker("Curve.__init__", "knots", held=True, knots=(maker("test", "knots"),))

    guard = guard_of(WrongValue(label="curve.knots", makers=(converted,)))

    assert guard is not None
    assert guard.owner == place("test")


def test_code_that_computes_a_value_by_code_of_the_project_has_made_it() -> None:
    computed = maker("Curve.__init__", "length", held=True, knots=(maker("test", "knots"),))
    value = WrongValue(label="curve.length", makers=(computed,), giver=frame_in(place("draw"), 13))

    guard = guard_of(value, WrongValue(label="curve.degree", makers=(maker("test", "degree"),)))

    assert guard is not None
    assert (guard.owner, guard.line) == (place("draw"), 13)


def test_what_every_object_begins_with_is_nobodys_data() -> None:
    empty = WrongValue(
        label="curve.cache", makers=(maker("Curve.__init__", "cache", held=True),), is_part=True
    )

    guard = guard_of(empty, WrongValue(label="curve.knots", makers=(maker("test", "knots"),)))

    assert guard is not None
    assert guard.owner == place("test")


def test_nobody_is_named_where_two_functions_handed_something_over() -> None:
    values = (
        WrongValue(label=name, makers=(maker("measure"),), giver=frame_in(place(name)))
        for name in ("draw", "load")
    )

    assert guard_of(*values) is None


def test_check_of_its_own_value_is_no_guard() -> None:
    own = WrongValue(label="x", makers=(maker("measure"),), giver=frame_in(place("check")))

    assert guard_of(own) is None
