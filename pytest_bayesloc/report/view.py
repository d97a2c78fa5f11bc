"""The page: the JSON result in words, every number formatted, shared by terminal and HTML.

Built from the document and the source files alone. ``Any`` stands for JSON here: the document
may come from a file, its shape is held by ``docs/bayesloc-1.schema.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.report.advice import Line, advice_lines
from pytest_bayesloc.report.chart import Chart, chart
from pytest_bayesloc.report.rows import Place, Row, place, row_of
from pytest_bayesloc.report.source import Heat, Snippet, snippet, source_of, source_text
from pytest_bayesloc.report.steps import FixView, Step, fix_of, step_of
from pytest_bayesloc.report.text import count, one_line, percent, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Document = Mapping[str, Any]
ReadSource = Callable[[str], "str | None"]

N_SOURCES = 5
N_LISTED = 10
ENOUGH = 0.8  # of the belief, for a list of suspects to be worth naming
NUMBERS = dict(
    enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)
)
ORIGINS = {
    "code": "the error stands in the code",
    "test": "the error stands in the test itself",
    "fixture": "the error stands in a fixture of the test",
    "data": "the error stands in the test's data",
    "collection": "the file could not be collected",
}
KINDS = {
    "validation": "a check refused a value",
    "runtime": "the code crashed",
    "logic": "a result was wrong",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultView:
    """One group of failing tests."""

    number: int
    n_tests: str
    tests: tuple[str, ...]
    flaky: tuple[str, ...]
    error_type: str
    headline: str
    message: str
    origin: str
    kind: str
    raised_at: str
    stop_reason: str
    confidence: str
    fixes: tuple[FixView, ...]
    rows: tuple[Row, ...]
    steps: tuple[Step, ...]
    chart: Chart | None
    snippet: Snippet | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """The source of one suspect; None for ``lines`` where it could not be read."""

    row: Row
    lines: tuple[Heat, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One call of the call graph."""

    caller: Place
    callee: Place
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything that a person is shown."""

    n_passed: str
    n_failed: str
    session: tuple[tuple[str, str], ...]
    stages: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    faults: tuple[FaultView, ...]
    sources: tuple[SourceView, ...]
    edges: tuple[Edge, ...]
    partial: tuple[str, ...]
    advice: tuple[Line, ...]
    llm: str


def page(document: Document, read_source: ReadSource) -> Page:
    """The page of ``document``.

    Args:
        document: A ``bayesloc/1`` result.
        read_source: Text of a file of the project by its path in the document, None if it can't
            be read.
    """
    session = document["session"]
    return Page(
        n_passed=str(session["n_passed"]),
        n_failed=str(session["n_failed"]),
        session=_session(session),
        stages=tuple((name, seconds(value)) for name, value in session["seconds"].items()),
        rows=tuple(map(row_of, document["ranking"])),
        faults=tuple(_faults(document, read_source)),
        sources=tuple(_sources(document["faults"], read_source)),
        edges=tuple(
            Edge(caller=place(edge["caller"]), callee=place(edge["callee"]), calls=edge["calls"])
            for edge in document["call_graph"]["edges"]
        ),
        partial=tuple(map(one_line, document["partial"])),
        advice=tuple(advice_lines(document["memory"], in_full=True)),
        llm=_llm(document["llm"]),
    )


def _session(session: Document) -> tuple[tuple[str, str], ...]:
    return (
        ("Python", session["python_version"]),
        ("pytest", session["pytest_version"]),
        ("collector", session["collector"]),
        ("formula", session["formula"]),
        ("belief model", session["model"]),
        ("stops at a belief of", percent(session["threshold"])),
    )


def _faults(document: Document, read_source: ReadSource) -> Iterator[FaultView]:
    for number, fault in enumerate(document["faults"], 1):
        yield _fault(number, fault, document, read_source)


def _fault(number: int, fault: Document, document: Document, read_source: ReadSource) -> FaultView:
    error, tests = fault["error"], fault["failing_tests"]
    rows, session = fault["ranking"], document["session"]
    steps = [step for step in document["inspections"] if step["fault"] == number]
    fixes = [fix for fix in document["fixes"] if fix["fault"] == number]
    return FaultView(
        number=number,
        n_tests=count(len(tests), "test"),
        tests=tuple(map(one_line, tests)),
        flaky=tuple(map(one_line, fault["flaky"])),
        error_type=one_line(error["type"]),
        headline=_headline(error),
        message=error["message"],
        origin=ORIGINS[error["origin"]],
        kind=KINDS[error["kind"]],
        raised_at=one_line(f"{error['file']}:{error['line']}") if error["file"] else "",
        stop_reason=one_line(fault["stop_reason"]),
        confidence=_confidence([row["posterior"] for row in rows], session),
        fixes=tuple(map(fix_of, fixes)),
        rows=tuple(map(row_of, rows)),
        steps=tuple(map(step_of, steps)),
        chart=chart(fault["history"], session["threshold"]),
        snippet=snippet(rows[0], error, source_text(rows[0], read_source)) if rows else None,
    )


def _confidence(posteriors: Sequence[float], session: Document) -> str:
    """How sure the ranking is, in words; empty where its numbers are not shares of one belief."""
    if not posteriors or session["model"] == "independent":
        return ""
    if posteriors[0] >= session["threshold"]:
        return f"sure: the first holds {percent(posteriors[0])}"
    sums = list(accumulate(posteriors[:N_LISTED]))
    n = next((n for n, total in enumerate(sums, 1) if total >= ENOUGH), len(sums))
    held = percent(min(1.0, sums[n - 1]))
    if n == 1:
        return f"likely: the first holds {held}"
    if sums[n - 1] >= ENOUGH:
        return f"not sure: these {NUMBERS.get(n, n)} hold {held}"
    return f"not sure: the first {NUMBERS.get(n, n)} hold only {held}"


def _headline(error: Document) -> str:
    """Type and the first line of the message."""
    first = next((line for line in error["message"].splitlines() if line.strip()), "")
    return ": ".join(part for part in (one_line(error["type"]), one_line(first)) if part)


def _sources(faults: Sequence[Document], read_source: ReadSource) -> Iterator[SourceView]:
    """The best of each fault, then the second of each, and so on; each place and line once."""
    depths = range(N_SOURCES)
    best = [f["ranking"][i] for i in depths for f in faults if i < len(f["ranking"])]
    rows = {(row["file"], row["start_line"], row["qualname"]): row for row in reversed(best)}
    ordered = sorted(rows.values(), key=best.index)[: max(N_SOURCES, len(faults))]
    anchored: set[str] = set()
    for row in ordered:
        yield SourceView(row=row_of(row), lines=source_of(row, read_source, anchored))


def _llm(used: Mapping[str, Any]) -> str:
    """What asking a language model took; empty if none was asked."""
    if not used["model"]:
        return ""
    uses = ", ".join(f"{n} {one_line(use)}" for use, n in sorted(used["uses"].items()))
    cost = "cost unknown" if used["cost"] is None else f"cost {used['cost']:.4f}"
    kept = f", {used['replayed']} answers kept before" if used["replayed"] else ""
    where = f" at {one_line(used['endpoint'])}" if used["endpoint"] else ""
    return (
        f"{used['calls']} calls, {used['tokens']:,} tokens, {cost}{kept}; "
        f"of use: {uses or 'nothing'}; {one_line(used['model'])}{where}"
    )
