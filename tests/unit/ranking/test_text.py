from __future__ import annotations

import pytest

from pytest_bayesloc.domain.evidence import Outcome, StaticOutcome
from pytest_bayesloc.ranking.evidence.text import Said, Terms, text_evidence, text_terms
from tests.fakes.case import location

EXACT, PART, OTHER = (StaticOutcome.NAME_EXACT, StaticOutcome.NAME_PART, StaticOutcome.TEXT_SHARED)


def level(qualname: str, *failing: str) -> Outcome:
    tests = [Said(node_id=node_id, text="", message="") for node_id in failing]
    terms = text_terms(tests, [location(qualname, "shop/cart.py")], lambda _: "")
    (item,) = text_evidence(terms, model="single-fault")
    return item.outcome


def terms_of(texts: dict[str, str], *, test: str = "", message: str = "") -> dict[str, Terms]:
    """Per candidate, given as its name and its text, what it says of one failing test."""
    places = {location(name): text for name, text in texts.items()}
    said = Said(node_id="t.py::test_it", text=test, message=message)
    found = text_terms([said], places, places.__getitem__)
    return {where.qualname: own for where, own in found.items()}


@pytest.mark.parametrize(
    ("qualname", "node_id", "outcome"),
    [
        ("total", "tests/test_x.py::test_total_of_nothing", EXACT),
        ("parseDate", "tests/test_x.py::test_parse_date[parse-1]", EXACT),
        ("parse_date", "tests/test_x.py::test_parsedate", EXACT),
        ("Cart.__init__", "tests/test_x.py::test_cart_is_empty", EXACT),
        ("_total", "tests/test_x.py::TestX::test_total", EXACT),
        ("total", "tests/test_x.py::TestTotal::test_nothing", PART),
        ("total", "tests/test_total.py::test_nothing", PART),
        ("Cart.add", "tests/test_x.py::TestCart::test_nothing", PART),
        ("add_tax", "tests/test_cart.py::test_nothing", PART),
        ("add_price", "tests/test_x.py::test_price_is_right", PART),
        ("add_tax", "tests/test_x.py::test_nothing", OTHER),
        ("tax", "tests/test_x.py::test_syntax", OTHER),
        ("total", "tests/test_x.py", OTHER),
    ],
)
def test_name_of_a_test_names_its_target(qualname: str, node_id: str, outcome: Outcome) -> None:
    assert level(qualname, node_id) is outcome


def test_module_body_is_named_by_its_file() -> None:
    assert level("<module>", "t.py::test_cart") is EXACT
    assert level("<module>", "t.py::test_total") is OTHER


def test_what_half_of_the_failing_tests_name_counts() -> None:
    names = ["t.py::test_total", "t.py::test_total_of_two", "t.py::test_a", "t.py::test_b"]

    assert level("total", *names) is EXACT
    assert level("total", *names[1:]) is OTHER


def test_rarer_words_of_a_name_count_for_more() -> None:
    names = ["parse_date", "parse_time", "parse_zone", "date_of"]
    places = [location(name) for name in names]
    test = Said(node_id="t.py::test_parse_time", text="", message="")

    found = {where.qualname: own for where, own in text_terms([test], places, str).items()}

    shares = [found[name]["name in test"] for name in names]
    assert shares[1] == 1.0
    assert shares[1] > shares[0] > shares[3] == 0.0
    assert shares[0] < 0.5


def test_endings_of_words_do_not_matter() -> None:
    where = location("parse_dates")
    test = Said(node_id="t.py::test_parsing_of_a_date", text="", message="")

    assert text_terms([test], [where], str)[where]["name in test"] == 1.0


def test_body_with_the_words_of_the_test_says_most() -> None:
    found = terms_of(
        {
            "a": "def a(zone):\n    return zone.offset\n",
            "b": "def b(price):\n    return price * rate\n",
            "c": "def c(price):\n    return price\n",
        },
        test="def test_it():\n    assert cart.price(rate=2) == 4\n",
    )

    said = [found[name]["body says test"] for name in "abc"]
    assert said[1] == 1.0
    assert said[1] > said[2] > said[0] == 0.0


def test_rare_literal_of_the_test_counts_where_it_stands() -> None:
    found = terms_of(
        {"a": "x = 'utf-16'", "b": "x = 'utf-8'", "c": "x = 'utf-8'", "d": "x = 1"},
        test="assert detect(data) == 'utf-16' and other == 'utf-8' and n == 1",
    )

    shares = {name: own["literals"] for name, own in found.items()}
    assert shares["a"] > shares["b"] == shares["c"] > shares["d"] == 0.0


def test_candidate_that_shares_less_than_others_is_told_as_that() -> None:
    places = {location("total"): "def total(price): ...", location("zone"): "def zone(): ..."}
    test = Said(node_id="t.py::test_total", text="assert total(price) == 2", message="")

    told = text_evidence(text_terms([test], places, places.__getitem__), model="single-fault")

    ratios = {item.location.qualname: item.log_ratio for item in told}
    assert ratios["total"] > 0.0 > ratios["zone"]
    assert [item.outcome for item in told] == [EXACT, StaticOutcome.NAME_ABSENT]


def test_body_of_a_class_is_known_as_one() -> None:
    found = terms_of({"Cart": "class Cart:\n    RATE = 2\n", "total": "def total(): ..."})

    assert [found[name]["class body"] for name in ("Cart", "total")] == [1.0, 0.0]
