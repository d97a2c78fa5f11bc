"""Edits and runs as people and coding agents make them: which are loops, and which are not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from tests.integration.conftest import asserting
from tests.integration.test_memory_runs import edit, section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.one_python

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILES = {
    "knots.py": """
        def spans(knots, degree):
            least = 2 * (degree + 1)
            if len(knots) < least:
                raise ValueError(f"Need at least {least} knots for degree {degree}")
            return len(knots) - least + 1
        """,
    "curve.py": """
        from knots import spans


        def curve(knots, degree):
            return [degree] * spans(knots, degree)
        """,
    "test_curve.py": asserting(
        "from curve import curve",
        line="curve([0, 0, 1, 1], 1) == [1]",
        cubic="curve([0, 0, 0, 1, 1, 1], 3) == [3]",
    ),
}
READ, RUN = "read", "run"
# What was done in the episode: a look at the code, an edit of it, a run; the same error six times.
ATTEMPTS = [
    ("least = 2 * (degree + 1)", "least = 2 * degree + 2"),
    ("if len(knots) < least:", "if len(knots) < least and degree:"),
    ("and degree:", "and degree > 0:"),
    ("return len(knots) - least + 1", "return 1 + len(knots) - least"),
    ("least = 2 * degree + 2", "least = (degree + 1) * 2"),
]
MENDING = ("[0, 0, 0, 1, 1, 1]", "[0, 0, 0, 0, 1, 1, 1, 1]")
EPISODE = [
    RUN,
    *(step for attempt in ATTEMPTS for step in (READ, READ, attempt, RUN)),
    READ,
    READ,
    MENDING,
    RUN,
    RUN,
]


@pytest.fixture
def project(projects: Projects) -> Project:
    return projects.make(FILES)


def edited(project: Project, step: tuple[str, str]) -> None:
    name = next(name for name in FILES if step[0] in project.read(name))
    edit(project, name, *step)


def replayed(project: Project, edits: Sequence[tuple[str, str] | None]) -> list[str]:
    """What is said of loops in a first run, and in one after each edit."""
    told = [section(project, "--bug-advice")]
    for step in edits:
        if step is not None:
            edited(project, step)
        told.append(section(project, "--bug-advice"))
    return [text[text.index("step back") :] if "step back" in text else "" for text in told]


def test_episode_of_26_actions_is_over_after_12_where_advice_is_followed(project: Project) -> None:
    assert len(EPISODE) == 26
    done, told = 0, ""
    for step in EPISODE:
        done += 1
        if step == RUN:
            told = section(project, "--bug-advice")
            if "step back" in told:
                break
        elif step != READ:
            assert isinstance(step, tuple)
            edited(project, step)
    assert "error: ValueError: Need at least <int> knots for degree <int>" in told
    assert "the evidence points at the test's own data: test_curve.py test_cubic" in told
    assert "does the input meet this? spans needs len(knots) >= least" in told

    edited(project, MENDING)
    mended = section(project, "--bug-advice")

    assert "is fixed after 2 failed trials: test_curve.py test_cubic" in mended
    assert done + len((READ, MENDING, RUN)) <= 12


def test_two_edits_that_come_and_go_are_told(project: Project) -> None:
    there = ("len(knots) < least", "len(knots) < least + 1")
    back = (there[1], there[0])

    told = replayed(project, [there, back, there, back, there])

    assert told[-1].startswith("step back: the same 2 states come and go, 3 times now")
    assert [bool(text) for text in told[:3]] == [False, False, True]
    assert told[2].startswith("step back: this very code failed before")


def test_batch_of_renames_is_never_a_loop(project: Project) -> None:
    text = project.read("knots.py")
    told = replayed(project, [])
    for name in ("fewest", "minimum", "needed", "bound"):
        project.write({"knots.py": re.sub(r"\bleast\b(?= =|:|}| \+)", name, text)})
        told += replayed(project, [])

    assert f"return len(knots) - {name} + 1" in project.read("knots.py")
    assert not any(told)


def verdict(project: Project, *args: str) -> Mapping[str, Any]:
    """The verdict on loops, which stands at the end of a run and in a file."""
    file = project.root / "loop.json"
    run = project.run("-q", "--bayesloc-report=loop:-", f"--bayesloc-report=loop:{file}", *args)
    last = run.stdout.splitlines()[-1]
    assert file.read_text("utf-8") == last + "\n"
    assert run.stdout.count("bayesloc-loop/1") == 1
    found: Mapping[str, Any] = json.loads(last)
    schema = json.loads((DOCS / "bayesloc-loop-1.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(found)
    return found


@pytest.mark.thorough
def test_verdict_on_loops_is_a_line_of_json_of_every_run(project: Project) -> None:
    first = verdict(project)
    for attempt in ATTEMPTS[:2]:
        edited(project, attempt)
        circling = verdict(project)
    edited(project, MENDING)
    mended = verdict(project)
    edited(project, MENDING[::-1])
    unseen = verdict(project, "--bayesloc-memory=off")

    assert (first["verdict"], first["loops"]) == ("none", [])
    assert circling["verdict"] == "loop"
    assert [loop["kind"] for loop in circling["loops"]] == ["test at fault"]
    assert mended["verdict"] == "none"
    assert "is fixed after 2 failed trials" in mended["said"][0]
    assert unseen["verdict"] == "unknown"
