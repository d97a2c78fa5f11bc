"""How often a judge was right, and what its word is worth by that.

Reference:
    docs/model.md, section "What a language model says".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import InspectionOutcome, Judgement, Outcome
from pytest_bayesloc.ranking.likelihoods import Likelihood

#: What can be said of a location, per way of asking: a judge says exactly one of them.
WORDS: Mapping[str, tuple[Outcome, ...]] = MappingProxyType(
    {
        "ranking": (Judgement.LLM_FIRST, Judgement.LLM_SUSPECTED, Judgement.LLM_PASSED_OVER),
        "inspection": (
            InspectionOutcome.TARGET_ASSERTION_FAILED,
            InspectionOutcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES,
            InspectionOutcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS,
            InspectionOutcome.COLLATERAL_FAILURE,
            InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT,
        ),
    }
)
#: Faulty locations that a judge is taken to have named no better than chance does, before it is
#: known. A choice (docs/model.md).
DOUBT = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """What a judge said of locations of which it is known by now whether they were faulty.

    Attributes:
        words: What it can say.
        faulty: How often it said each of a faulty location.
        clean: How often of a clean one.
    """

    words: tuple[Outcome, ...]
    faulty: Mapping[Outcome, float] = field(default_factory=dict)
    clean: Mapping[Outcome, float] = field(default_factory=dict)

    def likelihood(self, said: Outcome) -> Likelihood | None:
        """P(said | faulty) and P(said | clean); None of what is no word of the judge's.

        What it says of clean locations is taken from those that it spoke of. What it says of
        faulty ones begins as the same, so that a judge of whom nothing is known has no weight, and
        follows its record: the posterior mean under a Dirichlet prior of weight ``DOUBT``.
        """
        if said not in self.words:
            return None
        n_clean, n_faulty = sum(self.clean.values()), sum(self.faulty.values())
        p_clean = (self.clean.get(said, 0.0) + 1.0) / (n_clean + len(self.words))
        p_faulty = (self.faulty.get(said, 0.0) + DOUBT * p_clean) / (n_faulty + DOUBT)
        return Likelihood(p_if_faulty=p_faulty, p_if_clean=p_clean)

    def with_more(self, judged: Iterable[tuple[Outcome, bool]]) -> TrackRecord:
        """With what was said of more locations, each with whether it was faulty."""
        faulty, clean = Counter(self.faulty), Counter(self.clean)
        for said, was_faulty in judged:
            (faulty if was_faulty else clean)[said] += 1
        return TrackRecord(words=self.words, faulty=faulty, clean=clean)
