"""What becomes of tools' work is remembered, and what people do by hand becomes a tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting
from tests.integration.test_fix_apply_runs import APPLY, UNDO, committed
from tests.integration.test_fix_runs import MISSPELT, SUGGEST, fixed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

TOOLS = "--bayesloc-fix=tools"
#: Three functions with the same mistake, which no tool of the shelf is for.
THREE = {
    "rates.py": """
        RATES = {"NL": 21, "DE": 19}


        def tax(country):
            return RATES[country.upper()]


        def duty(land):
            return RATES[land.upper()]


        def fee(place):
            return RATES[place.upper()]
        """,
    "test_rates.py": asserting(
        "from rates import duty, fee, tax",
        tax='tax(" nl ") == 21',
        duty='duty("de ") == 19',
        fee='fee(" NL") == 21',
    ),
}


def row(project: Project, tool: str, env: dict[str, str] | None = None) -> str:
    """What the list of tools says of one."""
    lines = project.run(TOOLS, env=env).stdout.splitlines()
    return next(line for line in lines if line.split()[:1] == [tool])


def test_how_a_tool_fares_is_counted(projects: Projects) -> None:
    project = committed(projects.make(MISSPELT))
    assert row(project, "misspelt-name").endswith("trusted; never used")

    project.localize(APPLY)
    assert "75% (1 of 1 bugs), sure from similarity 0.65, last on" in row(project, "misspelt-name")

    project.run(UNDO)
    assert "33% (1 of 1 bugs), sure from similarity 0.90" in row(project, "misspelt-name")


@pytest.mark.thorough
def test_what_was_rejected_on_this_code_is_not_tried_again(projects: Projects) -> None:
    broken = MISSPELT["shapes.py"].replace("return widht * height", "return witdh * height + 1")
    project = projects.make({**MISSPELT, "shapes.py": broken})

    first, second = project.localize(SUGGEST), project.localize(SUGGEST)

    assert fixed(first) == fixed(second)
    assert "not tried again" not in first.output
    assert "that failed on this very code" in second.output


def mended(project: Project, before: str, after: str) -> Run:
    """A run after an edit by hand."""
    text = project.read("rates.py")
    assert before in text
    project.write({"rates.py": text.replace(before, after)})
    return project.run("-q")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}


@pytest.mark.thorough
def test_a_tool_is_learned_trusted_used_edited_and_refused(
    projects: Projects, home: dict[str, str]
) -> None:
    project = projects.make(THREE)
    project.run("-q", "test_rates.py::test_tax")
    mended(project, "RATES[country.upper()]", "RATES[country.strip().upper()]")
    project.run("-q", "test_rates.py::test_duty")
    born = mended(project, "RATES[land.upper()]", "RATES[land.strip().upper()]")

    # It is born of the second bug, and not trusted.
    (name,) = re.findall(r"the tool (learned-\w+) is learned", born.stdout)
    definition = f".bayesloc/fixes/learned/{name}.yaml"
    assert "_1_.upper()" in project.read(f".bayesloc/fixes/learned/{name}.py")
    assert "not trusted" in row(project, name, env=home)
    before = project.localize(SUGGEST, "--bayesloc-without=mutants", env=home)
    assert name not in dict(fixed(before))

    # Trusted, it mends the third.
    project.run(f"--bayesloc-trust={definition}", env=home)
    used = project.localize(SUGGEST, env=home)
    assert (name, True) in fixed(used)
    assert "1 of 1 bugs" in row(project, name, env=home)

    # Edited, it is refused again.
    program = project.root / ".bayesloc" / "fixes" / "learned" / f"{name}.py"
    program.write_text(program.read_text() + "# edited\n")
    assert "not trusted" in row(project, name, env=home)
