"""Numbers for people never claim more than is so."""

from __future__ import annotations

import pytest

from pytest_bayesloc.report.text import columns, fit, one_line, percent, ratio, score, seconds, wrap


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "0 %"),
        (1e-9, "<1 %"),
        (0.0099, "<1 %"),
        (0.01, "1 %"),
        (0.475, "48 %"),
        (0.99, "99 %"),
        (0.9901, ">99 %"),
        (1 - 1e-9, ">99 %"),
        (1.0, "100 %"),
    ],
)
def test_zero_and_a_hundred_percent_are_exact(p: float, text: str) -> None:
    assert percent(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00"), (0.001, "0.01"), (0.666, "0.67"), (0.999, "0.99"), (1.0, "1.00")],
)
def test_a_score_of_one_is_exact(value: float, text: str) -> None:
    assert score(value) == text


@pytest.mark.parametrize(
    ("faulty", "clean", "text"),
    [
        (0.94, 0.1, "x9.4"),
        (0.95, 0.05, "x19"),
        (0.45, 0.54, "x0.83"),
        (0.5, 0.5, "x1"),
        (0.001, 0.9, "x<0.01"),
        (0.5, 0.0, "x?"),
    ],
)
def test_a_likelihood_ratio_has_two_digits(faulty: float, clean: float, text: str) -> None:
    assert ratio(faulty, clean) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00 s"), (0.004, "<0.01 s"), (1.254, "1.25 s"), (75.2, "75 s"), (125, "2 min 5 s")],
)
def test_a_duration_has_the_digits_that_matter(value: float, text: str) -> None:
    assert seconds(value) == text


def test_foreign_text_is_one_line_without_control_characters() -> None:
    assert one_line("a\n \tb\x1b[31m\u202ec\udcff") == "a b\\x1b[31m\\u202ec\\udcff"


def test_text_is_cut_by_the_columns_it_takes() -> None:
    assert columns("日本 e\u0301") == 6
    assert fit("日本語の名前", 8) == "日本..."
    assert fit("日本語の", 8) == "日本語の"


def test_both_ends_of_a_long_name_are_kept() -> None:
    assert fit("in test_total_of_some", 15) == "in test..._some"
    assert wrap("calls test_total_of_some and test_total_of_others", 20, 2) == [
        "calls test..._some",
        "and test...thers",
    ]
