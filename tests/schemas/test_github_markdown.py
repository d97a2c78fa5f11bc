"""Markdown as GitHub's own library renders it: tables hold, and foreign text stays text."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.report.markdown import cell, code, plain, render
from pytest_bayesloc.report.text import visible
from tests.unit.report.surfaces import HOSTILE, hostile

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ReadSource, ResultDocument

Options = pytest.importorskip("cmarkgfm.cmark", reason="pip install cmarkgfm").Options
cmarkgfm = pytest.importorskip("cmarkgfm", reason="pip install cmarkgfm")
J = "\N{WORD JOINER}"
OWN = {"h3", "h4", "p", "strong", "code", "blockquote", "table", "thead", "tbody", "tr", "th", "td"}
OWN |= {"details", "summary", "ul", "li", "pre", "em"}


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.outside = ""  # of code, where GitHub looks for mentions and references
        self._in_code = 0
        # GitHub lets <details> through; anything else that it would drop must not be there.
        raw = markdown.encode("utf-8", "backslashreplace").decode()
        self.feed(cmarkgfm.github_flavored_markdown_to_html(raw, Options.CMARK_OPT_UNSAFE))

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - a parser's
        self.tags.append(tag)
        self._in_code += tag in {"code", "pre"}

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag in {"code", "pre"}

    def handle_data(self, data: str) -> None:
        self.text += data
        if not self._in_code:
            self.outside += data


def test_page_is_made_of_our_own_tags(document: ResultDocument, read_source: ReadSource) -> None:
    shown = Page(render(document, read_source))

    assert set(shown.tags) <= OWN
    assert shown.tags.count("tr") == 1 + 4 + 1 + 2
    assert shown.tags.count("td") == 5 * (4 + 2)
    assert shown.tags.count("details") == 2


def test_hostile_text_changes_nothing_of_the_page(
    document: ResultDocument, read_source: ReadSource
) -> None:
    shown = Page(render(hostile(document), read_source))

    assert set(shown.tags) <= OWN
    assert shown.tags.count("tr") == 1 + 4 + 1 + 2
    assert shown.tags.count("td") == 5 * (4 + 2)
    assert shown.tags.count("details") == 2


def test_hostile_text_mentions_and_refers_to_nobody(
    document: ResultDocument, read_source: ReadSource
) -> None:
    outside = Page(render(hostile(document), read_source)).outside

    assert "octocat" in outside
    for live in ("@octocat", "#12", "GH-12", "!3", "$5", ":bug:", "http://", "www.", "a@b"):
        assert live not in outside


@pytest.mark.parametrize("within", [str, cell], ids=["paragraph", "cell"])
@pytest.mark.parametrize("written", [plain, code])
def test_text_is_shown_as_it_is(written: Any, within: Any) -> None:  # noqa: ANN401 - functions
    text = HOSTILE[:280]
    row = f"| a |\n|---|\n| {within(written(text))} |\n" if within is cell else written(text)

    assert Page(row).text.replace(J, "").strip("\na ") == visible(text)
