"""What leads out of the process through functions of the project stays as it is."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.reach import Reach, out_of_bounds
from tests.fakes.sources import TextSources
from tests.unit.fixes.candidates import candidate

STORE = """
import requests

def wipe(folder):
    requests.delete(folder)

def tidy(folder):
    wipe(folder)

class Store:
    def drop(self):
        self.empty()

    def empty(self):
        tidy(self.folder)

    def set(self):
        self.empty()

def count(names):
    return len(names)
"""
OTHER = """
def again(store):
    store.drop()
    again(store)
"""


FILES = {"store.py": STORE, "other.py": OTHER}


def reach(*never_edited: str) -> Reach:
    return Reach(sorted(FILES), TextSources(FILES), never_edited)


@pytest.mark.parametrize(
    ("name", "leads"),
    [("wipe", True), ("Store", True), ("again", True), ("count", False), ("nobody", False)],
)
def test_calls_are_followed_by_name(name: str, *, leads: bool) -> None:
    assert reach().reaches(name) is leads


def test_what_the_user_names_leads_out() -> None:
    assert reach("len").reaches("count")


def test_only_what_is_new_counts() -> None:
    before = "def f(folder):\n    tidy(folder)\n"

    assert reach().new_in(before, before + "    return count(folder)\n") == ""
    assert reach().new_in(before, before + "    return map(wipe, folder)\n") == "wipe"


@pytest.mark.parametrize(
    ("module", "leads"),
    [
        ("x = 1\n", False),
        ("from store import set\n", True),
        ("from store import *\n", True),
        ("def f(set):\n    return set\n", True),
        ("class A:\n    def set(self):\n        pass\n", True),
        ("def (", True),
        ("", True),
    ],
)
def test_a_built_in_leads_nowhere_where_nothing_else_has_its_name(
    module: str, *, leads: bool
) -> None:
    before, after = "def f(x):\n    return x\n", "def f(x):\n    return set(x)\n"

    assert bool(reach().new_in(before, after, module)) is leads
    assert reach().new_in(before, after.replace("set(x)", "x.set()"), "x = 1\n")


# -- a fix of a file that did not parse leaves calls that reach out where they are

BROKEN = """
    import requests


    def clean(path, old)
        path = str(path)
        if old:
            print(path)
            requests.delete(path)
        for name in path:
            requests.put(name, name + "~")
"""
COLON = ("old)\n", "old):\n")
ALLOWED = {"a colon": [COLON], "another line": [COLON, ("print(path)", "print(old)")]}
REFUSED = {
    "a call is taken out of its block": [COLON, ("        requests.delete", "    requests.delete")],
    "a call is another": [COLON, ("requests.delete", "requests.post")],
    "a call is new": [COLON, ("print(path)", "requests.post(path)")],
    "a block is another's": [COLON, ("    for name", "for name")],
    "a line more": [COLON, ("    if old:", "    path += ''\n    if old:")],
}


def said(changes: list[tuple[str, str]]) -> str:
    before = after = dedent(BROKEN)
    for old, new in changes:
        after = after.replace(old, new, 1)
    return out_of_bounds(candidate(before, after, level=Level.SAFE), reach())


@pytest.mark.parametrize("what", ALLOWED)
def test_what_leaves_calls_alone_may_run(what: str) -> None:
    assert said(ALLOWED[what]) == ""


@pytest.mark.parametrize("what", REFUSED)
def test_what_moves_a_call_may_not(what: str) -> None:
    assert "reaches out" in said(REFUSED[what])
