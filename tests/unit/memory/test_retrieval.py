from __future__ import annotations

import pytest

from pytest_bayesloc.domain.bug import Category
from pytest_bayesloc.memory.retrieval import SCORES, Entry, reference


def entry(signature: str, *tags: str, category: Category = Category.VALUE_ERROR) -> Entry:
    return Entry(signature=signature, tags=frozenset(tags), category=category)


QUERY = entry("ValueError: too few knots for degree <int>", "error:ValueError", "api:check_knots")
LIKE = entry("ValueError: needs more knots, degree <int>", "error:ValueError", "api:check_knots")
OTHER = entry("KeyError: 'rate'", "error:KeyError", "api:net", category=Category.DATA_ERROR)


@pytest.mark.parametrize("name", SCORES)
def test_like_failure_scores_higher_than_another(name: str) -> None:
    like, other, same = SCORES[name](QUERY, [LIKE, OTHER, QUERY])

    assert 0.0 <= other < like < same <= 1.0 + 1e-9


@pytest.mark.parametrize("name", SCORES)
def test_nothing_to_compare_with_is_no_error(name: str) -> None:
    assert SCORES[name](QUERY, []) == []
    assert SCORES[name](entry(""), [entry("")])[0] <= 1.0


@pytest.mark.parametrize("name", SCORES)
def test_score_is_at_most_1_however_often_the_words_come(name: str) -> None:
    query, often = entry("E: knots"), entry("E: knots knots knots knots")

    assert SCORES[name](query, [often, OTHER])[0] <= 1.0 + 1e-9


def test_reference_score_worked_by_hand() -> None:
    query = entry("a b c", "x", "y")

    # Words 2 of 4 in common, tags 1 of 3, the same category.
    assert reference(query, [entry("b c d", "y", "z")]) == pytest.approx([0.4 / 2 + 0.4 / 3 + 0.1])
