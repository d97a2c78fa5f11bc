"""Selection of the next inspection, and of the moment to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.inspection.strategy import InspectionStrategy
from pytest_bayesloc.ranking.belief import TIE, Belief

NOTHING_LEFT = "nothing left to inspect"

#: Outcomes of what is under way that are thought through, the likeliest ones.
MAX_PROSPECTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that end the loop.

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
    strategy: InspectionStrategy


#: Chooses one of the open actions, given the belief and the actions under way; None of none.
Select = Callable[[Belief, Sequence[Action], Sequence[Action]], Action | None]


def likeliest(belief: Belief, actions: Sequence[Action]) -> Action | None:
    """Choose the action on the likeliest location; ties by location, then in the order given."""
    if not actions:
        return None
    bar = max(belief.p(action.target) for action in actions) - TIE
    target = min(action.target for action in actions if belief.p(action.target) >= bar)
    return next(action for action in actions if action.target == target)


def most_informative(
    model: str,
    belief: Belief,
    actions: Sequence[Action],
    pending: Sequence[Action] = (),
) -> Action | None:
    """Choose the action that promises most information about the fault's location a second.

    Together with what is under way it tells most: information about the fault's location adds up
    along a chain of conditions.

    Args:
        model: Name of the belief model.
        belief: The present one.
        actions: The open ones; ties as in ``likeliest``.
        pending: Those under way: their outcome is not in the belief yet.
    """
    chances = cache(lambda strategy: strategy.chances(model))
    prospects = [Prospect(belief)]
    for action in pending:
        outcomes = chances(action.strategy)
        split = [new for old in prospects for new in old.after(action.target, outcomes)]
        prospects = sorted(split, key=lambda prospect: -prospect.weight)[:MAX_PROSPECTS]
    rated = [(_rate(prospects, action, chances(action.strategy)), action) for action in actions]
    bar = max((rate for rate, _ in rated), default=0.0) * (1 - TIE)
    return likeliest(belief, [action for rate, action in rated if rate >= bar])


def _rate(
    prospects: Sequence[Prospect], action: Action, outcomes: Sequence[tuple[float, float]]
) -> float:
    """Return the expected information of ``action`` a second."""
    total = sum(
        prospect.weight * information(prospect.p(action.target), outcomes) for prospect in prospects
    )
    return total / action.strategy.seconds


@dataclass(frozen=True, slots=True)
class Prospect:
    """A belief as it may become, told by what would differ from the present one.

    Attributes:
        belief: The present one.
        weight: P(it becomes so).
        known: The probabilities of the locations that the outcomes are about.
        scale: By which those of all others would be multiplied.
    """

    belief: Belief
    weight: float = 1.0
    known: Mapping[Location, float] = field(default_factory=dict)
    scale: float = 1.0

    def p(self, location: Location) -> float:
        """Return P(``location`` is faulty) then."""
        known = self.known.get(location)
        return self.belief.p(location) * self.scale if known is None else known

    def after(
        self, target: Location, outcomes: Sequence[tuple[float, float]]
    ) -> Iterator[Prospect]:
        """Yield what it may become by an inspection of ``target``, for each of its outcomes."""
        p = self.p(target)
        for if_faulty, if_clean in outcomes:
            chance = p * if_faulty + (1 - p) * if_clean
            if chance:
                factor = if_clean / chance if self.belief.is_shared else 1.0
                others = {where: held * factor for where, held in self.known.items()}
                yield Prospect(
                    belief=self.belief,
                    weight=self.weight * chance,
                    known={**others, target: p * if_faulty / chance},
                    scale=self.scale * factor,
                )


def information(p: float, outcomes: Sequence[tuple[float, float]]) -> float:
    """Return the expected information about "it is faulty" from an inspection, in nats.

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
    is_proven: bool = True,
) -> str | None:
    """Return why the loop ends now, in words; None to go on.

    Args:
        belief: The present belief; the threshold is held against its likeliest location, code or
            test.
        limits: When to end.
        spent_s: Seconds spent on inspections.
        n_made: Inspections made.
        is_proven: Whether all was tried that could prove the likeliest location; the threshold
            does not count before.
    """
    for where, p in belief.top(1):
        if is_proven and p >= limits.threshold:
            return f"threshold {limits.threshold:g} reached by {where}"
    if spent_s >= limits.budget_s:
        return f"budget of {limits.budget_s:g} s spent"
    if limits.n_inspections is not None and n_made >= limits.n_inspections:
        return f"{n_made} inspection{'' if n_made == 1 else 's'} made"
    return None
