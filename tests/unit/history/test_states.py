"""Which older states are tried, and which one is found."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.history.git import (
    MAX_SILENT,
    N_STATES,
    Bisection,
    Commit,
    GitHistory,
    last_passing,
)


@dataclass
class Past(GitHistory):
    """``n`` states, of which those from ``first_passing`` on pass."""

    n: int
    first_passing: int
    tried: list[int] = field(default_factory=list)

    def states(self) -> list[Commit]:
        return [Commit(id=str(at), name="", date="", subject="") for at in range(self.n)]

    def changes(self, state: Commit) -> Changes:
        return Changes(commit=state.id)

    def passes(self, changes: Changes) -> bool:
        self.tried.append(int(changes.commit))
        return int(changes.commit) >= self.first_passing


@given(st.integers(1, N_STATES), st.integers(0, N_STATES + 1))
def test_youngest_state_that_passes_is_found_in_few_steps(n: int, first_passing: int) -> None:
    past = Past(n, first_passing)

    found = last_passing(past, past.passes)

    assert found == (Changes(commit=str(first_passing)) if first_passing < n else None)
    assert len(set(past.tried)) == len(past.tried) <= 6


def test_code_of_now_is_compared_with_the_youngest_state_first() -> None:
    past = Past(8, 0)

    last_passing(past, past.passes)

    assert past.tried == [0]


def test_without_states_nothing_is_tried() -> None:
    past = Past(0, 0)

    assert last_passing(past, past.passes) is None
    assert past.tried == []


def searched(n: int, first_passing: int, silent: frozenset[int]) -> tuple[Bisection, int]:
    """A search that has ended, and how many states it tried."""
    search, tried = Bisection(n), []
    while (at := search.next()) is not None:
        tried.append(at)
        search.take(at, None if at in silent else at >= first_passing)
    assert len(set(tried)) == len(tried)
    return search, len(tried)


SILENT = st.frozensets(st.integers(0, 300), max_size=MAX_SILENT)


@given(st.integers(0, 300), st.integers(0, 301), SILENT)
def test_states_between_what_fails_and_what_passes_all_can_not_say(
    n: int, first_passing: int, silent: frozenset[int]
) -> None:
    search, n_tried = searched(n, first_passing, silent)

    if search.passing is not None:
        assert search.failing < first_passing <= search.passing
        assert silent.issuperset(range(search.failing + 1, search.passing))
    assert n_tried <= 2 * n.bit_length() + len(silent) + 1


@given(st.integers(1, 300), st.integers(0, 300))
def test_state_that_passes_is_found_below_those_that_can_not_say(
    first_passing: int, first_silent: int
) -> None:
    """The tests were not written yet in the older ones."""
    silent = frozenset(range(first_silent, 300))

    search, n_tried = searched(300, first_passing, silent)

    assert search.passing == (first_passing if first_passing < first_silent else None)
    assert n_tried <= 20


def test_search_does_not_go_through_all_states_that_can_not_say() -> None:
    """Between commit 0, which fails, and the oldest one, all are broken."""
    search, n_tried = searched(1000, 999, frozenset(range(1, 999)))

    assert (search.failing, search.passing) == (0, 999)
    assert n_tried <= 11 + MAX_SILENT
