"""What a run leaves behind for a CI service, and what it says where it can't."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

FORGETFUL = True
AUTO = {"pytest.ini": "[pytest]\nbayesloc_report = auto\n"}


def github(project: Project) -> dict[str, str]:
    """The variables of a step of GitHub Actions; it has written to its summary."""
    path = project.root.parent / "summary.md"
    path.write_text("# earlier\n", encoding="utf-8")
    return {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(path)}


def summary(project: Project) -> str:
    return (project.root.parent / "summary.md").read_text(encoding="utf-8")


def commands(run: Run) -> list[str]:
    """What GitHub Actions takes for a command."""
    return [line for line in run.output.splitlines() if line.lstrip().startswith("::")]


def notes(run: Run) -> list[str]:
    return [line for line in run.stdout.splitlines() if re.search(r"\([a-z]+(-[a-z]+)+\)$", line)]


# -- by itself


def test_auto_fills_summary_and_marks_lines_on_github(projects: Projects) -> None:
    project = projects.buggy(AUTO)
    (project.root.parent / ".git").mkdir()

    run = project.run("-q", env=github(project))

    assert summary(project).startswith(
        "# earlier\n<!-- pytest-bayesloc -->\n### bayesloc: 2 failed"
    )
    first, *others = commands(run)
    assert first.startswith("::error file=project/calc.py,line=2,title=")
    assert all(line.startswith("::warning file=project/calc.py") for line in others)
    assert (project.root / ".bayesloc" / "bayesloc-report.html").exists()


def test_auto_writes_code_quality_on_gitlab(projects: Projects) -> None:
    project = projects.buggy(AUTO)
    env = {"GITLAB_CI": "true", "CI_PROJECT_DIR": str(project.root.parent)}

    run = project.run("-q", env=env)

    text = (project.root / ".bayesloc" / "gl-code-quality-report.json").read_text(encoding="utf-8")
    assert json.loads(text)[0]["location"] == {"path": "project/calc.py", "lines": {"begin": 2}}
    assert (project.root / ".bayesloc" / "bayesloc-report.html").exists()
    assert commands(run) == []


def test_nothing_is_on_by_itself_unless_the_ini_says_so(buggy_project: Project) -> None:
    run = buggy_project.run("-q", env={**github(buggy_project), "GITLAB_CI": "true"})

    assert summary(buggy_project) == "# earlier\n"
    assert commands(run) == []
    assert not list(buggy_project.root.rglob("*report*"))


def test_auto_is_nothing_where_no_service_is(buggy_project: Project) -> None:
    run = buggy_project.run("-q", "--bayesloc-report=auto")

    assert run.ret == 1
    assert not list(buggy_project.root.rglob("*report*"))


def test_page_with_a_path_replaces_that_of_auto(buggy_project: Project) -> None:
    env = github(buggy_project)

    buggy_project.run("-q", "--bayesloc-report=auto", "--bayesloc-report=html:page.html", env=env)

    assert "### bayesloc" in summary(buggy_project)
    assert [path.name for path in buggy_project.root.rglob("*.html")] == ["page.html"]


def test_run_that_passes_writes_nothing(green_project: Project) -> None:
    env = github(green_project)

    green_project.run("-q", "--bayesloc", "--bayesloc-report=auto", env=env)

    assert summary(green_project) == "# earlier\n"


@pytest.mark.thorough
def test_message_of_a_failure_gives_no_command(projects: Projects) -> None:
    files = {
        "lib.py": "def raising(text):\n    raise ValueError(text)\n",
        "test_lib.py": """
            import pytest
            from lib import raising


            @pytest.mark.parametrize("text", ["::error::boo " * 9, "x\\n::stop-commands::t\\n"])
            def test_lib(text):
                raising(text)
            """,
        "conftest.py": """
            def pytest_bayesloc_localized():
                raise RuntimeError("one\\n::error::two\\n  ::error::three ##[error]four")
            """,
    }
    project = projects.make(files)

    run = project.run("--tb=no", "--bayesloc", "--bayesloc-report=auto", env=github(project))

    assert "(broken-listener)" in run.stdout
    assert "three" in run.stdout
    assert [line[: line.index(" file=lib.py")] for line in commands(run)] == ["::error"]
    assert "##[" not in run.stdout


# -- pytest's own XML


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_suspects_stand_in_the_xml_of_pytest(buggy_project: Project, family: str) -> None:
    options = ("--junit-xml=$OUT/junit.xml", "-o", f"junit_family={family}")

    run = buggy_project.run("-q", *options, "--bayesloc-report=junit", env={"OUT": "xml"})

    root = ET.parse(buggy_project.root / "xml" / "junit.xml").getroot()
    found = {p.get("name"): p.get("value", "") for p in root.iter("property")}
    assert found["bayesloc.fault.1.suspect.1"].startswith("calc.py:1 add")
    assert len(root.findall(".//testcase/failure")) == 2
    assert notes(run) == []


def says(run: Run, kind: str, *words: str) -> bool:
    """Whether one line says that the report is not written, and why; and no more is amiss."""
    said = [line for line in notes(run) if f" {kind} report " in line]
    assert len(said) == 1, run.output
    assert said[0].endswith("(report-not-written)")
    assert "Traceback" not in run.output
    assert run.ret == 1
    assert any("add (calc.py:1)" in line for line in run.section)
    return all(word in said[0] for word in words)


def test_report_without_a_place_costs_one_line(shared_buggy_project: Project) -> None:
    both = shared_buggy_project.run("-q", "--bayesloc-report=junit", "--bayesloc-report=github")

    assert says(both, "junit", "--bayesloc-report=junit:PATH, or --junit-xml")
    assert says(both, "github", "the variable GITHUB_STEP_SUMMARY")


@pytest.mark.parametrize(
    ("text", "why"),
    [(None, "pytest has written nothing there"), ("no xml", "what stands there is no XML")],
)
def test_xml_of_somebody_else_stays_as_it_is(
    buggy_project: Project, text: str | None, why: str
) -> None:
    path = buggy_project.root / "junit.xml"
    if text is not None:
        path.write_text(text, encoding="utf-8")

    run = buggy_project.run("-q", "--bayesloc-report=junit:junit.xml")

    assert says(run, "junit", why, str(path))
    assert (path.read_text(encoding="utf-8") if path.exists() else None) == text


# -- places


def test_one_report_that_cannot_be_written_does_not_hinder_the_others(
    shared_buggy_project: Project, tmp_path: Path
) -> None:
    run = shared_buggy_project.run(
        "-q",
        f"--bayesloc-report=sarif:{tmp_path}/{'x' * 300}",
        f"--bayesloc-report=json:{tmp_path}/x.json",
    )

    assert says(run, "sarif", "File name too long")
    assert (tmp_path / "x.json").exists()


def test_two_reports_to_one_path_are_refused(shared_buggy_project: Project) -> None:
    run = shared_buggy_project.run(
        "-q", "--bayesloc-report=json:out/x", "--bayesloc-report=html:out/../out/x"
    )

    assert run.ret == 4
    assert "would overwrite the json report: give each report a file of its own" in run.stderr


# -- formats of others

FORMAT = """
    def lines(document):
        document["faults"][0]["ranking"][0]["file"] += "!"
        return "".join(f"{f['ranking'][0]['file']}\\n" for f in document["faults"])


    def pytest_bayesloc_report_formats(config):
        return {"lines": lines}
    """


def test_format_of_a_plugin_is_written(projects: Projects) -> None:
    project = projects.buggy({"conftest.py": FORMAT})

    project.run(
        "-q", "--bayesloc-report=lines:a.txt", "--bayesloc-report=lines", "--bayesloc-report=json"
    )

    assert project.read("a.txt") == project.read(".bayesloc/bayesloc-report.lines") == "calc.py!\n"
    assert "!" not in project.read(".bayesloc/bayesloc-report.json")


def test_kind_that_nobody_offers_is_refused_with_those_that_are(projects: Projects) -> None:
    run = projects.buggy({"conftest.py": FORMAT}).run("-q", "--bayesloc-report=line")

    assert run.ret == 4
    assert "node-link, record, loop, lines, auto" in (run.stderr)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise RuntimeError('no')", "pytest_bayesloc_report_formats failed (RuntimeError: no)"),
        ("return {'a b': str}", "(TypeError: 'a b' is no name of a kind"),
        ("return {'lines': None}", "None no function)"),
        ("return {'lines': lambda d: 1 / 0}", "(ZeroDivisionError: division by zero)"),
        ("return {'lines': lambda d: b''}", "it gave bytes, not text"),
    ],
)
def test_format_that_fails_costs_one_line(projects: Projects, text: str, why: str) -> None:
    conftest = f"def pytest_bayesloc_report_formats(config):\n    {text}\n"
    project = projects.buggy({"conftest.py": conftest})

    run = project.run("-q", "--bayesloc-report=lines", "--bayesloc-report=markdown:a.md")

    (note,) = notes(run)
    assert why in note
    assert note.endswith("(broken-format)")
    assert run.ret == 1
    assert (project.root / "a.md").exists()


# -- the calls, for other tools


def test_calls_are_written_for_other_tools(projects: Projects) -> None:
    project = projects.buggy()

    project.run("-q", "--bayesloc", *(f"--bayesloc-report={kind}" for kind in KINDS))

    folder = project.root / ".bayesloc"
    graph = ET.parse(folder / "bayesloc-calls.graphml").getroot()
    told = json.loads((folder / "bayesloc-calls.json").read_text())
    assert len(list(graph.iter(NODE))) == len(told["nodes"]) > 0
    assert '"calc.py:1 add" [' in (folder / "bayesloc-calls.dot").read_text()


KINDS = ("graphml", "dot", "node-link")
NODE = "{http://graphml.graphdrawing.org/xmlns}node"
