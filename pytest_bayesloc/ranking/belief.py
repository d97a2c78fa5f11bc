"""Two models of "which location is faulty", conditioned on evidence.

Reference:
    docs/model.md, section "Belief".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from math import inf, log
from sys import float_info
from types import MappingProxyType
from typing import ClassVar

from pytest_bayesloc.domain.errors import EvidenceError
from pytest_bayesloc.domain.evidence import Evidence
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.prior import softmax

#: Bounds of an updated probability in the independent model.
LOWEST, HIGHEST = 0.01, 0.99
#: Probabilities that differ by less tie: the difference is rounding.
TIE = 1e-12


class Belief(ABC):
    """P(faulty) of every location that is a candidate. Immutable: an update gives a new one.

    Attributes:
        probabilities: Per location, P(faulty) in [0, 1].
        is_shared: Whether what one location loses, the others gain.
    """

    __slots__ = ()

    probabilities: Mapping[Location, float]
    is_shared: ClassVar[bool]

    def p(self, location: Location) -> float:
        """P(``location`` is faulty).

        Raises:
            EvidenceError: If the belief does not cover ``location``.
        """
        return _look_up(self.probabilities, location)

    def top(self, n: int) -> tuple[tuple[Location, float], ...]:
        """The ``n`` likeliest locations with their probabilities; ties in location order."""
        by_rank = nsmallest(n, self.probabilities.items(), key=lambda item: (-item[1], item[0]))
        return tuple(by_rank)

    def update(self, evidence: Evidence) -> Belief:
        """Condition on one piece of evidence.

        Raises:
            EvidenceError: If the belief does not cover its location.
        """
        return self.update_all((evidence,))

    @abstractmethod
    def joined(self, location: Location, p: float) -> Belief:
        """A belief that covers ``location`` too, with probability ``p`` in (0, 1) to begin with."""

    @abstractmethod
    def update_all(self, evidence: Iterable[Evidence]) -> Belief:
        """Condition on several pieces of evidence, in their order.

        Raises:
            EvidenceError: If the belief does not cover one of their locations.
        """


@dataclass(frozen=True, slots=True)
class IndependentBelief(Belief):
    """Every location is faulty or not by itself: the reference model.

    An update is Bayes' rule at the evidence's location, clamped to [0.01, 0.99]; no other location
    moves. The clamp holds for updated locations only, so priors may lie below it, and even neutral
    evidence lifts such a one to 0.01. What evidence does depends on its order where a clamp
    strikes in between.

    Attributes:
        probabilities: Per location, in [0, 1]. They need not sum to 1.
    """

    is_shared: ClassVar[bool] = False

    probabilities: Mapping[Location, float]

    def __post_init__(self) -> None:
        _check(self.probabilities, 1.0)

    def joined(self, location: Location, p: float) -> IndependentBelief:
        """The others keep theirs."""
        return IndependentBelief({**self.probabilities, location: p})

    def update_all(self, evidence: Iterable[Evidence]) -> IndependentBelief:
        """``p1*p / (p1*p + p0*(1 - p))``, clamped, for one piece of evidence after the other."""
        updated = dict(self.probabilities)
        for item in evidence:
            before = _look_up(updated, item.location)
            faulty = item.p_if_faulty * before
            after = faulty / (faulty + item.p_if_clean * (1.0 - before))
            updated[item.location] = min(HIGHEST, max(LOWEST, after))
        return IndependentBelief(updated)


@dataclass(frozen=True, slots=True)
class SingleFaultBelief(Belief):
    """Exactly one location is faulty: what one loses, the others gain.

    The posterior is proportional to the prior times the product of the likelihood ratios at each
    location. Prior and ratios are kept apart, as logarithms, and multiplied out last: the order of
    evidence is irrelevant up to rounding, and a probability that underflowed to 0 can come back.

    Attributes:
        prior: Per location, a weight of 0 or more; divided by their sum.
        log_ratios: Per location with evidence, the sum of its log likelihood ratios, in nats.
        probabilities: Per location; they sum to 1.
    """

    is_shared: ClassVar[bool] = True

    prior: Mapping[Location, float]
    log_ratios: Mapping[Location, float] = field(default_factory=dict)
    probabilities: Mapping[Location, float] = field(init=False)

    def __post_init__(self) -> None:
        _check(self.prior, float_info.max)
        if self.prior and not any(self.prior.values()):
            raise ValueError(
                f"All {len(self.prior)} prior weights are 0: expected one above 0 at least."
            )
        logits = {
            where: log(weight) + self.log_ratios.get(where, 0.0) if weight else -inf
            for where, weight in self.prior.items()
        }
        object.__setattr__(self, "probabilities", softmax(logits))

    def joined(self, location: Location, p: float) -> SingleFaultBelief:
        """The others share what is left, in the proportions that they had."""
        rest = {where: (1.0 - p) * held for where, held in self.probabilities.items()}
        return SingleFaultBelief({**rest, location: p if rest else 1.0})

    def update_all(self, evidence: Iterable[Evidence]) -> SingleFaultBelief:
        """Weigh several locations anew and renormalise once."""
        ratios = dict(self.log_ratios)
        for item in evidence:
            _look_up(self.prior, item.location)
            # Not the ratio's logarithm: a ratio of two extreme likelihoods is infinite.
            log_ratio = log(item.p_if_faulty) - log(item.p_if_clean)
            ratios[item.location] = ratios.get(item.location, 0.0) + log_ratio
        return SingleFaultBelief(self.prior, ratios)


MODELS: Mapping[str, Callable[[Mapping[Location, float]], Belief]] = MappingProxyType(
    {"independent": IndependentBelief, "single-fault": SingleFaultBelief}
)


def _check(weights: Mapping[Location, float], highest: float) -> None:
    for where, weight in weights.items():
        if not 0.0 <= weight <= highest:
            raise ValueError(f"{weight} is no belief in {where}: expected 0 to {highest:g}.")


def _look_up(probabilities: Mapping[Location, float], location: Location) -> float:
    if location not in probabilities:
        raise EvidenceError(
            f"{location} is not among the {len(probabilities)} locations of the belief: evidence "
            "on it can't be weighed. Give it a prior first.",
            slug="unknown-location",
        )
    return probabilities[location]
