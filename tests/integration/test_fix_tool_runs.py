"""Tools of a project: not run before they are trusted, and within bounds then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.test_fix_runs import SUGGEST, fixed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.one_python

FORGETFUL = True
DEFINITION = """
    name: own-spelling
    description: Mends our own misspelling.
    command: python
    args: [own.py]
    metadata:
      error_pattern: "^KeyError: "
      level: safe
    """
PROGRAM = """
    import json, sys
    asked = json.load(sys.stdin)
    code = asked["code"].replace("'colour'", "'color'")
    fixed = code != asked["code"]
    json.dump({"fixed": fixed, "fixed_code": code, "message": "the key is color"}, sys.stdout)
    """
FILES = {
    "paint.py": """
        def shade(thing):
            return thing['colour'].upper()
        """,
    "test_paint.py": """
        from paint import shade


        def test_shade():
            assert shade({'color': 'red'}) == 'RED'
        """,
    "bayesloc_fixes/own.yaml": DEFINITION,
    "bayesloc_fixes/own.py": PROGRAM,
}
TOOL = ("own-spelling", True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def run(project: Project, home: Path, *args: str) -> Run:
    env = {"XDG_CONFIG_HOME": str(home), "HOME": str(home)}
    return project.localize(*args, env=env) if SUGGEST in args else project.run(*args, env=env)


@pytest.mark.thorough
def test_a_tool_of_the_project_runs_once_it_is_trusted_and_until_it_is_edited(
    projects: Projects, home: Path
) -> None:
    def is_used(project: Project) -> bool:
        return TOOL in fixed(run(project, home, SUGGEST))

    project = projects.make(FILES)
    before = is_used(project)
    trusted = run(project, home, "--bayesloc-trust=bayesloc_fixes/own.yaml")

    assert not before
    assert "own-spelling is trusted as it is now (own.yaml, own.py)" in trusted.stdout
    assert is_used(project)
    assert not is_used(projects.copy_of(project))
    for name in ("own.yaml", "own.py"):
        path = project.root / "bayesloc_fixes" / name
        text = path.read_text()
        path.write_text(f"{text}# more\n")
        assert not is_used(project)
        path.write_text(text)


def test_the_list_says_where_tools_come_from_and_whether_they_may_run(
    projects: Projects, home: Path
) -> None:
    project = projects.make(FILES)
    user = home / "pytest-bayesloc" / "fixes"
    user.mkdir(parents=True)
    (user / "mine.yaml").write_text("name: mine\ndescription: Mine.\ncommand: mine\n")

    lines = run(project, home, "--bayesloc-fix=tools").stdout.splitlines()

    rows = {
        line.split()[0]: line.replace(";", "").split()[1:]
        for line in lines
        if not line.startswith(" ")
    }
    assert rows["own-spelling"][:4] == ["project", "safe", "not", "trusted"]
    assert rows["mine"][:3] == ["user", "unsafe", "trusted"]
    assert rows["misspelt-name"][:3] == ["package", "safe", "trusted"]


def test_a_project_can_not_trust_itself(projects: Projects) -> None:
    project = projects.make(FILES)

    refused = run(project, project.root / "config", "--bayesloc-trust=bayesloc_fixes")

    assert refused.ret == 4
    assert "lies in the project, which could then trust itself" in refused.stderr
    assert not (project.root / "config").exists()


def _leads_out(project: Project) -> None:
    outside = project.root.parent / "own.py"
    (project.root / "bayesloc_fixes" / "own.py").rename(outside)
    (project.root / "bayesloc_fixes" / "own.py").symlink_to(outside)


def _leaves_by_its_name(project: Project) -> None:
    (project.root.parent / "out.py").write_text("")
    project.write({"bayesloc_fixes/own.yaml": DEFINITION.replace("own.py", "../../out.py")})


def _starts_with_a_hyphen(project: Project) -> None:
    path = project.root / "bayesloc_fixes" / "own.yaml"
    path.rename(path.with_name("-own.yaml"))


def _is_too_large(project: Project) -> None:
    (project.root / "bayesloc_fixes" / "own.py").write_text("#" * (2 << 20))


def _is_named_in_full(project: Project) -> None:
    text = project.read("bayesloc_fixes/own.yaml")
    own = project.root / "bayesloc_fixes" / "own.py"
    project.write({"bayesloc_fixes/own.yaml": text.replace("[own.py]", f"[{own}]")})


REFUSED = {
    "own.py is not beside it": _is_named_in_full,
    "own.py is refused: it leads out of": _leads_out,
    "../../out.py is not beside it": _leaves_by_its_name,
    "-own.yaml is refused: its name starts with `-`": _starts_with_a_hyphen,
    "own.py is refused: it has more than 1,048,576 bytes": _is_too_large,
}


@pytest.mark.thorough
@pytest.mark.parametrize("why", REFUSED)
def test_what_leaves_the_project_is_neither_trusted_nor_run(
    projects: Projects, home: Path, why: str
) -> None:
    project = projects.make(FILES)
    REFUSED[why](project)

    trusted = run(project, home, "--bayesloc-trust=bayesloc_fixes")
    ran = run(project, home, SUGGEST)

    assert trusted.ret == 4
    assert why in trusted.stderr
    assert TOOL not in fixed(ran)
    assert why in ran.output


@pytest.mark.thorough
def test_a_tool_that_breaks_costs_a_line(projects: Projects, home: Path) -> None:
    project = projects.make({**FILES, "bayesloc_fixes/own.py": "raise ValueError('oops')\n"})
    run(project, home, "--bayesloc-trust=bayesloc_fixes")

    ran = run(project, home, SUGGEST)

    assert ran.output.count("The fix tool own-spelling is left out") == 1
    assert "Traceback" not in ran.output


def test_a_definition_neither_steers_the_terminal_nor_adds_a_line(
    projects: Projects, home: Path
) -> None:
    words = '"first\\x1b[31m\\nforged   package  safe  trusted \\ud800"'
    text = DEFINITION.replace(
        next(line for line in DEFINITION.splitlines() if "description:" in line).strip(),
        f"description: {words}",
    )
    project = projects.make({**FILES, "bayesloc_fixes/own.yaml": text})

    listed = run(project, home, "--bayesloc-fix=tools")

    assert listed.ret == 0, listed.output
    assert "\x1b" not in listed.stdout
    assert not [line for line in listed.stdout.splitlines() if line.startswith("forged")]
