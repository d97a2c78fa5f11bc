from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_bayesloc.domain.evidence import Outcome, StaticOutcome
from pytest_bayesloc.domain.failure import ErrorKind, Failure, Frame, Origin, Raised
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.ranking.evidence.failures import (
    executed_lines,
    guard_evidence,
    kind_of,
    origin_of,
    own_error_evidence,
    raising,
    refused_call,
    traceback_evidence,
)
from pytest_bayesloc.ranking.evidence.guards import Guard
from tests.fakes.sources import failure_at


def location(name: str, file: str = "m.py") -> Location:
    is_test = file.startswith("test_")
    return Location(file=file, start_line=1, end_line=99, qualname=name, is_test=is_test)


def frame(name: str, line: int = 5, file: str = "m.py", *, in_app: bool = True) -> Frame:
    is_test = file.startswith("test_")
    return Frame(file=file, line=line, name=name, first_line=1, in_app=in_app, is_test=is_test)


def locate(frame: Frame) -> Location | None:
    return location(frame.name, frame.file) if frame.in_app else None


F, G, H, T = location("f"), location("g"), location("h"), location("test", "test_m.py")
IN_TEST, OUTSIDE = frame("test", 3, "test_m.py"), frame("loads", file="json.py", in_app=False)
GUARD = Guard(function=G, condition="x < 0", owner=T, line=3, value="`-1`")


def failure(*frames: Frame, exc_type: str = "KeyError", phase: str = "call") -> Failure:
    return replace(failure_at(*frames, kind=exc_type, message="", tests=(T,)), phase=phase)


SYNTAX = replace(
    failure(exc_type="SyntaxError", phase="collect"), syntax_error=("m.py", 7), test_locations=()
)


def outcomes(*failures: Failure, spared: frozenset[Location] = frozenset()) -> dict[str, Outcome]:
    found = traceback_evidence(
        failures, dict.fromkeys((F, G, H, T), 0.2), locate, model="single-fault", spared=spared
    )
    return {item.location.qualname: item.outcome for item in found}


RAISED, ELSEWHERE = StaticOutcome.RAISE_FRAME, StaticOutcome.NOT_IN_TRACEBACK


def test_innermost_frame_of_the_project_is_where_the_error_left_it() -> None:
    assert outcomes(failure(IN_TEST, frame("f"), frame("g"), OUTSIDE)) == {
        "g": RAISED,
        "h": ELSEWHERE,
    }


def test_guard_that_is_spared_gets_no_evidence() -> None:
    found = outcomes(failure(IN_TEST, frame("f"), frame("g")), spared=frozenset({G}))

    assert found == {"h": ELSEWHERE}


def test_failure_in_the_test_says_nothing_of_the_code() -> None:
    assert outcomes(failure(IN_TEST)) == {}
    assert outcomes(failure(frame("f"), IN_TEST)) == {}
    assert outcomes(failure()) == {}


def test_causes_of_an_exception_count_as_well() -> None:
    chained = replace(failure(IN_TEST, frame("f")), cause_frames=((IN_TEST, frame("g")),))

    assert [where for where, _ in raising(chained, locate)] == [F, G]
    assert outcomes(chained) == {"f": RAISED, "g": RAISED, "h": ELSEWHERE}


def test_caller_of_code_that_does_nothing_but_raise_is_where_the_error_left_it() -> None:
    found = traceback_evidence(
        [failure(IN_TEST, frame("f"), frame("g"))],
        dict.fromkeys((F, G, H, T), 0.2),
        locate,
        model="single-fault",
        raises_alone=lambda frame: frame.name == "g",
    )

    assert {e.location: e.outcome for e in found} == {F: RAISED, H: ELSEWHERE}


def test_file_that_does_not_parse_stands_for_itself() -> None:
    ((where, found),) = raising(SYNTAX, locate)

    assert (where.qualname, found.line) == (MODULE, 7)
    in_test = replace(SYNTAX, syntax_error=("test_m.py", 7))
    assert raising(in_test, locate) == []


def test_guard_speaks_for_itself_and_against_the_owner() -> None:
    owner, guard = guard_evidence(GUARD, model="single-fault")

    assert (owner.location, owner.outcome) == (T, StaticOutcome.GUARD_NAMES_OWNER)
    assert owner.log_ratio > 0 > guard.log_ratio
    assert guard.location == G
    assert "`x < 0`" in owner.why


def test_owner_that_is_code_is_less_suspect_than_a_test_and_more_than_the_guard() -> None:
    owner, guard = guard_evidence(replace(GUARD, owner=F), model="single-fault")
    test, _ = guard_evidence(GUARD, model="single-fault")

    assert owner.outcome is StaticOutcome.GUARD_NAMES_CALLER
    assert test.log_ratio > owner.log_ratio > 0 > guard.log_ratio


