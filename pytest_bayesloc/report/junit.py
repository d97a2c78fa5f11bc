"""Properties of the suite in the XML that pytest itself has written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from pytest_bayesloc.report.rows import row_of
from pytest_bayesloc.report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

N_SUSPECTS = 3
N_TESTS = 20
PREFIX = "bayesloc."


def with_properties(xml: str, document: Mapping[str, Any]) -> str:
    """The XML with what was found; properties of an earlier run of ours are replaced.

    Args:
        xml: Of pytest's ``--junit-xml``.
        document: A ``bayesloc/1`` result.

    Raises:
        ValueError: If ``xml`` is no such file.
    """
    try:
        root = ET.fromstring(xml.encode())  # noqa: S314 - pytest wrote it a moment ago
    except ET.ParseError as error:
        raise ValueError(f"it is no XML ({error})") from error
    suite = root if root.tag == "testsuite" else root.find("testsuite")
    if suite is None:
        raise ValueError(f"it has no <testsuite> but <{root.tag}>")
    properties = suite.find("properties")
    if properties is None:
        properties = ET.Element("properties")
        suite.insert(0, properties)
    for old in list(properties):
        if old.get("name", "").startswith(PREFIX):
            properties.remove(old)
    for name, value in _properties(document):
        ET.SubElement(properties, "property", name=f"{PREFIX}{name}", value=_legal(value))
    return f'<?xml version="1.0" encoding="utf-8"?>{ET.tostring(root, encoding="unicode")}'


def _properties(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for number, fault in enumerate(document["faults"], 1):
        name = f"fault.{number}"
        tests = fault["failing_tests"]
        yield f"{name}.n_tests", str(len(tests))
        yield f"{name}.tests", " ".join(map(one_line, tests[:N_TESTS]))
        for row in fault["ranking"][:N_SUSPECTS]:
            shown = row_of(row)
            said = f"{shown.place.where} {shown.place.name}: {shown.reason}"
            yield f"{name}.suspect.{row['rank']}", said
            yield f"{name}.suspect.{row['rank']}.posterior", f"{row['posterior']:.4f}"


def _legal(text: str) -> str:
    """``text`` without characters that XML can't hold; what steers a terminal is gone already."""
    return "".join(char for char in text if char >= " " and not 0xFFFE <= ord(char) <= 0xFFFF)
