"""Failures are compared by the words of their messages and tags."""

from __future__ import annotations

from pytest_bayesloc.memory.retrieval import Entry, by_words


def entry(signature: str, *tags: str) -> Entry:
    return signature, frozenset(tags)


QUERY = entry("ValueError: too few knots for degree <int>", "error:ValueError", "api:check_knots")
LIKE = entry("ValueError: needs more knots, degree <int>", "error:ValueError", "api:check_knots")
OTHER = entry("KeyError: 'rate'", "error:KeyError", "api:net")


def test_like_failure_scores_higher_than_another() -> None:
    like, other, same = by_words(QUERY, [LIKE, OTHER, QUERY])

    assert 0.0 <= other < like < same <= 1.0 + 1e-9


def test_nothing_to_compare_with_is_no_error() -> None:
    assert by_words(QUERY, []) == []
    assert by_words(entry(""), [entry("")]) == [0.0]


def test_score_is_at_most_1_however_often_the_words_come() -> None:
    query, often = entry("E: knots"), entry("E: knots knots knots knots")

    assert by_words(query, [often, OTHER])[0] <= 1.0 + 1e-9


def test_type_of_the_exception_says_nothing() -> None:
    query = entry("ValueError: zebra", "error:ValueError")

    alike, other = by_words(
        query, [entry("KeyError: zebra", "error:KeyError"), entry("ValueError: x")]
    )

    assert (alike, other) == (1.0, 0.0)
