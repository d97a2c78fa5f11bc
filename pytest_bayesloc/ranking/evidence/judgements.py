"""The verdicts of a language model as evidence, weighed by how often it was right before.

Reference:
    docs/model.md, section "What a language model says".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome, Judgement, Outcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.likelihoods import Likelihood

SOURCE = "llm"
RANKING, INSPECTION = "ranking", "inspection"

#: The verdicts on a location, per way of asking: a model gives exactly one of them.
WORDS: Mapping[str, tuple[Outcome, ...]] = MappingProxyType(
    {
        RANKING: (Judgement.LLM_FIRST, Judgement.LLM_SUSPECTED, Judgement.LLM_PASSED_OVER),
        INSPECTION: (
            InspectionOutcome.TARGET_ASSERTION_FAILED,
            InspectionOutcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES,
            InspectionOutcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS,
            InspectionOutcome.COLLATERAL_FAILURE,
            InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT,
        ),
    }
)
#: Faulty locations that a model is taken to have named no better than chance does, before it is
#: known. A choice (docs/model.md).
DOUBT = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """Counts of a model's verdicts on locations that are known by now to be faulty or clean.

    Attributes:
        words: The verdicts that it can give.
        faulty: How often it gave each to a faulty location.
        clean: How often to a clean one.
    """

    words: tuple[Outcome, ...]
    faulty: Mapping[Outcome, float] = field(default_factory=dict)
    clean: Mapping[Outcome, float] = field(default_factory=dict)

    def likelihood(self, said: Outcome) -> Likelihood | None:
        """Return P(verdict | faulty) and P(verdict | clean); None for an unknown verdict.

        The chances for clean locations are taken from those that it judged. The chances for faulty
        ones begin as the same, so that a model of which nothing is known has no weight, and follow
        its record: the posterior mean under a Dirichlet prior of weight ``DOUBT``.
        """
        if said not in self.words:
            return None
        n_clean, n_faulty = sum(self.clean.values()), sum(self.faulty.values())
        p_clean = (self.clean.get(said, 0.0) + 1.0) / (n_clean + len(self.words))
        p_faulty = (self.faulty.get(said, 0.0) + DOUBT * p_clean) / (n_faulty + DOUBT)
        return Likelihood(p_if_faulty=p_faulty, p_if_clean=p_clean)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict of a language model on one location: kept until it is known whether it was right.

    Attributes:
        guide: Name of the model.
        use: In which way it was asked.
        location: Of what.
        said: One of the ways that ``WORDS`` gives of this use.
    """

    guide: str
    use: str
    location: Location
    said: Outcome


def verdicts_of(
    suspected: Iterable[Location], candidates: Iterable[Location]
) -> dict[Location, Judgement]:
    """Return the verdict that the model's ranking, most suspect first, gives each candidate."""
    named = list(suspected)
    said = {
        where: Judgement.LLM_SUSPECTED if where in named else Judgement.LLM_PASSED_OVER
        for where in candidates
    }
    return said | dict.fromkeys(named[:1], Judgement.LLM_FIRST)


def judgement_evidence(
    said: Mapping[Location, Judgement], reasons: Mapping[Location, str], record: TrackRecord
) -> list[Evidence]:
    """Return a ranking as evidence; without a record it is neutral."""
    found = []
    for where, outcome in said.items():
        pair = record.likelihood(outcome)
        if pair is None:
            continue
        found.append(
            Evidence(
                location=where,
                source=SOURCE,
                outcome=outcome,
                p_if_faulty=pair.p_if_faulty,
                p_if_clean=pair.p_if_clean,
                why=_why(outcome, reasons.get(where, "")),
            )
        )
    return found


def _why(outcome: Judgement, reason: str) -> str:
    words = {
        Judgement.LLM_FIRST: "the language model suspects it first",
        Judgement.LLM_SUSPECTED: "the language model suspects it too",
        Judgement.LLM_PASSED_OVER: "the language model passes it over",
    }[outcome]
    return f"{words}: {reason}" if reason else words


def records_of(
    counts: Mapping[tuple[str, Outcome, bool], int],
) -> dict[str, TrackRecord]:
    """Return track records by use, from counts of verdicts on faulty and clean locations."""
    return {
        use: TrackRecord(
            words=words,
            faulty={word: counts.get((use, word, True), 0) for word in words},
            clean={word: counts.get((use, word, False), 0) for word in words},
        )
        for use, words in WORDS.items()
    }
