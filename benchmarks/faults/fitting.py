"""Fitting the model's numbers to the fit packages: a penalised conditional logit.

The posterior of the single-fault model is a softmax over locations of a weighted sum: the weights
of the prior's terms and the log likelihood ratios of the outcomes. So maximum likelihood of the
location at fault gives all of them at once, each such that it counts beside the others: correlated
evidence shares its weight, which is what a temperature would have to mend afterwards.

Reference:
    McFadden: Conditional logit analysis of qualitative choice behavior. 1974.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from benchmarks.faults.replay import problems
from pytest_bayesloc.domain.evidence import Outcome
from pytest_bayesloc.inspection.order import order_evidence
from pytest_bayesloc.localization.prior import blend_features

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from benchmarks.faults.replay import Problem

    Terms = Mapping[str, float]

#: Strength of the penalty on the squares of standardised weights.
PENALTY = 1.0
SILENT = frozenset({Outcome.INCONCLUSIVE, Outcome.NO_COVERAGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One group of failing tests: what each location has, and which is at fault.

    Attributes:
        terms: Per location, the named values that are weighed.
        guilty: Per location, whether it is at fault.
        weight: Of the group; those of one fault have 1 together.
    """

    terms: tuple[Terms, ...]
    guilty: tuple[bool, ...]
    weight: float


def choices(rows: Iterable[Mapping[str, Any]]) -> list[Choice]:
    """The groups of ``rows`` in which what is at fault is among the locations."""
    found = []
    for row in rows:
        groups = problems(row)
        for problem in groups:
            if problem.truth:
                terms = terms_of(problem)
                guilty = tuple(where in problem.truth for where in problem.locations)
                found.append(Choice(terms=terms, guilty=guilty, weight=1 / len(groups)))
    return found


def terms_of(problem: Problem) -> tuple[dict[str, float], ...]:
    """Per location, the prior's terms, what it is to the tests, and each outcome seen there."""
    features = blend_features(problem.spectrum)
    roles = problem.roles()
    terms: list[dict[str, float]] = []
    for where in problem.locations:
        own = dict(features.get(where, {}))
        if where in roles:
            own[f"role {roles[where].value}"] = 1.0
        terms.append(own)
    number = {where: n for n, where in enumerate(problem.locations)}
    evidence = [
        *problem.first_evidence("single-fault"),
        *order_evidence(problem.recording(), problem.raw["failing"], model="single-fault"),
    ]
    seen = [(number[item.location], item.outcome) for item in evidence]
    seen += [(made[0], Outcome(made[2])) for made in problem.raw["inspections"] if made[0] >= 0]
    for n, outcome in seen:
        if outcome not in SILENT:
            terms[n][outcome.value] = 1.0
    return tuple(terms)


def fitted(found: Sequence[Choice], *, penalty: float = PENALTY) -> dict[str, float]:
    """The weight of each term, in nats."""
    names = sorted({name for choice in found for own in choice.terms for name in own})
    matrices = [_matrix(choice, names) for choice in found]
    scale = np.std(np.vstack(matrices), axis=0) + 1e-9
    scaled = [matrix / scale for matrix in matrices]
    guilty = [np.array(choice.guilty) for choice in found]
    weights = [choice.weight for choice in found]

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = 0.5 * penalty * float(w @ w), penalty * w
        for matrix, is_guilty, weight in zip(scaled, guilty, weights, strict=True):
            logits = matrix @ w
            p = np.exp(logits - float(np.max(logits)))
            p /= p.sum()
            right = max(float(p[is_guilty].sum()), 1e-300)
            total -= weight * float(np.log(right))
            slope = slope - weight * ((np.where(is_guilty, p / right, 0.0) - p) @ matrix)
        return total, slope

    best = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B")
    return dict(zip(names, (best.x / scale).tolist(), strict=True))


def _matrix(choice: Choice, names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[own.get(name, 0.0) for name in names] for own in choice.terms])


def pairs(
    weights: Terms, found: Sequence[Choice], outcomes: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """P(outcome | faulty) and P(outcome | clean) of outcomes that exclude each other.

    How often clean locations show each is counted; the ratios are those fitted, shifted alike so
    that both columns sum to 1: a location that nobody looked at then loses and gains nothing.
    """
    counts: Counter[str] = Counter()
    for choice in found:
        for own, is_guilty in zip(choice.terms, choice.guilty, strict=True):
            if not is_guilty:
                counts.update(name for name in outcomes if name in own)
    total = sum(counts[name] + 1 for name in outcomes)
    clean = {name: (counts[name] + 1) / total for name in outcomes}
    raised = {name: clean[name] * float(np.exp(weights.get(name, 0.0))) for name in outcomes}
    norm = sum(raised.values())
    return {name: (raised[name] / norm, clean[name]) for name in outcomes}
