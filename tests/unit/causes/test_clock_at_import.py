from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.causes.asked import clock_at_import


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("TODAY = date.today()", {"TODAY"}),
        ("START, N = time.time(), 3", {"START", "N"}),
        ("def age(born, today=date.today()):\n    return today - born", {"age"}),
        ("class Contract:\n    signed = datetime.now(UTC)", {"Contract"}),
        ("if True:\n    YEAR = time.localtime().tm_year", {"YEAR"}),
    ],
)
def test_names_hold_what_was_read_at_import(code: str, names: set[str]) -> None:
    ((_, found),) = clock_at_import(ast.parse(code).body)

    assert found == names


@pytest.mark.parametrize(
    "code",
    [
        "def age(born):\n    return date.today() - born",
        "OPENS = time(8, 30)",
        "now = lambda: datetime.now()",
        "class Clock:\n    def read(self):\n        return time.time()",
    ],
)
def test_clock_that_is_read_when_called_is_another_matter(code: str) -> None:
    assert not [*clock_at_import(ast.parse(code).body)]
