"""Life beside other plugins and pytest's own switches."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.traced

FORGETFUL = True


# Branches that are taken in one direction only, code at import, a fixture, and a file never run.
MEASURED = {
    "more.py": """
        LIMIT = 3
        if LIMIT > 5:
            LIMIT = 5


        def clip(n):
            if n > LIMIT:
                n = LIMIT
            for _ in range(n):
                if n < 0:
                    break
            return n


        def unused():
            return 1
        """,
    "never.py": "def never():\n    return 1\n",
    "conftest.py": """
        import pytest

        from more import clip


        @pytest.fixture
        def clipped():
            yield clip(7)
            clip(2)
        """,
    "test_more.py": """
        def test_clipped(clipped):
            assert clipped == 4
        """,
}
COVERAGE = tuple(int(part) for part in re.findall(r"\d+", version("coverage"))[:2])
INSPECTED = ("--bayesloc", "--bayesloc-threshold=0.999")


def _coverage(project: Project) -> dict[str, Any]:
    document = json.loads((project.root / "coverage.json").read_text(encoding="utf-8"))
    files: dict[str, Any] = document["files"]
    for file in files.values():  # of each file: lines, arcs, contexts and percentages
        for part in ("functions", "classes"):
            file.pop(part, None)
    return {"totals": document["totals"], "files": files}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("branch", "ours"),
    [((), ()), (("--cov-branch",), INSPECTED)],
    ids=["plain, lines", "inspected, branches"],
)
def test_pytest_cov_measures_the_same_with_and_without_us(
    projects: Projects, branch: tuple[str, ...], ours: tuple[str, ...]
) -> None:
    project = projects.buggy(MEASURED)
    options = ("-q", "-p", "pytest_cov", "--cov=.", "--cov-report=json", *branch)

    without = project.run(*options, "--no-bayesloc", lean=False)
    expected = _coverage(project)
    run = project.localize(*options, *ours, lean=False)

    assert without.ret == run.ret == 1
    assert 50 < expected["totals"]["percent_covered"] < 100
    assert _coverage(project) == expected
    assert "calc.py add" in run.names()[:3]


@pytest.mark.thorough
@pytest.mark.parametrize("percent", [50, 99])
def test_coverage_is_enough_or_not_as_without_us(projects: Projects, percent: int) -> None:
    project = projects.make({"calc.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n"})
    project.write(
        {"test_calc.py": "import calc\n\n\ndef test_one():\n    assert calc.one() == 1\n"}
    )
    options = ("-q", "-p", "pytest_cov", "--cov=.", f"--cov-fail-under={percent}")

    without = project.run(*options, "--no-bayesloc", lean=False)
    run = project.run(*options, *INSPECTED, lean=False)

    (said,) = re.findall(r"(?m)^(?:FAIL )?Required test coverage.*$", without.output)
    assert said in run.output
    assert run.ret == without.ret == int(percent == 99)


@pytest.mark.thorough
def test_contexts_of_pytest_cov_are_the_same_with_and_without_us(
    projects: Projects,
) -> None:
    project = projects.buggy(
        {**MEASURED, ".coveragerc": "[json]\nshow_contexts = true\n[run]\nomit = test_*\n"}
    )
    options = ("-q", "-p", "pytest_cov", "--cov=.", "--cov-report=json", "--cov-context=test")

    project.run(*options, "--no-bayesloc", lean=False)
    expected = _coverage(project)
    project.localize(*options, lean=False)
    found = _coverage(project)

    assert found["totals"] == expected["totals"]
    assert _tests_of(found) == _tests_of(expected)


def _tests_of(measured: Mapping[str, Any]) -> dict[tuple[str, str], set[str]]:
    """Per line, the tests that executed it in their call phase."""
    return {
        (name, line): {c.partition("|")[0] for c in contexts if c}
        for name, file in measured["files"].items()
        for line, contexts in file["contexts"].items()
    }


@pytest.mark.thorough
def test_coverage_run_measures_the_same_with_and_without_us(projects: Projects) -> None:
    project = projects.buggy(MEASURED)
    python = ("-m", "coverage", "run", "--source=.", "--branch", "-m", "pytest")

    project.run("-q", "--no-bayesloc", python=python)
    project.run("json", "-q", python=("-m", "coverage"), lean=False)
    expected = _coverage(project)
    run = project.localize(*INSPECTED, python=python)
    project.run("json", "-q", python=("-m", "coverage"), lean=False)

    assert 50 < expected["totals"]["percent_covered"] < 100
    assert _coverage(project) == expected
    assert "calc.py add" in run.names()[:3]


# What ``calc.py`` is asked for in a process of its own.
CHILDREN = {
    "calc.py": """
        import sys


        def add(a, b):
            return a - b


        def mul(a, b):
            return a * b


        if __name__ == "__main__":
            function = {"add": add, "mul": mul}[sys.argv[1]]
            print(function(int(sys.argv[2]), int(sys.argv[3])))
        """,
    "test_calc.py": """
        import subprocess
        import sys

        from calc import mul


        def calc(*args):
            command = [sys.executable, "calc.py", *args]
            return subprocess.run(command, capture_output=True, check=True).stdout.strip()


        def test_add():
            assert calc("add", "1", "2") == b"3"


        def test_mul():
            assert calc("mul", "1", "2") == b"2"


        def test_mul_here():
            assert mul(1, 2) == 2
        """,
    "pyproject.toml": "[tool.pytest]\n[tool.coverage.run]\npatch = ['subprocess']\n",
}


@pytest.mark.thorough
@pytest.mark.skipif(COVERAGE < (7, 10), reason="that patch came with coverage.py 7.10")
def test_child_processes_count_where_they_are_measured(projects: Projects) -> None:
    project = projects.make(CHILDREN)
    options = ("-q", "-p", "pytest_cov", "--cov=.", "--cov-report=json")

    project.run(*options, "--no-bayesloc", lean=False)
    expected = _coverage(project)
    unseen = project.localize()
    run = project.localize(*options, *INSPECTED, lean=False)
    again = project.localize(*options, *INSPECTED, lean=False)

    assert unseen.names()[0] != "calc.py add"
    assert _coverage(project) == expected
    assert run.names()[0] == again.names()[0] == "calc.py add"
    assert again.document["session"]["n_traced"] == 0
    # Whatever is edited in memory, the tests would fail in the same way: it says nothing.
    assert "in the same way with each" not in run.output
    assert "child processes" in run.faults[0]["stop_reason"]


@pytest.mark.thorough
@pytest.mark.skipif(COVERAGE < (7, 10), reason="that patch came with coverage.py 7.10")
def test_inspections_add_nothing_to_what_child_processes_are_measured_in(
    projects: Projects,
) -> None:
    project = projects.make(CHILDREN)
    python = ("-m", "coverage", "run", "--source=.", "-m", "pytest")

    run = project.localize(*INSPECTED, python=python)

    assert run.names()[0] == "calc.py add"
    n_children = 2
    assert len(list(project.root.glob(".coverage.*"))) == n_children + 1


@pytest.mark.thorough
def test_no_cover_of_pytest_cov_is_no_trouble(projects: Projects) -> None:
    tests = """
        import pytest

        from calc import add


        @pytest.mark.no_cover
        def test_marked():
            assert add(1, 0) == 1


        def test_fixture(no_cover):
            assert add(1, 1) == 2


        def test_plain():
            assert add(2, 2) == 4
        """
    project = projects.buggy({"test_calc.py": tests})

    run = project.localize("--cov=.", "--cov-report=", lean=False)

    assert "calc.py add" in run.names()
    assert "own-fault" not in run.output
    assert "(recording)" not in run.output


# -- pytest-xdist


@pytest.fixture(scope="module")
def distributed_project(projects: Projects) -> Project:
    project = projects.buggy()
    project.write({"test_more.py": project.read("test_calc.py")})
    return project


@pytest.mark.thorough
def test_distributed_run_is_inspected(distributed_project: Project) -> None:
    run = distributed_project.localize("-n2", *INSPECTED, lean=False)

    assert run.inspections
    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output


@pytest.mark.thorough
def test_distributed_run_gives_the_ranking_and_the_counts_of_a_plain_one(
    distributed_project: Project,
) -> None:
    one, two = (distributed_project.localize(f"-n{n}", lean=False) for n in (0, 2))

    assert one.ret == two.ret == 1
    assert two.names()[0] == "calc.py add"
    assert two.document["session"]["n_passed"] == 8
    assert two.row("add")["counts"] == one.row("add")["counts"]
    assert two.row("total")["counts"] == one.row("total")["counts"]


@pytest.mark.thorough
def test_distributed_green_run_prints_nothing(green_project: Project) -> None:
    run = green_project.run("-q", "-n2", "--bayesloc", lean=False)

    assert run.ret == 0
    assert "bayesloc" not in run.output


@pytest.mark.thorough
def test_worker_that_dies_costs_a_note_and_no_more(projects: Projects) -> None:
    project = projects.buggy()
    project.write({"test_dying.py": "import os\n\n\ndef test_dying():\n    os._exit(3)\n"})

    run = project.localize("-n2", lean=False)

    assert run.ret == 1
    assert "test_dying.py::test_dying" in run.failing
    assert "own-fault" not in run.output
    assert run.document["partial"]


# -- other company


@pytest.mark.thorough
def test_hypothesis_tests_are_localized_and_inspections_add_nothing_to_its_database(
    projects: Projects,
) -> None:
    tests = """
        from hypothesis import given, strategies as st

        from calc import add, mul


        @given(st.integers(1, 9))
        def test_add(a):
            assert add(a, a) == 2 * a


        @given(st.integers())
        def test_mul(a):
            assert mul(a, 1) == a


        @given(st.integers())
        def test_add_zero(a):
            assert add(a, 0) == a
        """
    project = projects.buggy({"test_calc.py": tests})
    project.run("-q", "--no-bayesloc", lean=False)
    before = sorted((project.root / ".hypothesis" / "examples").rglob("*"))

    run = project.localize(*INSPECTED, lean=False)

    assert run.names()[0] == "calc.py add"
    assert not run.faults[0]["flaky"]
    assert before
    assert len(sorted((project.root / ".hypothesis" / "examples").rglob("*"))) == len(before)


def test_code_executed_in_threads_is_recorded(projects: Projects) -> None:
    tests = """
        from concurrent.futures import ThreadPoolExecutor

        from calc import add, mul

        POOL = ThreadPoolExecutor(4)


        def test_add():
            assert list(POOL.map(add, [1, 2, 3], [1, 2, 3])) == [2, 4, 6]


        def test_mul():
            assert list(POOL.map(mul, [1, 2, 3], [1, 2, 3])) == [1, 4, 9]
        """
    project = projects.buggy({"test_calc.py": tests})

    run = project.localize("--bayesloc")

    assert run.names()[0] == "calc.py add"
    assert run.row("add")["counts"]["ef"] == 1


@pytest.mark.thorough
def test_capture_may_be_off(buggy_project: Project) -> None:
    tests = buggy_project.read("test_calc.py").replace(
        "test_add():", "test_add():\n    print('noise')"
    )
    buggy_project.write({"test_calc.py": tests})

    run = buggy_project.localize("-s", *INSPECTED)

    assert run.inspections
    assert run.stdout.count("noise") == 1


@pytest.mark.thorough
def test_run_without_terminal_plugin_writes_its_report(buggy_project: Project) -> None:
    run = buggy_project.run(
        "-p", "no:terminal", "--bayesloc", "--bayesloc-report=json", "--bayesloc-threshold=0.999"
    )

    assert run.ret == 1
    assert (buggy_project.root / ".bayesloc" / "bayesloc-report.json").exists()
    assert run.output == ""


@pytest.mark.thorough
def test_run_without_cache_is_complete(buggy_project: Project) -> None:
    run = buggy_project.localize("-p", "no:cacheprovider", *INSPECTED)

    assert run.inspections
    assert run.names()[0] == "calc.py add"


@pytest.mark.thorough
def test_last_failures_alone_may_be_run_and_stay_what_they_are(buggy_project: Project) -> None:
    buggy_project.run("-q", "--no-bayesloc")

    run = buggy_project.localize("--lf", *INSPECTED)

    assert run.document["session"]["n_passed"] == 0
    assert run.inspections
    assert not any(fault["flaky"] for fault in run.faults)
    assert "calc.py add" in run.names()[:2]
    kept = json.loads(buggy_project.read(".pytest_cache/v/cache/lastfailed"))
    assert kept.keys() == {"test_calc.py::test_add", "test_calc.py::test_total"}


@pytest.mark.parametrize("args", [("-x",), ("-k", "add or half"), ("test_calc.py::test_add",)])
def test_part_of_the_tests_may_be_run(shared_buggy_project: Project, args: tuple[str, ...]) -> None:
    run = shared_buggy_project.localize(*args, *INSPECTED)

    assert run.failing == {"test_calc.py::test_add"}
    assert not run.faults[0]["flaky"]
    assert run.names()[0] == "calc.py add"
    assert run.ret == 1


@pytest.mark.thorough
def test_importlib_mode_is_inspected(buggy_project: Project) -> None:
    buggy_project.write(
        {"pytest.ini": "[pytest]\npythonpath = .\naddopts = --import-mode=importlib\n"}
    )

    run = buggy_project.localize(*INSPECTED)

    assert run.inspections
    assert not run.faults[0]["flaky"]


# -- what the ini file asks for is asked of the main run only


def test_files_that_the_ini_file_asks_for_are_those_of_the_main_run(projects: Projects) -> None:
    ini = """
        [pytest]
        addopts = --cov=. --cov-report=xml -n2 --junitxml=junit.xml --strict-markers -x
            --log-file=run.log --durations=3
        """
    project = projects.buggy({"pytest.ini": ini})

    run = project.localize(*INSPECTED, "-n0", "--maxfail=9", lean=False)

    assert run.inspections
    assert re.search(r'failures="2".*tests="6"', project.read("junit.xml"))
    assert 'filename="calc.py"' in project.read("coverage.xml")
    assert 'line-rate="0"' not in project.read("coverage.xml")
    made = {"junit.xml", "coverage.xml", ".coverage", "run.log"}
    kept = {"__pycache__", ".pytest_cache", ".hypothesis", ".bayesloc"}
    names = {path.name for path in project.root.iterdir()}
    assert names - kept == {"calc.py", "test_calc.py", "pytest.ini", *made}


@pytest.mark.thorough
def test_distribution_in_the_ini_file_is_not_repeated(projects: Projects) -> None:
    project = projects.buggy({"pytest.ini": "[pytest]\naddopts = -n2 --cov=. --cov-report=\n"})

    run = project.localize(*INSPECTED, lean=False)

    assert run.inspections
    assert run.names()[0] == "calc.py add"


# -- tools that take what we would use


@pytest.mark.thorough
@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
@pytest.mark.parametrize("options", [("--cov-context=test",), ("--cov-branch",)])
def test_core_of_coverage_on_events_measures_the_same_with_and_without_us(
    projects: Projects, options: tuple[str, ...]
) -> None:
    project = projects.buggy()
    options = ("-q", "--tb=no", "--cov=.", "--cov-report=term-missing", *options)
    core = {"COVERAGE_CORE": "sysmon"}

    beside = project.localize(*options, lean=False, env=core)
    alone = project.run(*options, "-pno:bayesloc", lean=False, env=core)

    assert beside.names()[0] == "calc.py add"
    measured = re.compile(r"^(?:calc|test_calc|TOTAL).*%$", re.MULTILINE)
    assert measured.findall(beside.stdout) == measured.findall(alone.stdout)
    assert len(measured.findall(alone.stdout)) == 3


@pytest.mark.thorough
@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_coverage_collects_where_no_slot_is_free(projects: Projects) -> None:
    conftest = """
        import sys

        for slot in (3, 4):
            if sys.monitoring.get_tool(slot) is None:
                sys.monitoring.use_tool_id(slot, "other")
        """
    project = projects.buggy({"taker.py": conftest})

    # This core, the default from Python 3.14 on, warns that it can't tell tests apart.
    env = {"PYTHONPATH": str(project.root), "COVERAGE_CORE": "sysmon"}
    run = project.localize("-p", "taker", "-Werror", env=env)

    assert run.document["session"]["collector"] == "coverage.py"
    assert run.names()[0] == "calc.py add"


@pytest.mark.thorough
def test_debugger_keeps_its_trace_function(projects: Projects) -> None:
    tests = asserting(
        "import sys\n\nfrom calc import add",
        debugged="sys.gettrace() is sys.debugger",
        add="add(1, 1) == 2",
    )
    project = projects.buggy({"test_calc.py": tests})
    code = (
        "import sys, pytest; sys.debugger = lambda *args: None; sys.settrace(sys.debugger); "
        "sys.exit(pytest.main(sys.argv[1:]))"
    )

    run = project.localize("-v", "-v", python=("-c", code))

    assert run.failing == {"test_calc.py::test_add"}
    has_second_way = sys.version_info >= (3, 12)
    assert (run.document["session"]["collector"] == "sys.monitoring") == has_second_way
    assert ("(debugger)" in run.output) == (not has_second_way)
    assert "own-fault" not in run.output


def test_trace_function_of_a_test_is_no_trouble(projects: Projects) -> None:
    tests = """
        import sys

        from calc import add


        def test_traced():
            old = sys.gettrace()
            sys.settrace(lambda *args: None)
            try:
                assert add(1, 0) == 1
            finally:
                sys.settrace(old)


        def test_add():
            assert add(1, 1) == 2
        """
    project = projects.buggy({"test_calc.py": tests})

    run = project.localize(*INSPECTED)

    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output


def test_frozen_time_and_changed_folder_are_no_trouble(projects: Projects) -> None:
    tests = """
        import os
        import time

        import pytest

        from calc import add


        @pytest.fixture(autouse=True)
        def strange(monkeypatch, tmp_path):
            monkeypatch.setattr(time, "monotonic", lambda: 1e9)
            monkeypatch.setattr(time, "perf_counter", lambda: 1e9)
            monkeypatch.chdir(tmp_path)


        def test_add():
            assert add(1, 1) == 2


        def test_zero():
            assert add(1, 0) == 1
        """
    project = projects.buggy({"test_calc.py": tests})

    run = project.localize(*INSPECTED)

    assert run.names()[0] == "calc.py add"
    assert all(seconds < 100 for seconds in run.document["session"]["seconds"].values())


def test_folder_left_by_a_test_is_not_where_the_report_goes(
    projects: Projects, tmp_path: Path
) -> None:
    tests = f"""
        import os

        from calc import add


        def test_add():
            os.chdir({str(tmp_path)!r})
            assert add(1, 1) == 2
        """
    project = projects.buggy({"test_calc.py": tests})

    project.run("-q", "--bayesloc", "--bayesloc-report=json:out.json")

    assert (project.root / "out.json").exists()
    assert list(tmp_path.iterdir()) == []
