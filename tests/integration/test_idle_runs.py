"""A run that has nothing to localize pays for next to nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project

FRESH = True  # what a fork begins with is imported already
COSTLY = (
    "jinja2",
    "networkx",
    "openai",
    "pytest_bayesloc.inspection",
    "pytest_bayesloc.memory.store",
)
LIST_MODULES = """
import sys


def pytest_unconfigure():
    print("MODULES", *sorted(sys.modules))
"""


def _modules(project: Project, *args: str) -> set[str]:
    project.write({"conftest.py": LIST_MODULES})
    run = project.run("-q", "-s", *args)
    assert run.ret == 0, run.output
    (line,) = (line for line in run.stdout.splitlines() if line.startswith("MODULES "))
    return set(line.split())


@pytest.mark.parametrize("option", [(), ("--bayesloc",)])
def test_green_run_imports_nothing_costly(green_project: Project, option: tuple[str, ...]) -> None:
    modules = _modules(green_project, *option)

    assert "pytest_bayesloc.session" in modules
    assert modules.isdisjoint(COSTLY)


def test_run_that_lists_tests_imports_less_still(green_project: Project) -> None:
    assert "pytest_bayesloc.session" not in _modules(green_project, "--collect-only", "--bayesloc")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="coverage.py is the collector there")
def test_green_run_imports_no_coverage_where_sys_monitoring_is(green_project: Project) -> None:
    assert "coverage" not in _modules(green_project)


def test_switched_off_plugin_imports_neither_session_nor_recorder(green_project: Project) -> None:
    ours = {name for name in _modules(green_project, "--no-bayesloc") if "pytest_bayesloc" in name}

    assert ours == {
        "pytest_bayesloc",
        "pytest_bayesloc.domain",
        "pytest_bayesloc.domain.standard_library",
        "pytest_bayesloc.hookspecs",
        "pytest_bayesloc.options",
        "pytest_bayesloc.options.option",
        "pytest_bayesloc.options.readers",
        "pytest_bayesloc.options.settings",
        "pytest_bayesloc.plugin",
    }
