"""What to inspect next, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.localization.belief import Belief

#: Probabilities that differ by less are equal: what is left is rounding.
TIE = 1e-12

NOTHING_LEFT = "nothing left to inspect"

Select: TypeAlias = "Callable[[Belief, Sequence[Action]], Action | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When the loop ends.

    Attributes:
        threshold: Belief at which a location is found.
        budget_s: Seconds that inspections may take.
        n_inspections: How many may be made; None for any number.
    """

    threshold: float
    budget_s: float
    n_inspections: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One way to inspect one location."""

    target: Location
    kind: str


def greedy(belief: Belief, actions: Sequence[Action]) -> Action | None:
    """What inspects the likeliest location; ties in location order, then in the order given."""
    if not actions:
        return None
    bar = max(belief.p(action.target) for action in actions) - TIE
    likeliest = min(action.target for action in actions if belief.p(action.target) >= bar)
    return next(action for action in actions if action.target == likeliest)


@dataclass(frozen=True, slots=True)
class Informative:
    """Chooses what promises most information about the fault's place a second.

    Attributes:
        outlooks: Per kind, what may come out of it and how long it usually takes.
    """

    outlooks: Mapping[str, Outlook]

    def __call__(self, belief: Belief, actions: Sequence[Action]) -> Action | None:
        """The most informative of ``actions``; ties as in ``greedy``."""
        rated = [(self._rate(belief, action), action) for action in actions]
        bar = max((rate for rate, _ in rated), default=0.0) * (1 - TIE)
        return greedy(belief, [action for rate, action in rated if rate >= bar])

    def _rate(self, belief: Belief, action: Action) -> float:
        outlook = self.outlooks[action.kind]
        return information(belief.p(action.target), outlook.outcomes) / outlook.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a kind of inspection may bring.

    Attributes:
        outcomes: Of each outcome, P(it | faulty) and P(it | clean); each column sums to 1.
        seconds: What it takes, above 0.
    """

    outcomes: Sequence[tuple[float, float]]
    seconds: float


def information(p: float, outcomes: Sequence[tuple[float, float]]) -> float:
    """Expected information about "it is faulty" from an inspection, in nats: 0 or more.

    Args:
        p: P(faulty), in [0, 1].
        outcomes: Of each outcome, P(it | faulty) and P(it | clean).

    Reference:
        docs/model.md, eq. 5.
    """
    total = 0.0
    for if_faulty, if_clean in outcomes:
        mixed = p * if_faulty + (1 - p) * if_clean
        for weight, chance in ((p, if_faulty), (1 - p, if_clean)):
            if weight * chance:
                total += weight * chance * (log(chance) - log(mixed))
    return max(0.0, total)


def stop_reason(
    belief: Belief,
    limits: Limits,
    *,
    spent_s: float,
    n_made: int,
) -> str | None:
    """Why the loop ends now, in words; None to go on.

    Args:
        belief: The present belief; the threshold is held against its likeliest location, code or
            test.
        limits: When to end.
        spent_s: Seconds spent on inspections.
        n_made: Inspections made.
    """
    for where, p in belief.top(1):
        if p >= limits.threshold:
            return f"threshold {limits.threshold:g} reached by {where}"
    if spent_s >= limits.budget_s:
        return f"budget of {limits.budget_s:g} s spent"
    if limits.n_inspections is not None and n_made >= limits.n_inspections:
        return f"{n_made} inspection{'' if n_made == 1 else 's'} made"
    return None
