"""Several results as one."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins

from pytest_bayesloc.__main__ import merged, read_result
from pytest_bayesloc.report.encoding import dumps
from tests.unit.report.test_report_parts import remembered

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument


def test_a_fault_of_two_jobs_is_told_once_with_the_tests_of_both(document: ResultDocument) -> None:
    other = copy.deepcopy(document)
    other.faults[0].failing_tests[1] = "test_calc.py::test_more"

    one = merged([("a", document), ("b", other)])

    assert [fault.failing_tests for fault in one.faults] == [
        ["test_calc.py::test_add", "test_calc.py::test_total", "test_calc.py::test_more"],
        ["test_calc.py::test_parse"],
    ]
    assert one.session.n_failed == 2 * document.session.n_failed


def test_that_of_which_more_was_inspected_is_kept(document: ResultDocument) -> None:
    other = copy.deepcopy(document)
    document.inspections = []

    one = merged([("a", document), ("b", other)])

    assert [entry.fault for entry in one.inspections] == [1]


def test_faults_with_another_error_are_others(document: ResultDocument) -> None:
    other = copy.deepcopy(document)
    other.faults[0].error.type = "KeyError"

    one = merged([("a", document), ("b", other)])

    assert [fault.error.type for fault in one.faults] == [
        "AssertionError",
        "KeyError",
        "ValueError",
    ]
    assert [entry.fault for entry in one.inspections] == [1, 2]


def test_calls_are_summed_and_notes_named(document: ResultDocument) -> None:
    document.partial = ["Worker gw1 died."]
    document.memory = remembered(said=["bug b7 is fixed"])

    one = merged([("a", document), ("b", document)])

    assert [edge.calls for edge in one.call_graph.edges] == [4, 2]
    assert one.partial == ["a: Worker gw1 died.", "b: Worker gw1 died."]
    assert one.memory.said == ["a: bug b7 is fixed", "b: bug b7 is fixed"]


def test_what_is_no_result_is_refused(document: ResultDocument) -> None:
    with pytest.raises(ValueError, match=r"b has the schema 'bayesloc/9': expected 'bayesloc/1'"):
        read_result("b", {**to_builtins(document), "schema": "bayesloc/9"})


def test_result_of_a_file_whose_name_is_no_text_is_read(document: ResultDocument) -> None:
    document.faults[0].ranking[0].file = "raw\udcff.py"

    read = read_result("a", json.loads(dumps(document)))

    assert read.faults[0].ranking[0].file == r"raw\udcff.py"
