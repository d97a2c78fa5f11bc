"""What a guide says becomes evidence that weighs what its record says."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.evidence import Judgement, Outcome
from pytest_bayesloc.ranking.evidence.judgements import (
    RANKING,
    combined,
    judgement_evidence,
    passing_edit,
    verdicts_of,
)
from tests.fakes.case import location

A, B, C = (location(name) for name in "abc")
SUSPICIONS = {B: "adds twice", C: ""}


def test_each_candidate_is_named_first_named_or_passed_over() -> None:
    assert verdicts_of(SUSPICIONS, [A, B, C]) == {
        A: Judgement.LLM_PASSED_OVER,
        B: Judgement.LLM_FIRST,
        C: Judgement.LLM_SUSPECTED,
    }


def test_samples_share_their_points_among_those_that_they_name() -> None:
    assert combined([[A, B], [B, C], [B]]) == [B, A, C]


def test_record_decides_what_a_word_weighs_and_its_reason_is_told() -> None:
    counts: dict[tuple[str, Outcome, bool], int] = {
        (RANKING, Judgement.LLM_FIRST, True): 9,
        (RANKING, Judgement.LLM_FIRST, False): 1,
        (RANKING, Judgement.LLM_PASSED_OVER, True): 1,
        (RANKING, Judgement.LLM_PASSED_OVER, False): 89,
    }
    said = verdicts_of(SUSPICIONS, [A, B, C])

    evidence = judgement_evidence(said, SUSPICIONS, counts)

    ratios = {item.location: item.p_if_faulty / item.p_if_clean for item in evidence}
    assert ratios[B] > 20
    assert ratios[A] < 0.5
    assert {item.location: item.why for item in evidence}[B] == (
        "the language model suspects it first: adds twice"
    )


def test_an_edit_that_passes_tells_more_the_more_places_a_wrong_one_could_be_in() -> None:
    few, many = passing_edit(2), passing_edit(101)

    assert few[0] / few[1] == pytest.approx(164 / 22)
    assert many[0] / many[1] == pytest.approx(100 * 164 / 22)
    assert passing_edit(1) == few
