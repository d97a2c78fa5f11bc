"""The shelf mends what is broken as a person would, and leaves alone what it can't know."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.inspection import Rerun, TestRun, Verdict
from pytest_bayesloc.fixes.check import Checker
from pytest_bayesloc.fixes.library import Library, ToolRunner
from pytest_bayesloc.fixes.project import Task
from pytest_bayesloc.fixes.reach import Reach, out_of_bounds
from pytest_bayesloc.fixes.search import Objections, Search
from pytest_bayesloc.fixes.soundness import unsound
from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS
from tests.fakes.project import TextProject
from tests.integration.snippets import BROKEN, SNIPPETS, TRAPS, Snippet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.inspection import InspectionPatch
    from pytest_bayesloc.fixes.candidate import Candidate

pytestmark = pytest.mark.one_python

NOWHERE = Reach((), None, ())  # type: ignore[arg-type]  # a project of no files
TEST = "test_app.py::test"
# Runs the test and prints its error, and the line of app.py that was executing.
PROGRAM = """
import json, sys, traceback
try:
    import test_app
    test_app.test()
except BaseException as error:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.endswith("app.py")]
    own = [f.lineno for f in frames if not f.filename.endswith("test_app.py")]
    line = error.lineno if isinstance(error, SyntaxError) else (own or [0])[-1]
    print(json.dumps([f"{type(error).__name__}: {error}", line or 0]))
else:
    print(json.dumps(["", 0]))
"""


class Folder:
    """Answers ``domain.ports.Runner`` with a process for each run, on files in a folder.

    Args:
        root: The folder.
        snippet: What lies in it.
    """

    def __init__(self, root: Path, snippet: Snippet) -> None:
        self._root = root
        files = {**snippet.files, "app.py": snippet.text, "test_app.py": snippet.test}
        for name, text in files.items():
            (root / name).write_text(text, encoding="utf-8")

    def run(self, text: str) -> tuple[str, int]:
        """The error that ``app.py`` with this text ends in, explained as pytest does, and where."""
        (self._root / "app.py").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", "-c", PROGRAM],
            cwd=self._root,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
            capture_output=True,
            text=True,
            check=True,
        )
        error, line = json.loads(done.stdout.splitlines()[-1])
        return error, line

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        del limit_s
        text = (self._root / "app.py").read_text() if patch is None else patch.patched
        error, _ = self.run(text)
        if patch is not None:
            (self._root / "app.py").write_text(patch.original, encoding="utf-8")
        run = TestRun(verdict=Verdict.FAIL if error else Verdict.PASS, error=error)
        return Rerun(tests=dict.fromkeys(tests, run), n_swapped=1)


def explained(error: str, folder: Folder, snippet: Snippet) -> str:
    """An assertion's message as pytest words it: the values of both sides."""
    if error != "AssertionError: ":
        return error
    left, _, right = snippet.body.rpartition("assert ")[2].partition(" == ")
    program = f"import app\ntry:\n    print(repr({left}))\nexcept BaseException as e:\n    print(e)"
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=folder._root,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"AssertionError: assert {done.stdout.strip()} == {right}"


def fixed(root: Path, snippet: Snippet) -> str | None:
    """What the best verified fix makes of ``app.py``; None if there is none."""
    folder = Folder(root, snippet)
    error, line = folder.run(snippet.text)
    assert error, f"{snippet.name}: the test passes"
    lines = tuple(range(1, snippet.text.count("\n") + 1))
    task = Task(
        code=snippet.text,
        filename="app.py",
        error=explained(error, folder, snippet),
        line=line,
        lines=(line, *lines) if line else lines,
        test=snippet.test,
        test_file="test_app.py",
    )
    checker = Checker(
        runner=folder,  # type: ignore[arg-type]  # records nothing
        clock=monotonic,
        deadline=monotonic() + 100,
        failing=(TEST,),
        covering=lambda _: (),
    )
    assert checker.fails_again()
    files = {**snippet.files, "app.py": snippet.text}
    tools = ToolRunner(
        Library(PACKAGE_TOOLS), TextProject(files), lambda *_: None, pytest.fail, monotonic
    )

    def refusal(candidate: Candidate) -> str:
        before, after = candidate.parts()
        return unsound(before, after, (snippet.test,), candidate.before) or out_of_bounds(
            candidate, NOWHERE
        )

    search = Search(tools, checker, Objections(refusal))
    search.run([task])
    return search.verified[0].candidate.after if search.verified else None


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """Per snippet, what was made of it."""
    roots = [tmp_path_factory.mktemp("snippet") for _ in SNIPPETS]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(fixed, roots, SNIPPETS))
    return {snippet.name: text for snippet, text in zip(SNIPPETS, made, strict=True)}


def test_there_are_sixty_of_which_twenty_are_traps() -> None:
    assert (len({snippet.name for snippet in SNIPPETS}), len(TRAPS)) == (60, 20)


@pytest.mark.thorough
@pytest.mark.parametrize("snippet", TRAPS, ids=lambda snippet: snippet.name)
def test_a_trap_is_left_alone(snippet: Snippet, results: dict[str, str | None]) -> None:
    assert results[snippet.name] is None


def test_nearly_all_are_right(results: dict[str, str | None]) -> None:
    wrong = [s.name for s in BROKEN if results[s.name] != s.fixed]

    assert len(wrong) <= 0.05 * len(SNIPPETS), wrong
