"""Limits of fix tools, their success records, and fixes by persons that become tools."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_bayesloc.domain.texts import TextEnum

#: What restores code as it was when the tests passed.
TAKE_BACK = "take-back"
#: Begins the words of a change that is undone to the line.
UNDO = "undoing"
RETIRED_AFTER = 10  # bugs
RETIRED_BELOW = 0.2
MUTANTS = "mutants"  # the source of what the likeliest fixes show
FIX = "fix"  # the source of the evidence that a verified fix is
SURE = 0.8  # similarity from which a tool of average success is not doubted
_BROKEN = 2.0  # a fix that did not last speaks twice against its maker


class Level(TextEnum):
    """Limits how far a tool may go.

    ``SAFE`` does what the code plainly was to do, ``UNSAFE`` may change what it means, and what is
    ``DISPLAY`` is only ever shown.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixPattern:
    """A fix by a person.

    Attributes:
        pattern: Before and after, as JSON.
        error: Type of the exception.
        before: The function, then.
        after: The function, now.
    """

    pattern: str
    bug: str
    error: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRecord:
    """Counts the results of a tool's work.

    Attributes:
        n_bugs: Bugs that it was tried for.
        n_verified: Of those, for how many it found a verified fix.
        n_applied: Of those, how many were applied and are still there.
        n_undone: How many were applied and taken back.
        n_broken: How many were applied, and the test failed again in what they changed.
        last_used: When it was tried last, as an ISO date; empty if never.
    """

    n_bugs: int = 0
    n_verified: int = 0
    n_applied: int = 0
    n_undone: int = 0
    n_broken: int = 0
    last_used: str = ""

    @property
    def worth(self) -> float:
        """Mean of the Beta posterior of its success rate, from Beta(1, 1)."""
        good = self.n_verified - self.n_undone - self.n_broken + self.n_applied
        bad = self.n_bugs - self.n_verified + self.n_undone + _BROKEN * self.n_broken
        return (1 + max(0, good)) / (2 + max(0, good) + bad)

    @property
    def is_retired(self) -> bool:
        """Whether it was tried often enough to know that it is of no use."""
        return self.n_bugs >= RETIRED_AFTER and self.worth < RETIRED_BELOW

    @property
    def sure_from(self) -> float:
        """Similarity above which nobody is asked whether it fits: lower, the better its record."""
        return min(1.0, max(0.5, SURE + 0.6 * (0.5 - self.worth)))
