"""Guards in files of libraries, which are read from disk, teach constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.memory.symptoms import first_check
from tests.unit.memory.test_constraints import (
    CODE,
    ENTRY,
    MIDDLE,
    TEST,
    failure,
    frame,
    learned_constraint,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_guard_of_a_library_can_be_checked_by_its_caller(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(
        "def check(knots):\n    if not knots:\n        raise ValueError\n"
    )
    deepest = frame("check", "library.py", in_app=False)

    found = [
        first_check(failure("", *frames, deepest), lambda _: None, str(tmp_path))
        for frames in ((TEST, MIDDLE), (TEST,))
    ]

    assert found == ["curve.py:3 in curve", ""]


@pytest.mark.parametrize(
    ("condition", "lesson"),
    [
        ("len(knots) < 2", "check needs len(knots) >= 2"),
        ("len(knots) < LEAST", ""),
        ("state.is_done", ""),
        ("self.is_done", ""),
    ],
)
def test_guard_of_a_library_counts_if_it_speaks_of_what_it_was_given(
    condition: str, lesson: str, tmp_path: Path
) -> None:
    text = f"def check(knots, self=None):\n    if {condition}:\n        raise ValueError\n"
    (tmp_path / "library.py").write_text(text)
    deepest = frame("check", "../library.py", in_app=False)
    rootdir = str(tmp_path / "project")

    assert learned_constraint(failure("", ENTRY, deepest), lambda _: None, rootdir) == lesson


@pytest.mark.parametrize("name", ["unittest/case.py", "site-packages/_pytest/raises.py"])
def test_what_checks_a_test_demands_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(CODE)
    deepest = frame("check", name, in_app=False)

    assert not learned_constraint(failure("", deepest), lambda _: None, str(tmp_path))


@pytest.mark.parametrize(
    "text", ["def check(:\n", "\x00", None, f"x = {' + '.join(['1'] * 5000)}\n"]
)
def test_library_that_cannot_be_read_says_nothing(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "library.py").write_text(text)
    deepest = frame("check", "library.py", in_app=False)

    assert not learned_constraint(failure("", deepest), lambda _: None, str(tmp_path))
