"""The answer as Markdown: for a comment on a pull request, or the summary of a CI job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_bayesloc.report.text import count
from pytest_bayesloc.report.view import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.report.rows import Place
    from pytest_bayesloc.report.view import Document, FaultView, Page, ReadSource

MAX_FAULTS = 10
N_SUSPECTS = 5
N_TESTS = 10
N_DIFF = 40  # lines
MAX_TEXT = 300
#: GitHub takes a comment of 65,536 characters.
MAX_CHARS = 60_000
#: By it a comment is found again, and replaced.
MARK = "<!-- pytest-bayesloc -->"
# With these, text would be more than text: markup, a link, a mention, an issue, an emoji.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~<>&@:$-])")


def render(document: Document, read_source: ReadSource) -> str:
    """The Markdown of ``document``, at most ``MAX_CHARS`` characters.

    Args:
        document: A ``bayesloc/1`` result.
        read_source: Text of a file of the project, None if it can't be read.
    """
    shown = page(document, read_source)
    blocks = [f"{MARK}\n{_head(shown)}", *map(_fault, shown.faults[:MAX_FAULTS])]
    if shown.partial:
        notes = "\n".join(f"- {plain(note)}" for note in shown.partial)
        blocks.append(f"**This answer is partial.**\n\n{notes}")
    return joined(blocks, len(shown.faults), MAX_CHARS)


def joined(blocks: list[str], n_faults: int, limit: int) -> str:
    """As many whole blocks as fit into ``limit`` characters, and how many faults are left out."""
    kept: list[str] = []
    left = limit - 100
    for block in blocks:
        if len(block) + 2 > left:
            break
        kept.append(block)
        left -= len(block) + 2
    n_shown = min(max(0, len(kept) - 1), MAX_FAULTS, n_faults)
    if n_shown < n_faults:
        hidden = count(n_faults - n_shown, "more fault")
        kept.append(f"_{hidden}: see the HTML report._")
    return "\n\n".join(kept) + "\n"


def plain(text: str) -> str:
    """``text`` such that Markdown takes it for nothing but text."""
    cut = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."
    return _SPECIAL.sub(r"\\\1", cut)


def code(text: str) -> str:
    """``text`` as a code span, whatever backticks it holds."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text[:MAX_TEXT].replace('|', chr(0xFF5C))}{pad}{fence}"


def _head(shown: Page) -> str:
    faults = count(len(shown.faults), "fault")
    return f"### bayesloc: {shown.n_failed} failed, {shown.n_passed} passed, {faults}"


def _fault(fault: FaultView) -> str:
    return "\n".join(_lines(fault))


def _lines(fault: FaultView) -> Iterator[str]:
    yield f"#### Fault {fault.number}: {fault.n_tests} failed with {plain(fault.headline)}"
    yield ""
    if not fault.rows:
        yield "No location to rank."
        return
    row = fault.rows[0]
    yield f"**{code(row.place.name)}, {row.posterior}**, {_where(row.place)}: {plain(row.reason)}"
    if fault.snippet:
        yield ""
        yield f"> line {fault.snippet.number}, {fault.snippet.label}: {code(fault.snippet.text)}"
    yield ""
    yield "| | P(faulty) | before | place | why |"
    yield "|---|---|---|---|---|"
    for shown in fault.rows[:N_SUSPECTS]:
        name = f"{_where(shown.place)} {code(shown.place.name)}"
        cells = (shown.rank, shown.posterior, shown.prior, name, plain(shown.reason))
        yield f"| {' | '.join(cells)} |"
    for fix in fault.fixes[:1]:
        yield ""
        yield f"{plain(fix.said[0].upper() + fix.said[1:])}."
        if fix.diff:
            lines = [line.text for line in fix.diff[:N_DIFF]]
            yield from ("", *_fenced("\n".join(lines), "diff"))
    for text in fault.remembered:
        yield from ("", f"Remembered: {plain(text)}")
    yield ""
    yield f"<details><summary>{fault.n_tests}</summary>"
    yield ""
    yield from (f"- {code(test)}" for test in fault.tests[:N_TESTS])
    if len(fault.tests) > N_TESTS:
        yield f"- and {len(fault.tests) - N_TESTS} more"
    yield ""
    yield "</details>"


def _where(place: Place) -> str:
    return code(place.where)


def _fenced(text: str, language: str) -> list[str]:
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence]
