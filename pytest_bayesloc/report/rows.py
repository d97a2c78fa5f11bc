"""A suspect in words: its place, its belief, the evidence that moved it, and its source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from textwrap import dedent
from typing import Any, TypeAlias
from urllib.parse import quote

from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.texts import common_ends
from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.text import count, one_line, percent, ratio, score

N_AROUND = 3  # lines before and after the one to look at
MAX_VALUE = 60  # characters of a value beside another
N_BEFORE = 20  # of them before the first difference
MISSING = "not there"
RESULT = "return"
N_VALUES = 5  # with the answer
MAX_SHOWN = 80  # lines of source
GLYPHS = ("", "\N{LIGHT SHADE}", "\N{MEDIUM SHADE}", "\N{DARK SHADE}", "\N{FULL BLOCK}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationView:
    """A location in words.

    Attributes:
        where: ``calc.py:2``, of the first line; the anchor of that line as well.
        href: The fragment that leads to it.
        name: Qualified name.
        is_test: Whether it belongs to the tests.
    """

    where: str
    href: str
    name: str
    is_test: bool

    def __str__(self) -> str:
        return f"{self.where} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """One piece of evidence: its weight, ``incriminates``, ``exonerates`` or ``says nothing``."""

    factor: float
    ratio: str
    verdict: str
    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectRow:
    """One row of a ranking.

    ``bar`` and ``prior_bar`` are widths in [0, 100]. ``values`` are the name of a parameter, or
    ``return``, and what it held in passing and in failing calls.
    """

    rank: str
    place: LocationView
    posterior: str
    prior: str
    bar: float
    prior_bar: float
    suspiciousness: str
    counts: str
    why: tuple[Why, ...]
    values: tuple[tuple[str, str, str], ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The sources of its evidence, each once."""
        return tuple(dict.fromkeys(why.source.replace(" ", "-") for why in self.why))

    @property
    def reason(self) -> str:
        """The strongest evidence against it, else which tests executed it, in one sentence."""
        return next((why.text for why in self.why if why.verdict == "incriminates"), self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesView:
    """Arguments and result of a passing and of a failing call, side by side.

    Attributes:
        passing: Name of the test of the one call.
        failing: Name of the test of the other.
        rows: Path below a parameter or ``return``, its text in the passing and in the failing call.
        n_more: Parts that differ as well.
    """

    passing: str
    failing: str
    rows: tuple[tuple[str, str, str], ...]
    n_more: int

    @property
    def shown(self) -> tuple[tuple[str, str, str], ...]:
        """The rows for the answer, those that differ first."""
        return tuple(sorted(self.rows, key=lambda row: row[1] == row[2])[:N_VALUES])

    @property
    def n_hidden(self) -> int:
        """The number of rows that are not for the answer."""
        return len(self.rows) + self.n_more - len(self.shown)

    @property
    def contrast(self) -> str:
        """The one part of the arguments that differs, in a sentence; empty if several do."""
        differing = (row for row in self.rows if row[1] != row[2])
        own = [row for row in differing if re.split(r"[.[]", row[0])[0] != RESULT]
        if len(own) != 1 or self.n_more:
            return ""
        name, passing, failing = own[0]
        return f"{name} is `{failing}`, and `{passing}` in {self.passing}, which passes"


#: One line of source: its number, its text, its anchor (``file:line``, empty where an earlier
#: listing has it), and its entry in the result; None for a line that no test executed.
SourceLine: TypeAlias = tuple[int, str, str, "Document | None"]
#: The one line to look at first: its number, its text, and why that one.
Snippet: TypeAlias = tuple[int, str, str]
#: File, first line and qualified name: they tell one place from another.
Key = tuple[str, int, str]


_HUNK = re.compile(r"@@ -(\d+)")
LEAST_RATIO = 1.05  # of likelihoods, for a reason to be shown


def key_of(location: Document) -> Key:
    """Return the key of a row, a target or the end of a call."""
    return location["file"], location["start_line"], location["qualname"]


def location_view(location: Document) -> LocationView:
    """Return the location of a row, a target or the end of a call in words."""
    where = one_line(f"{location['file']}:{location['start_line']}")
    return LocationView(
        where=where,
        href=f"#{quote(where, safe='/:')}",
        name=one_line(location["qualname"]),
        is_test=location["is_test"],
    )


def short_name(place: LocationView) -> str:
    """Return the name of a function or class; of the body of a module, that of its file."""
    if place.name != MODULE:
        return place.name
    return f"module {PurePosixPath(place.where.rpartition(':')[0]).stem}"


def suspect_row(row: Document) -> SuspectRow:
    """Return a row of a ranking in words."""
    return SuspectRow(
        rank=f"{row['rank']}=" if row["tied"] > 1 else str(row["rank"]),
        place=location_view(row),
        posterior=percent(row["posterior"]),
        prior=percent(row["prior"]),
        bar=round(row["posterior"] * 100, 1),
        prior_bar=round(row["prior"] * 100, 1),
        suspiciousness=score(row["suspiciousness"]) if row["counts"] else "-",
        counts=_counts(row["counts"]),
        why=tuple(why_of(item) for item in row["evidence"] if _tells(item)),
        values=tuple(
            (one_line(name), one_line(seen["passing"]), one_line(seen["failing"]))
            for name, seen in row["values"].items()
        ),
    )


def values_view(fault: Document) -> ValuesView | None:
    """Return two calls of the first suspect side by side; None if they are not known."""
    nearest, rows = fault.get("nearest_call"), fault["ranking"]
    if not nearest or not nearest["values"]:
        return None
    if not rows or key_of(rows[0]) != key_of(nearest["location"]):  # it came to the top later
        return None
    return ValuesView(
        passing=one_line(nearest["passing_test"].rpartition("::")[2]),
        failing=one_line(nearest["failing_test"].rpartition("::")[2]),
        rows=tuple(
            (one_line(path), *_around(one_line(seen["passing"]), one_line(seen["failing"])))
            for path, seen in nearest["values"].items()
        ),
        n_more=nearest["n_more"],
    )


def _around(passing: str, failing: str) -> tuple[str, str]:
    """Return two texts; of long ones what stands around the first difference."""
    first, _ = common_ends(passing, failing)
    start = max(0, first - N_BEFORE) if max(len(passing), len(failing)) > MAX_VALUE else 0
    texts = (f"{'...' if start else ''}{text[start:]}" for text in (passing, failing))
    passing, failing = (
        text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}..." for text in texts
    )
    return passing or MISSING, failing or MISSING


