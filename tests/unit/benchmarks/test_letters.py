"""Small fixes are told from other changes, and compared with the edits of the search."""

from __future__ import annotations

import pytest

from benchmarks.bugs.letters import (
    LETTER_NAMES,
    Kind,
    Tried,
    changed_function,
    kinds_of,
    suggested,
    table,
    tried,
)
from benchmarks.bugs.repositories import part_of_repository
from benchmarks.faults.split import FIT
from pytest_bayesloc.fixes.plausibility import WEIGHTS

BEFORE = '''import os

LIMIT = 1


class Cart:
    def total(self, prices):
        """The total."""
        found = self.first(prices)
        if found == None:
            return 0
        return found + 1

    def first(self, prices):
        try:
            return prices[0]
        except KeyError:
            return None


def name():
    return os.name
'''
COMPARED = ("found == None", "found is None")
ADDED = ("found + 1", "found")
FOUND = ("self.first(prices)", "self.first(prices) or 0")
SUMMED = ('"""The total."""', '"""The sum."""')
NAMED = ("return os.name", "return os.name or ''")
LIMITED = ("LIMIT = 1", "LIMIT = 2")
CAUGHT = ("KeyError", "IndexError")
TYPED = ("first(self, prices):", "first(self, prices: list) -> None:")
GIVEN = ("first(self, prices):", "first(self, prices=()):")
LAST = ("return os.name\n", "return os.name\n    return None\n")
NEW = ("return os.name\n", "return os.name\n\n\ndef other():\n    return None\n")


def after(*edits: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    ("edits", "name", "n_statements"),
    [
        ([COMPARED], "Cart.total", 1),
        ([COMPARED, ADDED], "Cart.total", 2),
        ([COMPARED, SUMMED], "Cart.total", 1),
        ([CAUGHT], "Cart.first", 0),
        ([GIVEN], "Cart.first", 1),
        ([LAST], "name", 1),
    ],
)
def test_change_of_few_statements_of_one_function_is_small(
    edits: list[tuple[str, str]], name: str, n_statements: int
) -> None:
    changed = changed_function(BEFORE, after(*edits), "cart.py")

    assert changed is not None
    assert changed.is_small
    assert (changed.unit.location.qualname, changed.n_statements) == (name, n_statements)


@pytest.mark.parametrize(
    "edits",
    [[COMPARED, NAMED], [COMPARED, LIMITED], [LIMITED], [NEW], [("found == None", "found ==")]],
)
def test_change_elsewhere_is_none_of_one_function(edits: list[tuple[str, str]]) -> None:
    assert changed_function(BEFORE, after(*edits), "cart.py") is None


@pytest.mark.parametrize("edits", [[COMPARED, ADDED, FOUND], [SUMMED], [TYPED]])
def test_many_statements_and_none_are_not_small(edits: list[tuple[str, str]]) -> None:
    changed = changed_function(BEFORE, after(*edits), "cart.py")

    assert changed is not None
    assert not changed.is_small


def test_kind_that_makes_the_very_fix_is_named_with_its_place() -> None:
    changed = changed_function(BEFORE, after(CAUGHT), "cart.py")
    assert changed is not None

    one = tried(changed)

    assert one.ranks["other-exception"] <= one.n_edits["other-exception"]
    assert set(one.ranks) == {"other-exception"}


def test_docstring_of_a_fix_is_not_asked_of_an_edit() -> None:
    edit = ("return prices[0]", "return prices[1]")
    changed = changed_function(BEFORE, after(edit, SUMMED), "cart.py")
    assert changed is None

    both = changed_function(BEFORE, after(("found + 1", "found - 1"), SUMMED), "cart.py")

    assert both is not None
    assert "change-arithmetic" in tried(both).ranks


def test_kinds_with_the_most_hits_come_first() -> None:
    rare = Tried(n_edits={"convert": 10, "add-up": 5}, ranks={"convert": 4})
    often = Tried(n_edits={"convert": 90, "one-more": 2}, ranks={"one-more": 1})

    first, second, *rest = kinds_of([rare, often])

    assert (first.name, first.n_sites, first.per_thousand) == ("one-more", 1, 500.0)
    assert (second.name, second.n_sites, second.per_thousand) == ("convert", 2, 10.0)
    assert all(kind.per_thousand == 0.0 for kind in rest)


def test_suggested_weight_lies_between_the_present_one_and_what_hits_say() -> None:
    often = Kind(name="convert", n_edits=900, n_sites=90, ranks=[1] * 9)
    never = Kind(name="add-up", n_edits=900, n_sites=90)
    unseen = Kind(name="fill-in")

    weights = suggested([often, never, unseen])

    scale = 9 / (900 * (often.weight + never.weight))
    assert often.weight < weights["convert"] < 0.01 / scale
    assert 0 < weights["add-up"] < never.weight
    assert weights["fill-in"] == pytest.approx(unseen.weight)


def test_weights_stay_where_nothing_was_hit() -> None:
    assert suggested([Kind(name="convert", n_sites=3)]) == {"convert": WEIGHTS["convert"]}


def test_table_ends_with_totals() -> None:
    one = Tried(n_edits={"convert": 10}, ranks={"convert": 4})

    assert [*table([one])][-1].strip() == "1 fixes, 1 made to the letter (100.0%), by 10 edits"


def test_repositories_are_of_the_part_to_fit_on() -> None:
    assert {part_of_repository(name) for name in LETTER_NAMES} == {FIT}
