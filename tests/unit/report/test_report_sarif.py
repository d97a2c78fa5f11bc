"""SARIF: what code scanning shows. That it conforms is tested in tests/schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.report.ci import to_sarif
from tests.unit.report.surfaces import HERE, with_file

if TYPE_CHECKING:
    from pytest_bayesloc.report.ci import Checkout
    from pytest_bayesloc.report.document import ResultDocument


def results(document: ResultDocument, checkout: Checkout = HERE) -> list[dict[str, Any]]:
    log: dict[str, Any] = to_sarif(document, checkout, "1.0")
    found: list[dict[str, Any]] = log["runs"][0]["results"]
    return found


def test_rank_is_the_probability_in_per_cent(document: ResultDocument) -> None:
    assert [result["rank"] for result in results(document)] == [99.44, 62.0, 38.0]


@pytest.mark.parametrize(
    ("posterior", "level"), [(0.5, "error"), (0.49, "warning"), (0.1, "warning"), (0.01, "note")]
)
def test_level_is_that_of_the_probability(
    document: ResultDocument, posterior: float, level: str
) -> None:
    document.faults[0].ranking[0].posterior = posterior

    assert results(document)[0]["level"] == level


def test_fault_of_a_test_has_a_rule_of_its_own(document: ResultDocument) -> None:
    rules = [result["ruleId"] for result in results(document)]

    assert rules == ["bayesloc/code", "bayesloc/test", "bayesloc/code"]


def test_place_is_the_line_within_its_function(document: ResultDocument) -> None:
    physical = results(document)[0]["locations"][0]["physicalLocation"]

    assert physical["artifactLocation"] == {"uri": "calc.py", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 2}
    assert physical["contextRegion"] == {"startLine": 1, "endLine": 2}


def test_flow_is_the_call_path_from_the_test_to_the_error(document: ResultDocument) -> None:
    (flow,) = results(document)[1]["codeFlows"]
    (thread,) = flow["threadFlows"]
    steps = [
        (
            step["nestingLevel"],
            step["location"]["physicalLocation"]["artifactLocation"]["uri"],
            step["location"]["physicalLocation"]["region"]["startLine"],
            step["location"]["message"]["text"],
        )
        for step in thread["locations"]
    ]

    assert steps == [(0, "test_calc.py", 13, "test_parse"), (1, "calc.py", 14, "parse")]


def test_failure_without_a_traceback_has_no_flow(document: ResultDocument) -> None:
    document.faults[0].failures[0].frames = []

    assert "codeFlows" not in results(document)[0]


def test_file_outside_of_the_repository_is_absolute(document: ResultDocument) -> None:
    physical = results(with_file(document, "/usr/lib/x.py"))[0]["locations"][0]["physicalLocation"]

    assert physical["artifactLocation"] == {"uri": "file:///usr/lib/x.py"}


def test_parameters_of_a_test_make_no_link(document: ResultDocument) -> None:
    document.faults[0].error.message = "[here](http://a.example)"

    assert "[here] (http" in results(document)[0]["message"]["text"]
