"""A judge's word is worth what its record says."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.domain.evidence import Outcome, StaticOutcome
from pytest_bayesloc.ranking.evidence.judgements import (
    INSPECTION,
    RANKING,
    WORDS,
    VerdictCounts,
    learned_likelihood,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

FIRST, SUSPECTED, PASSED_OVER = WORDS[RANKING]


def record_of(judged: Iterable[tuple[Outcome, bool]], use: str = RANKING) -> VerdictCounts:
    """Verdicts on locations, each with whether it was faulty."""
    return Counter((use, said, was_faulty) for said, was_faulty in judged)


def ratio(record: VerdictCounts, said: Outcome, use: str = RANKING) -> float:
    pair = learned_likelihood(said, use, record)
    assert pair is not None
    return pair[0] / pair[1]


def test_judge_of_whom_nothing_is_known_is_worth_what_is_published_shrunk() -> None:
    assert [ratio({}, said) for said in WORDS[RANKING]] == pytest.approx(
        [1.15, 0.93, 0.93], abs=0.01
    )
    assert ratio({}, WORDS[INSPECTION][0], INSPECTION) == 1.0


def test_what_is_no_word_of_a_judge_has_no_likelihood() -> None:
    assert learned_likelihood(StaticOutcome.RAISE_FRAME, RANKING, {}) is None


def test_judge_who_is_always_right_soon_has_much_weight() -> None:
    bug = [(FIRST, True), *[(SUSPECTED, False)] * 4, *[(PASSED_OVER, False)] * 10]

    record = record_of(bug * 10)

    assert ratio(record, FIRST) > 50
    assert ratio(record, PASSED_OVER) < 0.3


def test_judge_who_guesses_stays_without_weight() -> None:
    dice = random.Random(0)
    said = [FIRST, *[SUSPECTED] * 4, *[PASSED_OVER] * 10]
    record = record_of(
        (word, n == 0) for _ in range(300) for n, word in enumerate(dice.sample(said, 15))
    )

    assert [ratio(record, word) for word in WORDS[RANKING]] == pytest.approx([1.0] * 3, abs=0.25)


@given(
    st.sampled_from(sorted(WORDS)),
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=50),
)
def test_chances_of_all_words_sum_to_one(use: str, judged: list[tuple[int, bool]]) -> None:
    words = WORDS[use]
    record = record_of(((words[n % len(words)], was_faulty) for n, was_faulty in judged), use)

    found = (learned_likelihood(word, use, record) for word in words)
    pairs = [pair for pair in found if pair is not None]

    assert sum(faulty for faulty, _ in pairs) == pytest.approx(1.0)
    assert sum(clean for _, clean in pairs) == pytest.approx(1.0)
    assert all(0 < p <= 1 for pair in pairs for p in pair)
