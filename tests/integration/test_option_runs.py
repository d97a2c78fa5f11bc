"""Options: each has an ini twin, and a bad value costs one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.traced

FORGETFUL = True


TWINS = """
bayesloc = true
bayesloc_budget = 30
bayesloc_inspections = 2
bayesloc_threshold = 0.998
bayesloc_formula = ochiai
bayesloc_model = independent
"""
SOURCE = 'bayesloc_source = ["."]\n'
QUOTED, NATIVE = (re.sub(rf"= (?!true)({what})", r'= "\1"', TWINS) for what in (".*", "[a-z]+"))
#: Files of settings; in a native table numbers are numbers.
TABLES = {
    "pytest.ini": {"pytest.ini": f"[pytest]{TWINS}"},
    "pyproject.toml": {"pyproject.toml": f"[tool.pytest.ini_options]{QUOTED}{SOURCE}"},
    "native table": {"pyproject.toml": f"[tool.pytest]{NATIVE}{SOURCE}"},
}


def _one_usage_line(run: Run) -> str:
    (line,) = (line for line in run.stderr.splitlines() if line.startswith("ERROR: "))
    assert run.ret == 4
    assert "Traceback" not in run.output
    return line


@pytest.mark.parametrize(
    "option", ["--bayesloc-budget=0", "--bayesloc-green=no-such-revision", "--bayesloc-green=auto"]
)
def test_bad_value_costs_one_usage_line(shared_buggy_project: Project, option: str) -> None:
    assert option in _one_usage_line(shared_buggy_project.run(option))


@pytest.mark.parametrize("entry", ["bayesloc_threshold = 2", "bayesloc_report = pdf"])
def test_bad_ini_value_costs_one_usage_line(buggy_project: Project, entry: str) -> None:
    buggy_project.write({"pytest.ini": f"[pytest]\n{entry}\n"})

    line = _one_usage_line(buggy_project.run())

    assert entry.partition(" ")[0] in line or "--bayesloc-report=pdf" in line


@pytest.mark.parametrize("name", TABLES)
def test_ini_twins_work_in_each_file(projects: Projects, name: str) -> None:
    if name == "native table" and pytest.version_tuple < (9, 0):
        pytest.skip("the native table came with pytest 9")

    run = projects.buggy(TABLES[name]).localize()

    session = run.document["session"]
    assert (session["formula"], session["model"]) == ("ochiai", "independent")
    assert session["threshold"] == 0.998
    assert len(run.inspections) == 2


def test_command_line_beats_ini(buggy_project: Project) -> None:
    buggy_project.write({"pytest.ini": f"[pytest]{TWINS}"})

    run = buggy_project.localize(
        "--bayesloc-formula=op2", "--bayesloc-inspections=1", "--bayesloc-threshold=0.997"
    )

    session = run.document["session"]
    assert (session["formula"], session["model"]) == ("op2", "independent")
    assert session["threshold"] == 0.997
    assert len(run.inspections) == 1


def test_ini_can_switch_the_plugin_off_which_reads_no_option_then(buggy_project: Project) -> None:
    buggy_project.write({"pytest.ini": "[pytest]\nno_bayesloc = true\n"})

    run = buggy_project.run("-q", "--bayesloc", "--bayesloc-budget=0")

    assert run.ret == 1
    assert "bayesloc" not in run.output


def test_report_in_the_ini_file_is_written(buggy_project: Project) -> None:
    buggy_project.write({"pytest.ini": "[pytest]\nbayesloc_report =\n    json\n    html\n"})

    buggy_project.run("-q")

    folder = buggy_project.root / ".bayesloc"
    assert {path.name for path in folder.glob("bayesloc-report.*")} == {
        "bayesloc-report.json",
        "bayesloc-report.html",
    }


def test_bayesloc_does_not_swallow_a_folder(projects: Projects) -> None:
    project = projects.make(
        {
            "tests/test_in.py": "def test_in():\n    assert 0\n",
            "test_out.py": "def test_out():\n    assert 0\n",
        }
    )

    run = project.localize("--bayesloc", "tests")

    assert run.failing == {"tests/test_in.py::test_in"}


def test_options_stand_in_the_help(shared_buggy_project: Project) -> None:
    run = shared_buggy_project.run("--help")

    assert run.ret == 0
    for name in ("budget", "source", "report"):
        assert f"--bayesloc-{name}=" in run.stdout
        assert f"bayesloc_{name} (" in run.stdout


def test_help_takes_45_lines_at_most(shared_buggy_project: Project) -> None:
    env = {"COLUMNS": "80"}
    ours = shared_buggy_project.run("--help", env=env).stdout.splitlines()
    others = shared_buggy_project.run("--help", "-p", "no:bayesloc", env=env).stdout.splitlines()

    assert 30 < len(ours) - len(others) <= 45


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pydantic", "why"),
    [
        ("raise ModuleNotFoundError('no pydantic', name='pydantic')\n", "missing"),
        ("VERSION = '1.10.2'\n", "too old"),
    ],
)
def test_language_model_without_its_client_costs_one_line(
    projects: Projects, pydantic: str, why: str
) -> None:
    project = projects.buggy({"lib/pydantic.py": pydantic})

    run = project.localize("--bayesloc-llm", env={"PYTHONPATH": str(project.root / "lib")})

    assert run.names()[0] == "calc.py add"
    assert f"pydantic is {why}. pip install 'pytest-bayesloc[llm]'. (llm-missing)" in run.stdout
    assert run.document["llm"]["calls"] == 0
