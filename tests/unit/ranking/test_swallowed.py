from __future__ import annotations

from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.evidence import StaticOutcome
from pytest_bayesloc.domain.recording import HandledError
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.evidence.swallowed import SOURCE, executed_handlers, noted_handlers
from pytest_bayesloc.ranking.likelihoods import weigh
from tests.fakes.case import frame_in
from tests.fakes.sources import failure_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.evidence import Evidence
    from pytest_bayesloc.domain.location import Location

MODEL = "single-fault"
FAILING, PASSING = "t::failing", "t::passing"
#: Bits of the failing test, of the passing one, and of both.
BAD, GOOD, BOTH = 1, 2, 3


def source_of(text: str) -> SourceMap:
    return SourceMap(dedent(text), "m.py")


def spectrum_of(
    source: SourceMap, lines: Mapping[int, int], *, passing: int = GOOD, name: str = "load"
) -> Spectrum:
    where = place(source, name)
    return Spectrum(tests=(FAILING, PASSING), failing=BAD, passing=passing, lines={where: lines})


def place(source: SourceMap, name: str) -> Location:
    return next(u.location for u in source.units if u.location.qualname == name)


def at_hand(
    text: str, lines: Mapping[int, int], *, passing: int = GOOD, left_at: int = 0
) -> list[str]:
    """The reasons that the lines of ``load`` give; it is left at a line if one is named."""
    source = source_of(text)
    where = place(source, "load")
    frames = (frame_in(where, left_at),) if left_at else ()
    failure = replace(failure_at(*frames, kind="E", message=""), node_id=FAILING)
    found = executed_handlers(
        spectrum_of(source, lines, passing=passing),
        [failure],
        lambda _: source,
        lambda frame: where if frame.in_app else None,
        model=MODEL,
    )
    return [item.why for item in found]


BROAD = """\
    def load(data):
        try:
            return data["port"]
        except Exception:
            pass
    """


def test_handler_that_failing_tests_alone_execute_is_named() -> None:
    assert at_hand(BROAD, {3: BOTH, 4: BAD, 5: BAD}) == [
        "caught an exception in line 4 and went on; no passing test does that"
    ]


def test_handler_of_some_types_is_named_with_them() -> None:
    text = BROAD.replace("Exception", "(KeyError, ValueError)")

    assert at_hand(text, {3: BOTH, 4: BAD, 5: BAD}) == [
        "caught KeyError or ValueError in line 4 and went on; no passing test does that"
    ]


@pytest.mark.parametrize(
    ("text", "lines", "passing", "left_at"),
    [
        pytest.param(BROAD, {3: BOTH, 4: BOTH, 5: BOTH}, GOOD, 0, id="passing tests do"),
        pytest.param(BROAD, {2: BAD, 4: BOTH, 5: BOTH}, GOOD, 0, id="passing tests do as well"),
        pytest.param(BROAD, {3: BAD, 4: BAD, 5: BAD}, 0, 0, id="no test passes"),
        pytest.param(BROAD, {3: BOTH, 4: BAD}, GOOD, 0, id="of another type"),
        pytest.param(BROAD, {3: BOTH, 4: BAD, 5: BAD}, GOOD, 5, id="it raised"),
        pytest.param(BROAD.replace("pass", "raise ValueError"), {4: BAD, 5: BAD}, GOOD, 0,
                     id="translated"),
        pytest.param(BROAD.replace("Exception", "GeneratorExit"), {4: BAD, 5: BAD}, GOOD, 0,
                     id="closed"),
        pytest.param(BROAD.replace("Exception:\n            pass", "KeyError: pass"), {4: BAD},
                     GOOD, 0, id="perhaps of another type"),
    ],
)  # fmt: skip
def test_handler_says_nothing(
    text: str, lines: Mapping[int, int], passing: int, left_at: int
) -> None:
    assert at_hand(text, lines, passing=passing, left_at=left_at) == []


