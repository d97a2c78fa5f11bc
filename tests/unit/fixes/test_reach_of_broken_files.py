"""A fix of a file that did not parse leaves calls that reach out where they are."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.check import Candidate
from pytest_bayesloc.fixes.reach import Reach, out_of_bounds
from tests.fakes.project import TextProject

BROKEN = """
    import os


    def clean(path, old)
        path = str(path)
        if old:
            print(path)
            os.remove(path)
        for name in path:
            os.rename(name, name + "~")
"""
COLON = ("old)\n", "old):\n")
ALLOWED = {"a colon": [COLON], "another line": [COLON, ("print(path)", "print(old)")]}
REFUSED = {
    "a call is taken out of its block": [COLON, ("        os.remove", "    os.remove")],
    "a call is another": [COLON, ("os.remove", "os.unlink")],
    "a call is new": [COLON, ("print(path)", "os.rmdir(path)")],
    "a block is another's": [COLON, ("    for name", "for name")],
    "a line more": [COLON, ("    if old:", "    path += ''\n    if old:")],
}


def said(changes: list[tuple[str, str]]) -> str:
    before = after = dedent(BROKEN)
    for old, new in changes:
        after = after.replace(old, new, 1)
    candidate = Candidate(
        tools=("mend-syntax",),
        stage="tool",
        level=Level.SAFE,
        file="clean.py",
        before=before,
        after=after,
        message="",
    )
    return out_of_bounds(candidate, Reach((), TextProject({}), ()))  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ALLOWED)
def test_what_leaves_calls_alone_may_run(what: str) -> None:
    assert said(ALLOWED[what]) == ""


@pytest.mark.parametrize("what", REFUSED)
def test_what_moves_a_call_may_not(what: str) -> None:
    assert "reaches out" in said(REFUSED[what])
