"""The HTML report is one safe file."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import re
from copy import deepcopy
from html import unescape
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

import pytest
from msgspec import Struct
from msgspec.structs import replace

from pytest_bayesloc.report.html import coloured, render, with_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.report.document import ReadSource, ResultDocument

    Page: TypeAlias = Callable[..., str]

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x00\udcff\u202e"
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Outline(HTMLParser):
    """Elements and text of a page; fails on elements that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.code: dict[str, str] = {"style": "", "script": ""}
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.code:
            self.code[self._open[-1]] += data

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.elements if name in attrs]


@pytest.fixture
def page(document: ResultDocument, read_source: ReadSource) -> Page:
    """The page of the document as it is then."""
    return lambda *prompt: render(document, read_source, *prompt)


@pytest.fixture
def report(page: Page) -> str:
    return page()


def test_way_from_the_failing_test_is_told(document: ResultDocument, page: Page) -> None:
    edges = document.call_graph.edges
    row = document.faults[0].ranking[0]
    row.call_path = [edges[1].caller, edges[0].caller, edges[0].callee]

    assert "Reached by <code>test_add -&gt; total -&gt; add</code>" in page()


def words(fragment: str) -> str:
    """What a reader sees of ``fragment``."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", fragment)).split())


def between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0]


def poisoned(document: ResultDocument) -> ResultDocument:
    """``document`` with hostile text in place of every free text."""
    fixed = {"schema", "origin", "kind", "verdict", "outcome", "decision"}

    def spoil(value: Any) -> Any:  # noqa: ANN401 - any part of a document
        if isinstance(value, Struct):
            for name in set(value.__struct_fields__) - fixed:
                setattr(value, name, spoil(getattr(value, name)))
            return value
        if isinstance(value, dict):
            return {key: v if key in fixed else spoil(v) for key, v in value.items()}
        if isinstance(value, list):
            return [spoil(item) for item in value]
        return EVIL if isinstance(value, str) else value

    spoilt: ResultDocument = spoil(deepcopy(document))
    return spoilt


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("`a`, `<b>` and c", "<code>a</code>, <code>&lt;b&gt;</code> and c"),
        ("a `b and c", "a `b and c"),
    ],
)
def test_text_between_backticks_is_code(text: str, markup: str) -> None:
    assert with_code(text).replace("&#96;", "`") == markup


def test_the_answer_comes_first(report: str) -> None:
    header = words(between(report, "<header>", "</header>"))

    assert "add >99 % calc.py:2 Sure Line 2 , its most suspicious line 1 def add(a, b): 2" in header
    assert "b 3 0 return -1 2 a 2 2" in header
    assert "test_parse test 62 % test_calc.py:13" in header


def test_share_of_the_tests_is_a_sentence_of_its_own(document: ResultDocument, page: Page) -> None:
    document.faults[0].test_share = 0.12

    assert "<p>The tests themselves may be wrong: 12 %.</p>" in page()


def test_source_has_colours_whatever_it_holds() -> None:
    lines = [
        'def f(a):  # "x"',
        '    """One',
        '    <b>."""',
        "    return t'it\\'s' + \"open",
        "    x1 = 10",
    ]

    marked = coloured(lines)

    assert [unescape(re.sub(r"<[^>]*>", "", line)) for line in marked] == lines
    assert [re.findall(r'class="(\w+)"', line) for line in marked] == [
        ["keyword", "comment"],
        ["string"],
        ["string"],
        ["keyword", "string", "string"],
        ["number"],
    ]
    assert '<span class="string">t&#39;it' in marked[3]


def test_faults_with_the_same_suspect_have_one_answer(document: ResultDocument, page: Page) -> None:
    document.faults.insert(1, replace(document.faults[0], failing_tests=["t.py::test_x"]))

    header = words(between(page(), "<header>", "</header>"))

    assert header.count("add >99 %") == 1
    assert "The same suspect as in fault 2 : 1 test failed with AssertionError" in header


def test_row_has_prior_posterior_evidence_and_values(report: str) -> None:
    row = words(between(report, 'id="fault-1-row-1"', 'id="fault-1-row-2"'))

    for part in (
        "1 >99 % calc.py:1 add",
        "48 % 0.88",
        "x19 returned -1 for a=2, b=3",
        "return 0 to 9 -1",
    ):
        assert part in row


def test_an_inspection_shows_all_that_led_to_its_weight(report: str) -> None:
    inspection = words(between(report, 'id="fault-1-step-1"', "<h2>"))

    for part in (
        "48 % → >99 %",
        "outcome if faulty 0.95 if not faulty 0.05",
        "has target assertion yes",
        "- return a - b + result = a - b + assert result >= a",
        "fail test_calc.py::test_add AssertionError: assert -1 >= 2",
        "pass test_calc.py::test_zero",
        "--- INSPECTION_START: calc.add ---",
    ):
        assert part in inspection


