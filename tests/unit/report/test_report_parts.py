"""Parts of the page: tracebacks, the memory, the picture of the calls, what to do now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import convert, structs

from pytest_bayesloc.domain.failure import Frame
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.report.document import (
    MAX_FAILURES,
    CallEntry,
    CauseEntry,
    FixEntry,
    MemoryEntry,
    MonthEntry,
    ReadSource,
    ResultDocument,
)
from pytest_bayesloc.report.encoding import encode
from pytest_bayesloc.report.html import MAX_NODES, NODE_HEIGHT, NODE_WIDTH, call_graph, render
from pytest_bayesloc.report.memory import advice_lines, curves, month_rows, trial_lines
from pytest_bayesloc.report.view import faults_of
from pytest_bayesloc.report.words import caution as caution_of
from pytest_bayesloc.report.words import failure_groups, name_of, reached, tracebacks
from tests.unit.report.conftest import code_fault

if TYPE_CHECKING:
    from pytest_bayesloc.domain.failure import CauseKind
    from pytest_bayesloc.report.encoding import Result


def foreign(line: int) -> Frame:
    return Frame(file="/lib/json.py", line=line, name="loads", first_line=1, in_app=False)


def remembered(**more: object) -> MemoryEntry:
    like = {
        "bug": "b0", "project": "", "score": 0.9, "why": "same error", "state": "resolved",
        "seen_at": "2026-10-02T10:00:00", "signature": "", "root_cause": "a sign",
        "strategy": "add instead of subtract", "insight": "", "failed": [], "notes": [],
    }  # fmt: skip
    advice = {
        "fault": 1, "bug": "b1", "said": "seen 3 times", "lies": "in the code", "guard": "",
        "similar": [like], "failed_strategies": ["rounded the result"],
        "constraints": ["prices are in cents"], "notes": [],
    }  # fmt: skip
    trial = {
        "number": 1, "made_at": "2026-11-03T09:30:12", "outcome": "failed", "plan": "round it",
        "functions": ["calc.py add"], "diff": "-    return a - b\n+    return round(a - b)\n",
        "error": "assert <int> == <int>", "metric": 0.5, "why": "", "strategy": "",
        "lesson": "not a matter of rounding", "cause": "",
    }  # fmt: skip
    record = {
        "id": "b1", "state": "open", "tests": [], "signature": "", "category": "LOGIC_ERROR",
        "hypothesis": "", "plan": "", "created_at": "2026-11-01T08:00:00", "completed_at": None,
        "root_cause": "", "trials": [trial], "notes": [],
    }  # fmt: skip
    memory = {
        "said": [], "records": [record], "advice": [advice], "loops": [], "months": [],
        "world_model": {}, **more,
    }  # fmt: skip
    return convert(memory, MemoryEntry)


# -- how tests failed


def test_tests_with_one_error_stand_together(document: ResultDocument) -> None:
    fault = document.faults[0]
    for failure, got in zip(fault.failures, ("-1", "-7"), strict=True):
        failure.message, failure.masked = f"assert {got} == 5", "assert <int> == <int>"

    ((error, n_tests, failures),) = failure_groups(fault)

    assert (error, n_tests) == ("AssertionError: assert -1 == 5", "2 tests")
    assert [failure.message for failure in failures] == ["assert -1 == 5", "assert -7 == 5"]


def test_frames_outside_of_the_project_are_counted_only(result: Result) -> None:
    fault = code_fault()
    failure = fault.failures[0]
    frames = (foreign(1), *failure.frames, foreign(2), foreign(3))
    long = replace(fault, failures=(replace(failure, frames=frames),))

    entry = encode(replace(result, faults=(long,))).faults[0].failures[0]

    ((_, shown),) = tracebacks(entry)
    assert [where or name for where, name in shown] == [
        "1 frame outside of the project",
        "test_calc.py:5",
        "2 frames outside of the project",
    ]


def test_an_exception_raised_from_another_brings_both_tracebacks(document: ResultDocument) -> None:
    failure = document.faults[0].failures[0]
    failure.causes = [failure.frames]

    assert [bool(heading) for heading, _ in tracebacks(failure)] == [False, True]


def test_a_test_tells_which_suspects_it_executes(document: ResultDocument) -> None:
    failure = document.faults[0].failures[0]
    failure.executed = [0]
    rows = document.faults[0].ranking[:2]

    assert reached(failure, rows) == [("add", True), ("total", False)]


def test_of_many_failing_tests_the_first_are_told_in_detail(result: Result) -> None:
    fault = code_fault()
    many = replace(fault, failures=fault.failures * MAX_FAILURES, reached=((0, 2),))

    told = encode(replace(result, faults=(many,))).faults[0].failures

    assert len(told) == MAX_FAILURES
    assert [entry.executed for entry in told[:2]] == [[0, 2], []]


# -- the memory


def test_a_trial_tells_what_was_meant_done_and_learned(
    document: ResultDocument, read_source: ReadSource
) -> None:
    document.memory = remembered()

    page_text = render(document, read_source)

    assert "open, since 2026-11-01" in page_text
    assert "<b>2026-11-03 09:30</b> failed; 50 % of its tests pass" in page_text
    assert '<span class="del">-    return a - b</span>' in page_text
    assert dict(trial_lines(document.memory.records[0].trials[0])) == {
        "meant to": "round it",
        "edited": "calc.py add",
        "then": "assert <int> == <int>",
        "lesson": "not a matter of rounding",
    }


# -- the calls


def test_lesson_of_a_similar_bug_is_told_once() -> None:
    memory = remembered(world_model={"insights": ["mind the sign", "mind the unit"]})
    memory.advice[0].similar[0].insight = "mind the sign"

    lines = [line.text.strip() for line in advice_lines(memory, in_full=True)]

    assert [line for line in lines if "mind" in line] == [
        "lesson: mind the sign",
        "insight: mind the unit",
    ]


def test_callers_stand_above_what_they_call(document: ResultDocument) -> None:
    drawn = call_graph(document)

    assert drawn is not None
    nodes = {name_of(node["place"]): node for node in drawn["nodes"]}
    assert nodes["total"]["y"] + NODE_HEIGHT < nodes["add"]["y"]
    assert (nodes["add"]["belief"], nodes["add"]["level"]) == (">99 %", 4)
    assert len(drawn["edges"]) == len(document.call_graph.edges)


def test_no_two_functions_of_the_picture_overlap(document: ResultDocument) -> None:
    edge = document.call_graph.edges[0]
    document.call_graph.edges = [
        structs.replace(edge, callee=structs.replace(edge.callee, start_line=n))
        for n in range(10, 60)
    ]

    drawn = call_graph(document)

    assert drawn is not None
    assert len(drawn["nodes"]) == MAX_NODES
    assert drawn["n_hidden"] == 51 - MAX_NODES
    corners = [(node["x"], node["y"]) for node in drawn["nodes"]]
    assert not [
        (a, b)
        for i, a in enumerate(corners)
        for b in corners[:i]
        if abs(a[0] - b[0]) < NODE_WIDTH and abs(a[1] - b[1]) < NODE_HEIGHT
    ]


@pytest.mark.parametrize("n", [0, 1])
def test_without_calls_between_functions_nothing_is_drawn(document: ResultDocument, n: int) -> None:
    known = document.call_graph.edges[0].callee
    document.call_graph.edges = [CallEntry(caller=known, callee=known, calls=1)] * n

    assert call_graph(document) is None


# -- what to do now


def a_cause(kind: CauseKind, text: str, advice: str = "") -> CauseEntry:
    """A cause of which nothing but its words is known."""
    return CauseEntry(
        kind=kind, text=text, advice=advice, location=None, line=0, after=[], state="", command=""
    )


def a_fix(document: ResultDocument, **more: Any) -> FixEntry:  # noqa: ANN401 - any fields
    """A verified change of the first suspect; ``more`` says otherwise."""
    entry = FixEntry(
        fault=1, step=None, tool="misspelt-name", stage="tool", level=Level.SAFE,
        target=document.ranking[0], words="it is `width`", diff="-a\n+b\n", verified=True,
        n_failing=2, n_passing=5, checked=[], seconds=0.1, worth=0.5,
        patch_file=".bayesloc/fixes/1.patch", applied=False, doubt=None,
    )  # fmt: skip
    return structs.replace(entry, **more)


@pytest.mark.parametrize(
    ("tool", "caution"),
    [
        ("swapped-operands", "It may treat the symptom"),
        ("take-back", "It loses what the change was to do."),
    ],
)
def test_what_inspections_came_across_is_shown_with_a_caution(
    document: ResultDocument, tool: str, caution: str
) -> None:
    found = a_fix(document, stage="inspection", tool=tool, patch_file=None)

    assert caution_of(found).startswith(caution)


def test_a_verified_change_is_the_first_thing_to_do(
    document: ResultDocument, read_source: ReadSource
) -> None:
    document.fixes = [a_fix(document)]

    first, second = faults_of(document, read_source)

    (_, apply), (read, _), *_ = first.next_steps
    assert (apply, read) == ("git apply .bayesloc/fixes/1.patch", "read calc.py:2")
    assert [text for text, _ in second.next_steps] == [
        "reproduce it",
        "begin at test_calc.py:13",
        "then calc.py:12 parse",
        "test your change",
    ]
    assert list(second.next_steps)[-1][1] == "pytest test_calc.py::test_parse"


def test_a_fix_that_was_applied_is_not_to_be_applied_again(
    document: ResultDocument, read_source: ReadSource
) -> None:
    document.fixes = [a_fix(document, applied=True)]

    first, _ = faults_of(document, read_source)

    assert next(first.next_steps)[0] == "read calc.py:2"


def test_months_are_told_in_figures_and_lines() -> None:
    first = MonthEntry(month="2026-10", n_bugs=4, fixed=0.5, trials=2.0, hours=None)
    better = structs.replace(first, month="2026-11", n_bugs=2, fixed=1.0, trials=0.0)

    months = [first, better]

    assert month_rows(months) == [
        ("2026-10", "4", "50 %", "2", "-"),
        ("2026-11", "2", "100 %", "0", "-"),
    ]
    assert [(name, points) for name, _, _, points in curves(months)] == [
        ("bugs", "0,0 160,18"),
        ("fixed", "0,18 160,0"),
        ("failed trials until fixed", "0,0 160,36"),
    ]
