"""Which of several changes break which tests, with as few re-runs as need be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.inspection.delta import FEW, shared_out

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


@dataclass
class World:
    """Tests that pass once all that they need is undone: a letter a change."""

    needs: Mapping[str, str]
    at_most: int = 1_000
    tried: list[str] = field(default_factory=list)

    def passing(self, chosen: Sequence[str], tests: Collection[str]) -> frozenset[str]:
        self.tried.append("".join(chosen))
        return frozenset(test for test in tests if set(self.needs[test]) <= set(chosen))

    def is_over(self) -> bool:
        return len(self.tried) >= self.at_most

    def shares(self, changes: str) -> list[tuple[str, str, bool]]:
        """Changes, tests and whether the changes are the smallest set."""
        found = shared_out(changes, list(self.needs), self.passing, self.is_over)
        return [("".join(s.items), "".join(sorted(s.tests)), s.is_smallest) for s in found]


MANY = "abcdefghijklmnopqrst"
assert len(MANY) > FEW


def test_few_changes_are_undone_one_by_one_until_one_repairs_all() -> None:
    world = World({"1": "c", "2": "c"})

    assert world.shares("abcd") == [("c", "12", True)]
    assert world.tried == ["a", "b", "c"]


def test_many_changes_are_undone_by_halves() -> None:
    world = World({"1": "s", "2": "s"})

    assert world.shares(MANY) == [("s", "12", True)]
    assert len(world.tried) <= 10


@pytest.mark.parametrize("changes", ["abcdefg", MANY], ids=["few", "many"])
def test_each_test_belongs_to_the_smallest_set_that_repairs_it(changes: str) -> None:
    world = World({"1": "b", "2": "e", "3": "b", "4": "bg", "5": "b"})

    assert world.shares(changes) == [("b", "135", True), ("e", "2", True), ("bg", "4", True)]
    assert len(world.tried) == len(set(world.tried))


def test_change_that_repairs_more_tests_is_preferred() -> None:
    found = shared_out(
        "ab",
        ["1", "2"],
        lambda chosen, tests: frozenset(t for t in tests if "b" in chosen or t == "1"),
    )

    assert [(share.items, len(share.tests)) for share in found] == [(("b",), 2)]


@pytest.mark.parametrize(
    ("needs", "at_most", "left"), [("ab", 2, "abcde"), ("a", 0, MANY)], ids=["cut", "no time"]
)
def test_search_that_is_cut_tells_what_is_left(needs: str, at_most: int, left: str) -> None:
    assert World({"1": needs}, at_most).shares(MANY) == [(left, "1", False)]
