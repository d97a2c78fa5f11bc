"""Which files are data, and which of them are told first."""

from __future__ import annotations

import pytest

from pytest_bayesloc.history.runs import is_data, named_first


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/rates.json", True),
        ("a/page.HTML", True),
        ("a/mail.txt.j2", True),
        ("a/code.py", False),
        ("a/module.so", False),
        ("a/json", False),
    ],
)
def test_data_is_known_by_the_end_of_its_name(name: str, expected: bool) -> None:
    assert is_data(name) is expected


def test_files_that_the_code_names_come_first() -> None:
    assert named_first(["c.json", "a.json", "b.json"], ["open('b.json')"]) == (
        "b.json",
        "a.json",
        "c.json",
    )
