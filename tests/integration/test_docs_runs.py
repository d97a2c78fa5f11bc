"""What the pages show is what comes out: their files, run as they say."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.integration.kinds import KINDS, Kind, markdown
from tests.integration.test_memory_runs import edit
from tests.pages import BLOCKS, DOCS, ROOT, files_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

PRICES, AGENTS, EXTENDING, FIXES, MEMORY = (
    files_of(name) for name in ("examples.md", "agents.md", "extending.md", "fixes.md", "memory.md")
)
#: What differs from machine to machine, and between the page's margin and the terminal's.
VARIES = re.compile(
    r"\d+(?:\.\d+)? s|<0\.01 s|(?<=html )\S*(?=\.bayesloc/)|(?<=bug )[0-9a-f]{12}|\d{4}-\d\d-\d\d"
)


def shown(page: str, holds: str) -> list[str]:
    """The lines of the one block that holds a text."""
    (block,) = (b for b in BLOCKS if b.page == page and holds in b.text and not b.file)
    return block.text.splitlines()


def alike(lines: list[str]) -> list[str]:
    return [VARIES.sub("_", line).strip() for line in lines if line.strip()]


def with_hooks(projects: Projects, name: str, more: dict[str, str] | None = None) -> Project:
    """The project of the pages with a ``conftest.py`` of the page on hooks."""
    return projects.make(
        {**PRICES, "conftest.py": EXTENDING[f"{name}/conftest.py"], **(more or {})}
    )


@pytest.fixture(scope="module")
def first_page(projects: Projects) -> Project:
    """The project of the pages, after the run that the page for agents tells of."""
    project = projects.make({**PRICES, **AGENTS})
    project.run("-q", "--bayesloc", "--bayesloc-report=json:bayesloc.json")
    return project


def test_first_page_shows_what_a_run_says(projects: Projects) -> None:
    run = projects.make(PRICES).run("--bayesloc", "-q")

    assert alike(run.section) == alike(shown("index.md", "report: html"))


@pytest.mark.thorough
def test_readme_shows_what_a_run_of_the_demo_says(projects: Projects) -> None:
    project = projects.make({})
    ignored = shutil.ignore_patterns(".bayesloc", "__pycache__", ".pytest_cache")
    shutil.copytree(ROOT / "demo_project", project.root, ignore=ignored, dirs_exist_ok=True)
    by_tarantula = runpy.run_path(str(ROOT / ".ci" / "check_demo.py"))["by_tarantula"]
    text = (ROOT / "README.md").read_text("utf-8")

    run = project.localize("--tb=no", "--bayesloc", env={"COLUMNS": "100"})

    said = [line for line in run.section if not line.startswith("report: ")]
    shown = text.split("<!-- terminal -->\n")[1].splitlines()
    assert alike(said) == alike(shown[1:])
    assert len(shown) < 45
    (score, name), *others = by_tarantula(run.faults[0])
    (own,) = (other for other, qualname in others if qualname == "Stay.overlaps")
    words = f"`{name}`, whose Tarantula is {score:.2f}, before `Stay.overlaps` with {own:.2f}"
    assert words in " ".join(text.split())


def test_first_places_are_read_from_the_result(first_page: Project) -> None:
    done = subprocess.run(
        [sys.executable, "first.py"],
        cwd=first_page.root,
        capture_output=True,
        text=True,
        check=True,
    )

    assert re.match(r"0\.\d\d prices\.py:9 to_pay: the failing tests pass", done.stdout)
    assert len(done.stdout.splitlines()) == 3


def test_last_red_run_is_told_without_a_test(first_page: Project) -> None:
    run = first_page.run("--bug-advice-last")

    assert run.ret == 0
    assert "no similar past bug" in run.stdout
    assert "passed" not in run.stdout


def test_page_on_reading_quotes_the_first_page() -> None:
    quoted, whole = shown("reading.md", "(prices.py:9)"), shown("index.md", "report: html")

    assert alike(quoted)
    assert set(alike(quoted)) <= set(alike(whole))


@pytest.mark.thorough
def test_pages_on_reading_quote_the_long_form(projects: Projects) -> None:
    run = projects.make(PRICES).run("--bayesloc", "-v", "--tb=no")

    for page, holds in (
        ("reading.md", "rank      P"),
        ("reading.md", "why prices.py"),
        ("reading-reference.md", "values of to_pay"),
    ):
        quoted = shown(page, holds)
        assert alike(quoted)
        assert set(alike(quoted)) <= set(alike(run.section))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.title)
def test_page_of_examples_shows_each_kind_of_failure(projects: Projects, kind: Kind) -> None:
    section = kind.section(projects.make({}))

    assert markdown(kind, section) in (DOCS / "examples.md").read_text("utf-8")
    faults = "\n".join(section).split("fault ")
    assert max(fault.count("\n") for fault in faults) <= 12


def test_hook_after_localizing_writes_what_the_page_shows(projects: Projects) -> None:
    project = with_hooks(projects, "localized")

    project.run("-q")

    assert project.read("suspects.txt").splitlines() == shown("extending.md", "31% bill")


def test_format_of_a_hook_writes_what_the_page_shows(projects: Projects) -> None:
    project = with_hooks(projects, "formats")

    project.run("-q", "--bayesloc-report=lines:likeliest.txt")

    assert project.read("likeliest.txt").splitlines() == shown("extending.md", "37% prices")


def test_optional_hook_does_no_harm_without_the_plugin(projects: Projects) -> None:
    project = with_hooks(projects, "optional")

    with_it, without = project.run("-q", "-s"), project.run("-q", "-p", "no:bayesloc")

    assert "likeliest: prices.py:9 to_pay (37%)" in with_it.stdout
    assert without.outcomes == with_it.outcomes == {"failed": 2, "passed": 4}


def test_hook_that_is_not_optional_needs_the_plugin(projects: Projects) -> None:
    run = with_hooks(projects, "localized").run("-q", "-p", "no:bayesloc")

    assert "unknown hook 'pytest_bayesloc_localized'" in run.output


@pytest.mark.thorough
@pytest.mark.parametrize(("model", "is_reason"), [("single-fault", False), ("independent", True)])
def test_rule_of_the_project_is_run_and_weighed(
    projects: Projects, model: str, is_reason: bool
) -> None:
    asked = ("--bayesloc", "--bayesloc-threshold=0.999", "-vv", f"--bayesloc-model={model}")
    run = with_hooks(projects, "rules").localize(*asked)

    (rule,) = (step for step in run.inspections if step["kind"] == "rule")
    (said,) = shown("extending.md", "in the failing test")
    assert rule["outcome"] == "TARGET_ASSERTION_FAILED"
    assert rule["target"]["qualname"] == "to_pay"
    assert (" ".join(said.split()) in _reasons(run)) is is_reason
    assert run.names()[0] == "prices.py to_pay"


def _reasons(run: Run) -> str:
    return " ".join(" ".join(run.section).split())


COLOURS = {
    "paint.py": "def shade(thing):\n    return thing['colour'].upper()\n",
    "test_paint.py": """
        from paint import shade


        def test_shade():
            assert shade({"color": "red"}) == "RED"
        """,
}
TOOL = {name.partition("/")[2]: text for name, text in FIXES.items()}
FREE = {"colour.yaml": TOOL["colour.yaml"].replace('["src/*.py"]', '["*.py"]')}


def test_plugin_offers_the_tool_of_the_page_on_fixes(projects: Projects) -> None:
    tools = {f"fix_tools/{name}": text for name, text in (TOOL | FREE).items()}
    project = with_hooks(projects, "tools", {**COLOURS, **tools})

    listed = project.run("--bayesloc-fix=tools").stdout
    fixed = project.localize("--bayesloc-fix=suggest", "test_paint.py")

    assert re.search(r"^colour +plugin\b", listed, re.MULTILINE)
    assert {fix["tool"] for fix in fixed.document["fixes"] if fix["verified"]} == {"colour"}


@pytest.mark.thorough
def test_tool_of_a_project_runs_as_the_page_on_fixes_says(
    projects: Projects, tmp_path: Path
) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    files = {name.removeprefix("src/"): text for name, text in COLOURS.items()}
    project = projects.make(
        {
            "src/paint.py": files["paint.py"],
            "test_paint.py": files["test_paint.py"],
            "pytest.ini": "[pytest]\npythonpath = src\n",
            **FIXES,
        }
    )

    before = project.localize("--bayesloc-fix=suggest", env=home)
    project.run("--bayesloc-trust=bayesloc_fixes/colour.yaml", env=home)
    after = project.localize("--bayesloc-fix=suggest", env=home)

    assert [fix["tool"] for fix in before.document["fixes"] if fix["tool"] == "colour"] == []
    assert [fix["tool"] for fix in after.document["fixes"] if fix["verified"]] == ["colour"]


def test_pages_keep_their_pictures() -> None:
    used = {
        name
        for path in DOCS.glob("*.md")
        for name in re.findall(r"\]\((images/\S+)\)", path.read_text("utf-8"))
    }

    assert used == {f"images/{path.name}" for path in (DOCS / "images").iterdir()}


def test_page_on_the_memory_tells_a_story_that_is_so(projects: Projects) -> None:
    project = projects.make(MEMORY)
    edits = ("net < 100", "net < 50", "net >= 100", "net <= 100")
    told = [
        block.text for block in BLOCKS if block.page == "memory.md" and block.language == "text"
    ]

    for step, wanted in enumerate(told):
        if step:
            edit(project, "cart.py", edits[step - 1], edits[step])
        section = project.run("-q", "--tb=no", "--bug-advice").section
        said = [line for line in section if not re.match(r"\d+ (passed|failed)", line)]
        assert alike(said) == alike(wanted.splitlines())
    assert len(told) == len(edits)
