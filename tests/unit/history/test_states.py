"""Which older states are tried, and which one is found."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.history.states import N_STATES, last_passing


@dataclass
class Past:
    """``n`` states, of which those from ``first_passing`` on pass."""

    n: int
    first_passing: int
    tried: list[int] = field(default_factory=list)

    def states(self) -> list[str]:
        return [str(at) for at in range(self.n)]

    def changes(self, state: str) -> Changes:
        return Changes(commit=state)

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
