"""Fitting the model's numbers: a penalised conditional logit, in two steps, with one temperature.

The posterior of the single-fault model is a softmax over locations of a weighted sum: the weights
of the prior's terms and the log likelihood ratios of the outcomes. So maximum likelihood of the
location at fault gives them. What is known of every location comes first; what only an inspected
location shows is fitted on top of that, held as it is, because locations are inspected in the order
of belief: fitted together, "was inspected" would stand in for the prior. Two more numbers are such
that they hold for packages that were left out: how much lower tests start than the share of faulty
tests would have it, and the temperature.

Reference:
    McFadden: Conditional logit analysis of qualitative choice behavior. 1974.
    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks. ICML 2017.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from benchmarks.faults.replay import outcome_of, problems
from benchmarks.faults.shares import REAL
from pytest_bayesloc.domain.evidence import InspectionOutcome
from pytest_bayesloc.ranking.belief import blend_features, fullness
from pytest_bayesloc.ranking.evidence.text import beside_others

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from benchmarks.faults.replay import Problem
    from pytest_bayesloc.domain.failure import Situation

    Terms = Mapping[str, float]
    Inspected = Mapping[tuple[str, str], Sequence[str]]
    Bounds = tuple[float | None, float | None]
    Learn = Callable[[Sequence["Choice"]], Terms]

MODEL = "single-fault"
#: Packages are left out in so many parts.
N_FOLDS = 12
#: Of test code: how few candidates of code there are beside it.
FEW = "few candidates"
#: Strength of the penalty on half the squares of weights: a normal prior of variance 1 / penalty.
PENALTY = 1.0
#: How far behind the likeliest location one lies that a change repairs.
DISTANCE = "distance of a repair"
SILENT = frozenset({InspectionOutcome.INCONCLUSIVE, InspectionOutcome.NO_COVERAGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One group of failing tests: what each location has, and which is at fault.

    Attributes:
        package: The subject's name.
        terms: Per location, the named values that are weighed.
        guilty: Per location, whether it is at fault.
        tests: Per location, whether it is test code.
        of_test: Whether what is at fault is test code.
        is_complete: Whether locations were inspected in every way that there is.
        is_real: Whether it is of a real bug, not of a planted fault.
        weight: Of the group; those of one fault have its weight together.
    """

    package: str
    terms: tuple[Terms, ...]
    guilty: tuple[bool, ...]
    tests: tuple[bool, ...]
    of_test: bool
    is_complete: bool
    weight: float
    is_real: bool = False


def choices(
    package: str,
    rows: Iterable[Mapping[str, Any]],
    weights: Mapping[str, float],
    shown: Mapping[str, Inspected] = MappingProxyType({}),
) -> list[Choice]:
    """The groups of ``rows`` in which what is at fault is among the locations.

    Args:
        package: The subject's name.
        rows: Of its faults.
        weights: Of each kind of fault; those of other kinds are left out.
        shown: Per commit of a real bug, what inspections of a user's run came to, per place.
    """
    found = list[Choice]()
    for row in rows:
        if row["kind"] not in weights:
            continue
        groups = problems(row)
        weight = weights[row["kind"]] / max(1, len(groups))
        is_real = row["kind"] == REAL
        made = shown.get(row.get("commit", "")) if len(groups) == 1 else None
        found += [_choice(package, p, weight, made, is_real=is_real) for p in groups if p.truth]
    return found


def _choice(
    package: str, problem: Problem, weight: float, shown: Inspected | None, *, is_real: bool
) -> Choice:
    return Choice(
        package=package,
        terms=terms_of(problem, shown),
        guilty=tuple(where in problem.truth for where in problem.locations),
        tests=tuple(where.is_test for where in problem.locations),
        of_test=any(where.is_test for where in problem.truth),
        # Older rows know fewer ways, and no calls; others were not inspected at all.
        is_complete=shown is not None
        or ("edges" in problem.raw and bool(problem.raw["inspections"])),
        weight=weight,
        is_real=is_real,
    )


def terms_of(problem: Problem, shown: Inspected | None = None) -> tuple[dict[str, float], ...]:
    """Per location, the prior's terms, what it is to the tests, and each outcome seen there.

    Terms of the spectrum, of words and of test code are those of the problem's situation. What a
    user's run has ``shown`` counts for what the row holds.
    """
    features = blend_features(problem.spectrum)
    roles = problem.roles()
    said = beside_others(problem.said)
    terms: list[dict[str, float]] = []
    for where in problem.locations:
        own = {**features.get(where, {}), **said.get(where, {})}
        if where in roles:
            own[roles[where].name] = 1.0
        own = {in_situation(name, problem.situation): value for name, value in own.items()}
        if where in roles:
            own[FEW] = 1.0 - fullness(len(features))
        terms.append(own)
    number = {where: n for n, where in enumerate(problem.locations)}
    evidence = (item for item in problem.first_evidence(MODEL) if item.source != "names")
    seen = [(number[item.location], item.outcome) for item in evidence]
    if shown is None:
        seen += [(m[0], outcome_of(m)) for m in problem.raw["inspections"] if m[0] >= 0]
    else:
        for where, n in number.items():
            outcomes = shown.get((where.file, where.qualname), ())
            # Some of older versions are gone.
            known = (o for o in outcomes if o in InspectionOutcome.__members__)
            seen += [(n, InspectionOutcome[outcome]) for outcome in known]
    for n, outcome in seen:
        if outcome not in SILENT:
            terms[n][outcome.name] = 1.0
    return tuple(terms)


def in_situation(name: str, situation: Situation) -> str:
    """The name of a term whose weight depends on the situation."""
    return f"{situation.value}: {name}"


