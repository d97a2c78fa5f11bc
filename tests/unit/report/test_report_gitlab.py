"""GitLab's code quality report: the fields that GitLab's documentation asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_bayesloc.report.ci import Checkout, to_gitlab
from pytest_bayesloc.report.encoding import dumps
from tests.unit.report.surfaces import HERE, hostile, with_file

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument


def test_entry_says_what_where_and_how_severe(document: ResultDocument) -> None:
    first = to_gitlab(document, HERE)[0]

    assert first.pop("fingerprint")
    assert first == {
        "check_name": "bayesloc",
        "description": "add is >99 % likely to be the cause of fault 1 (2 failing): returned -1 "
        "for a=2, b=3: in passing tests the result is never below a. AssertionError: assert -1 == "
        "5 + where -1 = add(2, 3)",
        "severity": "critical",
        "location": {"path": "calc.py", "lines": {"begin": 2}},
    }


@pytest.mark.parametrize(
    ("posterior", "severity"),
    [(1.0, "critical"), (0.9, "critical"), (0.5, "major"), (0.1, "minor"), (0.0, "info")],
)
def test_severity_is_that_of_the_probability(
    document: ResultDocument, posterior: float, severity: str
) -> None:
    document.faults[0].ranking[0].posterior = posterior

    assert to_gitlab(document, HERE)[0]["severity"] == severity


def test_path_is_relative_to_the_repository_without_a_dot(document: ResultDocument) -> None:
    below = Checkout(root="/srv", rootdir="/srv/api")
    inside, outside = with_file(document, "./a b.py"), with_file(document, "/usr/lib/x.py")

    assert to_gitlab(inside, below)[0]["location"]["path"] == "api/a b.py"  # type: ignore[index]
    assert to_gitlab(outside, below) == []


def test_report_of_nothing_is_an_empty_list(document: ResultDocument) -> None:
    assert to_gitlab(replace(document, faults=[]), HERE) == []


def test_hostile_text_is_written_as_ascii_that_any_reader_takes(document: ResultDocument) -> None:
    text = dumps(to_gitlab(hostile(document), HERE))

    assert text.isascii()
    for entry in json.loads(text):
        assert json.dumps(entry, ensure_ascii=False).encode()  # no lone surrogate