def _counts(counts: Mapping[str, int] | None) -> str:
    if counts is None:
        return "not measured: test code, or code that did not run"
    failing = count(counts["ef"] + counts["nf"], "failing test")
    executed = f"executed by {counts['ef']} of {failing}"
    if not counts["ep"] + counts["np"]:
        return f"{executed}; no test passed"
    passing = count(counts["ep"] + counts["np"], "passing test")
    return f"{executed} and {counts['ep']} of {passing}"


def _tells(evidence: Document) -> bool:
    """Return whether it moves the belief: a reason that says nothing is not shown."""
    least, most = sorted((evidence["p_if_faulty"], evidence["p_if_clean"]))
    return bool(most > LEAST_RATIO * least)


def why_of(evidence: Document) -> Why:
    """Return a piece of evidence in its own words, else in those of its outcome."""
    faulty, clean = evidence["p_if_faulty"], evidence["p_if_clean"]
    verdict = "incriminates" if faulty > clean else "exonerates"
    return Why(
        factor=faulty / clean,
        ratio=ratio(faulty, clean),
        verdict=verdict if faulty != clean else "says nothing",
        text=one_line(evidence["why"]) or words_of(evidence["outcome"]),
        source=one_line(evidence.get("source", "")),
    )


# The constants speak of a language model; a rule of ours may have decided as well.
_WORDS = {
    "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES": "target assertion failed, but is excused",
    "COLLATERAL_FAILURE_LLM_SUSPICIOUS": "collateral failure, judged suspicious",
    "COLLATERAL_FAILURE_LLM_INNOCENT": "collateral failure, judged innocent",
}


def words_of(constant: str) -> str:
    """Return ``A_CONSTANT`` as words."""
    if constant in _WORDS:
        return _WORDS[constant]
    return constant.replace("_LLM_", "_LLM ").replace("_", " ").lower().replace("llm", "LLM")