def test_where_no_heartbeat_told_that_a_test_reached_the_patch_the_page_does_not_deny_it(
    document: ResultDocument, page: Page
) -> None:
    step = document.inspections[0]
    for test in step.tests:
        test.covered = False

    silent = page()
    step.signals = dataclasses.replace(step.signals, is_covered=False)

    assert "reached it" not in between(silent, 'id="fault-1-step-1"', "</table>")
    assert "reached it" in between(page(), 'id="fault-1-step-1"', "</table>")


def test_command_that_reproduces_a_spoiled_test_is_shown(report: str) -> None:
    assert "test_late passes alone and fails after test_early" in report
    assert "<code>pytest test_calc.py::test_early test_calc.py::test_late</code>" in report


def test_the_belief_is_drawn_over_the_steps(report: str) -> None:
    figure = between(report, "<figure", "</figure>")

    assert figure.count("<polyline") == 4
    assert "1 calc.py:1 add 48 % → >99 %" in words(figure)


def test_source_lines_show_their_heat_in_numbers(report: str) -> None:
    assert (
        words(between(report, 'id="calc.py:2"', "</tr>").partition(">")[2])
        == "2 2 1 0.88 █ return a - b"
    )


def test_calls_are_listed(report: str) -> None:
    assert "calc.py:5 total calc.py:1 add 2" in words(between(report, 'id="calls"', "</section>"))


def test_every_link_leads_to_a_place_in_the_page(document: ResultDocument) -> None:
    for row in document.faults[0].ranking[:2]:
        row.file = "a #b/%41/é.py"

    outline = Outline(render(document, lambda _: "x\n" * 20))

    ids = outline.attributes("id")
    links = outline.attributes("href")
    assert len(ids) == len(set(ids))
    assert links
    assert {unquote(link.removeprefix("#")) for link in links} <= set(ids)


def test_the_page_asks_nothing_of_the_network(report: str) -> None:
    outline = Outline(report)

    assert not re.search(r"https?:|url\((?!#)|@import", report)
    assert outline.attributes("src") == []
    assert all(link.startswith("#") for link in outline.attributes("href"))


def test_the_policy_allows_the_one_style_and_the_one_script_only(report: str) -> None:
    outline = Outline(report)

    policy = next(content for content in outline.attributes("content") if "default-src" in content)
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    for tag, code in outline.code.items():
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert directives[f"{tag}-src"] == f"'sha256-{digest}'"
        assert [name for name, _ in outline.elements].count(tag) == 1
    assert directives["default-src"] == "'none'"


def test_no_element_carries_its_own_style_or_handler(report: str) -> None:
    names = {name for _, attrs in Outline(report).elements for name in attrs}

    assert names
    assert not [name for name in names if name == "style" or name.startswith("on")]


def test_hostile_text_stays_text(document: ResultDocument, report: str) -> None:
    page = render(poisoned(document), lambda _: f"{EVIL}\n" * 20)

    outline, clean = Outline(page), Outline(report)
    assert {tag for tag, _ in outline.elements} <= {tag for tag, _ in clean.elements}
    assert outline.code == clean.code
    assert outline.attributes("onerror") == []
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_text_that_utf8_cannot_hold_or_eyes_cannot_see_is_spelled_out(
    document: ResultDocument,
) -> None:
    page = render(poisoned(document), lambda _: f"{EVIL}\n" * 20)

    assert page.encode("utf-8")
    assert r"\x00\udcff\u202e" in page
    assert not {"\x00", "\u202e"} & set(page)


def test_a_report_without_faults_or_sources_is_a_page(document: ResultDocument) -> None:
    document = replace(
        document, faults=[], inspections=[], ranking=[], partial=["Worker gw1 died."]
    )

    page = render(document, lambda _: None)

    Outline(page)
    assert "Nothing to localize" in words(page)
    assert "Worker gw1 died." in words(page)


def test_a_file_that_cannot_be_read_is_said_so(document: ResultDocument) -> None:
    page = render(document, lambda _: None)

    assert "The file could not be read." in words(page)
    assert not [href for href in Outline(page).attributes("href") if ".py" in href]


def test_long_parts_are_packed_and_hold_what_they_held(
    document: ResultDocument, page: Page
) -> None:
    fault = document.faults[1]
    fault.failing_tests = [f"test_calc.py::test_{i:05}{EVIL}" for i in range(5_000)]
    document.faults = [document.faults[0]] + [fault] * 30

    whole = page()

    packed = Outline(whole).attributes("data-packed")
    parts = [gzip.decompress(base64.b64decode(data)).decode() for data in packed]
    assert len(whole) < 3_000_000
    assert any('id="fault-30-row-1"' in part for part in (whole, *parts))
    assert any("test_04999" in part for part in parts)
    for part in parts:
        outline = Outline(part)
        assert not {"script", "img"} & {tag for tag, _ in outline.elements}


def test_a_page_of_the_usual_size_is_not_packed(report: str) -> None:
    assert Outline(report).attributes("data-packed") == []


def test_a_prompt_is_offered_unless_there_is_none(page: Page) -> None:
    offered = page(f"Mend it. {EVIL}")

    assert "Mend it." in words(between(offered, 'id="prompt-text"', "</pre>"))
    assert "<img" not in offered
    assert 'id="prompt"' not in page()
