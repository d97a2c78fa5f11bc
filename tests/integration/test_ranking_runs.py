"""What a run says: which suspects, in which order, how much of it, and where."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from typing import Any

    from tests.integration.conftest import Project, Projects, Run

FORGETFUL = True


@pytest.fixture(scope="module")
def plain(shared_buggy_project: Project) -> Run:
    return shared_buggy_project.run()


@pytest.fixture(scope="module")
def inspected_project(projects: Projects) -> Project:

    return projects.buggy()


@pytest.fixture(scope="module")
def inspected(inspected_project: Project) -> Run:
    return inspected_project.run("--bayesloc", "--bayesloc-threshold=0.999")


@pytest.fixture(scope="module")
def document(shared_buggy_project: Project) -> Run:
    return shared_buggy_project.localize("--bayesloc", "--bayesloc-threshold=0.999")


# -- a plain run


def test_plain_run_names_the_faulty_function_first(plain: Run) -> None:
    assert re.match(r"Most likely: add \(calc\.py:1\), \d+ %", plain.section[1])


def test_plain_run_names_the_line_and_how_to_learn_more(plain: Run) -> None:
    assert plain.section[2].startswith("  line 2: return a - b")
    assert plain.section[-1] == "To inspect these suspects: pytest --bayesloc"


def test_plain_run_keeps_the_exit_code(plain: Run) -> None:
    assert plain.ret == 1
    assert plain.outcomes == {"failed": 2, "passed": 4}


def test_plain_run_prints_the_section_below_the_failures(plain: Run) -> None:
    assert plain.stdout.index("= FAILURES =") < plain.stdout.index("= bayesloc =")


def test_plain_run_writes_no_report(plain: Run, shared_buggy_project: Project) -> None:
    assert not list((shared_buggy_project.root / ".bayesloc").glob("*report*"))


def test_green_run_prints_nothing(green_project: Project) -> None:
    run = green_project.run("-q")

    assert run.ret == 0
    assert "bayesloc" not in run.output


def test_green_run_writes_no_report(green_project: Project) -> None:
    run = green_project.run("-q", "--bayesloc")

    assert run.ret == 0
    assert "bayesloc" not in run.output
    assert not list((green_project.root / ".bayesloc").glob("*report*"))


def test_run_without_tests_prints_nothing(projects: Projects) -> None:
    run = projects.make({"test_empty.py": ""}).run("-q", "--bayesloc")

    assert run.ret == 5
    assert "bayesloc" not in run.output


# -- with inspections


@pytest.mark.thorough
def test_inspected_run_names_the_faulty_function_first(inspected: Run) -> None:
    assert inspected.section[1].startswith("Most likely: add (calc.py:1), ")


def test_inspected_run_gives_reasons(inspected: Run) -> None:
    assert any(line.startswith("  * ") for line in inspected.section)


def test_inspected_run_prints_where_the_html_report_lies(
    inspected: Run, inspected_project: Project
) -> None:
    report = inspected_project.root / ".bayesloc" / "bayesloc-report.html"

    assert f"report: html {report}" in "".join(inspected.section)
    assert "calc.py" in report.read_text(encoding="utf-8")


def test_inspected_run_keeps_the_exit_code(inspected: Run) -> None:
    assert inspected.ret == 1
    assert inspected.outcomes == {"failed": 2, "passed": 4}


@pytest.mark.thorough
def test_inspected_run_prints_no_progress_when_output_is_no_terminal(inspected: Run) -> None:
    assert "bayesloc: inspection" not in inspected.output
    assert "\r" not in inspected.stdout


#: They replace a result, or follow values, and change no text.
UNPATCHED = {"returns", "values"}


def test_result_holds_inspections_with_patches(document: Run) -> None:
    assert document.inspections
    patches = [i["patch"] for i in document.inspections if i["kind"] not in UNPATCHED]
    assert patches
    assert all(patch.startswith("--- a/calc.py\n") for patch in patches)


def asserted(document: Run) -> list[dict[str, Any]]:
    return [i for i in document.inspections if i["kind"] == "assertions"]


def test_inspections_come_from_forks_that_swap_code(document: Run) -> None:
    looked = asserted(document)
    assert looked
    assert all(i["log"].startswith("fork: code replaced in 1 ") for i in looked)


def test_inspected_target_is_covered(document: Run) -> None:
    assert all(i["signals"]["is_covered"] for i in document.inspections)
    assert "--- INSPECTION_START: " in asserted(document)[0]["log"]


def test_result_ranks_the_faulty_function_first(document: Run) -> None:
    assert document.names()[0] == "calc.py add"


def test_posteriors_of_a_group_sum_to_one(document: Run) -> None:
    (fault,) = document.faults

    listed = sum(row["posterior"] for row in fault["ranking"])
    assert listed + fault["test_share"] == pytest.approx(1.0)


def test_result_of_the_faulty_function_breaks_a_mined_invariant(document: Run) -> None:
    (looked,) = (i for i in asserted(document) if i["target"]["qualname"] == "add")

    assert looked["outcome"] == "TARGET_ASSERTION_FAILED"
    assert looked["belief_after"] >= looked["belief_before"]


def test_call_graph_holds_the_calls_of_the_failing_tests(document: Run) -> None:
    edges = document.document["call_graph"]["edges"]
    calls = {(e["caller"]["qualname"], e["callee"]["qualname"]): e["calls"] for e in edges}

    assert calls["total", "add"] == 2
    (fault,) = document.faults
    ways = {tuple(p["qualname"] for p in row["call_path"]) for row in fault["ranking"]}
    assert {("test_add", "add"), ("test_total", "total")} <= ways


def test_number_of_inspections_is_a_limit(shared_buggy_project: Project) -> None:
    run = shared_buggy_project.localize(
        "--bayesloc", "--bayesloc-threshold=0.999", "--bayesloc-inspections=1"
    )

    assert len(run.inspections) == 1
    assert run.faults[0]["stop_reason"] == "1 inspection made, as many as allowed"


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


# -- switched off


def test_no_bayesloc_does_nothing(buggy_project: Project) -> None:
    run = buggy_project.run("-q", "--no-bayesloc", "--bayesloc", "--bayesloc-report=json")

    assert run.ret == 1
    assert "bayesloc" not in run.output
    assert not (buggy_project.root / ".bayesloc").exists()


def test_collect_only_prints_nothing_of_ours(shared_buggy_project: Project) -> None:
    run = shared_buggy_project.run("-q", "--bayesloc", "--collect-only")

    assert run.ret == 0
    assert "bayesloc" not in run.output


# -- several faults


def test_two_faults_are_ranked_apart(projects: Projects) -> None:
    project = projects.make(
        {
            "shop.py": """
                def tax(net):
                    rate = 0.2
                    return net * rate + 1


                def greet(name):
                    text = "Hello"
                    return text + name


                def fine(x):
                    return x
                """,
            "test_tax.py": """
                from shop import fine, tax


                def test_tax():
                    assert tax(10) == 2


                def test_no_tax():
                    assert tax(0) == 0


                def test_fine():
                    assert fine(1) == 1
                """,
            "test_greet.py": """
                from shop import fine, greet


                def test_greet():
                    assert greet("Ada") == "Hello Ada"


                def test_fine():
                    assert fine(2) == 2
                """,
        }
    )

    run = project.localize()

    assert [fault["failing_tests"] for fault in run.faults] == [
        ["test_tax.py::test_tax", "test_tax.py::test_no_tax"],
        ["test_greet.py::test_greet"],
    ] or [set(f["failing_tests"]) for f in run.faults] == [
        {"test_tax.py::test_tax", "test_tax.py::test_no_tax"},
        {"test_greet.py::test_greet"},
    ]
    assert [run.names(0)[0], run.names(1)[0]] == ["shop.py tax", "shop.py greet"]


# -- the data is wrong, or the code that refuses it

SPLINE = {
    "spline.py": """
        def check(knots, degree):
            needed = 2 * degree + 2
            if len(knots) < needed:
                raise ValueError(f"needs {needed} knots, got {len(knots)}")


        class Spline:
            def __init__(self, degree, knots):
                check(knots, degree)
                self.degree = degree
                self.knots = knots

            def n_points(self):
                return len(self.knots) - self.degree - 1
        """,
    "test_spline.py": """
        from spline import Spline


        def test_line():
            assert Spline(1, [0, 0, 1, 1]).n_points() == 2


        def test_quadratic():
            assert Spline(2, [0, 0, 0, 1, 1, 1]).n_points() == 3


        def test_cubic():
            assert Spline(3, [0, 0, 0, 1, 1, 1]).n_points() == 4
        """,
}


@pytest.fixture(scope="module")
def wrong_data(projects: Projects) -> Run:
    return projects.make(SPLINE).localize("--bayesloc")


@pytest.mark.thorough
def test_test_that_owns_refused_data_is_first(wrong_data: Run) -> None:
    assert wrong_data.names()[0] == "test_spline.py test_cubic"
    assert wrong_data.document["ranking"][0]["is_test"]


def test_refused_data_is_the_origin_of_the_error(wrong_data: Run) -> None:
    error = wrong_data.faults[0]["error"]

    assert (error["origin"], error["kind"]) == ("data", "validation")
    assert (error["file"], error["line"]) == ("spline.py", 4)


def test_terminal_says_that_the_data_is_wrong(wrong_data: Run) -> None:
    section = "\n".join(wrong_data.section)

    assert "Most likely: test_cubic (test_spline.py:12)" in section
    assert "likely cause: the test's data" in section


def test_fixture_that_owns_refused_data_is_first(projects: Projects) -> None:
    tests = """
        import pytest

        from spline import Spline


        @pytest.fixture
        def knots():
            return [0, 0, 0, 1, 1, 1]


        def test_quadratic():
            assert Spline(2, [0, 0, 0, 1, 1, 1]).n_points() == 3


        def test_cubic(knots):
            assert Spline(3, knots).n_points() == 4
        """
    run = projects.make({**SPLINE, "test_spline.py": tests}).localize()

    assert run.names()[0] == "test_spline.py knots"
    assert run.faults[0]["error"]["origin"] == "fixture"


def test_guard_is_first_when_it_refuses_good_data(projects: Projects) -> None:
    project = projects.make(SPLINE)
    project.write(
        {
            "spline.py": SPLINE["spline.py"].replace("2 * degree + 2", "3 * degree + 2"),
            "test_spline.py": SPLINE["test_spline.py"].replace(
                "Spline(3, [0, 0, 0, 1, 1, 1])", "Spline(3, [0, 0, 0, 0, 1, 1, 1, 1])"
            ),
        }
    )

    run = project.localize("--bayesloc")

    assert run.names()[0] == "spline.py check"
    assert run.faults[0]["error"]["origin"] == "code"


# -- the reference model, by hand


@pytest.fixture(scope="module")
def reference(projects: Projects) -> Run:
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
    return project.localize(
        "--bayesloc",
        "--bayesloc-formula=tarantula",
        "--bayesloc-model=independent",
        "--bayesloc-inspections=1",
    )


# Tarantula: add 1 / (1/4 + 1), tax (1/2) / (2/4 + 1/2), total 0, the module 1 / (1 + 1).
SUSPICIOUSNESS = {"add": 0.8, "tax": 0.5, "total": 0.0, "<module>": 0.5}
RAW_SUM = 0.8 + 0.5 + 0.01 + 0.5


@pytest.mark.parametrize(("name", "expected"), SUSPICIOUSNESS.items())
def test_reference_suspiciousness_is_tarantula(reference: Run, name: str, expected: float) -> None:
    assert reference.row(name)["suspiciousness"] == pytest.approx(expected)


@pytest.mark.parametrize(("name", "expected"), SUSPICIOUSNESS.items())
def test_reference_prior_is_normalised_suspiciousness(
    reference: Run, name: str, expected: float
) -> None:
    assert reference.row(name)["prior"] == pytest.approx(max(0.01, expected) / RAW_SUM)


def test_reference_update_is_bayes_rule(reference: Run) -> None:
    (inspection,) = reference.inspections
    prior = 0.8 / RAW_SUM

    assert inspection["target"]["qualname"] == "add"
    assert inspection["outcome"] == "COLLATERAL_FAILURE"
    assert reference.row("add")["posterior"] == pytest.approx(
        0.60 * prior / (0.60 * prior + 0.40 * (1 - prior))
    )


def test_reference_update_moves_no_other_location(reference: Run) -> None:
    assert reference.row("tax")["posterior"] == reference.row("tax")["prior"]
    assert reference.row("total")["posterior"] == reference.row("total")["prior"]
