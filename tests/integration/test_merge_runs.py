"""One report of several jobs: of a suite that was split, and of a matrix."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.conftest import Project

MERGE = ("-m", "pytest_bayesloc", "merge")


def recorded(project: Project, name: str, *tests: str) -> None:
    run = project.run("-q", f"--bayesloc-record=jobs/{name}.json", *tests)
    assert (project.root / "jobs" / f"{name}.json").exists(), run.output


def split(project: Project) -> None:
    """Every other test in each of two jobs, on two machines."""
    listed = project.run("-q", "--collect-only", "-p", "no:bayesloc").stdout.splitlines()
    tests = [line for line in listed if "::" in line]
    recorded(project, "one", *tests[::2])
    recorded(project, "two", *tests[1::2])


def test_a_suite_that_was_split_is_ranked_as_a_whole(buggy_project: Project) -> None:
    whole = buggy_project.localize("--bayesloc")
    split(buggy_project)

    run = buggy_project.localize("--bayesloc", "--bayesloc-merge=jobs")

    assert run.ret == 1
    assert run.failing == whole.failing
    assert run.names() == whole.names()
    rows = [[row["posterior"] for row in found.document["ranking"]] for found in (run, whole)]
    assert rows[0] == rows[1]
    assert len(run.inspections) == len(whole.inspections) > 0
    assert run.document["session"]["n_passed"] == whole.document["session"]["n_passed"]
    assert "no tests ran" in run.stdout


def test_the_command_gives_the_rest_to_pytest(buggy_project: Project) -> None:
    split(buggy_project)

    run = buggy_project.run(
        "jobs", "--report=html:all.html", "--", "--bayesloc-inspections=0", "-q",
        python=MERGE, lean=False,
    )  # fmt: skip

    assert run.ret == 1, run.output
    assert "fault 1: " in run.stdout
    assert (buggy_project.root / "all.html").exists()


def test_workers_have_nothing_to_do(buggy_project: Project) -> None:
    split(buggy_project)

    run = buggy_project.run("-n2", "--bayesloc-merge=jobs", lean=False)

    assert run.ret == 4
    assert "--bayesloc-merge runs no test, and -n 2 asks for processes" in run.stderr


def test_a_record_that_cannot_be_read_costs_a_line(buggy_project: Project) -> None:
    split(buggy_project)
    text = buggy_project.read("jobs/two.json")
    (buggy_project.root / "jobs" / "two.json").write_text(text[: len(text) // 2], encoding="utf-8")

    run = buggy_project.localize("--bayesloc-merge=jobs/one.json", "--bayesloc-merge=jobs/two.json")

    assert "(unreadable-record)" in run.stdout
    assert "Traceback" not in run.output
    assert any("two.json" in note for note in run.document["partial"])
    assert run.failing


def test_a_test_that_failed_on_one_machine_has_failed(buggy_project: Project) -> None:
    recorded(buggy_project, "a-red")
    red = buggy_project.read("calc.py")
    buggy_project.write({"calc.py": red.replace("a - b", "a + b  # as it was meant")})
    recorded(buggy_project, "b-green")
    buggy_project.write({"calc.py": red})

    run = buggy_project.localize("--bayesloc-merge=jobs")

    assert run.failing
    assert run.names()[0] == "calc.py add"


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


def test_what_is_neither_is_refused_in_a_line(buggy_project: Project) -> None:
    (buggy_project.root / "other.json").write_text(json.dumps({"schema": "x/1"}), encoding="utf-8")

    for given in ("other.json", "nowhere", "."):
        run = buggy_project.run(given, python=MERGE, lean=False)
        assert (run.ret, run.stdout) == (2, ""), run.output
        assert run.stderr.count("\n") == 1
        assert "(unreadable-record)" in run.stderr
