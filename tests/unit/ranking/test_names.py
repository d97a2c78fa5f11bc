from __future__ import annotations

import pytest

from pytest_bayesloc.domain.evidence import Outcome, StaticOutcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.evidence.failures import name_evidence

EXACT, PART, ABSENT = StaticOutcome.NAME_EXACT, StaticOutcome.NAME_PART, StaticOutcome.NAME_ABSENT


def location(qualname: str, file: str = "shop/cart.py", *, is_test: bool = False) -> Location:
    return Location(file=file, start_line=1, end_line=9, qualname=qualname, is_test=is_test)


def level(qualname: str, *failing: str, file: str = "shop/cart.py") -> Outcome:
    (item,) = name_evidence(failing, [location(qualname, file)], model="single-fault")
    return item.outcome


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
        ("add_tax", "tests/test_x.py::test_nothing", ABSENT),
        ("at", "tests/test_x.py::test_at_once", ABSENT),
        ("tax", "tests/test_x.py::test_syntax", ABSENT),
        ("total", "tests/test_x.py", ABSENT),
    ],
)
def test_name_of_a_test_names_its_target(qualname: str, node_id: str, outcome: Outcome) -> None:
    assert level(qualname, node_id) is outcome


def test_module_body_is_named_by_its_file() -> None:
    assert level("<module>", "t.py::test_cart") is EXACT
    assert level("<module>", "t.py::test_total") is ABSENT


def test_what_half_of_the_failing_tests_name_counts() -> None:
    names = ["t.py::test_total", "t.py::test_total_of_two", "t.py::test_a", "t.py::test_b"]

    assert level("total", *names) is EXACT
    assert level("total", *names[1:]) is ABSENT


def test_tests_themselves_are_passed_over() -> None:
    where = location("test_total", "t.py", is_test=True)

    assert name_evidence(["t.py::test_total"], [where], model="single-fault") == []
