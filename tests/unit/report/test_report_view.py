"""The view of a result: what a person is shown, in words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from pytest_bayesloc.domain.failure import CauseKind
from pytest_bayesloc.report.document import (
    BeliefEntry,
    BreakingChangeEntry,
    FlakyEntry,
    ReadSource,
    RememberedCauseEntry,
    ResultDocument,
)
from pytest_bayesloc.report.html import BOTTOM, LABEL_GAP, TOP, belief_chart
from pytest_bayesloc.report.text import percent
from pytest_bayesloc.report.view import MAX_SHOWN, faults_of, hot_line, sources_of
from pytest_bayesloc.report.words import all_flaky_words, name_of, said_of, telling
from tests.unit.report.test_report_parts import a_cause


def step(**beliefs: float) -> list[BeliefEntry]:
    return [
        BeliefEntry(
            file="calc.py", start_line=1, end_line=2, qualname=name, is_test=False, posterior=p
        )
        for name, p in beliefs.items()
    ]


def test_a_reason_that_says_nothing_is_not_shown(
    document: ResultDocument, read_source: ReadSource
) -> None:
    evidence = document.faults[0].ranking[0].evidence[0]
    assert telling(faults_of(document, read_source)[0].rows[0])
    evidence.p_if_faulty = 1.04 * evidence.p_if_clean

    assert telling(faults_of(document, read_source)[0].rows[0]) == []


def test_share_of_the_tests_that_is_hardly_any_is_not_told(
    document: ResultDocument, read_source: ReadSource
) -> None:
    document.faults[0].test_share = 0.001

    assert faults_of(document, read_source)[0].or_test == ""


def test_evidence_without_words_is_named_after_its_outcome(
    document: ResultDocument, read_source: ReadSource
) -> None:
    evidence = document.faults[0].ranking[0].evidence[0]
    evidence.why, evidence.outcome = "", "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES"

    (why,) = telling(faults_of(document, read_source)[0].rows[0])

    assert said_of(why) == "target assertion failed, but is excused"


@pytest.mark.parametrize(
    ("tests", "label"),
    [(["test_calc.py::test_add"], "the breaking change"), ([], "changed since the tests passed")],
)
def test_every_reader_is_led_to_the_line_that_changed(
    document: ResultDocument, read_source: ReadSource, tests: list[str], label: str
) -> None:
    fault = document.faults[0]
    first, second = fault.ranking[:2]
    fault.breaking_changes = [
        BreakingChangeEntry(
            location=first,
            first_line=1,
            last_line=1,
            diff="",
            tests=tests,
            n_tried=1,
            n_changes=1,
            is_smallest=True,
        )
    ]

    assert hot_line(first, fault) == (1, label)
    assert hot_line(second, fault)[1] != label
    assert ("read calc.py:1", "") in list(faults_of(document, read_source)[0].next_steps)


@pytest.mark.parametrize("lacking", ["location", "values"])
def test_values_of_another_function_or_of_none_are_not_shown(
    document: ResultDocument, read_source: ReadSource, lacking: str
) -> None:
    nearest = document.faults[0].nearest_call
    assert faults_of(document, read_source)[0].nearest_call
    other = {"location": document.faults[0].ranking[1], "values": {}}
    setattr(nearest, lacking, other[lacking])

    assert faults_of(document, read_source)[0].nearest_call is None


def test_lines_around_stand_below_the_first_one(document: ResultDocument) -> None:
    row = document.faults[0].ranking[0]
    row.start_line, row.end_line = 2, 20
    row.lines[0].line = 10

    shown = faults_of(document, lambda _: "".join(f"    x = {n}\n" for n in range(1, 30)))[0]

    assert [number for number, _ in shown.excerpt] == [2, 7, 8, 9, 10, 11, 12, 13]
    assert shown.excerpt[0] == (2, "x = 2")


def test_a_suspect_of_two_faults_has_one_listing_with_its_highest_place(
    document: ResultDocument, read_source: ReadSource
) -> None:
    sources = list(sources_of(document.faults, read_source))

    listed = [(name_of(row), percent(row.posterior)) for row, _ in sources]
    assert listed == [
        ("add", ">99 %"),
        ("test_parse", "62 %"),
        ("total", "<1 %"),
        ("parse", "38 %"),
        ("test_add", "0 %"),
    ]


def test_a_line_that_is_listed_twice_is_anchored_once(
    document: ResultDocument, read_source: ReadSource
) -> None:
    module = document.faults[0].ranking[1]
    module.qualname, module.start_line, module.end_line = "<module>", 1, 15

    sources = list(sources_of(document.faults, read_source))

    anchors = [anchor for _, lines in sources for _, _, anchor, _ in lines or () if anchor]
    assert "calc.py:2" in anchors
    assert len(anchors) == len(set(anchors))


@pytest.mark.parametrize("hot", [1, 250, 500])
def test_of_a_long_location_the_part_around_the_hottest_line_is_listed(
    document: ResultDocument, hot: int
) -> None:
    row = document.faults[0].ranking[0]
    row.end_line = 500
    row.lines[0].line = hot

    lines = next(sources_of(document.faults, lambda _: "x\n" * 500))[1]

    assert lines is not None
    assert len(lines) == MAX_SHOWN
    assert hot in {number for number, *_ in lines}


def test_a_belief_that_never_moved_has_no_chart() -> None:
    assert belief_chart([step(add=0.5)], 0.9) is None
    assert belief_chart([step(add=0.5), step(add=0.501)], 0.9) is None


def test_a_chart_draws_probability_upward() -> None:
    drawn = belief_chart([step(add=0.0, total=1.0), step(add=1.0, total=0.0)], 0.9)

    assert drawn is not None
    first, second = drawn["series"]
    assert [y for _, y in first["dots"]] == [BOTTOM, TOP]
    assert [y for _, y in second["dots"]] == [TOP, BOTTOM]
    assert (first["first"], first["last"]) == ("0 %", "100 %")


def test_labels_of_a_chart_do_not_touch() -> None:
    drawn = belief_chart([step(a=0.2, b=0.2, c=0.2), step(a=0.01, b=0.01, c=0.0)], 0.9)

    assert drawn is not None
    heights = sorted(series["label_y"] for series in drawn["series"])
    assert heights[1] - heights[0] >= LABEL_GAP
    assert heights[2] - heights[1] >= LABEL_GAP


def test_a_suspect_that_dropped_out_ends_where_it_was_last_seen() -> None:
    drawn = belief_chart([step(add=0.5, total=0.3), step(add=0.6, total=0.1), step(add=0.9)], 0.9)

    assert drawn is not None
    add, total = drawn["series"]
    assert (len(add["dots"]), len(total["dots"])) == (3, 2)
    assert total["label_x"] < add["label_x"]


def test_a_long_search_has_ten_ticks_or_so() -> None:
    drawn = belief_chart([step(add=0.5)] * 100 + [step(add=0.6)], 0.9)

    assert drawn is not None
    assert [label for _, label in drawn["x_ticks"]][:3] == ["start", "10", "20"]
    assert len(drawn["x_ticks"]) == 11


# -- what is remembered of flaky tests


def flaky(**more: Any) -> FlakyEntry:  # noqa: ANN401 - any fields
    entry = FlakyEntry(
        fault=1, test="test_calc.py::test_add", n_failed=3, n_outcomes=12, low=0.089, high=0.532,
        is_same_code=True, passed_again=False, environment="", since="2026-11-20T10:00:00",
    )  # fmt: skip
    return replace(entry, **more)


@pytest.mark.parametrize(
    ("n_failed", "entries"),
    [(2, [flaky()]), (2, [flaky(), flaky()]), (0, [])],
    ids=["one of two", "one twice", "nothing failed"],
)
def test_run_is_not_said_to_be_flaky_unless_all_failures_are(
    document: ResultDocument, n_failed: int, entries: list[FlakyEntry]
) -> None:
    document.session.n_failed, document.memory.flaky = n_failed, entries

    assert all_flaky_words(document) == ""


def test_remembered_cause_gives_way_to_one_that_was_found_now(
    document: ResultDocument, read_source: ReadSource
) -> None:
    cause = a_cause(CauseKind.CLOCK, "add reads the clock")
    document.memory.causes = [
        RememberedCauseEntry(fault=1, test="t", found_at="2026-11-20T10:00:00", cause=cause)
    ]
    (first, *_) = faults_of(document, read_source)

    assert first.known == ["Cause found on 2026-11-20: add reads the clock"]
    document.faults[0].cause = cause
    assert first.known == []
