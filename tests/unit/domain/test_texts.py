"""Texts: changed wherever they stand in a JSON value, storable, in words, and compared."""

from __future__ import annotations

from collections import Counter
from math import log

import pytest

from pytest_bayesloc.domain.texts import K1, B, bm25, storable, with_texts, words


def test_every_text_in_a_json_value_is_changed_and_no_key() -> None:
    value = {"a": ["b", 1, {"c": "d"}], "e": None, "f": [True, "g"]}

    changed = with_texts(value, str.upper)

    assert changed == {"a": ["B", 1, {"c": "D"}], "e": None, "f": [True, "G"]}


def test_lone_surrogate_is_spelt_out() -> None:
    assert storable("a\udc80ä") == "a\\udc80ä"


def test_names_are_split_into_their_words() -> None:
    found = words("addKnot to HTTPServer_2")

    assert found == ("addknot", "add", "knot", "to", "httpserver", "http", "server", "2")


def _weight(n: int, n_with: int) -> float:
    return log(1 + (n - n_with + 0.5) / (n_with + 0.5))


def test_score_is_the_share_of_the_query_s_own() -> None:
    query = Counter({"knots": 2, "short": 1})
    # Four, two and three words: 3 at the mean. "knots" stands in two of three texts.
    others = [Counter({"knots": 1, "other": 3}), Counter({"else": 2})]

    def part(word_weight: float, n_there: int, length: float) -> float:
        return word_weight * n_there * (K1 + 1) / (n_there + K1 * (1 - B + B * length / 3))

    knots, short = _weight(3, 2), _weight(3, 1)
    own = part(knots, 2, 3) + part(short, 1, 3)

    found = bm25(query, others)

    assert found == pytest.approx([part(knots, 1, 4) / own, 0.0])


def test_query_without_words_is_like_nothing() -> None:
    assert bm25(Counter(), [Counter({"a": 1})]) == [0.0]
