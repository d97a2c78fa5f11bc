from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.bugs.candidates import FEATURE, FIX, is_source, is_test_file
from benchmarks.bugs.collecting import changed_lines
from benchmarks.bugs.repositories import NAMES, PARTS, SEALED, is_sealed, part_of_repository
from benchmarks.bugs.truth import Change, smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BEFORE = """import os


def a():
    return 1


def b():
    return 1


class C:
    LIMIT = 1

    def c(self):
        return 1
"""


def after(*edits: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def places(text: str, passes: Callable[[Mapping[str, str]], bool]) -> list[list[str]]:
    """The names of each smallest set of changes with which ``passes`` is true."""
    change = Change({"m.py": BEFORE}, {"m.py": text})
    return [[name for _, name in truth] for truth in smallest(change, passes)]


A = ("def a():\n    return 1", "def a():\n    return 2")
B = ("def b():\n    return 1", "def b():\n    return 2")
LIMIT = ("LIMIT = 1", "LIMIT = 2")


def test_change_that_suffices_alone_is_at_fault() -> None:
    assert places(after(A, B, LIMIT), lambda t: B[1] in t["m.py"]) == [["b"]]


def test_changes_that_are_needed_together_are_at_fault() -> None:
    assert places(after(A, B, LIMIT), lambda t: B[1] in t["m.py"] and LIMIT[1] in t["m.py"]) == [
        ["C", "b"]
    ]


def test_either_of_two_changes_that_suffice_is_noted() -> None:
    found = places(after(A, B, LIMIT), lambda t: A[1] in t["m.py"] or B[1] in t["m.py"])

    assert found == [["a"], ["b"]]


def test_new_function_alone_is_at_fault_where_it_is_missing() -> None:
    text = after(("    def c(self):", "    def d(self):\n        return 2\n\n    def c(self):"))

    assert places(text, lambda t: "def d" in t["m.py"]) == [["C"]]


def test_new_helper_is_no_cause_beside_the_function_that_calls_it() -> None:
    text = after(("import os\n", "import os\nimport re\n"), A) + "\n\ndef helper():\n    return 2\n"

    assert places(text, lambda t: A[1] in t["m.py"] and "helper" in t["m.py"]) == [["a"]]


@pytest.mark.parametrize(
    ("file", "source", "test"),
    [
        ("src/shop/cart.py", True, False),
        ("shop/cart.py", True, False),
        ("tests/test_cart.py", False, True),
        ("shop/tests/cart.py", False, True),
        ("tests/conftest.py", False, False),
        ("docs/conf.py", False, False),
        ("setup.py", False, False),
        ("shop/data.json", False, False),
    ],
)
def test_source_and_tests_are_told_apart(file: str, source: bool, test: bool) -> None:
    assert (is_source(file), is_test_file(file)) == (source, test)


@pytest.mark.parametrize(
    ("subject", "is_fix"),
    [
        ("Fix rounding of totals", True),
        ("Don't crash on an empty cart", True),
        ("Add support for vouchers (#12)", False),
        ("Refactor the cart", False),
        ("Update the docs", False),
    ],
)
def test_message_tells_a_fix_from_a_feature(subject: str, is_fix: bool) -> None:
    assert (bool(FIX.search(subject)) and not FEATURE.search(subject)) is is_fix


def test_lines_of_the_old_text_are_those_that_change_or_lie_beside_what_is_added() -> None:
    assert changed_lines("a\nb\nc\nd\n", "a\nB\nc\nnew\nd\n") == [2, 3, 4]


def test_every_repository_has_a_part_and_ten_are_sealed() -> None:
    assert {part_of_repository(name) for name in NAMES} == set(PARTS)
    assert sum(map(is_sealed, NAMES)) == 10
    assert part_of_repository("dbader/schedule") == SEALED
