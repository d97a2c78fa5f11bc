"""Fitting the model's numbers: a penalised conditional logit, in two steps, with one temperature.

The posterior of the single-fault model is a softmax over locations of a weighted sum: the weights
of the prior's terms and the log likelihood ratios of the outcomes. So maximum likelihood of the
location at fault gives them. What is known of every location comes first; what only an inspected
location shows is fitted on top of that, held as it is, because locations are inspected in the order
of belief: fitted together, "was inspected" would stand in for the prior. The temperature is the one
under which packages that were left out are told most truthfully.

Reference:
    McFadden: Conditional logit analysis of qualitative choice behavior. 1974.
    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks. ICML 2017.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from benchmarks.faults.replay import problems
from pytest_bayesloc.domain.evidence import Outcome
from pytest_bayesloc.inspection.order import order_evidence
from pytest_bayesloc.localization.prior import blend_features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from benchmarks.faults.replay import Problem

    Terms = Mapping[str, float]
    Learn = Callable[[Sequence["Choice"]], Terms]

MODEL = "single-fault"
#: Strength of the penalty on the squares of standardised weights.
PENALTY = 1.0
SILENT = frozenset({Outcome.INCONCLUSIVE, Outcome.NO_COVERAGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One group of failing tests: what each location has, and which is at fault.

    Attributes:
        package: The subject's name.
        terms: Per location, the named values that are weighed.
        guilty: Per location, whether it is at fault.
        weight: Of the group; those of one fault have 1 together.
    """

    package: str
    terms: tuple[Terms, ...]
    guilty: tuple[bool, ...]
    weight: float


def choices(package: str, rows: Iterable[Mapping[str, Any]]) -> list[Choice]:
    """The groups of ``rows`` in which what is at fault is among the locations."""
    found = []
    for row in rows:
        groups = problems(row)
        for problem in groups:
            if problem.truth:
                terms = terms_of(problem)
                guilty = tuple(where in problem.truth for where in problem.locations)
                weight = 1 / len(groups)
                found.append(Choice(package=package, terms=terms, guilty=guilty, weight=weight))
    return found


def terms_of(problem: Problem) -> tuple[dict[str, float], ...]:
    """Per location, the prior's terms, what it is to the tests, and each outcome seen there."""
    features = blend_features(problem.spectrum)
    roles = problem.roles()
    terms: list[dict[str, float]] = []
    for where in problem.locations:
        own = dict(features.get(where, {}))
        if where in roles:
            own[roles[where].name] = 1.0
        terms.append(own)
    number = {where: n for n, where in enumerate(problem.locations)}
    evidence = [
        *problem.first_evidence(MODEL),
        *order_evidence(problem.recording(), problem.raw["failing"], model=MODEL),
    ]
    seen = [(number[item.location], item.outcome) for item in evidence]
    seen += [(made[0], Outcome(made[2])) for made in problem.raw["inspections"] if made[0] >= 0]
    for n, outcome in seen:
        if outcome not in SILENT:
            terms[n][outcome.name] = 1.0
    return tuple(terms)


def fitted(
    found: Sequence[Choice],
    names: Sequence[str],
    *,
    held: Terms | None = None,
    penalty: float = PENALTY,
) -> dict[str, float]:
    """The weight of each of ``names``, in nats, beside the weights ``held``."""
    matrices = [_matrix(choice, names) for choice in found]
    offsets = [_matrix(choice, list(held)) @ _weights(held) if held else 0.0 for choice in found]
    scale = np.std(np.vstack(matrices), axis=0) + 1e-9
    scaled = [matrix / scale for matrix in matrices]
    guilty = [np.array(choice.guilty) for choice in found]
    weights = [choice.weight for choice in found]

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = 0.5 * penalty * float(w @ w), penalty * w
        for matrix, base, is_guilty, weight in zip(scaled, offsets, guilty, weights, strict=True):
            p = _softmax(matrix @ w + base)
            right = max(float(p[is_guilty].sum()), 1e-300)
            total -= weight * float(np.log(right))
            slope = slope - weight * ((np.where(is_guilty, p / right, 0.0) - p) @ matrix)
        return total, slope

    best = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B")
    return dict(zip(names, (best.x / scale).tolist(), strict=True))


def temperature(found: Sequence[Choice], learn: Learn) -> float:
    """What logits are to be divided by, for packages that were not learned from.

    Args:
        found: Of several packages; each is left out once.
        learn: Fits all weights.
    """
    told: list[tuple[NDArray[np.float64], NDArray[np.bool_], float]] = []
    for package in sorted({choice.package for choice in found}):
        weights = learn([choice for choice in found if choice.package != package])
        for choice in found:
            if choice.package == package:
                logits = _matrix(choice, list(weights)) @ _weights(weights)
                told.append((logits, np.array(choice.guilty), choice.weight))

    def loss(log_t: float) -> float:
        parts = ((_softmax(z / np.exp(log_t))[guilty].sum(), w) for z, guilty, w in told)
        return -sum(w * float(np.log(max(float(right), 1e-300))) for right, w in parts)

    best = minimize_scalar(loss, bounds=(-1.5, 1.5), method="bounded")
    return float(np.exp(best.x))


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


def _matrix(choice: Choice, names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[own.get(name, 0.0) for name in names] for own in choice.terms])


def _weights(weights: Terms) -> NDArray[np.float64]:
    return np.array(list(weights.values()))


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.exp(logits - float(np.max(logits)))
    normed: NDArray[np.float64] = p / p.sum()
    return normed
