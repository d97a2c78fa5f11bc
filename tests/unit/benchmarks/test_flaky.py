from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.flaky import running

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECTS = list(running.projects())
POLLUTED = next(project for project in PROJECTS if "after" in project.truth)
POLLUTER = POLLUTED.truth["after"]


def units(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield prefix + node.name
            yield from units(node, f"{prefix}{node.name}.")


def cause(**changed: object) -> dict[str, Any]:
    file, _, qualname = POLLUTER.partition("::")
    location = {"file": file, "qualname": qualname}
    return {"kind": "polluted", "location": location, "after": [POLLUTER], **changed}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_each_place_is_one_of_the_project(project: running.FlakyProject) -> None:
    for place in project.alternatives("place"):
        file, _, qualname = place.partition("::")
        assert qualname in {"<module>", *units(ast.parse(project.files[file]))}


def test_each_file_has_two_projects_and_each_project_its_name() -> None:
    assert min(Counter(project.title for project in PROJECTS).values()) >= 2
    assert len({project.name for project in PROJECTS}) == len(PROJECTS)


def test_conditions_are_read_from_a_line_of_the_truth() -> None:
    assert running._conditions(
        "TZ=UTC LC_ALL=C tests/a.py; in: tests; at: 2026-01-31 10:00:00"
    ) == (
        running.Conditions(
            variables={"TZ": "UTC", "LC_ALL": "C"},
            arguments=["tests/a.py"],
            folder="tests",
            date="2026-01-31 10:00:00",
        )
    )


@pytest.mark.parametrize(
    ("causes", "outcome"),
    [
        ([cause()], running.RIGHT),
        ([cause(location=None)], running.KIND_ONLY),
        ([cause(after=[])], running.KIND_ONLY),
        ([cause(kind="clock")], running.WRONG),
        ([cause(), None], running.NOTHING),
        ([None, cause(kind="clock")], running.WRONG),
        ([], running.NOTHING),
    ],
)
def test_a_project_is_right_if_each_fault_has_the_kind_and_the_place(
    causes: list[dict[str, Any] | None], outcome: str
) -> None:
    assert running._outcome(POLLUTED, causes) == outcome


def test_a_control_is_wrong_with_any_cause() -> None:
    control = running.controls()[0]
    assert running._outcome(control, [None]) == running.RIGHT
    assert running._outcome(control, [None, cause()]) == running.WRONG
    assert running._outcome(control, []) == running.NOTHING