@pytest.mark.parametrize(
    ("failed", "where"),
    [
        (failure(IN_TEST, exc_type="NameError"), T),
        (failure(exc_type="FixtureLookupError", phase="setup"), T),
        (replace(SYNTAX, syntax_error=("test_m.py", 1), test_locations=(T,)), T),
        (failure(IN_TEST, exc_type="AssertionError"), None),
        (failure(IN_TEST, frame("f"), exc_type="NameError"), None),
        (failure(IN_TEST, exc_type="KeyError"), None),
        (SYNTAX, None),
    ],
)
def test_error_in_the_own_text_of_a_test_is_the_tests(
    failed: Failure, where: Location | None
) -> None:
    found = own_error_evidence([failed], locate, model="single-fault", ran_code=True)

    assert [item.location for item in found] == ([] if where is None else [where])


def test_error_that_many_tests_of_one_helper_hit_counts_once() -> None:
    failed = failure(IN_TEST, exc_type="NameError")

    found = own_error_evidence([failed, failed], locate, model="single-fault", ran_code=True)

    assert len(found) == 1


HELPED = failure(IN_TEST, frame("load", 2, "test_m.py"), OUTSIDE)
MISSING = replace(HELPED, raised=Raised.SYSTEM)


@pytest.mark.parametrize(
    ("failed", "ran_code", "outcome"),
    [
        (HELPED, True, StaticOutcome.HELPER_RAISED),
        (HELPED, False, StaticOutcome.ORIGIN_IN_TEST),
        (replace(HELPED, exc_type="TypeError"), False, StaticOutcome.HELPER_RAISED),
        (MISSING, True, StaticOutcome.HELPER_RAISED),
        (MISSING, False, StaticOutcome.ORIGIN_IN_TEST),
        (replace(MISSING, phase="setup"), True, StaticOutcome.ORIGIN_IN_TEST),
        (replace(HELPED, raised=Raised.ASSERTION), True, None),
        (replace(HELPED, raised=Raised.TIMEOUT), True, None),
        (replace(MISSING, frames=(IN_TEST, frame("f"))), False, None),
    ],
)
def test_helper_that_raised_answers_for_what_it_misses(
    failed: Failure, ran_code: bool, outcome: StaticOutcome | None
) -> None:
    found = own_error_evidence([failed], locate, model="single-fault", ran_code=ran_code)

    expected = [] if outcome is None else [(location("load", "test_m.py"), outcome)]
    assert [(item.location, item.outcome) for item in found] == expected


def test_origin_is_named_in_one_word() -> None:
    crash, setup = failure(IN_TEST, frame("f")), failure(IN_TEST, phase="setup")
    own_error = failure(IN_TEST, exc_type="NameError")
    own = own_error_evidence([own_error], locate, model="single-fault", ran_code=True)

    assert origin_of([SYNTAX], None, []) is Origin.COLLECTION
    assert origin_of([crash], GUARD, []) is Origin.DATA
    assert origin_of([crash], replace(GUARD, in_fixture=True), []) is Origin.FIXTURE
    assert origin_of([crash], replace(GUARD, owner=F), []) is Origin.CODE
    assert origin_of([crash], None, own) is Origin.TEST
    assert origin_of([setup], None, own) is Origin.FIXTURE
    assert origin_of([crash], None, []) is Origin.CODE


def test_kind_is_refusal_wrong_result_or_crash() -> None:
    wrong, crash = failure(exc_type="AssertionError"), failure(exc_type="KeyError")

    assert kind_of([wrong], GUARD) is ErrorKind.VALIDATION
    assert kind_of([wrong, wrong], None) is ErrorKind.LOGIC
    assert kind_of([wrong, crash], None) is ErrorKind.RUNTIME
    assert kind_of([replace(crash, raised=Raised.ASSERTION)], None) is ErrorKind.LOGIC
    assert kind_of([replace(crash, raised=Raised.TIMEOUT)], None) is ErrorKind.TIMEOUT


def test_traceback_proves_which_lines_of_code_were_executed() -> None:
    failed = failure(IN_TEST, frame("f", 5), OUTSIDE, frame("g", 8))

    assert list(executed_lines(failed, locate, lambda _: None)) == [(F, 5), (G, 8)]


@pytest.mark.parametrize("start", ["", "partially initialized module "])
def test_module_that_lacks_an_imported_name_was_executed(start: str) -> None:
    message = f"cannot import name 'x' from {start}'shop.cart' (/shop/cart.py)"
    failed = replace(failure(exc_type="ImportError"), message=message)
    known = {"shop.cart": location(MODULE)}

    assert list(executed_lines(failed, locate, known.get)) == [(location(MODULE), 1)]
    assert list(executed_lines(replace(failed, exc_type="KeyError"), locate, known.get)) == []


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Account.withdraw() takes 1 positional argument but 2 were given", "Account.withdraw"),
        ("load() missing 1 required positional argument: 'path'", "load"),
        ("load() got an unexpected keyword argument 'name'", "load"),
        ("unsupported operand type(s) for +: 'int' and 'str'", ""),
    ],
)
def test_function_that_does_not_take_its_arguments_is_named_by_the_message(
    message: str, name: str
) -> None:
    failed = replace(failure(IN_TEST, exc_type="TypeError"), message=message)

    assert refused_call(failed) == name
    assert refused_call(replace(failed, exc_type="ValueError")) == ""
