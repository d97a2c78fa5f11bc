"""What was edited between two runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.changes import Changes, changes_since
from pytest_bayesloc.stages.edits import edit_of, followed, is_renaming, state_of

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


USER = "from knots import check\n\n\ndef curve(knots):\n    check(knots)\n    return knots\n"
THEN = {"knots.py": CODE, "curve.py": USER, "gone.py": "A = 1\nB = 2\n"}
MOVED = CODE.replace("price / rate", "price * rate")


def after_move(now: dict[str, str]) -> Changes:
    texts, moved = followed(THEN, now.get, lambda: now)
    (found,) = changes_since([texts], now.get, lambda file: SourceMap(now[file], file))
    return replace(found, moved=moved)


def test_file_that_was_moved_is_no_edit() -> None:
    found = after_move(
        {"sub/nodes.py": CODE, "curve.py": USER.replace("knots import", "nodes import")}
    )

    assert found.moved == {"knots"}
    assert [where.qualname for where in found.every] == ["<module>"]
    assert edit_of(found).functions == ()


def test_edit_of_a_file_that_was_moved_is_seen_under_its_new_path() -> None:
    now = {"sub/nodes.py": MOVED, "curve.py": USER.replace("knots import", "nodes import")}

    assert set(edit_of(after_move(now)).functions) == {"curve.py <module>", "sub/nodes.py net"}


def test_another_file_is_no_moved_one() -> None:
    now = {
        "other.py": "def f():\n    return 3\n",
        "curve.py": USER.replace("knots import", "other import"),
    }

    found = after_move(now)

    assert found.moved == frozenset()
    assert edit_of(found).functions == ("curve.py <module>",)


def test_import_from_a_module_that_is_still_there_is_an_edit() -> None:
    now = {**THEN, "curve.py": USER.replace("knots import", "other import")}

    assert edit_of(after_move(now)).functions == ("curve.py <module>",)
