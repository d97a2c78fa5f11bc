"""A fault of ours, or of who takes part, costs one warning: never the run or its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

FORGETFUL = True
FRESH = True  # parts of the plugin are replaced before others import them


BREAK = """
import importlib


def pytest_configure(config):
    module = importlib.import_module({module!r})

    def broken(*args, **kwargs):
        raise RuntimeError("planted")

    owner = getattr(module, {owner!r}) if {owner!r} else module
    setattr(owner, {name!r}, broken)
"""
LATE = [
    ("pytest_bayesloc.spectrum.build", "", "build_spectrum"),
    ("pytest_bayesloc.ranking.groups", "", "open_groups"),
    ("pytest_bayesloc.report.encoding", "", "encode"),
    ("pytest_bayesloc.report.terminal", "", "answer"),
]
EARLY = [
    ("pytest_bayesloc.spectrum.monitoring", "MonitoringCollector", "switch"),
    ("pytest_bayesloc.spectrum.coverage_py", "CoverageCollector", "switch"),
    ("pytest_bayesloc.spectrum.cache", "SpectrumCache", "settle"),
    ("pytest_bayesloc.spectrum.failures", "", "describe"),
    ("pytest_bayesloc.spectrum.failures", "", "test_code"),
]


def _broken(project: Project, module: str, owner: str, name: str) -> Project:
    return project.write({"conftest.py": BREAK.format(module=module, owner=owner, name=name)})


@pytest.mark.thorough
@pytest.mark.parametrize("where", LATE, ids=lambda where: where[2])
def test_fault_of_ours_at_the_end_costs_one_warning(
    buggy_project: Project, where: tuple[str, str, str]
) -> None:
    run = _broken(buggy_project, *where).run("-q", "--tb=no")

    assert run.ret == 1
    assert run.outcomes["failed"] == 2
    assert "pytest-bayesloc failed (RuntimeError: planted)" in run.stdout
    assert "1 warning in " in run.stdout
    assert "Traceback" not in run.output
    assert "INTERNALERROR" not in run.output


@pytest.mark.thorough
@pytest.mark.parametrize("where", EARLY, ids=lambda where: f"{where[1]}-{where[2]}")
def test_fault_of_ours_while_recording_keeps_the_run(
    buggy_project: Project, where: tuple[str, str, str]
) -> None:
    run = _broken(buggy_project, *where).run("-q", "--tb=no")

    assert run.ret == 1
    assert (run.outcomes["failed"], run.outcomes["passed"]) == (2, 4)
    assert "Traceback" not in run.output
    assert "INTERNALERROR" not in run.output


def test_fault_of_ours_is_a_warning_even_where_warnings_are_errors(buggy_project: Project) -> None:
    project = _broken(buggy_project, *LATE[0])

    run = project.run("-q", "--tb=no", "-W", "error")

    assert run.ret == 1
    assert run.outcomes["failed"] == 2
    assert "INTERNALERROR" not in run.output


def test_fault_of_ours_leaves_a_green_run_green(green_project: Project) -> None:
    run = _broken(green_project, *LATE[0]).run("-q", "--bayesloc")

    assert run.ret == 0
    assert "bayesloc" not in run.output


#: A fault, what is said of it, and whether inspections are made all the same.
SPARED = {
    "proposals that break": (
        """
        def pytest_bayesloc_propose_patches(config, location, source):
            raise RuntimeError("planted")
        """,
        "A plugin's pytest_bayesloc_propose_patches failed",
        True,
    ),
    "a fault of ours": (
        BREAK.format(module="pytest_bayesloc.inspection.loop", owner="InspectionLoop", name="run"),
        "(own-fault)",
        False,
    ),
    "a report that can't be drawn": (
        BREAK.format(module="pytest_bayesloc.report.html", owner="", name="render"),
        "(own-fault)",
        True,
    ),
    "a server that can't start": (
        """
        import sys

        if "pytest_bayesloc.rerun.server" in sys.modules:
            raise RuntimeError("only once")
        """,
        "did not start",
        False,
    ),
    "a Python that can't be started again": (
        """
        import sys


        def pytest_sessionfinish():
            sys.executable = "/nowhere/python"
        """,
        "could not be started",
        False,
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("conftest", "said", "is_inspected"), SPARED.values(), ids=SPARED)
def test_fault_of_an_inspection_or_a_report_spares_the_ranking(
    projects: Projects, conftest: str, said: str, is_inspected: bool
) -> None:
    run = projects.buggy({"conftest.py": conftest}).localize(
        "--bayesloc", "--bayesloc-threshold=0.999", "--bayesloc-report=html"
    )

    assert run.ret == 1
    assert run.names()[0] == "calc.py add"
    assert run.stdout.count(said) == 1 + (said == "(own-fault)")  # a warning of pytest has it too
    assert bool(run.inspections) == is_inspected
    assert "Traceback" not in run.output
    assert "INTERNALERROR" not in run.output
