"""The kinds of reports: what each is made of, and where it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from types import MappingProxyType

from pytest_bayesloc.report.checkout import Checkout
from pytest_bayesloc.report.document import Document, ReadSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a report is made of.

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
class Kind:
    """One kind of report.

    Attributes:
        render: Makes its text.
        name: Of its file, where no path was asked for; empty: it has a place of its own, see
            ``needs``.
        needs: What says where it goes, if nobody did; empty: nothing is needed.
        is_added: Whether it is added to what stands in the file.
    """

    render: Callable[[Material], str]
    name: str = ""
    needs: str = ""
    is_added: bool = False


def _html(material: Material) -> str:
    from pytest_bayesloc.report.html import render

    return render(material.document, material.read_source, material.prompt)


def _json(material: Material) -> str:
    from pytest_bayesloc.report.encoding import dumps

    return dumps(material.document)


def _sarif(material: Material) -> str:
    from pytest_bayesloc.report.sarif import dumps

    try:
        version = metadata.version("pytest-bayesloc")
    except metadata.PackageNotFoundError:  # run from its sources
        version = "unknown"
    return dumps(material.document, material.checkout, version)


def _gitlab(material: Material) -> str:
    from pytest_bayesloc.report.gitlab import dumps

    return dumps(material.document, material.checkout)


def _markdown(material: Material) -> str:
    from pytest_bayesloc.report.markdown import render

    return render(material.document, material.read_source)


def _github(material: Material) -> str:
    from pytest_bayesloc.report.github import summary

    return summary(material.document, material.read_source, material.before)


def _junit(material: Material) -> str:
    from pytest_bayesloc.report.junit import with_properties

    return with_properties(material.before, material.document)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "html": Kind(render=_html, name="bayesloc-report.html"),
        "json": Kind(render=_json, name="bayesloc-report.json"),
        "sarif": Kind(render=_sarif, name="bayesloc-report.sarif"),
        "gitlab": Kind(render=_gitlab, name="gl-code-quality-report.json"),
        "markdown": Kind(render=_markdown, name="bayesloc-report.md"),
        "github": Kind(render=_github, needs="the variable GITHUB_STEP_SUMMARY", is_added=True),
        "junit": Kind(render=_junit, needs="--junit-xml"),
    }
)
