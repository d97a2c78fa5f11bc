"""The summary of a job and the annotations, as GitHub Actions takes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_bayesloc.report.ci import Checkout, marks
from pytest_bayesloc.report.markdown import FULL, MAX_SUMMARY, summary
from tests.unit.report.surfaces import HERE, HOSTILE, hostile, many, with_file

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ReadSource, ResultDocument

MIB = 1 << 20

SPOILED = (
    "test_late passes alone and fails after test_early (1 of 7 earlier tests matters): it changes "
    "calc.TABLE (in calc.py:14 parse) and 2 more variables"
)


def size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))


def test_marks_name_line_suspect_and_why(document: ResultDocument) -> None:
    assert marks(document, HERE) == [
        "::error file=calc.py,line=2,title=>99 %25 add::>99 %25 likely to be the cause of fault 1 "
        "(2 failing): returned -1 for a=2, b=3: in passing tests the result is never below a. "
        "AssertionError: assert -1 == 5 + where -1 = add(2, 3)",
        "::error file=test_calc.py,line=13,title=62 %25 test_parse::62 %25 likely to be the cause "
        f"of fault 2 (1 failing): handed '' to parse, whose check refused it. {SPOILED}. "
        "ValueError: no text given",
        "::warning file=calc.py,line=14,title=38 %25 parse::38 %25 likely to be the cause of fault "
        f"2 (1 failing): executed by 1 of 1 failing test and 0 of 7 passing tests. {SPOILED}. "
        "ValueError: no text given",
    ]


def test_mark_of_a_project_in_a_subfolder_is_relative_to_the_repository(
    document: ResultDocument,
) -> None:
    below = Checkout(root="/srv", rootdir="/srv/services/api")

    assert marks(document, below)[0].startswith("::error file=services/api/calc.py,line=2,")


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("my  file.py", "my  file.py"),
        ("50%,a:b.py", "50%25%2Ca%3Ab.py"),
        ("grüße.py", "grüße.py"),
        ("raw\udcff.py", "raw\\udcff.py"),
        ("a\n::error::b.py", "a%0A%3A%3Aerror%3A%3Ab.py"),
    ],
)
def test_name_of_a_file_is_escaped(document: ResultDocument, file: str, named: str) -> None:
    assert marks(with_file(document, file), HERE)[0].startswith(f"::error file={named},line=")


def test_file_outside_of_the_repository_is_not_marked(document: ResultDocument) -> None:
    assert marks(with_file(document, "/usr/lib/x.py"), HERE) == []


def test_foreign_text_makes_no_command_of_its_own(document: ResultDocument) -> None:
    found = marks(hostile(document), HERE)

    assert found
    for line in found:
        assert line.splitlines() == [line]
        assert re.match(r"::(error|warning) file=[^:,]+,line=\d+,title=[^:,]+::[^:]", line)
        assert not re.search(r"%(?!25|3A|2C|0A|0D)", line)


def test_ten_marks_of_a_level_at_most(document: ResultDocument) -> None:
    faults = many(document, 30, 1).faults
    for i, fault in enumerate(faults):
        rows = fault.ranking[:2]
        for row, posterior in zip(rows, (0.6, 0.4), strict=True):
            row.file, row.posterior = f"{row.qualname}{i}.py", posterior
        fault.ranking = rows

    found = marks(replace(document, faults=faults), HERE)

    assert [line.split()[0] for line in found] == ["::error"] * 10 + ["::warning"] * 10
    assert [line.split()[1].split(",")[0] for line in found][:2] == ["file=add0.py", "file=add1.py"]


def test_line_that_faults_share_is_marked_once_for_the_first_of_them(
    document: ResultDocument,
) -> None:
    shared, other = document.faults

    found = marks(replace(document, faults=[*[shared] * 12, other]), HERE)

    assert [re.findall(r"file=.*,line=\d+|fault \d+", line) for line in found] == [
        ["file=calc.py,line=2", "fault 1"],
        ["file=test_calc.py,line=13", "fault 13"],
        ["file=calc.py,line=14", "fault 13"],
    ]


def test_line_of_an_unlikely_second_is_not_marked(document: ResultDocument) -> None:
    document.faults[1].ranking[1].posterior = 0.09

    assert [line.split("title=")[1].split("::")[0] for line in marks(document, HERE)] == [
        ">99 %25 add",
        "62 %25 test_parse",
    ]


def test_long_message_is_cut(document: ResultDocument) -> None:
    document.faults[0].ranking[0].evidence[0].why = "w" * 2000

    assert len(marks(document, HERE)[0]) < 1200


def test_summary_of_a_run_of_thousands_of_failures_is_below_a_mebibyte(
    document: ResultDocument, read_source: ReadSource
) -> None:
    text = summary(many(document, 50, 2000), read_source, "")

    assert size(text) < MIB
    assert "#### Fault 10:" in text
    assert "_40 more faults:" in text


@pytest.mark.parametrize("left", [20_000, 9_000])
def test_summary_is_cut_where_the_step_has_written_much(
    document: ResultDocument, read_source: ReadSource, left: int
) -> None:
    before = "ü" * ((MAX_SUMMARY - left) // 2)

    text = summary(many(document, 50, 2000), read_source, before)

    assert size(before + text) < MIB
    assert "`--bayesloc-report=html` shows all" in text
    assert (text == FULL) == (left == 9_000)


def test_summary_that_is_full_is_not_added_to(
    document: ResultDocument, read_source: ReadSource
) -> None:
    with pytest.raises(ValueError, match="nothing is left"):
        summary(document, read_source, "x" * MAX_SUMMARY)


def test_summary_begins_on_a_line_of_its_own(
    document: ResultDocument, read_source: ReadSource
) -> None:
    assert summary(document, read_source, "earlier").startswith("\n<!--")
    assert summary(document, read_source, "earlier\n").startswith("<!--")
    assert summary(hostile(document), lambda _: None, "").count(HOSTILE) == 0
