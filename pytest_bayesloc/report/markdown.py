"""The answer as Markdown: for a comment on a pull request, or the summary of a CI job.

Names, messages and source stand in code spans, where nothing is markup, a mention or a link. GitHub
Actions also get annotations on lines.

Reference:
    GitHub documentation, "Workflow commands for GitHub Actions": how messages and properties are
    escaped, and that a summary of a step is 1 MiB at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.suspects import LIKELY, POSSIBLE, Checkout, Suspect, suspects
from pytest_bayesloc.report.text import clip, count, fenced, one_line, percent, visible
from pytest_bayesloc.report.view import FaultView, faults_of
from pytest_bayesloc.report.words import (
    diff_lines,
    name_of,
    rank_of,
    reason_of,
    summary_of,
    where_of,
)

MAX_FAULTS = 10
N_SUSPECTS = 5
N_TESTS = 10
N_NOTES = 5
N_DIFF = 40  # lines
MAX_TEXT = 300
#: GitHub takes a comment of 65,536 characters.
MAX_BYTES = 60_000
#: What the head, the notes and the last line may take.
MIN_BYTES = 10_000
#: By it a comment is found again, and replaced.
MARK = "<!-- pytest-bayesloc -->"
# With these, text would be more than text.
_SPECIAL = re.compile(r"[\\`*_\[\]<>~&$]|^[-+#](?=\s)|(?<=^\d)[.)](?=\s)")
# GitHub and GitLab look for these in what Markdown has made, where a backslash is gone: mentions,
# references such as #12, !12 or GH-12, emojis, addresses. Only another character stops them.
_LINKED = re.compile(
    r"(?<=[@#!$%~&^])(?=[\w-])|(?<=:)(?=[\w+-]+:)|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=\bGH)(?=-\d)",
    re.IGNORECASE,
)
_JOINER = "\N{WORD JOINER}"  # takes no room


def render(document: Document, read_source: ReadSource, limit: int = MAX_BYTES) -> str:
    """Return the Markdown of ``document``: as many whole faults as fit, and how many did not.

    It has ``limit`` bytes at most, which are ``MIN_BYTES`` or more.
    """
    faults, session = faults_of(document, read_source), document["session"]
    counts = f"{session['n_failed']} failed, {session['n_passed']} passed"
    head = f"{MARK}\n### bayesloc: {counts}, {count(len(faults), 'fault')}"
    notes = _notes(document["partial"])
    left = limit - size(f"{head}{notes}") - 200
    blocks = []
    for fault in faults[:MAX_FAULTS]:
        block = "\n".join(_fault(fault))
        left -= size(block) + 2
        if left < 0:
            break
        blocks.append(block)
    n_hidden = len(faults) - len(blocks)
    rest = f"_{count(n_hidden, 'more fault')}: `--bayesloc-report=html` shows all._"
    parts = (head, *blocks, rest if n_hidden else "", notes)
    return "\n\n".join(part for part in parts if part) + "\n"


def size(text: str) -> int:
    """Return the bytes that ``text`` takes in a file."""
    return len(text.encode("utf-8", "backslashreplace"))


def plain(text: str) -> str:
    """Return ``text`` such that Markdown, GitHub and GitLab take it for nothing but text."""
    return _SPECIAL.sub(r"\\\g<0>", _LINKED.sub(_JOINER, visible(_cut(text))))


def prose(text: str) -> str:
    """Return the same for a sentence of ours, in which backticks stand around code."""
    parts = re.split(r"`([^`]+)`", _cut(text))
    words = [code(part) if i % 2 else plain(part) for i, part in enumerate(parts)]
    # Two pieces of code without anything between them would be one.
    return words[0] + "".join(word or _JOINER for word in words[1:-1]) + "".join(words[1:][-1:])


def code(text: str) -> str:
    """Return ``text`` as a code span, whatever backticks it holds."""
    shown = visible(_cut(text)) or " "
    longest = max(map(len, re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    # Of each end one blank is dropped, where both have one.
    pad = " " if "`" in (shown[0], shown[-1]) or shown[0] == shown[-1] == " " != shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(markdown: str) -> str:
    """Return ``markdown`` in a table, where a bar parts the cells, also within code."""
    return re.sub(r"(\\?)\|", lambda bar: rf"{bar[1]}{bar[1] and _JOINER}\|", markdown)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."


def _notes(partial: Sequence[str]) -> str:
    if not partial:
        return ""
    notes = [f"- {plain(one_line(note))}" for note in partial[:N_NOTES]]
    return "\n".join(["What is missing from this answer:", "", *notes])


def _fault(fault: FaultView) -> Iterator[str]:
    yield f"#### Fault {fault.number}: {fault.n_tests} failed with {code(fault.headline)}"
    yield ""
    for words, command in fault.spoiled:
        yield f"**{plain(words)}.** To reproduce it: {code(command)}"
        yield ""
    if fault.rows:
        yield from _first(fault)
        yield from _table(fault.rows[:N_SUSPECTS])
        if fault.or_test:
            yield f"{fault.or_test[0].upper()}{fault.or_test[1:]}."
            yield ""
    else:
        yield "No location to rank."
        yield ""
    if fault.best_fix is not None:
        yield from _fix(fault.best_fix)
    for text in fault.remembered:
        yield f"Remembered: {prose(text)}"
        yield ""
    yield from _tests(fault)


def _first(fault: FaultView) -> Iterator[str]:
    row = fault.rows[0]
    where = f"{code(name_of(row))}, {percent(row['posterior'])}**, {code(where_of(row))}"
    yield f"**{where}: {prose(reason_of(row))}"
    yield ""
    if fault.snippet and fault.snippet[1]:
        number, text, label = fault.snippet
        yield f"> line {number}, {label}: {code(text)}"
        yield ""


def _table(rows: Sequence[Document]) -> Iterator[str]:
    yield "| | P(faulty) | before | place | why |"
    yield "|---|---|---|---|---|"
    for row in rows:
        name = f"{code(where_of(row))} {code(name_of(row))}"
        before_after = percent(row["posterior"]), percent(row["prior"])
        cells = (rank_of(row), *before_after, name, prose(reason_of(row)))
        yield f"| {' | '.join(map(cell, cells))} |"
    yield ""


def _fix(fix: Document) -> Iterator[str]:
    summary = summary_of(fix)
    yield f"{prose(summary[:1].upper() + summary[1:])}."
    yield ""
    if fix["diff"]:
        lines = [_cut(visible(text)) for _, text in diff_lines(fix["diff"])]
        hidden = [f"... {len(lines) - N_DIFF} more lines"] if len(lines) > N_DIFF else []
        yield from (*fenced("\n".join([*lines[:N_DIFF], *hidden]), "diff"), "")


def _tests(fault: FaultView) -> Iterator[str]:
    yield f"<details><summary>{fault.n_tests}</summary>"
    yield ""
    tests = fault.entry["failing_tests"]
    yield from (f"- {code(one_line(test))}" for test in tests[:N_TESTS])
    if len(tests) > N_TESTS:
        yield f"- and {len(tests) - N_TESTS} more"
    yield ""
    yield "</details>"


MAX_SUMMARY = (1 << 20) - 1000  # bytes: what is longer is dropped as a whole
FULL = "\n_bayesloc: the summary of this step is full; `--bayesloc-report=html` shows all._\n"
#: GitHub takes no more of a level from one step.
MAX_ANNOTATIONS = 10
MAX_MESSAGE = 1_000


def summary(document: Document, read_source: ReadSource, before: str) -> str:
    """Return what is added to the summary of a job; one line where ``before`` nearly fills it.

    Raises:
        ValueError: If not even the line fits.
    """
    left = MAX_SUMMARY - size(before)
    if left < size(FULL):
        raise ValueError("it holds 1 MiB, of which nothing is left")
    if left < MIN_BYTES:
        return FULL
    own = render(document, read_source, min(left - 1, MAX_BYTES))
    return own if not before or before.endswith("\n") else f"\n{own}"


def marks(document: Document, checkout: Checkout) -> list[str]:
    """Return workflow commands that mark the lines of suspects: the first of each fault first.

    What lies outside of the repository has no line to mark.
    """
    left = {"error": MAX_ANNOTATIONS, "warning": MAX_ANNOTATIONS}
    found: dict[tuple[str | None, int], str] = {}  # faults may share a suspect
    for suspect in sorted(suspects(document, checkout), key=lambda s: (s.order, s.number)):
        level = "error" if suspect.posterior >= LIKELY else "warning"
        where = suspect.path, suspect.line
        is_worth_it = suspect.order == 1 or suspect.posterior >= POSSIBLE
        if suspect.path is not None and where not in found and is_worth_it and left[level]:
            left[level] -= 1
            found[where] = _command(level, suspect, suspect.path)
    return list(found.values())


def _command(level: str, suspect: Suspect, path: str) -> str:
    title = f"{percent(suspect.posterior)} {name_of(suspect.row)}"
    where = f"file={_value(path)},line={suspect.line},title={_value(title)}"
    return f"::{level} {where}::{_text(clip(suspect.message, MAX_MESSAGE))}"


def _text(text: str) -> str:
    """Return ``text`` as the message of a workflow command."""
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _value(text: str) -> str:
    """Return ``text`` as a property of a workflow command."""
    return _text(text).replace(":", "%3A").replace(",", "%2C")
