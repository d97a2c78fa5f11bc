"""What a guide says becomes evidence that weighs what its record says."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.evidence import Judgement, Outcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.evidence.judgements import (
    RANKING,
    judgement_evidence,
    records_of,
    verdicts_of,
)

A, B, C = (
    Location(file="m.py", qualname=name, start_line=n, end_line=n)
    for n, name in enumerate("abc", 1)
)
SUSPICIONS = {B: "adds twice", C: ""}


def test_each_candidate_is_named_first_named_or_passed_over() -> None:
    assert verdicts_of(SUSPICIONS, [A, B, C]) == {
        A: Judgement.LLM_PASSED_OVER,
        B: Judgement.LLM_FIRST,
        C: Judgement.LLM_SUSPECTED,
    }


def test_without_a_record_a_word_has_no_weight() -> None:
    said = verdicts_of(SUSPICIONS, [A, B, C])

    evidence = judgement_evidence(said, SUSPICIONS, records_of({})[RANKING])

    assert [item.log_ratio for item in evidence] == pytest.approx([0.0, 0.0, 0.0])
    assert {item.location: item.why for item in evidence}[B] == (
        "the language model suspects it first: adds twice"
    )


def test_record_decides_what_a_word_weighs() -> None:
    counts: dict[tuple[str, Outcome, bool], int] = {
        (RANKING, Judgement.LLM_FIRST, True): 9,
        (RANKING, Judgement.LLM_FIRST, False): 1,
        (RANKING, Judgement.LLM_PASSED_OVER, True): 1,
        (RANKING, Judgement.LLM_PASSED_OVER, False): 89,
    }
    said = verdicts_of(SUSPICIONS, [A, B, C])

    evidence = judgement_evidence(said, SUSPICIONS, records_of(counts)[RANKING])

    ratios = {item.location: item.p_if_faulty / item.p_if_clean for item in evidence}
    assert ratios[B] > 20
    assert ratios[A] < 0.5
