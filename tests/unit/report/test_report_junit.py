"""Properties in pytest's own XML."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from pytest_bayesloc.report.ci import with_properties
from tests.unit.report.surfaces import hostile

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument

CASES = '<testcase name="a"><failure message="grün &#10; &lt;b&gt;"> x </failure></testcase>'
XUNIT2 = f'<testsuites name="p"><testsuite name="pytest" tests="1">{CASES}</testsuite></testsuites>'
XUNIT1 = f'<testsuite name="pytest" tests="1">{CASES}</testsuite>'


def properties(xml: str) -> dict[str, str]:
    found = [(p.get("name", ""), p.get("value", "")) for p in ET.fromstring(xml).iter("property")]
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize("xml", [XUNIT1, XUNIT2], ids=["xunit1", "xunit2"])
def test_suite_has_tests_and_suspects_of_each_fault(document: ResultDocument, xml: str) -> None:
    found = properties(with_properties(xml, document))

    assert found["bayesloc.fault.1.n_tests"] == "2"
    assert found["bayesloc.fault.1.tests"] == "test_calc.py::test_add test_calc.py::test_total"
    assert found["bayesloc.fault.1.suspect.1"].startswith("calc.py:1 add: returned -1 for")
    assert found["bayesloc.fault.1.suspect.1.posterior"] == "0.9944"
    assert found["bayesloc.fault.2.suspect.1"].startswith("test_calc.py:12 test_parse: handed")


def test_tied_suspects_have_a_property_each(document: ResultDocument) -> None:
    assert [row.rank for row in document.faults[0].ranking[:3]] == [1, 2, 2]

    found = properties(with_properties(XUNIT2, document))

    assert found["bayesloc.fault.1.suspect.2"].startswith("calc.py:5 total:")
    assert found["bayesloc.fault.1.suspect.3"].startswith("calc.py:12 parse:")


def test_all_else_stays_as_it_was(document: ResultDocument) -> None:
    user = '<properties><property name="mine" value="1" /></properties>'
    xml = XUNIT2.replace(CASES, user + CASES)

    made = ET.fromstring(with_properties(xml, document))

    assert properties(ET.tostring(made, encoding="unicode"))["mine"] == "1"
    for ours in made.findall(".//property"):
        if ours.get("name") != "mine":
            made[0][0].remove(ours)
    assert ET.canonicalize(ET.tostring(made)) == ET.canonicalize(xml)


def test_properties_of_an_earlier_run_are_replaced(document: ResultDocument) -> None:
    once = with_properties(XUNIT2, document)

    assert with_properties(once, document) == once


def test_hostile_text_is_still_xml(document: ResultDocument) -> None:
    assert (
        "\\ud800"
        in properties(with_properties(XUNIT2, hostile(document)))["bayesloc.fault.1.tests"]
    )


@pytest.mark.parametrize(
    ("xml", "why"),
    [
        ("", "--junit-xml makes it do"),
        ("no xml", "no XML .syntax error"),
        ("\udcff\udcfe", "no XML"),
        ("<testsuites/>", "no <testsuite> but <testsuites>"),
    ],
)
def test_other_file_is_refused(document: ResultDocument, xml: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        with_properties(xml, document)


def test_tests_that_spoil_a_later_one_have_a_property(document: ResultDocument) -> None:
    found = properties(with_properties(XUNIT2, document))

    (spoiled,) = document.faults[1].spoiled
    assert "passes alone and fails after" in found["bayesloc.fault.2.spoiled.1"]
    assert found["bayesloc.fault.2.spoiled.1.command"] == spoiled.command