def fitted(
    found: Sequence[Choice],
    names: Sequence[str],
    *,
    held: Terms | None = None,
    penalty: float = PENALTY,
    bounds: Mapping[str, Bounds] = MappingProxyType({}),
) -> dict[str, float]:
    """The weight of each of ``names``, in nats, beside the weights ``held``.

    Args:
        found: What it is fitted to.
        names: Of the terms.
        held: Weights that are known.
        penalty: Its strength.
        bounds: Lowest and highest weight of those that have any.
    """
    matrices = [_matrix(choice, names) for choice in found]
    offsets = [_logits(choice, held) if held else 0.0 for choice in found]
    guilty = [np.array(choice.guilty) for choice in found]
    weights = [choice.weight for choice in found]

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = 0.5 * penalty * float(w @ w), penalty * w
        for matrix, base, is_guilty, weight in zip(matrices, offsets, guilty, weights, strict=True):
            p = _softmax(matrix @ w + base)
            right = max(float(p[is_guilty].sum()), 1e-300)
            total -= weight * float(np.log(right))
            slope = slope - weight * ((np.where(is_guilty, p / right, 0.0) - p) @ matrix)
        return total, slope

    within = [bounds.get(name, (None, None)) for name in names]
    best = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=within)
    return dict(zip(names, best.x.tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What a model says of a group of a package that it was not fitted on.

    Attributes:
        choice: The group.
        logits: Per location, in nats.
    """

    choice: Choice
    logits: NDArray[np.float64]


def held_out(found: Sequence[Choice], learn: Learn, at_hand: Sequence[str]) -> list[HeldOut]:
    """Each package of ``found`` by what ``learn`` makes of others: ``N_FOLDS`` times in all.

    Args:
        found: Groups of several packages.
        learn: Gives the weights.
        at_hand: Names of the terms that need no inspection.
    """
    told = []
    packages = sorted({choice.package for choice in found})
    for fold in (packages[n::N_FOLDS] for n in range(min(N_FOLDS, len(packages)))):
        weights = learn([choice for choice in found if choice.package not in fold])
        first = {name: weights[name] for name in at_hand}
        told += [
            HeldOut(choice=choice, logits=_logits(with_distances(choice, first), weights))
            for choice in found
            if choice.package in fold
        ]
    return told


def with_distances(choice: Choice, at_hand: Terms) -> Choice:
    """Add to each location that is repaired how far it lies behind the likeliest, in nats.

    Args:
        choice: The group.
        at_hand: Weights of what needs no inspection.
    """
    logits = _logits(choice, at_hand)
    behind = (float(np.max(logits) - own) for own in logits)
    terms = tuple(
        {**own, DISTANCE: nats} if InspectionOutcome.EDIT_REPAIRS.name in own else own
        for own, nats in zip(choice.terms, behind, strict=True)
    )
    return replace(choice, terms=terms)


def lowered(told: Sequence[HeldOut], at_most: float) -> float:
    """By how many nats tests must start lower, so that few faults of the code are blamed on one.

    Args:
        told: Of several packages.
        at_most: The share of them that may be.
    """
    margins = []
    for one in told:
        tests = np.array(one.choice.tests)
        if not one.choice.of_test and tests.any() and not tests.all():
            margins.append(float(one.logits[tests].max() - one.logits[~tests].max()))
    n_spared = int(at_most * len(margins))
    return max(0.0, sorted(margins, reverse=True)[n_spared])


def temperature(told: Sequence[HeldOut], lower: float) -> float:
    """What logits are to be divided by, so that probabilities of faulty code are true.

    Args:
        told: Of several packages.
        lower: What tests start lower by.
    """
    code = [one for one in told if not one.choice.of_test]
    cases = [
        (one.logits - lower * np.array(one.choice.tests), np.array(one.choice.guilty), one.choice)
        for one in code
    ]

    def loss(log_t: float) -> float:
        total = 0.0
        for logits, guilty, choice in cases:
            right = float(_softmax(logits / np.exp(log_t))[guilty].sum())
            total -= choice.weight * float(np.log(max(right, 1e-300)))
        return total

    best = minimize_scalar(loss, bounds=(-1.5, 1.5), method="bounded")
    return float(np.exp(best.x))


def pairs(
    weights: Terms, found: Sequence[Choice], outcomes: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """P(outcome | faulty) and P(outcome | clean) of outcomes that exclude each other.

    How often clean locations show each is counted. The unusual ones have the ratios fitted; the
    usual one, the first, has what is left of 1: a location that nobody looked at then loses and
    gains nothing.
    """
    counts: Counter[str] = Counter()
    for choice in found:
        for own, is_guilty in zip(choice.terms, choice.guilty, strict=True):
            if not is_guilty:
                counts.update(name for name in outcomes if name in own)
    total = sum(counts[name] + 1 for name in outcomes)
    clean = {name: (counts[name] + 1) / total for name in outcomes}
    usual, *unusual = outcomes
    faulty = {name: clean[name] * float(np.exp(weights.get(name, 0.0))) for name in unusual}
    faulty = {usual: 1.0 - sum(faulty.values()), **faulty}
    return {name: (faulty[name], clean[name]) for name in outcomes}


def _matrix(choice: Choice, names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[own.get(name, 0.0) for name in names] for own in choice.terms])


def _logits(choice: Choice, weights: Terms) -> NDArray[np.float64]:
    logits: NDArray[np.float64] = _matrix(choice, list(weights)) @ np.array(list(weights.values()))
    return logits


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.exp(logits - float(np.max(logits)))
    normed: NDArray[np.float64] = p / p.sum()
    return normed
