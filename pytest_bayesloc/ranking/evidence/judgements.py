"""The verdicts of a language model as evidence, weighed by how often it was right before.

Reference:
    docs/model.md, section "What a language model says".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

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
#: By use, verdict, and whether the location turned out to be faulty: how often a model gave it.
VerdictCounts: TypeAlias = Mapping[tuple[str, Outcome, bool], int]
#: Faulty locations that a model is taken to have named no better than chance does, before it is
#: known. A choice (docs/model.md).
DOUBT = 2.0

#: Of what is published of models that look around by function calls, the power that is believed:
#: in between are other code, another model, and candidates that were ranked already. A choice, of
#: which a model that is always wrong costs less than a point (docs/accuracy.md).
SHRUNK = 0.1
#: AutoFL with GPT-3.5 names what is at fault first for 168 of the 445 bugs of BugsInPy (Kang, An,
#: Yoo, FSE 2024, arXiv 2308.05487; its artifact, bip_gpt3_results_R5.json).
_P_FIRST = 168 / 445
_P_FIRST_IF_CLEAN = (1 - _P_FIRST) / 14  # of fifteen candidates
#: How much likelier than for a clean location a verdict on a faulty one is, without a record.
AT_FIRST: Mapping[Outcome, float] = MappingProxyType(
    {
        Judgement.LLM_FIRST: (_P_FIRST / _P_FIRST_IF_CLEAN) ** SHRUNK,
        Judgement.LLM_SUSPECTED: 1.0,
        Judgement.LLM_PASSED_OVER: 1.0,
    }
)

#: RepairAgent with GPT-3.5 finds edits with which all tests pass for 186 of the 835 bugs of
#: Defects4J; 164 of them are right (Bouzenia, Devanbu, Pradel, ICSE 2025, arXiv 2403.17134).
_N_BUGS, _N_PASSING, _N_RIGHT = 835, 186, 164


def passing_edit(n_candidates: int) -> Likelihood:
    """Return how strongly it speaks that all tests pass with an edit of a model.

    Of a faulty location as often as an agent repairs bugs. A wrong edit that passes may be in any
    other of ``n_candidates``: the more there are, the less often it is in this one.
    """
    n_wrong = (_N_PASSING - _N_RIGHT) / max(1, n_candidates - 1)
    return _N_RIGHT / _N_BUGS, n_wrong / _N_BUGS


def learned_likelihood(said: Outcome, use: str, counts: VerdictCounts) -> Likelihood | None:
    """Return P(verdict | faulty) and P(verdict | clean); None for an unknown verdict.

    The chances for clean locations are taken from those that the model judged. The chances for
    faulty ones begin as these, changed by what is published of such models (``AT_FIRST``), and
    follow its record: the posterior mean under a Dirichlet prior of weight ``DOUBT``.
    """
    words = WORDS[use]
    if said not in words:
        return None
    faulty, clean = (
        {word: counts.get((use, word, is_faulty), 0) for word in words}
        for is_faulty in (True, False)
    )
    n = sum(clean.values()) + len(words)
    p_clean = {word: (times + 1.0) / n for word, times in clean.items()}
    expected = {word: p * AT_FIRST.get(word, 1.0) for word, p in p_clean.items()}
    p_expected = expected[said] / sum(expected.values())
    p_faulty = (faulty[said] + DOUBT * p_expected) / (sum(faulty.values()) + DOUBT)
    return p_faulty, p_clean[said]


def combined(samples: Iterable[Sequence[Location]]) -> list[Location]:
    """Return the locations that samples name, the best first.

    Each of the n locations that a sample names gets 1/n, as in AutoFL (``compute_score.py`` of its
    artifact); of equals the one that was named earlier is first.
    """
    points: dict[Location, float] = {}
    for named in samples:
        for where in named:
            points[where] = points.get(where, 0.0) + 1.0 / len(named)
    return sorted(points, key=lambda where: -points[where])


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
    said: Mapping[Location, Judgement], reasons: Mapping[Location, str], counts: VerdictCounts
) -> list[Evidence]:
    """Return a ranking as evidence, weighed by how often the model was right."""
    found = []
    for where, outcome in said.items():
        pair = learned_likelihood(outcome, RANKING, counts)
        if pair is not None:
            words, reason = _WORDS[outcome], reasons.get(where, "")
            found.append(
                Evidence(
                    location=where,
                    source=SOURCE,
                    outcome=outcome,
                    p_if_faulty=pair[0],
                    p_if_clean=pair[1],
                    why=f"{words}: {reason}" if reason else words,
                )
            )
    return found


_WORDS = {
    Judgement.LLM_FIRST: "the language model suspects it first",
    Judgement.LLM_SUSPECTED: "the language model suspects it too",
    Judgement.LLM_PASSED_OVER: "the language model passes it over",
}
