"""What a guide makes of the candidates, as evidence that weighs what its record says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_bayesloc.domain.dialogue import Suspicion
from pytest_bayesloc.domain.evidence import Evidence, Judgement, Outcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.track_record import WORDS, TrackRecord

SOURCE = "llm"
RANKING, INSPECTION = "ranking", "inspection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a guide said of one location: kept until it is known whether it was right.

    Attributes:
        guide: Name of the guide.
        use: In which way it was asked.
        location: Of what.
        said: One of the ways that ``WORDS`` gives of this use.
    """

    guide: str
    use: str
    location: Location
    said: Outcome


def words_of(
    suspicions: Sequence[Suspicion], candidates: Iterable[Location]
) -> dict[Location, Judgement]:
    """Per candidate, what the guide's ranking says of it."""
    named = [suspicion.location for suspicion in suspicions]
    said = {
        where: Judgement.LLM_SUSPECTED if where in named else Judgement.LLM_PASSED_OVER
        for where in candidates
    }
    return said | dict.fromkeys(named[:1], Judgement.LLM_FIRST)


def judgement_evidence(
    said: Mapping[Location, Judgement], suspicions: Sequence[Suspicion], record: TrackRecord
) -> list[Evidence]:
    """A ranking as evidence; without a record it is neutral."""
    reasons = {suspicion.location: suspicion.reason for suspicion in suspicions}
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
    """Track records by use, from how often what was said of locations that were faulty or not."""
    return {
        use: TrackRecord(
            words=words,
            faulty={word: counts.get((use, word, True), 0) for word in words},
            clean={word: counts.get((use, word, False), 0) for word in words},
        )
        for use, words in WORDS.items()
    }
