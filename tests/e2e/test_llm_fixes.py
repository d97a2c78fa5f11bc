"""Fixes that a language model writes: through a gate, and then through the tests, as all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("openai", reason="pip install openai")

from tests.e2e.scripted import Request, completion, serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import Project, Projects, Run

#: What small edits would find is not the model's.
OPTIONS = (
    "--bayesloc-llm",
    "--bayesloc-memory=off",
    "--bayesloc-fix=suggest",
    "--bayesloc-without=mutants",
)


UNDECIDED = "--bayesloc-threshold=0.999"


def mending(code: str) -> Callable[[Request], None]:
    """Rewrites ``add`` so, and nothing else."""

    def answer(request: Request) -> None:
        prompt = request.prompt
        if "Fix this function" not in prompt:
            request.send(completion({"nothing": "to say"}))
            return
        is_add = "The function calc.py:1 add" in prompt
        request.send(completion({"why": "told so", "code": code if is_add else "no"}))

    return answer


def searched(project: Project, code: str) -> Run:
    with serving(mending(code)) as script:
        env = {"OPENAI_BASE_URL": script.url, "OPENAI_API_KEY": "none"}
        return project.localize(*OPTIONS, env=env)


def verified(run: Run) -> list[dict[str, Any]]:
    """The fixes that tests agree with; a test's expectation may be shown beside them."""
    return [fix for fix in run.document["fixes"] if fix["verified"]]


def test_a_fix_that_all_tests_agree_with_is_shown(projects: Projects) -> None:
    run = searched(projects.buggy(), "def add(a, b):\n    # both\n    return a + b\n")

    (fix,) = verified(run)
    assert (fix["tool"], fix["stage"], fix["verified"]) == ("language-model", "generated", True)
    assert fix["words"] == "told so"
    assert "+    # both\n+    return a + b\n" in fix["diff"]
    assert run.document["llm"]["uses"]["fix"] >= 1


def test_what_tests_made_of_a_fix_comes_back_to_the_model(projects: Projects) -> None:
    def learns(request: Request) -> None:
        is_told = "assert 2 == 3" in request.prompt
        mending(f"def add(a, b):\n    return a {'+' if is_told else '*'} b\n")(request)

    with serving(learns) as script:
        env = {"OPENAI_BASE_URL": script.url, "OPENAI_API_KEY": "none"}
        run = projects.buggy().localize(*OPTIONS, env=env)

    (fix,) = verified(run)
    assert "+    return a + b\n" in fix["diff"]


def test_what_a_model_writes_does_nothing_new_to_the_world(projects: Projects) -> None:
    project = projects.buggy()

    run = searched(project, "def add(a, b):\n    open('x', 'w')\n    return a + b\n")

    assert verified(run) == []
    assert "The language model's fix of add is not run: it uses `open`" in run.output
    assert not (project.root / "x").exists()


@pytest.mark.parametrize(
    "code",
    [
        "def add(a, b):\n    return 3\n",
        "def add(a, b):\n    while True:\n        pass\n",
    ],
)
def test_a_fix_that_tests_disagree_with_is_none(
    projects: Projects,
    code: str,
) -> None:
    assert verified(searched(projects.buggy(), code)) == []


def inspected(project: Project, code: str) -> Run:
    """An inspecting run, by the first bug that the model meets."""
    with serving(mending(code)) as script:
        env = {"OPENAI_BASE_URL": script.url, "OPENAI_API_KEY": "none"}
        options = ("--bayesloc", "--bayesloc-llm", "--bayesloc-without=mutants", UNDECIDED)
        return project.localize(*options, "--bayesloc-memory=off", env=env)


def test_edit_that_passes_is_evidence_on_the_first_bug(projects: Projects) -> None:
    run = inspected(projects.buggy(), "def add(a, b):\n    return a + b\n")

    outcomes = {
        (step["kind"], step["target"]["qualname"]): step["outcome"] for step in run.inspections
    }
    assert outcomes["proposed fixes", "add"] == "EDIT_REPAIRS"
    assert run.names()[0] == "calc.py add"
    assert any("language model's edit" in e["why"] for e in run.row("add")["evidence"])
    assert "+    return a + b" in run.document["fixes"][0]["diff"]


@pytest.mark.parametrize(
    "code",
    [
        "def add(a, b):\n    return a * b\n",
        "def add(a, b):\n    if (a, b) == (1, 2):\n        return 3\n    return a - b\n",
    ],
)
def test_edit_that_is_wrong_or_knows_the_answer_is_no_evidence(
    projects: Projects,
    code: str,
) -> None:
    run = inspected(projects.buggy(), code)

    assert "proposed fixes" not in {step["kind"] for step in run.inspections}
