"""Which tests are run again for what code catches, and what is learned from it."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import StaticOutcome
from pytest_bayesloc.domain.recording import HandledError
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.inspection.strategies.once_more import Swallowed
from pytest_bayesloc.inspection.strategy import Budget
from pytest_bayesloc.ranking.likelihoods import weigh
from tests.fakes.case import case_of, frame_in
from tests.fakes.clock import Clock
from tests.fakes.runner import FakeRunner, as_port

if TYPE_CHECKING:
    from pytest_bayesloc.ranking.case import Case

TEXT = """\
    def load(data):
        try:
            return data["port"]
        except KeyError:
            return None

    def address(data):
        return str(load(data))
    """
SOURCE = SourceMap(dedent(TEXT), "m.py")
LOAD, ADDRESS = (unit.location for unit in SOURCE.units[1:])
FAILING, PASSING = "t::failing", "t::passing"
ERROR = HandledError(
    handler=frame_in(LOAD, 4), kind="KeyError", text="'port'", raised=frame_in(LOAD, 3)
)


def case(*, handler: int = 1, model: str = "single-fault") -> Case:
    """Failing and passing tests execute both functions; bits of ``handler`` also the handler."""
    spectrum = Spectrum(
        tests=(FAILING, PASSING),
        failing=1,
        passing=2,
        lines={LOAD: {3: 3, 4: handler, 5: handler}, ADDRESS: {8: 3}},
    )
    absent = weigh(model, StaticOutcome.NOT_IN_TRACEBACK, LOAD, source="traceback")
    made = case_of(spectrum, {LOAD: 0.3, ADDRESS: 0.7}, model=model, evidence=(absent,))
    made.errors = {FAILING: "TypeError"}
    return made


def watch(made: Case, *, usual_s: float = 0.1, **handled: tuple[HandledError, ...]) -> FakeRunner:
    runner = FakeRunner(handled={f"t::{name}": seen for name, seen in handled.items()})
    clock = Clock()
    budget = Budget(as_port(runner), clock, clock() + 60.0, made)
    budget.usual_s = usual_s
    assert not list(Swallowed(lambda _: SOURCE).open(made, budget))
    return runner


def test_error_that_failing_tests_alone_catch_is_evidence() -> None:
    made = case()

    watch(made, failing=(ERROR,))

    (item,) = made.evidence  # and its absence from the traceback clears it no more
    assert (item.location, item.outcome) == (LOAD, StaticOutcome.SWALLOWED_HERE)
    assert item.why == "caught KeyError: 'port' in line 4 and went on; no passing test does that"
    assert made.belief.p(LOAD) == pytest.approx(0.3 * 3.669 / (0.3 * 3.669 + 0.7), rel=1e-3)


def test_passing_tests_are_run_only_if_they_execute_the_handler() -> None:
    assert watch(case(), failing=(ERROR,)).watched == [(FAILING,)]
    assert watch(case(handler=3), failing=(ERROR,)).watched == [(FAILING,), (PASSING,)]


def test_what_passing_tests_catch_too_is_no_evidence() -> None:
    made = case(handler=3)

    watch(made, failing=(ERROR,), passing=(ERROR,))

    assert {item.source for item in made.evidence} == {"traceback"}


def test_tests_that_take_long_are_not_run_again() -> None:
    assert watch(case(), usual_s=30.0, failing=(ERROR,)).watched == []


def test_reference_model_keeps_no_neutral_evidence() -> None:
    made = case(model="independent")

    watch(made, failing=(ERROR,))

    assert {item.source for item in made.evidence} == {"traceback"}
