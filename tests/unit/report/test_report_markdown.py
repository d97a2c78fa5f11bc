"""Markdown as it is written. What GitHub makes of it is tested in tests/schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_bayesloc.report.markdown import MAX_BYTES, cell, code, plain, prose, render, size
from tests.unit.report.surfaces import many
from tests.unit.report.test_report_parts import a_fix

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ReadSource, ResultDocument

J = "\N{WORD JOINER}"


def test_comment_answers_first(document: ResultDocument, read_source: ReadSource) -> None:
    lines = render(document, read_source).splitlines()

    assert lines[:9] == [
        "<!-- pytest-bayesloc -->",
        "### bayesloc: 3 failed, 7 passed, 2 faults",
        "",
        "#### Fault 1: 2 tests failed with `AssertionError: assert -1 == 5`",
        "",
        "**`add`, >99 %**, `calc.py:1`: returned -1 for a=2, b=3: in passing tests the result is "
        "never below a",
        "",
        "> line 2, its most suspicious line: `return a - b`",
        "",
    ]
    assert "| 2= | <1 % | 24 % | `calc.py:5` `total` |" in "\n".join(lines)
    assert lines[-5:] == [
        "<details><summary>1 test</summary>",
        "",
        "- `test_calc.py::test_parse`",
        "",
        "</details>",
    ]


def test_long_comment_is_cut_at_a_whole_fault(
    document: ResultDocument, read_source: ReadSource
) -> None:
    big = many(document, 50, 5000)
    for fault in big.faults:
        fault.ranking *= 2
        for row in fault.ranking:
            row.file = row.qualname = "ü" * 300

    text = render(replace(big, partial=["It was stopped."]), read_source)

    shown = text.count("#### Fault")
    assert 0 < shown < 10
    assert text.count("</details>") == shown
    assert f"_{50 - shown} more faults: `--bayesloc-report=html` shows all._" in text
    assert text.endswith("- It was stopped.\n")
    assert size(text) < MAX_BYTES


def test_diff_is_fenced_and_cut(document: ResultDocument, read_source: ReadSource) -> None:
    diff = "--- a\n+++ b\n" + "+```\n" * 60
    document.fixes = [a_fix(document, stage="inspection", verified=False, diff=diff)]

    text = render(document, read_source)

    assert "````diff\n--- a\n+++ b\n+```\n" in text
    assert "\n... 22 more lines\n````\n" in text


def test_fault_without_a_ranking_says_so(document: ResultDocument, read_source: ReadSource) -> None:
    document.faults[0].ranking = []

    assert "No location to rank." in render(document, read_source)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("calc.py:2 add_all - 1.", r"calc.py:2 add\_all - 1."),
        ("@me #12 !3 $x", rf"@{J}me #{J}12 !{J}3 \${J}x"),
        ("GH-12, :bug:, a::b", rf"GH{J}-12, :{J}bug:, a::b"),
        ("http://a www.b", rf"http:{J}//a www{J}.b"),
        ("<b>&amp;[a](b)*`", rf"\<b\>\&{J}amp;\[a\](b)\*\`"),
        ("# no head", r"\# no head"),
        ("1. no list", r"1\. no list"),
        ("x" * 400, "x" * 300 + "..."),
    ],
)
def test_text_is_nothing_but_text(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a | b @me", "`a | b @me`"),
        ("`a`", "`` `a` ``"),
        ("a ``b`` c", "```a ``b`` c```"),
        (" a ", "`  a  `"),
        ("", "` `"),
        ("\x1b\ud800", r"`\x1b\ud800`"),
    ],
)
def test_code_is_shown_as_it_is(text: str, shown: str) -> None:
    assert code(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no code", "no code"),
        ("gave `@me_x`, a_b", r"gave `@me_x`, a\_b"),
        ("`a``b`", f"`a`{J}`b`"),
        ("half ` a", r"half \` a"),
    ],
)
def test_code_in_a_sentence_is_code(text: str, shown: str) -> None:
    assert prose(text) == shown


def test_bars_part_no_cell() -> None:
    assert cell(r"`a|b` \| c") == rf"`a\|b` \{J}\| c"


def test_tests_that_spoil_a_later_one_are_told_with_the_command(
    document: ResultDocument, read_source: ReadSource
) -> None:
    (spoiled,) = document.faults[1].spoiled

    text = render(document, read_source)

    assert text.count("passes alone and fails after") == 1
    assert f"To reproduce it: `{spoiled.command}`" in text


def test_share_of_the_tests_is_a_sentence_of_its_own(
    document: ResultDocument, read_source: ReadSource
) -> None:
    document.faults[0].test_share = 0.12

    lines = render(document, read_source).splitlines()

    assert "The tests themselves may be wrong: 12 %." in lines
