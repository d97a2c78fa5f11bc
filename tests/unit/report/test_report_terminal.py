"""The terminal gets the answer in a few lines."""

from __future__ import annotations

import copy
from fnmatch import fnmatchcase
from typing import Any

import pytest

from pytest_bayesloc.report.terminal import brief, full
from pytest_bayesloc.report.text import Line, columns


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def matching(lines: list[Line], pattern: str) -> list[str]:
    return [line.text for line in lines if fnmatchcase(line.text, pattern)]


def test_the_first_row_names_the_suspect(document: dict[str, Any]) -> None:
    assert matching(full(document), "* 1 *>99 %*0.88*calc.py:1 add")
    assert matching(brief(document), "* 1 *>99 %*0.88*calc.py:1 add")


def test_rows_that_tie_share_a_rank_with_an_equals_sign(document: dict[str, Any]) -> None:
    rows = matching(full(document), "* 2= *")

    assert [row.split()[-1] for row in rows] == ["total", "parse"]


def test_a_test_among_the_suspects_is_marked(document: dict[str, Any]) -> None:
    (row,) = matching(full(document), "* 1 *test_parse*")

    assert row.endswith("test_calc.py:12 test_parse [test]")


def test_a_fault_says_what_failed_and_where_the_error_stands(document: dict[str, Any]) -> None:
    lines = texts(full(document))

    assert lines[:2] == [
        "fault 1: 2 tests failed with AssertionError: assert -1 == 5",
        "  likely cause: the code under test: a result was wrong at test_calc.py:5",
    ]
    assert "  likely cause: the test's data: a check rejected a value at calc.py:14" in lines


def test_a_suspect_says_why(document: dict[str, Any]) -> None:
    lines = texts(full(document))

    start = lines.index("why calc.py:1 add")
    assert lines[start + 1].split(maxsplit=1) == [
        "x19",
        "returned -1 for a=2, b=3: in passing tests the result is never below a",
    ]


def test_a_long_reason_goes_on_in_the_next_lines_up_to_three(document: dict[str, Any]) -> None:
    document["faults"][0]["ranking"][0]["evidence"][0]["why"] = "word " * 60

    lines = texts(full(document, width=60))

    start = next(n for n, line in enumerate(lines) if "word" in line)
    assert [line.startswith("          word word") for line in lines[start : start + 4]] == [
        False,
        True,
        True,
        False,
    ]
    assert lines[start + 2].endswith("...")


def test_the_end_tells_the_time_and_where_the_reports_lie(document: dict[str, Any]) -> None:
    assert texts(full(document, reports={"html": "out/report.html"}))[-3:] == [
        "time: collect <0.01 s, inspect 1.25 s",
        "reproduce: pytest test_calc.py::test_early test_calc.py::test_late",
        "report: html out/report.html",
    ]


def test_what_is_missing_is_said(document: dict[str, Any]) -> None:
    document["partial"] = ["Worker gw1 died."]

    assert "partial: Worker gw1 died." in texts(full(document))


def test_flaky_tests_are_named(document: dict[str, Any]) -> None:
    assert matching(full(document), "*passed when re-run as they were: test_calc.py::test_so*")


def test_test_that_earlier_ones_spoil_is_explained_with_the_command(
    document: dict[str, Any],
) -> None:
    lines = texts(full(document, width=300))

    assert (
        "  test_late passes alone and fails after test_early (1 of 7 earlier tests matters): it "
        "leaves calc.TABLE changed, written by calc.py:14 parse and 2 more variables" in lines
    )
    assert "reproduce: pytest test_calc.py::test_early test_calc.py::test_late" in lines


def test_spoilers_that_were_not_narrowed_down_are_told_as_such(document: dict[str, Any]) -> None:
    (spoiled,) = document["faults"][1]["spoiled"]
    spoiled.update(after=[f"t.py::t{n}" for n in range(5)], is_smallest=False, state=[])

    assert (
        "  test_late passes alone and fails after t0, t1, t2 and 2 more (5 of 7 earlier tests, not "
        "narrowed down further: the time was up)" in texts(full(document, width=300))
    )


def test_a_ranking_shows_ten_rows_and_counts_the_rest(document: dict[str, Any]) -> None:
    fault = document["faults"][0]
    fault["ranking"] = [{**fault["ranking"][0], "rank": n, "evidence": []} for n in range(1, 1001)]

    lines = full(document)

    assert matching(lines, "* 10 *add")
    assert not matching(lines, "* 11 *add")
    assert "      990 more in the report" in texts(lines)


def test_many_faults_are_summed_up_in_one_line(document: dict[str, Any]) -> None:
    document["faults"] = [copy.deepcopy(document["faults"][0]) for _ in range(100)]

    lines = full(document, width=60)

    assert len(matching(lines, "fault *")) == 3
    assert matching(lines, "and 97 more, in the report: AssertionError*...")
    assert len(lines) < 60


def test_brief_is_five_lines_and_leads_on(document: dict[str, Any]) -> None:
    lines = texts(brief(document))

    assert len(lines) == 5
    assert "bayesloc" in lines[0]
    assert lines[-1].endswith("pytest --bayesloc")


def test_brief_is_silent_without_a_suspect(document: dict[str, Any]) -> None:
    document["ranking"] = []

    assert brief(document) == []


def test_a_run_without_faults_says_so(document: dict[str, Any]) -> None:
    document["faults"] = []

    assert texts(full(document))[0] == "bayesloc: nothing to localize."


@pytest.mark.parametrize("width", [30, 60, 80])
def test_no_line_is_wider_than_the_terminal(document: dict[str, Any], width: int) -> None:
    document["faults"][0]["error"]["message"] = "語" * 300

    lines = full(document, width=width)

    fitted = [line.text for line in lines if not line.text.startswith("reproduce: ")]
    assert max(map(columns, fitted)) <= width


def test_the_path_of_a_report_is_never_cut(document: dict[str, Any]) -> None:
    lines = full(document, width=30, reports={"html": "x" * 200})

    assert texts(lines)[-1] == f"report: html {'x' * 200}"


def test_leading_folders_give_way_before_the_name_does(document: dict[str, Any]) -> None:
    row = document["faults"][0]["ranking"][0]
    row["file"] = "a/rather/deeply/nested/package/of/modules/calc.py"

    lines = full(document, width=46)

    assert matching(lines, "* 1 *.../modules/calc.py:1 add")
    assert "why .../package/of/modules/calc.py:1 add" in texts(lines)


def test_a_message_cannot_steer_the_terminal(document: dict[str, Any]) -> None:
    document["faults"][0]["error"]["message"] = "\x1b[2J\x07gone"

    assert texts(full(document))[0].endswith(r"AssertionError: \x1b[2J\x07gone")


def test_the_answer_stands_out(document: dict[str, Any]) -> None:
    title = full(document)[0]

    assert title.markup == {"bold": True, "red": True}


def test_how_much_is_told_goes_by_verbosity(document: dict[str, Any]) -> None:
    told = {v: texts(full(document, verbosity=v)) for v in (-2, -1, 0, 1, 2)}

    lengths = [len(lines) for lines in told.values()]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[1] < lengths[2] < lengths[3]
    assert "calc.py:1 add" in " ".join(told[-2])
    assert not [line for line in told[-2] if line.startswith("why ")]
    (step,) = [line for line in told[1] if line.startswith("inspected ")]
    assert step.startswith("inspected calc.py:1 add, assertions: target assertion failed")