def test_handler_of_a_function_inside_is_its_own() -> None:
    text = """\
        def load(data):
            def port():
                try:
                    return data["port"]
                except KeyError:
                    return None
            return port()
        """

    assert at_hand(text, {2: BAD, 5: BAD, 6: BAD, 7: BAD}) == []


def test_body_of_a_module_runs_at_import_and_not_by_a_test() -> None:
    source = source_of("try:\n    import yaml\nexcept ImportError:\n    yaml = None\n")
    spectrum = spectrum_of(source, {2: BOTH, 3: BAD, 4: BAD}, name="<module>")

    found = executed_handlers(spectrum, [], lambda _: source, lambda _: None, model=MODEL)

    assert found == []


# -- noted in re-runs

SOURCES = {
    "m.py": SourceMap(
        dedent(
            """\
            def load(data):
                with suppress(KeyError):
                    return take(data)

            def take(data):
                return data["port"]
            """
        ),
        "m.py",
    ),
    "test_m.py": SourceMap("def stub():\n    raise KeyError\n", "test_m.py", is_test=True),
}
LOAD, TAKE = (place(SOURCES["m.py"], name) for name in ("load", "take"))
STUB = place(SOURCES["test_m.py"], "stub")


def error(
    *, handler: Location = LOAD, line: int = 2, kind: str = "KeyError", raised: Location = TAKE
) -> HandledError:
    return HandledError(
        handler=frame_in(handler, line), kind=kind, text="'port'", raised=frame_in(raised, 6)
    )


def noted(
    failing: tuple[HandledError, ...],
    passing: tuple[HandledError, ...] = (),
    *,
    at_hand: tuple[Evidence, ...] = (),
    tests: tuple[str, ...] = (FAILING, PASSING),
) -> dict[str, tuple[str, str]]:
    """Outcome and reason by the name of the function."""
    every = {FAILING: failing, PASSING: passing}
    handled = {node_id: every[node_id] for node_id in tests}
    spectrum = spectrum_of(SOURCES["m.py"], {2: BOTH, 3: BOTH})
    found = noted_handlers(handled, [FAILING], at_hand, spectrum, SOURCES.get, model=MODEL)
    return {item.location.qualname: (item.outcome.value, item.why) for item in found}


def test_what_only_the_failing_test_caught_is_told_with_who_raised_it() -> None:
    assert noted((error(),)) == {
        "load": (
            "SWALLOWED_HERE",
            "caught KeyError: 'port' in line 2 and went on; no passing test does that",
        ),
        "take": (
            "RAISED_AND_SWALLOWED",
            "raised KeyError: 'port' in line 6, which load caught; no passing test does that",
        ),
    }


def test_function_that_raised_and_caught_is_named_once() -> None:
    assert {name: seen[0] for name, seen in noted((error(raised=LOAD),)).items()} == {
        "load": "SWALLOWED_HERE"
    }


def test_what_passing_tests_catch_there_is_ordinary() -> None:
    assert noted((error(),), (error(),)) == {}


def test_another_type_than_in_passing_tests_is_told() -> None:
    assert set(noted((error(),), (error(kind="ValueError"),))) == {"load", "take"}


def test_nothing_is_told_where_no_passing_test_was_run_that_may_catch_the_same() -> None:
    assert noted((error(),), tests=(FAILING,)) == {}


def test_what_test_code_raises_or_catches_is_not_told() -> None:
    assert noted((error(raised=STUB), error(handler=STUB))) == {}


def test_what_a_test_double_raises_is_meant_to_be_caught() -> None:
    nowhere = replace(frame_in(TAKE), file="")

    assert noted((replace(error(), raised=nowhere),)) == {}


def test_evidence_at_hand_stays_where_nothing_was_noted() -> None:
    known = weigh(MODEL, StaticOutcome.SWALLOWED_HERE, LOAD, source=SOURCE, why="by its lines")

    assert noted((), at_hand=(known,)) == {"load": ("SWALLOWED_HERE", "by its lines")}
    assert noted((error(raised=STUB),), at_hand=(known,)) == {}
