"""What to inspect next, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Protocol

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.belief import TIE, Belief

#: Probabilities that differ by less are equal: what is left is rounding.

NOTHING_LEFT = "nothing left to inspect"

#: Outcomes of what is under way that are thought through, the likeliest ones.
MAX_PROSPECTS = 16


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


class Select(Protocol):
    """Chooses what to do next."""

    def __call__(
        self, belief: Belief, actions: Sequence[Action], pending: Sequence[Action] = ()
    ) -> Action | None:
        """One of ``actions``; None of none.

        Args:
            belief: The present one.
            actions: What may be done.
            pending: What is under way: its outcome is not in the belief yet.
        """


def greedy(
    belief: Belief, actions: Sequence[Action], pending: Sequence[Action] = ()
) -> Action | None:
    """What inspects the likeliest location; ties in location order, then in the order given."""
    del pending
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

    def __call__(
        self, belief: Belief, actions: Sequence[Action], pending: Sequence[Action] = ()
    ) -> Action | None:
        """The most informative of ``actions`` beside ``pending``; ties as in ``greedy``.

        Together with what is under way it tells most: information about the fault's place adds up
        along a chain of conditions.
        """
        prospects = [Prospect(belief)]
        for action in pending:
            outcomes = self.outlooks[action.kind].outcomes
            split = [new for old in prospects for new in old.after(action.target, outcomes)]
            prospects = sorted(split, key=lambda prospect: -prospect.weight)[:MAX_PROSPECTS]
        rated = [(self._rate(prospects, action), action) for action in actions]
        bar = max((rate for rate, _ in rated), default=0.0) * (1 - TIE)
        return greedy(belief, [action for rate, action in rated if rate >= bar])

    def _rate(self, prospects: Sequence[Prospect], action: Action) -> float:
        outlook = self.outlooks[action.kind]
        total = sum(
            prospect.weight * information(prospect.p(action.target), outlook.outcomes)
            for prospect in prospects
        )
        return total / outlook.seconds


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
        """P(``location`` is faulty) then."""
        known = self.known.get(location)
        return self.belief.p(location) * self.scale if known is None else known

    def after(
        self, target: Location, outcomes: Sequence[tuple[float, float]]
    ) -> Iterator[Prospect]:
        """What it may become by an inspection of ``target``, for each of its outcomes."""
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