def heat(value: float) -> int:
    """Return the shade of a number in [0, 1]: 0 for cold, to 4."""
    return 0 if value <= 0 else 1 + min(3, int(value * 4))


def hot_line(row: Document, fault: Document) -> tuple[int, str]:
    """Return the line that a mark goes to, and why that one.

    It is the one that raised, else the most suspicious; of a test, which has none, the one in the
    traceback; else the first.
    """
    first, last, error = row["start_line"], row["end_line"], fault["error"]
    if error["file"] == row["file"] and first <= error["line"] <= last:
        return int(error["line"]), "the failing line"
    lines = [line for line in row["lines"] if first <= line["line"] <= last]
    heats = [line["suspiciousness"] for line in lines]
    if heats:
        n = heats.count(max(heats))
        label = f"first of its {n} most suspicious lines" if n > 1 else "its most suspicious line"
        return _hottest(lines, first), label
    for frame in reversed([frame for f in fault["failures"][:1] for frame in f["frames"]]):
        if row["is_test"] and frame["file"] == row["file"] and first <= frame["line"] <= last:
            return int(frame["line"]), "its line in the traceback"
    return first, "its first line"


def _hottest(lines: list[dict[str, Any]], default: int) -> int:
    best = max(lines, key=lambda line: (line["suspiciousness"], -line["line"]), default=None)
    return int(best["line"]) if best else default


def source_text(row: Document, read_source: ReadSource) -> list[str]:
    """Return the lines of the row's file; none where it can't be read."""
    text = read_source(row["file"]) or ""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if text else []


def changed_line(fix: Document | None, rows: Sequence[Document]) -> int:
    """Return the first line that a change takes away from the first of ``rows``; 0 if none."""
    if fix is None or not rows or fix["target"]["file"] != rows[0]["file"]:
        return 0
    number = 0
    for text in fix["diff"].splitlines():
        hunk = _HUNK.match(text)
        if hunk:
            number = int(hunk[1])
        elif number and text.startswith("-"):
            return number if rows[0]["start_line"] <= number <= rows[0]["end_line"] else 0
        elif not text.startswith("+"):
            number += bool(number)
    return 0


def snippet(
    row: Document, fault: Document, read_source: ReadSource, changed: int = 0
) -> Snippet | None:
    """Return the line that a fix would change, else the hot line; None if it can't be read."""
    lines = source_text(row, read_source)
    number, label = hot_line(row, fault)
    if changed and changed != number:
        number, label = changed, "the line that the fix changes"
    if not 1 <= number <= len(lines):
        return None
    return number, lines[number - 1].strip(), label


def excerpt(row: Document, read_source: ReadSource, number: int) -> tuple[tuple[int, str], ...]:
    """Return the numbered lines of ``row`` around one of them, below the first, less indented."""
    first, last = max(row["start_line"], number - N_AROUND), min(row["end_line"], number + N_AROUND)
    numbers = dict.fromkeys([row["start_line"], *range(first, last + 1)])
    lines = source_text(row, read_source)
    texts = [lines[n - 1].rstrip() if n <= len(lines) else "" for n in numbers]
    return tuple(zip(numbers, dedent("\n".join(texts)).split("\n"), strict=True))


def source_lines(
    row: Document, read_source: ReadSource, anchored: set[str]
) -> tuple[SourceLine, ...] | None:
    """Return the lines of ``row``, ``MAX_SHOWN`` around the hottest; None if it can't be read.

    To ``anchored``, the anchors that were given before, those given here are added.
    """
    text = source_text(row, read_source)
    first, last = _window(row)
    executed = {line["line"]: line for line in row["lines"]}
    lines: list[SourceLine] = []
    for number, line in enumerate(text[first - 1 : last], first):
        anchor = one_line(f"{row['file']}:{number}")
        lines.append((number, line, "" if anchor in anchored else anchor, executed.get(number)))
        anchored.add(anchor)
    return tuple(lines) or None


def _window(row: Document) -> tuple[int, int]:
    first, last = row["start_line"], row["end_line"]
    if last - first < MAX_SHOWN:
        return first, last
    middle = _hottest(row["lines"], first)
    start = max(first, min(middle - MAX_SHOWN // 2, last - MAX_SHOWN + 1))
    return start, start + MAX_SHOWN - 1
