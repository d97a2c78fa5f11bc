"""What a run says: which suspects, in which order, how much of it, and where."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

FORGETFUL = True


@pytest.fixture(scope="module")
def document(shared_buggy_project: Project) -> Run:
    return shared_buggy_project.localize("--bayesloc", "--bayesloc-threshold=0.999")


# -- a plain run


def test_plain_run_names_function_and_line_below_the_failures_and_how_to_learn_more(
    shared_buggy_project: Project,
) -> None:
    run = shared_buggy_project.run()

    assert re.match(r"Most likely: add \(calc\.py:1\), \d+ %", run.section[1])
    assert run.section[2].startswith("  line 2: return a - b")
    assert run.section[-1] == "To inspect these suspects: pytest --bayesloc"
    assert run.stdout.index("= FAILURES =") < run.stdout.index("= bayesloc =")
    assert (run.ret, run.outcomes) == (1, {"failed": 2, "passed": 4})
    assert not list((shared_buggy_project.root / ".bayesloc").glob("*report*"))


@pytest.mark.parametrize("options", [(), ("--bayesloc",)])
def test_green_run_prints_nothing_and_writes_no_report(
    green_project: Project, options: tuple[str, ...]
) -> None:
    run = green_project.run("-q", *options)

    assert run.ret == 0
    assert "bayesloc" not in run.output
    assert not list((green_project.root / ".bayesloc").glob("*report*"))


WITHOUT_VERDICT = {
    "switched off": (("--no-bayesloc", "--bayesloc-report=json"), pytest.ExitCode.TESTS_FAILED),
    "tests that are listed": (("--collect-only",), pytest.ExitCode.OK),
    "tests that are not chosen": (("-k", "nowhere"), pytest.ExitCode.NO_TESTS_COLLECTED),
    "no test": (("calc.py",), pytest.ExitCode.NO_TESTS_COLLECTED),
}


@pytest.mark.parametrize(("args", "status"), WITHOUT_VERDICT.values(), ids=WITHOUT_VERDICT)
def test_run_without_a_verdict_says_and_keeps_nothing(
    buggy_project: Project, args: tuple[str, ...], status: int
) -> None:
    run = buggy_project.run("-q", "--bayesloc", *args)

    assert run.ret == status
    assert "bayesloc" not in run.output
    assert not (buggy_project.root / ".bayesloc").exists()


# -- with inspections


def test_inspected_run_gives_reasons_and_says_where_its_report_lies(buggy_project: Project) -> None:
    run = buggy_project.run("--bayesloc", "--bayesloc-threshold=0.999")

    assert run.section[1].startswith("Most likely: add (calc.py:1), ")
    assert any(line.startswith("  * ") for line in run.section)
    report = buggy_project.root / ".bayesloc" / "bayesloc-report.html"
    assert f"report: html {report}" in "".join(run.section)
    assert "calc.py" in report.read_text(encoding="utf-8")
    assert (run.ret, run.outcomes) == (1, {"failed": 2, "passed": 4})
    # Progress is for terminals.
    assert "bayesloc: inspection" not in run.output
    assert "\r" not in run.stdout


def test_inspections_swap_code_in_forks_under_patches_that_the_result_holds(document: Run) -> None:
    patches = [i["patch"] for i in document.inspections if i["patch"]]
    assert patches
    assert all(patch.startswith("--- a/calc.py\n") for patch in patches)
    assert all(i["signals"]["is_covered"] for i in document.inspections)
    looked = [i for i in document.inspections if i["kind"] == "assertions"]
    assert all(i["log"].startswith("fork: code replaced in 1 ") for i in looked)
    assert "--- INSPECTION_START: " in looked[0]["log"]

    (add,) = (i for i in looked if i["target"]["qualname"] == "add")
    assert add["outcome"] == "TARGET_ASSERTION_FAILED"
    assert add["belief_after"] >= add["belief_before"]


def test_result_ranks_the_faulty_function_first_among_shares_of_one(document: Run) -> None:
    (fault,) = document.faults

    assert document.names()[0] == "calc.py add"
    listed = sum(row["posterior"] for row in fault["ranking"])
    assert listed + fault["test_share"] == pytest.approx(1.0)


def test_call_graph_holds_the_calls_of_the_failing_tests(document: Run) -> None:
    edges = document.document["call_graph"]["edges"]
    calls = {(e["caller"]["qualname"], e["callee"]["qualname"]): e["calls"] for e in edges}

    assert calls["total", "add"] == 2
    (fault,) = document.faults
    ways = {tuple(p["qualname"] for p in row["call_path"]) for row in fault["ranking"]}
    assert {("test_add", "add"), ("test_total", "total")} <= ways


@pytest.mark.thorough
def test_results_of_two_runs_are_equal_but_for_times(shared_buggy_project: Project) -> None:
    arguments = ("--bayesloc", "--bayesloc-threshold=0.999", "--bayesloc-memory=off")
    once, again = (shared_buggy_project.localize(*arguments) for _ in range(2))

    assert _timeless(once) == _timeless(again)


def _timeless(run: Run) -> str:
    """The result without times, and without the memory, which knows of the run before."""
    stages = "seconds|cpu_s|localize|inspect|remember|report"
    rest = {key: value for key, value in run.document.items() if key != "memory"}
    return re.sub(rf'"({stages})": [\d.e-]+', "", json.dumps(rest))


# -- the reference model, by hand


def test_reference_model_is_normalised_tarantula_updated_by_bayes_rule(projects: Projects) -> None:
    """F = 2 (t0, t1) and P = 4 (t2 to t5); the module body is executed by all tests."""
    project = projects.make(
        {
            "sums.py": """
                def add(a, b):
                    return a - b if a else b


                def tax(net):
                    return net


                def total(prices):
                    return sum(prices)
                """,
            "test_sums.py": """
                from sums import add, tax, total


                def test_0():
                    assert add(tax(1), 2) == 3


                def test_1():
                    assert add(2, 2) == 4


                def test_2():
                    assert add(0, tax(2)) == 2


                def test_3():
                    assert tax(3) == 3


                def test_4():
                    assert total([1]) == 1


                def test_5():
                    assert total([2]) == 2
                """,
        }
    )
    run = project.localize(
        "--bayesloc",
        "--bayesloc-formula=tarantula",
        "--bayesloc-model=independent",
        "--bayesloc-inspections=1",
    )

    (inspection,) = run.inspections
    for name, expected in SUSPICIOUSNESS.items():
        assert run.row(name)["suspiciousness"] == pytest.approx(expected)
        assert run.row(name)["prior"] == pytest.approx(max(0.01, expected) / RAW_SUM)
    prior = 0.8 / RAW_SUM
    assert inspection["target"]["qualname"] == "add"
    assert inspection["outcome"] == "COLLATERAL_FAILURE"
    assert run.row("add")["posterior"] == pytest.approx(
        0.60 * prior / (0.60 * prior + 0.40 * (1 - prior))
    )
    for name in ("tax", "total"):
        assert run.row(name)["posterior"] == run.row(name)["prior"]


# Tarantula: add 1 / (1/4 + 1), tax (1/2) / (2/4 + 1/2), total 0, the module 1 / (1 + 1).
SUSPICIOUSNESS = {"add": 0.8, "tax": 0.5, "total": 0.0, "<module>": 0.5}
RAW_SUM = 0.8 + 0.5 + 0.01 + 0.5
