"""Settings of a cloned project that reach beyond running its tests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

ALL = """
    [pytest]
    addopts = --bayesloc-allow-dirty "--bayesloc-report=json:{out}/a.json"
    bayesloc_llm = true
    bayesloc_llm_model = embedding:e5
    bayesloc_llm_limits = calls=4000
    bayesloc_executor = popen//python={python}
    bayesloc_workspace = /home/ann:/srv
    bayesloc_memory = {out}/memory.sqlite
    bayesloc_without = redaction
    bayesloc_report = html:{out}/page.html
    """
NAMES = (
    "bayesloc_allow_dirty",
    "bayesloc_llm",
    "bayesloc_llm_model",
    "bayesloc_llm_limits",
    "bayesloc_executor",
    "bayesloc_workspace",
    "bayesloc_memory",
    "bayesloc_without",
    "bayesloc_report",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's own configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def cloned(projects: Projects, home: Path) -> Project:
    """Its ini file asks for everything."""
    out = home / "out"
    out.mkdir()
    return projects.buggy({"pytest.ini": ALL.format(out=out, python=sys.executable)})


def test_project_gets_nothing_beyond_its_tests_before_it_is_trusted(
    cloned: Project, home: Path
) -> None:
    run = cloned.run("-q", "--tb=no")
    passing = cloned.run("-q", "-k", "mul")

    (line,) = [line for line in run.stdout.splitlines() if "(untrusted-settings)" in line]
    assert line.startswith("bayesloc: pytest.ini sets ")
    assert "pytest --bayesloc-trust=pytest.ini does, once" in line
    assert all(f"{name} = " in line for name in NAMES)
    assert [*(home / "out").iterdir()] == []
    assert (cloned.root / ".bayesloc" / "memory.sqlite").is_file()
    assert passing.ret == 0
    assert passing.stdout.count("(untrusted-settings)") == 1


def test_trust_holds_until_a_setting_changes(projects: Projects, home: Path) -> None:
    ini = f"[pytest]\nbayesloc_memory = {home}/memory.sqlite\nbayesloc_llm_limits = calls=99\n"
    project = projects.buggy({"pytest.ini": ini})

    trusted = project.run("--bayesloc-trust=pytest.ini")
    runs = [project.run("-q", "--tb=no")]
    project.write({"pytest.ini": f"{ini}testpaths = .\n"})
    runs.append(project.run("-q", "--tb=no"))
    project.write({"pytest.ini": ini.replace("memory.sqlite", "other.sqlite")})
    changed = project.run("-q", "--tb=no")

    assert trusted.ret == 0
    said = f"bayesloc_memory = {home}/memory.sqlite, bayesloc_llm_limits = calls=99"
    assert trusted.stdout == f"pytest.ini is trusted to set {said}\n"
    assert all("untrusted" not in run.stdout for run in runs)
    assert (home / "memory.sqlite").is_file()
    said = f"sets bayesloc_memory = {home}/other.sqlite"  # the value is cut at 80 characters
    assert said[:90] in changed.stdout
    assert not (home / "other.sqlite").exists()


@pytest.mark.parametrize("where", ["typed", "PYTEST_ADDOPTS", "-o"])
def test_what_the_user_says_needs_no_trust(projects: Projects, home: Path, where: str) -> None:
    project = projects.buggy({"pytest.ini": f"[pytest]\nbayesloc_memory = {home}/theirs\n"})
    option = f"--bayesloc-memory={home}/mine"
    args = {"typed": [option], "-o": ["-o", f"bayesloc_memory={home}/mine"]}.get(where, [])

    run = project.run("-q", "--tb=no", *args, env={"PYTEST_ADDOPTS": "" if args else option})

    assert "untrusted" not in run.stdout
    assert (home / "mine").is_file()
    assert not (home / "theirs").exists()


@pytest.mark.parametrize(
    "setting",
    [
        "bayesloc_report = html:out/page.html",
        "bayesloc_memory = .cache/bugs.sqlite",
        "bayesloc_executor = 2*local",
        "bayesloc_llm_limits = calls=3",
        "bayesloc_without = names",
    ],
)
def test_settings_that_stay_in_the_project_need_no_trust(
    shared_buggy_project: Project, home: Path, setting: str
) -> None:
    name, _, value = setting.partition(" = ")

    run = shared_buggy_project.run("--co", "-q", "-o", "addopts=", "-o", f"{name}={value}")

    assert run.ret == 0
    assert home.exists()


@pytest.mark.parametrize(
    "entry",
    [
        "addopts = --bug-memory=export:x",
        "addopts = --bayesloc-fix=apply",
        "bayesloc_fix = apply",
        "addopts = --bayesloc-trust=pytest.ini",
    ],
)
def test_what_only_a_person_may_ask_for_ends_the_run(
    projects: Projects, home: Path, entry: str
) -> None:
    project = projects.buggy({"pytest.ini": f"[pytest]\n{entry}\n"})

    run = project.run("-q")

    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert "addopts" in run.stderr
    assert "on the command line" in " ".join(run.stderr.split())
    assert not list(home.rglob("trusted.json"))
