"""The formats of reports: each makes its text of the JSON document, and has a place.

JUnit is a small one: properties of the suite in the XML that pytest itself has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from xml.etree import ElementTree as ET

from pytest_bayesloc.report import markdown, suspects
from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.encoding import dumps
from pytest_bayesloc.report.suspects import Checkout
from pytest_bayesloc.report.text import clip, one_line
from pytest_bayesloc.report.words import place_of, reason_of, spoiled_words

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
            yield f"{name}.suspect.{order}", clip(f"{place_of(row)}: {reason_of(row)}")
            yield f"{name}.suspect.{order}.posterior", f"{row['posterior']:.4f}"


#: The formats that have a place of their own, and what says where that is, if nobody did.
PLACES = {"github": "the variable GITHUB_STEP_SUMMARY", "junit": "--junit-xml"}
#: The others, and the name of their file, where no path was asked for.
FILES = {
    "html": "bayesloc-report.html",
    "json": "bayesloc-report.json",
    "sarif": "bayesloc-report.sarif",
    "gitlab": "gl-code-quality-report.json",
    "markdown": "bayesloc-report.md",
}


def render(
    kind: str,
    document: Document,
    read_source: ReadSource,
    checkout: Checkout,
    *,
    prompt: str = "",
    before: str = "",
) -> str:
    """Return the text of a report.

    Args:
        kind: One of ``FILES`` or ``PLACES``.
        document: A ``bayesloc/1`` result.
        read_source: Text of a file of the project, None if it can't be read.
        checkout: Where its files lie in the repository.
        prompt: For an assistant; empty: none is offered.
        before: What stands in the file now; empty if there is none.

    Raises:
        ValueError: If the text can't be added to what stands there.
    """
    texts: Mapping[str, Callable[[], str]] = {
        "html": lambda: _html(document, read_source, prompt),
        "json": lambda: dumps(document),
        "sarif": lambda: dumps(suspects.to_sarif(document, checkout, _version())),
        "gitlab": lambda: dumps(suspects.to_gitlab(document, checkout)),
        "markdown": lambda: markdown.render(document, read_source),
        "github": lambda: markdown.summary(document, read_source, before),
        "junit": lambda: with_properties(before, document),
    }
    return texts[kind]()


def _html(document: Document, read_source: ReadSource, prompt: str) -> str:
    from pytest_bayesloc.report import html  # Jinja is slow to import

    return html.render(document, read_source, prompt)


def _version() -> str:
    try:
        return metadata.version("pytest-bayesloc")
    except metadata.PackageNotFoundError:  # run from its sources
        return "unknown"
