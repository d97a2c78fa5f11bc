"""The youngest older code with which the failing tests pass, where no green run is remembered.

Reference:
    Bentley, Yao: An almost optimal algorithm for unbounded searching. IPL 1976. (Steps that
    double, then halving, as ``git bisect`` does between two known commits.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.history.changes import Changes

#: The states that are tried: the code before none, 1, 3 and 7 of the youngest commits.
STEPS = (0, 1, 3, 7)
N_STATES = STEPS[-1] + 1


class History(Protocol):
    """Older states of the project's code, the youngest first."""

    def states(self) -> Sequence[str]:
        """What they are called, at most ``N_STATES``; none if there are none, or nobody knows."""
        ...

    def changes(self, state: str) -> Changes:
        """What changed from then to now."""
        ...


def last_passing(history: History, passes: Callable[[Changes], bool]) -> Changes | None:
    """What changed since the youngest state that passes, supposed that all older ones do.

    Args:
        history: Where to look.
        passes: Whether the tests pass with these changes taken back.

    Returns:
        None if none of the states that are tried passes.
    """
    states = history.states()
    failing, found = -1, None
    for at in dict.fromkeys(min(step, len(states) - 1) for step in STEPS if states):
        changes = history.changes(states[at])
        if passes(changes):
            found, passing = changes, at
            break
        failing = at
    else:
        return None
    while passing - failing > 1:
        middle = (passing + failing) // 2
        changes = history.changes(states[middle])
        if passes(changes):
            found, passing = changes, middle
        else:
            failing = middle
    return found
