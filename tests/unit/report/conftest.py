"""A realistic result: one fault in the code, one in a test's data."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.evidence import (
    Decision,
    Evidence,
    InspectionOutcome,
    Outcome,
    StaticOutcome,
)
from pytest_bayesloc.domain.failure import ErrorKind, Failure, Frame, Origin
from pytest_bayesloc.domain.inspection import Finding, InspectionPatch, Signals, TestRun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Fault, NearestCall, Ranked, RankedLine, SpoiledTest
from pytest_bayesloc.domain.spectrum import Counts
from pytest_bayesloc.report.document import ReadSource, ResultDocument, SessionEntry
from pytest_bayesloc.report.encoding import Result, encode
from pytest_bayesloc.report.memory import memory_entry

CALC = """\
def add(a, b):
    return a - b


def total(prices, rate):
    net = 0
    for price in prices:
        net = add(net, price)
    return net * (1 + rate)


def parse(text):
    if not text:
        raise ValueError("no text given")
    return int(text)
"""
TESTS = """\
from calc import add, parse, total


def test_add():
    assert add(2, 3) == 5


def test_total():
    assert total([1, 2], 0.5) == 4.5


def test_parse():
    assert parse("") == 0
"""
ADD = Location(file="calc.py", start_line=1, end_line=2, qualname="add")
TOTAL = Location(file="calc.py", start_line=5, end_line=9, qualname="total")
PARSE = Location(file="calc.py", start_line=12, end_line=15, qualname="parse")
TEST_ADD = Location(
    file="test_calc.py", start_line=4, end_line=5, qualname="test_add", is_test=True
)
TEST_PARSE = Location(
    file="test_calc.py", start_line=12, end_line=13, qualname="test_parse", is_test=True
)


def evidence(location: Location, outcome: Outcome, p1: float, p0: float, why: str) -> Evidence:
    return Evidence(
        location=location,
        source="assertions" if "ASSERTION" in outcome else "traceback",
        outcome=outcome,
        p_if_faulty=p1,
        p_if_clean=p0,
        why=why,
    )


ASSERTED = evidence(
    ADD,
    InspectionOutcome.TARGET_ASSERTION_FAILED,
    0.95,
    0.05,
    "returned -1 for a=2, b=3: in passing tests the result is never below a",
)
NOT_RAISED = evidence(TOTAL, StaticOutcome.NOT_IN_TRACEBACK, 0.45, 0.54, "not in the traceback")
OWNS_DATA = evidence(
    TEST_PARSE,
    StaticOutcome.GUARD_NAMES_OWNER,
    0.94,
    0.1,
    "handed '' to parse, whose check refused it",
)
GUARD = evidence(PARSE, StaticOutcome.GUARD_REFUSED, 0.1, 0.5, "its check did what it is there for")


def inspection() -> Finding:
    patch = InspectionPatch(
        target=ADD,
        kind="assertions",
        original=CALC,
        patched=CALC.replace("return a - b", "result = a - b\n    assert result >= a"),
    )
    return Finding(
        diff=patch.diff,
        tests={
            "test_calc.py::test_add": TestRun(
                verdict=Verdict.FAIL,
                error="AssertionError: assert -1 >= 2",
                covered=True,
                violations=(0,),
                output="E   assert -1 >= 2",
            ),
            "test_calc.py::test_zero": TestRun(verdict=Verdict.PASS, covered=True),
        },
        signals=Signals(is_covered=True, has_target_assertion=True, is_failure=True),
        decision=Decision.NEUTRAL,
        evidence=ASSERTED,
        seconds=0.031,
        cpu_s=0.012,
        log="--- INSPECTION_START: calc.add ---",
        step=1,
        belief_before=0.475,
        belief_after=0.9944,
    )


def frame(line: int, name: str, file: str = "calc.py") -> Frame:
    return Frame(
        file=file, line=line, name=name, first_line=1, in_app=True, is_test=file != "calc.py"
    )


def failed(test: str, exc_type: str, message: str, *frames: Frame) -> Failure:
    return Failure(
        node_id=f"test_calc.py::{test}",
        phase="call",
        exc_type=exc_type,
        message=message,
        frames=frames,
    )


def row(
    rank: int,
    where: Location,
    probabilities: tuple[float, float],
    counts: Counts | None,
    **more: Any,  # noqa: ANN401 - any fields
) -> Ranked:
    """A row with the probability of ``where`` before the evidence and after it."""
    prior, posterior = probabilities
    given = {"tied": 1, "suspiciousness": 0.0, **more}
    return Ranked(
        rank=rank, location=where, prior=prior, posterior=posterior, counts=counts, **given
    )


def line(number: int, ef: int, ep: int, suspiciousness: float) -> RankedLine:
    return RankedLine(line=number, ef=ef, ep=ep, suspiciousness=suspiciousness)


def code_fault() -> Fault:
    message = "assert -1 == 5\n +  where -1 = add(2, 3)"
    return Fault(
        failures=tuple(
            failed(name, "AssertionError", message, frame(5, name, "test_calc.py"))
            for name in ("test_add", "test_total")
        ),
        origin=Origin.CODE,
        kind=ErrorKind.LOGIC,
        nearest_call=NearestCall(
            location=ADD,
            failing_test="test_calc.py::test_add",
            passing_test="test_calc.py::test_add_nothing",
            values={"a": ("2", "2"), "b": ("0", "3"), "return": ("2", "-1")},
        ),
        ranking=(
            row(
                1,
                ADD,
                (0.475, 0.9944),
                Counts(ef=2, ep=1, nf=0, np=6),
                suspiciousness=0.875,
                lines=(line(2, 2, 1, 0.875),),
                evidence=(ASSERTED,),
                values={"return": ("0 to 9", "-1"), "b": ("0", "3")},
            ),
            *(
                row(
                    2,
                    where,
                    (0.2375, 0.0028),
                    Counts(ef=1, ep=1, nf=1, np=6),
                    tied=2,
                    suspiciousness=0.5,
                    lines=(line(where.start_line + 1, 1, 1, 0.25), line(where.end_line, 1, 1, 0.5)),
                    evidence=(NOT_RAISED,) if where is TOTAL else (),
                )
                for where in (TOTAL, PARSE)
            ),
            row(4, TEST_ADD, (0.05, 0.0), None),
        ),
        stop_reason="calc.py:1 add reached a belief of 0.9",
        history=(
            ((ADD, 0.475), (TOTAL, 0.2375), (PARSE, 0.2375), (TEST_ADD, 0.05)),
            ((ADD, 0.9944), (TOTAL, 0.0028), (PARSE, 0.0028)),
        ),
        inspections=(inspection(),),
    )


def data_fault() -> Fault:
    frames = (frame(13, "test_parse", "test_calc.py"), frame(14, "parse"))
    return Fault(
        failures=(failed("test_parse", "ValueError", "no text given", *frames),),
        origin=Origin.DATA,
        kind=ErrorKind.VALIDATION,
        ranking=(
            row(1, TEST_PARSE, (0.05, 0.62), None, evidence=(OWNS_DATA,)),
            row(
                2,
                PARSE,
                (0.95, 0.38),
                Counts(ef=1, ep=0, nf=0, np=7),
                suspiciousness=1.0,
                lines=(line(13, 1, 0, 1.0), line(14, 1, 0, 1.0)),
                evidence=(GUARD,),
            ),
        ),
        stop_reason="nothing is left to try",
        flaky=("test_calc.py::test_sometimes", "test_calc.py::test_late"),
        spoiled=(
            SpoiledTest(
                test="test_calc.py::test_late",
                after=("test_calc.py::test_early",),
                n_earlier=7,
                is_smallest=True,
                command="pytest test_calc.py::test_early test_calc.py::test_late",
                state={"calc.TABLE": ((PARSE, 14),)},
                n_changed=3,
            ),
        ),
    )


def two_faults() -> Result:
    faults = (code_fault(), data_fault())
    return Result(
        session=SessionEntry(
            pytest_version="8.4.1",
            python_version="3.13.5",
            n_passed=7,
            n_remembered=2,
            n_traced=8,
            n_failed=3,
            n_refused=0,
            n_rejected=0,
            collector="monitoring",
            executor="local",
            formula="ochiai",
            model="single-fault",
            threshold=0.9,
            seconds={"collect": 0.004, "inspect": 1.25},
        ),
        memory=memory_entry(Remembered()),
        ranking=faults[0].ranking,
        faults=faults,
        edges=((TOTAL, ADD, 2), (TEST_ADD, ADD, 1)),
    )


@pytest.fixture
def result() -> Result:
    return two_faults()


@pytest.fixture
def document(result: Result) -> ResultDocument:
    return encode(result)


@pytest.fixture
def read_source() -> ReadSource:
    return {"calc.py": CALC, "test_calc.py": TESTS}.get
