"""Two models of "which location is faulty": the prior, and its conditioning on evidence.

Reference:
    docs/model.md, sections "Prior" and "Belief".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import groupby
from math import exp, fsum, inf, log
from sys import float_info
from types import MappingProxyType

from pytest_bayesloc.domain.errors import EvidenceError
from pytest_bayesloc.domain.evidence import Evidence
from pytest_bayesloc.domain.failure import Role, Situation
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.fitted import PRIOR, TESTS
from pytest_bayesloc.ranking.formulas import FORMULAS, function_scores, line_maximum

BLEND = "blend"
PRIORS: tuple[str, ...] = (BLEND, *FORMULAS)

#: Candidates among which the words of a test tell their full worth. The best of a few is the best
#: by chance.
N_FULL = 100
#: By how many nats tests start lower where there is a single candidate, which no words can lift: a
#: choice, by which they are suspected in small projects as often as in large ones.
ALONE = 2.0
#: Functions with fewer lines hardly differ by their size.
FEW_LINES = 8
#: Lowest raw score of the reference prior: nothing starts from 0, where no evidence could move it.
FLOOR = 0.01
#: What tests and fixtures share beside the prior of a formula.
TEST_MASS = 0.05


def is_candidate(location: Location) -> bool:
    """Return whether the spectrum ranks it: code of the project that a patch can be aimed at."""
    return location.inspectable and not location.is_test


def reference_prior(suspiciousness: Mapping[Location, float]) -> dict[Location, float]:
    """Return ``max(0.01, s)``, divided by its sum over all inspectable code locations.

    Locations that no failing test executed are in it too, at the floor. Empty if there is no
    inspectable code location.
    """
    raw = {where: max(FLOOR, s) for where, s in suspiciousness.items() if is_candidate(where)}
    total = fsum(raw.values())
    return {where: value / total for where, value in raw.items()}


def blend_features(spectrum: Spectrum) -> dict[Location, dict[str, float]]:
    """Return per candidate of the blend the values that ``fitted.PRIOR`` has weights for.

    Candidates are the inspectable code locations that a failing test of the spectrum executed; if
    there is none, all of them. The others are not in the result.

    ``lines`` is the logarithm of how many of its lines any test executed, and ``FEW_LINES`` more.
    Ochiai is a share of the highest one of all candidates (0 if that is 0). Ranks, 1 for the
    highest, are those of the highest Op2 and the highest Ochiai of the lines: the logarithm of
    their harmonic mean. The first is right where all failing tests execute the fault, the second
    where some have a fault of their own.

    Reference:
        Cormack, Clarke, Buettcher: Reciprocal rank fusion outperforms Condorcet and individual
        rank learning methods. SIGIR 2009 (there with a constant of 60, here of 0).
    """
    reached = [where for where in spectrum.reached() if is_candidate(where)]
    candidates = reached or [where for where in spectrum.executed if is_candidate(where)]
    functions = function_scores(spectrum, "ochiai")
    highest = max((functions[where] for where in candidates), default=0.0) or 1.0
    by_op2, by_ochiai = (
        midranks({where: scores[where] for where in candidates})
        for scores in (line_maximum(spectrum, "op2"), line_maximum(spectrum, "ochiai"))
    )
    n_failing = spectrum.failing.bit_count() or 1
    n_passing = max(1, spectrum.passing.bit_count())
    found = {}
    for where in candidates:
        rows = spectrum.lines.get(where, {})
        of_failing = [tests for tests in rows.values() if tests & spectrum.failing]
        fewest = min(((t & spectrum.passing).bit_count() for t in of_failing), default=n_passing)
        found[where] = {
            "ochiai": functions[where] / highest,
            "rank by op2 and ochiai of lines": log(2 / (1 / by_op2[where] + 1 / by_ochiai[where])),
            "failing tests": (spectrum.executed[where] & spectrum.failing).bit_count() / n_failing,
            # Of the lines that failing tests execute; 1 is all passing tests, on a log scale.
            "fewest passing tests of a line": log(1 + fewest) / log(1 + n_passing),
            "module body": float(where.qualname == MODULE),
            "constructor": float(where.qualname.endswith(".__init__")),
            "lines": log(FEW_LINES + len(rows)),
        }
    return found


def fullness(n_candidates: int) -> float:
    """Return how much of their full worth words have among so many candidates, in [0, 1]."""
    return min(1.0, log(max(1, n_candidates)) / log(N_FULL))


def blend_prior(
    spectrum: Spectrum,
    tests: Mapping[Location, Role] = MappingProxyType({}),
    situation: Situation = Situation.NEW_TEST,
) -> dict[Location, float]:
    """Return softmax of the weighted features, and of what ``fitted.TESTS`` says of test code.

    ``tests`` is what of the tests may be at fault, and what it is to them.

    Reference:
        docs/model.md, eq. 2.
    """
    features = blend_features(spectrum)
    lower = ALONE * (1.0 - fullness(len(features)))
    weights = PRIOR[situation]
    logits = {where: TESTS[situation][role] - lower for where, role in tests.items()}
    for where, terms in features.items():
        logits[where] = fsum(weights[name] * value for name, value in terms.items())
    return softmax(logits)


def midranks(scores: Mapping[Location, float]) -> dict[Location, float]:
    """Rank each score, 1 for the highest; equal scores get the mean of the ranks they fill."""
    ranks: dict[Location, float] = {}
    ordered = sorted(scores, key=scores.__getitem__, reverse=True)
    for _, group in groupby(ordered, key=scores.__getitem__):
        tied = list(group)
        n_before = len(ranks)
        ranks.update(dict.fromkeys(tied, n_before + (len(tied) + 1) / 2))
    return ranks


def softmax(logits: Mapping[Location, float]) -> dict[Location, float]:
    """Return ``exp(x) / sum(exp(x))``, stable for logits of any size; empty for none."""
    if not logits:
        return {}
    peak = max(logits.values())
    weights = {where: exp(x - peak) for where, x in logits.items()}
    total = fsum(weights.values())
    return {where: weight / total for where, weight in weights.items()}


def prior(spectrum: Spectrum, name: str) -> dict[Location, float]:
    """Return the prior ``name`` of ``PRIORS``: ``blend``, or the reference prior of a formula."""
    if name == BLEND:
        return blend_prior(spectrum)
    return reference_prior(function_scores(spectrum, name))


def formula_of(name: str) -> str:
    """Return the formula whose scores are shown beside the prior ``name``: Ochiai for the blend."""
    return "ochiai" if name == BLEND else name


def with_tests(
    prior: Mapping[Location, float],
    tests: Mapping[Location, Role],
    *,
    outside_sum: bool = False,
) -> dict[Location, float]:
    """Return ``prior`` with ``TEST_MASS`` shared by ``tests``, as ``fitted.TESTS`` has it.

    Args:
        prior: Probabilities of code locations.
        tests: What of the tests may be at fault; none leaves ``prior`` as it is, and all of the
            mass is theirs where it is empty.
        outside_sum: Leave the code's probabilities as they are, as the reference model does; else
            they are scaled, so that all sum to 1.
    """
    each = TESTS[Situation.NEW_TEST]
    added = softmax({where: each[role] for where, role in tests.items() if where not in prior})
    if not added:
        return dict(prior)
    mass = TEST_MASS if prior else 1.0
    scale = 1.0 if outside_sum else 1.0 - mass
    joined = {where: p * scale for where, p in prior.items()}
    joined.update({where: mass * share for where, share in added.items()})
    return joined


def joint_prior(
    spectrum: Spectrum,
    name: str,
    tests: Mapping[Location, Role],
    *,
    model: str,
    situation: Situation = Situation.NEW_TEST,
) -> dict[Location, float]:
    """Return the prior ``name`` over code and tests, for the belief model ``model``."""
    if name == BLEND and model != "independent":
        return blend_prior(spectrum, tests, situation)
    return with_tests(prior(spectrum, name), tests, outside_sum=model == "independent")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The user's choice of how a belief is formed.

    Attributes:
        formula: Name of the prior.
        belief: Name of the belief model.
        without: Kinds of evidence that are left out.
    """

    formula: str
    belief: str
    without: frozenset[str] = frozenset()


