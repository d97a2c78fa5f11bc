"""One report of several jobs: of a suite that was split, and of a matrix."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import BUGGY
from tests.integration.test_memory_runs import git

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

FORGETFUL = True

INSPECTED = ("--bayesloc", "--bayesloc-threshold=0.999")
MERGE = ("-m", "pytest_bayesloc", "merge")
ON_ONE_MACHINE = """

        def test_machine():
            import os
            assert os.environ.get("GOOD")
        """


def recorded(project: Project, name: str, *tests: str) -> None:
    run = project.run("-q", f"--bayesloc-report=record:jobs/{name}.json", *tests)
    assert (project.root / "jobs" / f"{name}.json").exists(), run.output


@pytest.fixture(scope="module")
def recorded_jobs(projects: Projects) -> Project:
    """The buggy project, with every other test recorded in each of two jobs."""
    project = projects.buggy()
    listed = project.run("-q", "--collect-only", "-p", "no:bayesloc").stdout.splitlines()
    tests = [line for line in listed if "::" in line]
    recorded(project, "one", *tests[::2])
    recorded(project, "two", *tests[1::2])
    return project


@pytest.fixture
def split(projects: Projects, recorded_jobs: Project) -> Project:
    """A copy of that project."""
    return projects.copy_of(recorded_jobs)


@pytest.mark.thorough
def test_a_suite_that_was_split_is_ranked_as_a_whole(split: Project) -> None:
    whole = split.localize(*INSPECTED)

    run = split.localize(*INSPECTED, "--bayesloc-merge=jobs")

    assert run.ret == 1
    assert run.failing == whole.failing
    assert run.document["ranking"] == whole.document["ranking"]
    assert len(run.inspections) == len(whole.inspections) > 0
    assert run.document["session"]["n_passed"] == whole.document["session"]["n_passed"]
    assert "no tests ran" in run.stdout


@pytest.mark.thorough
def test_the_command_gives_the_rest_to_pytest(split: Project) -> None:
    run = split.run(
        "jobs", "--report=html:all.html", "--", "--bayesloc-inspections=0", "-q",
        python=MERGE, lean=False,
    )  # fmt: skip

    assert run.ret == 1, run.output
    assert "fault 1: " in run.stdout
    assert (split.root / "all.html").exists()


def test_workers_have_nothing_to_do(split: Project) -> None:
    run = split.run("-n2", "--bayesloc-merge=jobs", lean=False)

    assert run.ret == 4
    assert "--bayesloc-merge runs no test, and -n 2 asks for processes" in run.stderr


def test_a_record_that_cannot_be_read_costs_a_line(split: Project) -> None:
    text = split.read("jobs/two.json")
    (split.root / "jobs" / "two.json").write_text(text[: len(text) // 2], encoding="utf-8")

    run = split.localize("--bayesloc-merge=jobs/one.json", "--bayesloc-merge=jobs/two.json")

    assert "(unreadable-record)" in run.stdout
    assert "Traceback" not in run.output
    assert any("two.json" in note for note in run.document["partial"])
    assert run.failing


def test_a_test_that_failed_on_one_machine_has_failed(projects: Projects) -> None:
    project = projects.buggy({"test_calc.py": BUGGY["test_calc.py"] + ON_ONE_MACHINE})
    recorded(project, "a-red")
    project.run("-q", "--bayesloc-report=record:jobs/b-green.json", env={"GOOD": "1"})

    run = project.localize("--bayesloc-merge=jobs")

    assert "test_calc.py::test_machine" in run.failing


def test_records_of_two_commits_are_not_merged(buggy_project: Project) -> None:
    git(buggy_project, "init", "--quiet")
    for name in ("one", "two"):
        git(buggy_project, "add", "calc.py", "test_calc.py", "pytest.ini")
        git(buggy_project, "commit", "--quiet", "--allow-empty", "-m", name)
        recorded(buggy_project, name)

    run = buggy_project.run("--bayesloc-merge=jobs")

    assert run.ret == 4
    assert "jobs/two.json is of commit " in run.stderr
    assert run.stderr.strip().endswith("Give records of one commit. (other-code)")
    assert "Most likely" not in run.stdout


def test_records_of_other_code_than_is_here_are_not_merged(buggy_project: Project) -> None:
    recorded(buggy_project, "one")
    text = buggy_project.read("calc.py")
    buggy_project.write({"calc.py": text.replace("a / 2", "a // 2")})

    run = buggy_project.run("--bayesloc-merge=jobs")

    assert run.ret == 4
    assert "calc.py was another one for this checkout than for " in run.stderr


def test_failure_of_another_environment_is_ranked_and_not_inspected(buggy_project: Project) -> None:
    recorded(buggy_project, "one")
    path = buggy_project.root / "jobs" / "one.json"
    told = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**told, "environment": "CPython 3.9 on win32"}), "utf-8")

    run = buggy_project.localize("--bayesloc", "--bayesloc-merge=jobs")

    assert run.names()[0] == "calc.py add"
    assert run.inspections == []
    assert run.faults[0]["stop_reason"] == (
        "not inspected: its tests failed with CPython 3.9 on win32"
    )
    assert run.stdout.count("(other-environment)") == 1


@pytest.mark.thorough
def test_results_of_a_matrix_become_one_page(buggy_project: Project) -> None:
    for name in ("py311", "py313"):
        buggy_project.run("-q", f"--bayesloc-report=json:{name}.json")

    run = buggy_project.run(
        "py311.json", "py313.json", "--report=html", "--report=json:all.json",
        python=MERGE, lean=False,
    )  # fmt: skip

    assert run.ret == 0, run.output
    assert "add" in buggy_project.read("bayesloc-report.html")
    document = buggy_project.result(buggy_project.root / "all.json")
    (fault,) = document["faults"]
    assert fault["stop_reason"].endswith("(in py311, py313)")


@pytest.mark.thorough
def test_what_is_neither_is_refused_in_a_line(buggy_project: Project) -> None:
    (buggy_project.root / "other.json").write_text(json.dumps({"schema": "x/1"}), encoding="utf-8")

    for given in ("other.json", "nowhere", "."):
        run = buggy_project.run(given, python=MERGE, lean=False)
        assert (run.ret, run.stdout) == (2, ""), run.output
        assert run.stderr.count("\n") == 1
        assert "(unreadable-record)" in run.stderr
