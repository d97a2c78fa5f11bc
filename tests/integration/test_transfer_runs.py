"""A memory that is moved: out of one store, into another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.test_memory_runs import FILES, edit

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

EXPORT, IMPORT = "--bug-memory=export:moved.jsonl", "--bug-memory=import:moved.jsonl"


def mended(projects: Projects) -> Project:
    """A project in which a bug was met, and mended."""
    project = projects.make(FILES)
    project.run("-q")
    edit(project, "test_curve.py", "[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
    project.run("-q")
    edit(project, "test_curve.py", "[0, 0, 0, 0, 1, 1, 1, 1]", "[0, 0, 0, 1, 1, 1]")
    return project


@pytest.mark.thorough
def test_what_one_machine_learned_advises_on_another(projects: Projects) -> None:
    project = mended(projects)
    said = project.run(EXPORT)
    assert said.ret == 0
    assert said.stdout.endswith("moved.jsonl: 1 bugs in 4 lines\n")
    other = projects.make(FILES).write({"moved.jsonl": project.read("moved.jsonl")})

    assert other.run(IMPORT).stdout == "taken in, as new: 1 bug, 2 run\n"
    assert other.run(IMPORT).stdout == "taken in, as new: nothing, all of it was known\n"
    assert "score 1.00: the same failure" in "\n".join(other.run("-q", "--bug-advice").section)


def test_file_that_is_no_memory_changes_nothing(projects: Projects) -> None:
    project = mended(projects)
    project.run(EXPORT)
    before = project.read("moved.jsonl")
    project.write({"bad.jsonl": before.replace('"bug"', '"bag"', 1)})

    said = project.run("--bug-memory=import:bad.jsonl")

    assert said.ret == 4
    assert said.stderr.startswith("Line 4 is none of a memory (KeyError: 'bag'): nothing was taken")
    assert "Traceback" not in said.output
    project.run(EXPORT)
    assert project.read("moved.jsonl") == before


def test_file_that_can_not_be_read_or_written_is_said(projects: Projects) -> None:
    project = mended(projects)

    for option, slug in (("import", "memory-import"), ("export", "memory-export")):
        said = project.run(f"--bug-memory={option}:no/such/folder/moved.jsonl")
        assert said.ret == 4
        assert f"({slug})" in said.stderr
        assert "Traceback" not in said.output
