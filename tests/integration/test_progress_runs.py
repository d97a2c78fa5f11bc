"""What a person at a terminal sees while inspections run."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project

pytestmark = pytest.mark.one_python

FORGETFUL = True

pty = pytest.importorskip("pty", reason="needs a pseudo-terminal, which POSIX has")

INSPECTED = ("--bayesloc", "--bayesloc-threshold=0.999", "--tb=no")


def seen_at_a_terminal(project: Project, *args: str) -> str:
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        project.command(*INSPECTED, *args),
        cwd=project.root,
        env={**project.environment(), "TERM": "xterm", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            data = os.read(ours, 1 << 16)
        except OSError:  # the last writer is gone
            break
        if not data:
            break
        seen += data
    run.wait()
    os.close(ours)
    return seen.decode()


def test_a_terminal_is_told_which_target_is_inspected_and_the_belief(
    buggy_project: Project,
) -> None:
    seen = seen_at_a_terminal(buggy_project)

    assert re.search(r"\rbayesloc, \d+ s left: running the failing tests again", seen)
    assert re.search(r" s left: inspection 1, calc\.py:1 add, now \d+ % likely", seen)
    assert "[100%]\x1b[0m\r\n" in seen


@pytest.mark.thorough
@pytest.mark.parametrize("quiet", [True, False], ids=["quiet", "no terminal"])
def test_progress_is_for_terminals_that_are_not_quiet(
    buggy_project: Project, *, quiet: bool
) -> None:
    seen = (
        seen_at_a_terminal(buggy_project, "-q") if quiet else buggy_project.run(*INSPECTED).output
    )

    assert "add (calc.py:1)" in seen
    assert "inspection 1" not in seen


@pytest.mark.thorough
def test_a_terminal_is_told_each_commit_that_is_tried(buggy_project: Project) -> None:
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all of it")):
        subprocess.run(["git", *words], cwd=buggy_project.root, check=True)

    seen = seen_at_a_terminal(buggy_project, "--bayesloc-green=auto")

    assert re.search(r" s left: step 1 back, to \w+ \(all of it, [-\d]+\)", seen)
