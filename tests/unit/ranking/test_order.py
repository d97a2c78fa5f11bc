from __future__ import annotations

from pytest_bayesloc.domain.evidence import Outcome, StaticOutcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call, Recording
from pytest_bayesloc.ranking.evidence.order import order_evidence

A, B, C, TEST = (
    Location(file="m.py", start_line=1, end_line=2, qualname=name, is_test=name == "test")
    for name in ("a", "b", "c", "test")
)
LAST, EARLIER = StaticOutcome.RETURNED_LAST, StaticOutcome.RETURNED_EARLIER


def call(where: Location, entered: int, left: int) -> Call:
    return Call(location=where, caller=-1, entered=entered, left=left)


def order(*calls: Call, failing: tuple[str, ...] = ("t",)) -> dict[str, Outcome]:
    evidence = order_evidence(Recording(calls={"t": calls}), failing, model="single-fault")
    return {item.location.qualname: item.outcome for item in evidence}


def test_the_last_two_to_return_stand_out() -> None:
    calls = (call(A, 0, 1), call(B, 2, 3), call(C, 4, 5))

    assert order(*calls) == {"a": EARLIER, "b": LAST, "c": LAST}


def test_the_last_return_of_a_function_counts() -> None:
    calls = (call(A, 0, 1), call(B, 2, 3), call(C, 4, 5), call(A, 6, 7))

    assert order(*calls) == {"a": LAST, "b": EARLIER, "c": LAST}


def test_what_never_returned_comes_last() -> None:
    calls = (call(A, 0, -1), call(B, 1, 2), call(C, 3, 4))

    assert order(*calls) == {"a": LAST, "b": EARLIER, "c": LAST}


def test_test_code_is_no_target() -> None:
    assert order(call(TEST, 0, 3), call(A, 1, 2)) == {"a": LAST}


def test_nothing_is_said_without_a_recording() -> None:
    assert order(call(A, 0, 1), failing=("other",)) == {}
