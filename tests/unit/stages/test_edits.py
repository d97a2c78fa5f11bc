"""What was edited between two runs."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.changes import Changes, changes_since
from pytest_bayesloc.stages.edits import edit_of, is_renaming, state_of

CODE = """\
LIMIT = 3


def net(price, rate):
    total = price / rate
    return total


def gross(price):
    return net(price, LIMIT)
"""


def changes(now: str, before: str = CODE) -> Changes:
    maps = {"m.py": SourceMap(now, "m.py")}
    (found,) = changes_since([{"m.py": before}], lambda _: now, maps.get)
    return found


def test_edit_names_the_functions_and_holds_the_diff() -> None:
    edit = edit_of(changes(CODE.replace("price / rate", "price * rate")))

    assert edit.functions == ("m.py net",)
    assert (edit.n_added, edit.n_removed) == (1, 1)
    assert "-    total = price / rate\n+    total = price * rate\n" in edit.diff
    assert not edit.in_tests


@pytest.mark.parametrize(
    ("old", "new"),
    [("total", "amount"), ("net", "netto"), ("LIMIT", "MOST"), ("price", "cost")],
)
def test_renaming_is_no_edit(old: str, new: str) -> None:
    assert is_renaming(changes(CODE.replace(old, new)))
    assert edit_of(changes(CODE.replace(old, new))).functions == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return total", "return price"),
        ("price / rate", "price * rate"),
        ("LIMIT = 3", "LIMIT = 4"),
        ("return net(price, LIMIT)", "return net(price, OTHER)"),
        ("def gross(price)", "def gross(prices)"),
    ],
    ids=["another name", "operator", "constant", "unknown name", "half of it"],
)
def test_other_edits_are_no_renaming(old: str, new: str) -> None:
    assert not is_renaming(changes(CODE.replace(old, new)))


def test_name_that_was_there_before_makes_no_renaming() -> None:
    assert not is_renaming(changes(CODE.replace("total", "price")))


def test_layout_and_comments_are_no_edit() -> None:
    assert edit_of(changes(f"# new\n\n{CODE}")).functions == ()


def test_state_of_code_is_that_of_its_text_wherever_it_stands() -> None:
    here, there = SourceMap(CODE, "m.py"), SourceMap(f"# moved\n{CODE}", "lib/m.py")
    other = SourceMap(CODE.replace("/", "*"), "m.py")

    def state(source: SourceMap) -> str:
        units = [unit.location for unit in source.units if unit.is_function]
        return state_of(units, {source.file: source}.get)

    assert state(here) == state(there)
    assert state(here) != state(other)
