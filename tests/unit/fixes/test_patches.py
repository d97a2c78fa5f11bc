"""Which functions a change of a text is a change of."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.candidate import Candidate, patch_of

TEXT = """\
def loud(function):
    prefix = "!"

    class Made:
        def call(self):
            return prefix

    def wrapper(*args):
        def inner():
            return args
        return function(*inner())

    return wrapper


def other():
    return 1


LIMIT = 3
"""
TWO = ["loud.<locals>.wrapper.<locals>.inner", "other"]
CHANGES = {
    "a method of a local class": (
        [("return prefix", "return ''")],
        ["loud.<locals>.Made.call"],
    ),
    "two": ([("return args", "return ()"), ("return 1", "return 2")], TWO),
    "what is around it": ([('"!"', '"?"'), ("return args", "return ()")], ["loud"]),
    "a signature": ([("def other()", "def other(x)")], ["<module>"]),
    "a constant": ([("LIMIT = 3", "LIMIT = 4")], ["<module>"]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_of_the_innermost_functions(what: str) -> None:
    edits, expected = CHANGES[what]
    after = TEXT
    for old, new in edits:
        after = after.replace(old, new)
    candidate = Candidate(
        tools=("t",),
        stage="tool",
        level=Level.SAFE,
        file="a.py",
        before=TEXT,
        after=after,
        message="",
    )

    patch = patch_of(candidate)

    names = {where.qualname for where in (patch.target, *patch.others)}
    assert names == set(expected)
    assert patch.fresh is (names == {"<module>"})
