"""The formats of reports: each makes its text of the JSON document, and has a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from types import MappingProxyType

from pytest_bayesloc.report.ci import github, junit, markdown, scanning
from pytest_bayesloc.report.ci.suspects import Checkout
from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.encoding import dumps


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
    return dumps(scanning.to_sarif(given.document, given.checkout, version))


FORMATS: Mapping[str, ReportFormat] = MappingProxyType(
    {
        "html": ReportFormat(render=_html, name="bayesloc-report.html"),
        "json": ReportFormat(
            render=lambda given: dumps(given.document), name="bayesloc-report.json"
        ),
        "sarif": ReportFormat(render=_sarif, name="bayesloc-report.sarif"),
        "gitlab": ReportFormat(
            render=lambda given: dumps(scanning.to_gitlab(given.document, given.checkout)),
            name="gl-code-quality-report.json",
        ),
        "markdown": ReportFormat(
            render=lambda given: markdown.render(given.document, given.read_source),
            name="bayesloc-report.md",
        ),
        "github": ReportFormat(
            render=lambda given: github.summary(given.document, given.read_source, given.before),
            needs="the variable GITHUB_STEP_SUMMARY",
            is_added=True,
        ),
        "junit": ReportFormat(
            render=lambda given: junit.with_properties(given.before, given.document),
            needs="--junit-xml",
        ),
    }
)
