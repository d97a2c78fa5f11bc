"""What is written: JSON that conforms, lines that are true, places that were asked for."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects, Run

pytestmark = pytest.mark.traced

FORGETFUL = True


# Decorators, classes, nesting, blank lines, comments and text before the code.
LINES = {
    "lines.py": '''
        # -*- coding: utf-8 -*-
        """Text
        over lines."""

        import functools


        def twice(function):
            @functools.wraps(function)
            def wrapper(*args):
                # a comment
                return function(*args) * 2

            return wrapper


        class Box:
            """A box."""

            size = 2

            @property
            def area(self):
                side = self.size

                return (
                    side
                    * side
                )

            @staticmethod
            @twice
            def wrong(
                a,
                b=1,
            ):
                """Text."""
                value = a - b
                return value


        def outer():
            def inner(): return [i for i in range(3) if i]

            return (lambda: inner())()
        ''',
    "test_lines.py": asserting(
        "from lines import Box, outer",
        wrong="Box.wrong(1, 2) == 6",
        all="Box().area + len(outer()) == 7",
    ),
}


@pytest.fixture(scope="module")
def lines(projects: Projects) -> Run:
    return projects.make(LINES).localize("--bayesloc", "--bayesloc-threshold=0.999")


@pytest.mark.thorough
def test_names_and_lines_of_locations_are_those_of_the_file(lines: Run) -> None:
    spans = {
        node.name: (node.lineno, node.end_lineno)
        for node in ast.walk(ast.parse(dedent(LINES["lines.py"]).lstrip("\n")))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }

    rows = {r["qualname"]: r for r in lines.document["ranking"] if r["file"] == "lines.py"}
    assert rows.keys() == {
        "<module>",
        "twice",
        "twice.<locals>.wrapper",
        "Box",
        "Box.area",
        "Box.wrong",
        "outer",
        "outer.<locals>.inner",
    }
    del rows["<module>"]
    assert spans == {
        name.rpartition(".")[2]: (row["start_line"], row["end_line"]) for name, row in rows.items()
    }
    assert [(x["line"], x["ef"], x["ep"]) for x in rows["Box.wrong"]["lines"]] == [
        (38, 1, 0),
        (39, 1, 0),
    ]
    errors = {f["failing_tests"][0].partition("::")[2]: f["error"] for f in lines.faults}
    assert errors["test_wrong"]["file"] == "test_lines.py"
    assert errors["test_wrong"]["line"] == 5


def test_result_holds_probabilities_in_order_and_of_which_session_they_are(lines: Run) -> None:
    rows = lines.document["ranking"]
    for row in rows:
        assert all(0 <= row[name] <= 1 for name in ("prior", "posterior", "suspiciousness"))
        for line in row["lines"]:
            assert row["start_line"] <= line["line"] <= row["end_line"]
    ranks = [row["rank"] for row in rows]
    assert ranks[0] == 1
    assert ranks == sorted(ranks)
    session = lines.document["session"]
    assert session["pytest_version"] == pytest.__version__
    assert {"localize", "inspect"} <= set(session["seconds"])


# -- places


def test_report_goes_to_the_path_that_was_asked_for(buggy_project: Project) -> None:
    buggy_project.run("-q", "--bayesloc-report=json:out/deep/result.json")

    assert buggy_project.result(buggy_project.root / "out" / "deep" / "result.json")["ranking"]
    assert not list((buggy_project.root / ".bayesloc").glob("*report*"))


def test_path_of_a_report_is_relative_to_where_pytest_was_started(buggy_project: Project) -> None:
    folder = buggy_project.root / "sub"
    folder.mkdir()

    buggy_project.run("-q", "..", "--bayesloc-report=html:report.html", cwd=folder)

    assert (folder / "report.html").exists()


def test_message_with_a_lone_surrogate_is_written(projects: Projects) -> None:
    files = {
        "lib.py": "def raising():\n    raise ValueError('\\ud800 \\0 \\x1b[31m')\n",
        "test_lib.py": "from lib import raising\n\n\ndef test_lib():\n    raising()\n",
    }

    run = projects.make(files).localize("--bayesloc", "--bayesloc-report=html")

    assert run.names()[0] == "lib.py raising"
    assert "own-fault" not in run.output


def test_file_in_another_encoding_is_read_as_it_declares(projects: Projects) -> None:
    project = projects.buggy()
    text = "# -*- coding: latin-1 -*-\n# äöü\n" + "def add(a, b):\n    return a - b\n"
    more = "def half(a):\n    return a / 2\ndef mul(a, b):\n    return a * b\ntotal = sum\n"
    (project.root / "calc.py").write_bytes((text + more).encode("latin-1"))

    run = project.localize("--bayesloc", "--bayesloc-report=html")

    assert run.names()[0] == "calc.py add"
    assert run.row("add")["start_line"] == 3
