"""The formats of reports: each makes its text of the JSON document, and has a place.

JUnit is a small one: properties of the suite in the XML that pytest itself has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from types import MappingProxyType
from xml.etree import ElementTree as ET

from pytest_bayesloc.report import markdown, suspects
from pytest_bayesloc.report.details import spoiled_words
from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.encoding import dumps
from pytest_bayesloc.report.rows import suspect_row
from pytest_bayesloc.report.suspects import Checkout
from pytest_bayesloc.report.text import clip, one_line

N_SUSPECTS = 3
N_TESTS = 20
PREFIX = "bayesloc."


def with_properties(xml: str, document: Document) -> str:
    """Return pytest's XML with what was found; properties of an earlier run of ours are replaced.

    Raises:
        ValueError: If ``xml`` is no such file.
    """
    if not xml:
        raise ValueError("pytest has written nothing there, which --junit-xml makes it do")
    try:
        root = ET.fromstring(  # noqa: S314 - pytest wrote it a moment ago
            xml.encode("utf-8", "surrogateescape")
        )
    except ET.ParseError as error:
        raise ValueError(f"what stands there is no XML ({error})") from error
    suite = root if root.tag == "testsuite" else root.find("testsuite")
    if suite is None:
        raise ValueError(f"what stands there has no <testsuite> but <{root.tag}>")
    properties = _properties_of(suite)
    for name, value in _values(document):
        ET.SubElement(properties, "property", name=f"{PREFIX}{name}", value=value)
    return f'<?xml version="1.0" encoding="utf-8"?>{ET.tostring(root, encoding="unicode")}'


def _properties_of(suite: ET.Element) -> ET.Element:
    """Return the element for them, without those of ours that are there."""
    properties = suite.find("properties")
    if properties is None:
        properties = ET.Element("properties")
        suite.insert(0, properties)
    for old in list(properties):
        if old.get("name", "").startswith(PREFIX):
            properties.remove(old)
    return properties


def _values(document: Document) -> Iterator[tuple[str, str]]:
    """Yield names and values; ``one_line`` leaves no character that XML can't hold."""
    for number, fault in enumerate(document["faults"], 1):
        name = f"fault.{number}"
        tests = fault["failing_tests"]
        yield f"{name}.n_tests", str(len(tests))
        yield f"{name}.tests", " ".join(map(one_line, tests[:N_TESTS]))
        for order, spoiled in enumerate(fault["spoiled"], 1):
            yield f"{name}.spoiled.{order}", clip(spoiled_words(spoiled))
            yield f"{name}.spoiled.{order}.command", one_line(spoiled["command"])
        # Numbered in order: tied suspects have one rank, and a name is given once.
        for order, row in enumerate(fault["ranking"][:N_SUSPECTS], 1):
            shown = suspect_row(row)
            said = f"{shown.place.where} {shown.place.name}: {shown.reason}"
            yield f"{name}.suspect.{order}", clip(said)
            yield f"{name}.suspect.{order}.posterior", f"{row['posterior']:.4f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """The material of a report.

    Attributes:
        document: A ``bayesloc/1`` result.
        read_source: Text of a file of the project, None if it can't be read.
        checkout: Where its files lie in the repository.
        prompt: For an assistant; empty: none is offered.
        before: What stands in the file now; empty if there is none.
    """

    document: Document
    read_source: ReadSource
    checkout: Checkout
    prompt: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFormat:
    """One format of reports.

    Attributes:
        render: Makes the text.
        name: Of its file, where no path was asked for; empty: it has a place of its own, see
            ``needs``.
        needs: What says where it goes, if nobody did; empty: nothing is needed.
        is_added: Whether it is added to what stands in the file.
    """

    render: Callable[[ReportInput], str]
    name: str = ""
    needs: str = ""
    is_added: bool = False


def _html(given: ReportInput) -> str:
    from pytest_bayesloc.report.html import render  # Jinja is slow to import

    return render(given.document, given.read_source, given.prompt)


def _sarif(given: ReportInput) -> str:
    try:
        version = metadata.version("pytest-bayesloc")
    except metadata.PackageNotFoundError:  # run from its sources
        version = "unknown"
    return dumps(suspects.to_sarif(given.document, given.checkout, version))


FORMATS: Mapping[str, ReportFormat] = MappingProxyType(
    {
        "html": ReportFormat(render=_html, name="bayesloc-report.html"),
        "json": ReportFormat(
            render=lambda given: dumps(given.document), name="bayesloc-report.json"
        ),
        "sarif": ReportFormat(render=_sarif, name="bayesloc-report.sarif"),
        "gitlab": ReportFormat(
            render=lambda given: dumps(suspects.to_gitlab(given.document, given.checkout)),
            name="gl-code-quality-report.json",
        ),
        "markdown": ReportFormat(
            render=lambda given: markdown.render(given.document, given.read_source),
            name="bayesloc-report.md",
        ),
        "github": ReportFormat(
            render=lambda given: markdown.summary(given.document, given.read_source, given.before),
            needs="the variable GITHUB_STEP_SUMMARY",
            is_added=True,
        ),
        "junit": ReportFormat(
            render=lambda given: with_properties(given.before, given.document), needs="--junit-xml"
        ),
    }
)
