"""Questions about the last failed run, asked on the command line."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.pipeline.questions import QUESTIONS, Questions
from pytest_bayesloc.pipeline.result_questions import QuestionError
from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

ASK = ("-m", "pytest_bayesloc", "ask")
FILES = {
    "shop.py": """
        TOKEN = "sk-proj-1234567890abcdefghij"


        def net(price, rate):
            return price * rate


        def total(prices, rate):
            return sum(net(price, rate) for price in prices)
        """,
    "test_shop.py": asserting(
        "from shop import net, total",
        total="total([2, 3], 2) == 10",
        total_of_nothing="total([], 2) == 0",
        net="net(1, 1) == 1",
    ),
}


@pytest.fixture(scope="module")
def project(projects: Projects) -> Project:
    """It passed; then ``net`` was changed."""
    project = projects.make(FILES)
    project.run("-q", lean=False)
    changed = project.read("shop.py").replace("price * rate", "price ** rate")
    (project.root / "shop.py").write_text(changed)
    project.run("-q", "--bayesloc", "--bayesloc-inspections=3")
    return project


@pytest.fixture(scope="module")
def questions(project: Project) -> Iterator[Questions]:
    with closing(Questions(project.root)) as questions:
        yield questions


@pytest.mark.thorough
def test_suspects_their_evidence_and_their_code_are_told(questions: Questions) -> None:
    (fault,) = questions.ranking()["faults"]
    why = questions.why("net")
    code = questions.source("shop.py:5")

    assert fault["failing_tests"] == ["test_shop.py::test_total"]
    assert fault["suspects"][0]["place"] == "shop.py:4 net"
    assert why["executed_by"] == "1 of 1 failing and 1 of 2 passing tests"
    assert "since the tests last passed" in " ".join(e["what"] for e in why["evidence"])
    assert why["reached_by"] == "test_total -> total -> net"
    assert code["lines"][1].endswith("1 failing, 1 passing")


def test_values_calls_failure_and_changes_are_told(questions: Questions) -> None:
    values = questions.values("net")
    assert "2" in values["values"]["rate"]["failing"]
    nearest = values["nearest_call"]["values"]
    assert nearest["return"] == {"failing": "9", "passing": "1", "differs": True}
    calls = questions.calls("net")
    assert calls["callers"] == ["shop.py:8 total, 2 calls"]
    assert calls["reached_by"] == ["test_shop.py::test_total -> shop.py:8 total -> shop.py:4 net"]
    assert calls["always_through"] == ["shop.py:8 total"]
    assert questions.calls("total")["callers"] == ["test_shop.py::test_total, 1 calls"]
    assert questions.failure()["traceback"][-1].startswith("test_shop.py:5")
    (changed,) = questions.changes()["faults"]
    assert "+    return price ** rate" in changed["diffs"][0]


@pytest.mark.thorough
def test_edit_is_tried_in_memory(project: Project, questions: Questions) -> None:
    before = project.read("shop.py")

    right = questions.attempt("shop.py", "price ** rate", "price * rate")
    wrong = questions.attempt("shop.py", "price ** rate", "5")

    assert right["verified"]
    assert right["n_passing_tests_checked"] == 1
    assert wrong["status"] == "other tests break"
    assert project.read("shop.py") == before


@pytest.mark.thorough
def test_edit_is_tried_on_the_tests_of_its_own_fault(projects: Projects) -> None:
    files = {
        "a.py": "def one():\n    return 2\n",
        "b.py": "def two():\n    return 3\n",
        "test_a.py": "from a import one\n\n\ndef test_one():\n    assert one() == 1\n",
        "test_b.py": "from b import two\n\n\ndef test_two():\n    assert two() == 2\n",
    }
    project = projects.make(files)
    project.run("-q")
    with closing(Questions(project.root)) as questions:
        tried = questions.attempt("b.py", "return 3", "return 2")
        seen = questions.evaluate("b.py", 2, "3 - 1")

    assert (tried["verified"], tried["n_failing_tests"]) == (True, 1)
    assert seen["test"] == "test_b.py::test_two"


def test_expression_is_evaluated_while_a_test_runs(questions: Questions) -> None:
    assert questions.evaluate("shop.py", 5, "price + rate")["value"] == "4"
    assert questions.evaluate("shop.py", 5, "TOKEN")["value"] == "'<redacted>'"


def test_test_is_run_as_the_files_are_now(project: Project, questions: Questions) -> None:
    tests = ["test_shop.py::test_net", "test_shop.py::test_total"]
    red = questions.run(tests)
    text = project.read("shop.py")
    project.write(FILES)
    green = questions.run(tests)
    project.write({"shop.py": text})

    assert (red["n_passed"], red["n"]) == (1, 2)
    assert red["tests"][0]["error"] == "assert 13 == 10"
    assert green["n_passed"] == 2


BAD = {
    "a place that is none": (("why", "nothing"), "names no suspect"),
    "a file outside": (("try", "../x.py", "a", "b"), "lies outside the project"),
    "a text that is not there": (("try", "shop.py", "nowhere", "b"), "stands 0 times"),
    "no expression": (("evaluate", "shop.py", 5, "x ="), "is no expression"),
    "no function": (("evaluate", "shop.py", 1, "x"), "is no line in a function"),
    "a test that passes": (("failure", "test_net"), "No failing test"),
    "a test that is none": (("evaluate", "shop.py", 5, "rate", "test_none"), "No failing test"),
}


@pytest.mark.parametrize("name", BAD)
def test_question_that_can_not_be_answered_is_refused(questions: Questions, name: str) -> None:
    (asked, *arguments), why = BAD[name]

    with pytest.raises(QuestionError, match=why):
        QUESTIONS[str(asked)](questions, *arguments)


@pytest.mark.thorough
def test_people_read_lines_and_programs_json(project: Project) -> None:
    lines = project.run("why", "net", python=ASK, lean=False)
    answer = project.run("--json", "evaluate", "shop.py", "5", "rate", python=ASK, lean=False)
    bad = project.run("why", "nothing", python=ASK, lean=False)

    assert "executed by: 1 of 1 failing and 1 of 2 passing tests" in lines.stdout
    assert json.loads(answer.stdout)["value"] == "2"
    assert (bad.ret, len(bad.stderr.splitlines())) == (2, 1)


def test_without_a_failed_run_there_is_no_answer(projects: Projects) -> None:
    run = projects.make({}).run("ranking", python=ASK, lean=False)

    assert run.ret == 2
    assert "(last-run)" in run.stderr


def test_cause_beside_the_functions_is_told(projects: Projects) -> None:
    project = projects.make(
        {
            "test_rates.py": """
            def test_rate():
                import acmepay

                assert acmepay.today() > 0
            """
        }
    )
    project.run("-q")
    with closing(Questions(project.root)) as questions:
        (fault,) = questions.ranking()["faults"]

    assert "acmepay" in fault["likely_cause"]
    assert "install acmepay" in fault["what_to_do"]
    assert "known_flaky" not in fault
