"""Which failures are taken for the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.memory.symptoms import fingerprint
from tests.fakes.sources import failure_at

CODE = """\
def check(knots, degree):
    if len(knots) < degree:
        raise ValueError(
            "too few", len(knots)
        )


def insert(knots):
    check(knots, 3)
    return knots
"""
TEST = """\
def test_insert():
    assert insert([1]) == 2


def test_other():
    x = 1; assert insert([x]) == 2
"""


def reader(code: str = CODE, test: str = TEST) -> dict[str, SourceMap]:
    return {
        "knots.py": SourceMap(code, "knots.py"),
        "lib/knots.py": SourceMap(code, "lib/knots.py"),
        "test_knots.py": SourceMap(test, "test_knots.py", is_test=True),
    }


def frame(file: str, line: int, name: str, first: int) -> Frame:
    is_test = file.startswith("test")
    return Frame(file=file, line=line, name=name, first_line=first, in_app=True, is_test=is_test)


RAISED = (
    frame("test_knots.py", 2, "test_insert", 1),
    frame("knots.py", 9, "insert", 8),
    frame("knots.py", 3, "check", 1),
)


def failure(*frames: Frame, kind: str = "ValueError", message: str = "too few") -> Failure:
    return failure_at(*frames, kind=kind, message=message)


def of(item: Failure, code: str = CODE, test: str = TEST) -> str:
    return fingerprint(item, reader(code, test).get)


def test_moved_lines_and_layout_make_no_difference() -> None:
    shifted = "# one more line\n\n" + CODE.replace(
        '(\n            "too few"', '("too few"'
    ).replace("len(knots)\n        )", "len(knots))")
    moved = (RAISED[0], frame("knots.py", 9, "insert", 8), frame("knots.py", 5, "check", 3))

    assert of(failure(*moved), shifted) == of(failure(*RAISED))


def test_neither_path_nor_message_nor_test_is_part_of_it() -> None:
    elsewhere = tuple(replace(f, file="lib/knots.py") for f in RAISED[1:])
    other = frame("test_knots.py", 6, "test_other", 5)

    assert of(failure(other, *elsewhere, message="got 7")) == of(failure(*RAISED))


@pytest.mark.parametrize(
    "other",
    [
        failure(*RAISED, kind="TypeError"),
        failure(*RAISED[:2]),
        failure(*RAISED[:2], replace(RAISED[2], line=2)),
    ],
    ids=["type", "function", "statement"],
)
def test_type_and_statements_tell_failures_apart(other: Failure) -> None:
    assert of(other) != of(failure(*RAISED))


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ("assert insert([7, 8]) == 'x'", False),
        ("assert insert([9]) == 3", True),
        ("assert insert([1]) != 2", False),
        ("assert remove([1]) == 2", False),
    ],
)
def test_assertions_of_tests_are_told_apart_by_all_but_their_data(
    other: str, *, is_same: bool
) -> None:
    test = f"def test_other():\n    {other}\n"
    second = failure(frame("test_knots.py", 2, "test_other", 1))

    assert (of(second, test=test) == of(failure(RAISED[0]))) is is_same


def test_message_has_to_do_where_there_is_no_frame() -> None:
    assert of(failure(message="worker 3 died")) == of(failure(message="worker 4 died"))
    assert of(failure(message="worker 3 died")) != of(failure(message="worker 3 left"))


def test_line_of_a_syntax_error_is_its_identity() -> None:
    broken = replace(failure(), syntax_error=("knots.py", 9))
    same = replace(failure(), syntax_error=("knots.py", 10))

    assert of(broken) == of(same, "\n" + CODE)
    assert of(broken) != of(same)
