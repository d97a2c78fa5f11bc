"""The report as one self-contained HTML page, that works from ``file://`` without a network."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from pytest_bayesloc.report.text import visible
from pytest_bayesloc.report.view import page

if TYPE_CHECKING:
    from pytest_bayesloc.report.view import Document, ReadSource

TEMPLATE = "report.html.j2"


def render(document: Document, read_source: ReadSource) -> str:
    """The page of ``document``: text that can be written as UTF-8.

    Args:
        document: A ``bayesloc/1`` result.
        read_source: Text of a file of the project by its path in the document, None if it can't
            be read.
    """
    style, script = _asset("static/report.css"), _asset("static/report.js")
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            page=page(document, read_source),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            policy=_policy(style, script),
        )
    )


def _environment() -> jinja2.Environment:
    """Escapes everything, and spells out what must not stand in a page (``finalize``)."""
    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(lambda name: _asset(f"templates/{name}")),
        finalize=_safe,
    )


def _safe(value: object) -> object:
    return visible(value) if type(value) is str else value


def _asset(name: str) -> str:
    """A file shipped beside this module. The policy's hashes hold for Unix line ends only."""
    text = resources.files("pytest_bayesloc.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """Content security policy: nothing but the one style and the one script of the page."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
