"""Fixes that are written to files, refused, and taken back: real files, real git."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration.test_fix_runs import MISSPELT

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

FORGETFUL = True
APPLY = "--bayesloc-fix=apply"
UNDO = "--bayesloc-fix=undo"
FIXED = "return width * height  # the comment stays"


def git(project: Project, *args: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    subprocess.run(["git", *who, *args], cwd=project.root, check=True, capture_output=True)


def committed(project: Project) -> Project:
    """The project in a repository, with nothing left to commit."""
    project.write({".gitignore": "__pycache__/\n.pytest_cache/\n"})
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "all")
    return project


@pytest.fixture
def project(projects: Projects) -> Project:
    return committed(projects.make(MISSPELT))


def test_the_best_fix_is_applied_and_undone(project: Project) -> None:
    before = (project.root / "shapes.py").read_bytes()

    applied = project.localize(APPLY)

    assert FIXED in project.read("shapes.py")
    assert [fix["applied"] for fix in applied.document["fixes"]] == [True]
    assert applied.ret == 1
    assert project.run("-q").ret == 0

    undone = project.run(UNDO)

    assert "shapes.py (misspelt-name) is as it was before" in undone.stdout
    assert (project.root / "shapes.py").read_bytes() == before
    assert "all are undone" in project.run(UNDO).stdout


def test_line_ends_encoding_and_mode_stay(projects: Projects) -> None:
    project = projects.make(MISSPELT)
    path = project.root / "shapes.py"
    text = "# -*- coding: latin-1 -*-\n# \xfcber\n" + path.read_text(encoding="utf-8")
    before = text.replace("\n", "\r\n").encode("latin-1")
    path.write_bytes(before)
    path.chmod(0o750)
    committed(project)

    project.localize(APPLY)

    assert path.read_bytes() == before.replace(b"widht", b"width")
    assert path.stat().st_mode & 0o777 == 0o750


def test_what_was_edited_since_is_kept(project: Project) -> None:
    project.localize(APPLY)
    path = project.root / "shapes.py"
    path.write_text(f"{path.read_text()}# mine\n")

    undone = project.run(UNDO)

    assert "is not undone: it was edited since" in undone.stdout
    assert path.read_text().endswith("# mine\n")
    assert FIXED in path.read_text()


def _with_changes(project: Project) -> tuple[str, ...]:
    project.write({"shapes.py": MISSPELT["shapes.py"] + "\n        # more\n"})
    return ()


def _unknown_to_git(project: Project) -> tuple[str, ...]:
    git(project, "rm", "-q", "--cached", "shapes.py")
    git(project, "commit", "-qm", "less")
    return ()


def _hidden_from_git(project: Project) -> tuple[str, ...]:
    _with_changes(project)
    git(project, "update-index", "--assume-unchanged", "shapes.py")
    return ()


def _meanwhile(project: Project) -> tuple[str, ...]:
    project.write(
        {
            "conftest.py": """
                from pathlib import Path

                def pytest_bayesloc_localized():
                    path = Path("shapes.py")
                    path.write_text(path.read_text() + "# saved by an editor\\n")
                """
        }
    )
    git(project, "add", ".")
    git(project, "commit", "-qm", "more")
    return ("--bayesloc-allow-dirty",)


REFUSED = {
    "it has changes that are not committed": _with_changes,
    "git does not know it": _unknown_to_git,
    "git was told not to look": _hidden_from_git,
    "it changed since the tests ran": _meanwhile,
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_file_that_could_not_be_had_back_is_not_written(project: Project, why: str) -> None:
    more = REFUSED[why](project)
    path = project.root / "shapes.py"
    before = path.read_bytes()

    run = project.localize(APPLY, *more)

    said = " ".join(run.output.split())
    assert f"The fix of shapes.py is not applied: {why}" in said
    is_known_before = f"A fix of shapes.py will be shown, not applied: {why}" in said
    assert is_known_before == (REFUSED[why] is not _meanwhile)
    assert path.read_bytes().startswith(before)
    assert b"widht" in path.read_bytes()


def assert_left(
    project: Project, why: str, *args: str, lean: bool = True, ci: str = "NONE"
) -> None:
    """Run it: the file is left as it was, and the reason is said."""
    run = project.localize(*args, lean=lean, env={ci: "true"})

    assert why in run.output
    assert "widht" in project.read("shapes.py")


def test_outside_of_version_control_nothing_is_written(projects: Projects) -> None:
    project = projects.make(MISSPELT)

    assert_left(project, "it is outside of version control", APPLY)


@pytest.mark.parametrize("name", ["CI", "GITHUB_ACTIONS", "TF_BUILD"])
def test_in_a_ci_run_nothing_is_written(project: Project, name: str) -> None:
    assert_left(project, "this is a CI run", APPLY, ci=name)


@pytest.mark.thorough
def test_under_xdist_nothing_is_written(project: Project) -> None:
    assert_left(project, "this is a run of pytest-xdist", APPLY, "-n2", lean=False)


def test_without_a_terminal_nobody_is_asked(project: Project) -> None:
    assert_left(project, "has nobody to ask", "--bayesloc-fix=review")


def test_a_dirty_file_is_written_on_request(project: Project) -> None:
    _with_changes(project)

    project.localize(APPLY, "--bayesloc-allow-dirty", env={"CI": "1"})

    assert FIXED in project.read("shapes.py")
    assert "# more" in project.read("shapes.py")


def test_a_link_that_leads_out_is_not_followed(projects: Projects) -> None:
    project = projects.make(MISSPELT)
    outside = project.root.parent / "outside.py"
    (project.root / "shapes.py").rename(outside)
    (project.root / "shapes.py").symlink_to(outside)

    project.localize(APPLY, "--bayesloc-allow-dirty")

    assert "widht" in outside.read_text()
    assert (project.root / "shapes.py").is_symlink()


def reviewed(project: Project, answer: bytes) -> str:
    """What a run prints that a person at a terminal answers."""
    ours, theirs = pty.openpty()
    command = project.command("-q", "--tb=no", "--bayesloc-fix=review")
    process = subprocess.Popen(
        command,
        cwd=project.root,
        env=project.environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    os.close(theirs)
    os.write(ours, answer)
    printed = process.communicate(timeout=100)[0].decode()
    os.close(ours)
    return printed


@pytest.mark.thorough
def test_a_fix_is_applied_that_a_person_agrees_to(project: Project) -> None:
    printed = reviewed(project, b"y\n")

    assert "Apply this fix by misspelt-name to shapes.py? [y/N/q]" in printed
    assert "+    return width * height" in printed
    assert FIXED in project.read("shapes.py")


@pytest.mark.thorough
@pytest.mark.parametrize("answer", [b"n\n", b"\n", b"q\n", b"\x04"])
def test_a_fix_is_not_applied_that_nobody_agrees_to(project: Project, answer: bytes) -> None:
    reviewed(project, answer)

    assert "widht" in project.read("shapes.py")


@pytest.mark.thorough
def test_who_says_nothing_of_a_fix_is_asked_of_the_next(projects: Projects) -> None:
    project = projects.make(
        {
            "shapes.py": "def area(a):\n    return aa\n\n\ndef edge(b):\n    return bb + b\n",
            "test_shapes.py": """
                from shapes import area, edge

                def test_area():
                    assert area(3) == 3

                def test_edge():
                    assert edge(3) == 6
            """,
        }
    )

    printed = reviewed(project, b"\nq\n")

    assert printed.count("[y/N/q]") == 2
