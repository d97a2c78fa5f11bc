"""Tests run again by several servers, and behind gateways: one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Run

pytestmark = pytest.mark.traced

pytest.importorskip("execnet", reason="pip install execnet")

FORGETFUL = True
INSPECTED = ("--bayesloc", "--bayesloc-threshold=0.999")


@pytest.fixture(scope="module")
def local(shared_buggy_project: Project) -> dict[str, float]:
    return answer(shared_buggy_project.localize(*INSPECTED))


def answer(run: Run) -> dict[str, float]:
    """Suspects and their probabilities, after inspections."""
    assert run.inspections, run.output
    return {row["qualname"]: row["posterior"] for row in run.document["ranking"]}


@pytest.mark.thorough
@pytest.mark.parametrize("option", ["--bayesloc-executor=2*local", "--bayesloc-executor=2*popen"])
def test_answer_does_not_depend_on_where_tests_are_run_again(
    shared_buggy_project: Project, local: dict[str, float], option: str
) -> None:
    assert answer(shared_buggy_project.localize(*INSPECTED, option)) == pytest.approx(local)


@pytest.mark.thorough
def test_place_that_can_not_be_used_is_left_out_and_said(
    shared_buggy_project: Project, local: dict[str, float]
) -> None:
    places = ("--bayesloc-executor=popen//python=/no/python", "--bayesloc-executor=popen")
    run = shared_buggy_project.localize(*INSPECTED, *places)

    assert answer(run) == local
    assert "popen//python=/no/python can't be reached (FileNotFoundError" in run.output
    assert "(no-executor)" in run.output


def test_interpreter_without_pytest_costs_one_line(shared_buggy_project: Project) -> None:
    place = "popen//python=python3 -I -S"
    run = shared_buggy_project.localize(*INSPECTED, f"--bayesloc-executor={place}")

    assert f"{place} can't run tests again: no pytest in its Python" in run.output
    assert run.inspections == []
    assert run.ret == 1


@pytest.mark.thorough
def test_fixes_are_searched_where_tests_are_run_again(buggy_project: Project) -> None:
    options = ("--bayesloc-fix=suggest", "--bayesloc-executor=popen")
    run = buggy_project.localize(*options)

    assert [fix["target"]["qualname"] for fix in run.document["fixes"]][:1] == ["add"]