#: Bounds of an updated probability in the independent model.
LOWEST, HIGHEST = 0.01, 0.99
#: Probabilities that differ by less tie: the difference is rounding.
TIE = 1e-12


class Belief(ABC):
    """P(faulty) of every location that is a candidate. Immutable: an update gives a new one.

    To ask for a location that it does not cover, or give evidence on one, is an ``EvidenceError``.

    Attributes:
        probabilities: Per location, P(faulty) in [0, 1].
    """

    __slots__ = ()

    probabilities: Mapping[Location, float]

    def p(self, location: Location) -> float:
        """P(``location`` is faulty)."""
        return _look_up(self.probabilities, location)

    def top(self, n: int) -> tuple[tuple[Location, float], ...]:
        """The ``n`` likeliest locations with their probabilities; ties in location order."""
        by_rank = nsmallest(n, self.probabilities.items(), key=lambda item: (-item[1], item[0]))
        return tuple(by_rank)

    def update(self, evidence: Evidence) -> Belief:
        """Condition on one piece of evidence."""
        return self.update_all((evidence,))

    @abstractmethod
    def joined(self, location: Location, p: float) -> Belief:
        """A belief that covers ``location`` too, with probability ``p`` in (0, 1) to begin with."""

    @abstractmethod
    def update_all(self, evidence: Iterable[Evidence]) -> Belief:
        """Condition on several pieces of evidence, in their order."""


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
