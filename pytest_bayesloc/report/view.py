"""The faults of a JSON result in words, every number formatted, shared by terminal and HTML.

They are built of the document and the source files alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from pytest_bayesloc.domain.fixing import FIX
from pytest_bayesloc.report.details import headline, spoiled_words
from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.memory import brief_lines
from pytest_bayesloc.report.rows import (
    Snippet,
    SourceLine,
    SuspectRow,
    ValuesView,
    changed_line,
    excerpt,
    hot_line,
    key_of,
    location_view,
    snippet,
    source_lines,
    suspect_row,
    values_view,
)
from pytest_bayesloc.report.text import count, one_line, percent, tests_to_run

Source: TypeAlias = tuple[SuspectRow, "tuple[SourceLine, ...] | None"]

N_SOURCES = 5
N_LISTED = 10
N_TO_RUN = 3  # tests in a command to copy
N_DATA = 3  # data files that are named of a fault
N_REASONS = 3
LEAST_FACTOR = 1.5  # of a likelihood ratio, for a reason to be shown with the answer
ENOUGH = 0.8  # of the belief, for a list of suspects to be worth naming
LEAST_SHARE = 0.01  # of the tests, to be told
ORIGINS = {
    "code": "likely cause: the code under test",
    "test": "likely cause: the test itself",
    "fixture": "likely cause: a fixture of the test",
    "data": "likely cause: the test's data",
    "collection": "the file could not be collected",
}
FLAKY = "each failing test passed when run again, so no suspect is named"
KINDS = {
    "validation": "a check rejected a value",
    "runtime": "the code crashed",
    "logic": "a result was wrong",
    "timeout": "the test did not end in time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultView:
    """One group of failing tests; ``entry`` is that of the document.

    ``next_steps`` are things to do: in words, and the command for it, empty if there is none.
    ``spoiled`` are tests that fail after others: in words, and the command that reproduces it.
    """

    number: int
    entry: Document
    n_tests: str
    spoiled: tuple[tuple[str, str], ...]
    changed_data: str
    headline: str
    origin: str
    kind: str
    raised_at: str
    confidence: str
    fixes: tuple[Document, ...]
    best_fix: Document | None
    rows: tuple[SuspectRow, ...]
    steps: tuple[Document, ...]
    or_test: str
    snippet: Snippet | None
    excerpt: tuple[tuple[int, str], ...]
    values: ValuesView | None
    loop: tuple[str, ...]
    remembered: tuple[str, ...]
    next_steps: tuple[tuple[str, str], ...]

    @property
    def hint(self) -> Document | None:
        """A command for a test that may expect something else now, beside another fix."""
        hints = (fix for fix in self.fixes if not fix["diff"] and fix is not self.best_fix)
        return next(hints, None)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons for the first suspect, strongest first, without the change that is shown."""
        fix = self.best_fix
        shown = {one_line(s["why"]) for s in self.steps if fix and s["step"] == fix["step"]}
        why = self.rows[0].why if self.rows else ()
        told = (w.text for w in why if w.factor >= LEAST_FACTOR and w.source != FIX)
        return tuple(text for text in told if text not in shown)[:N_REASONS]

    @property
    def is_elsewhere(self) -> bool:
        """Whether the likely cause is not the code under test."""
        return self.origin != ORIGINS["code"]

    @property
    def is_flaky(self) -> bool:
        """Whether every test passes when run again, and none is spoiled by others."""
        return self.origin == FLAKY


def faults_of(document: Document, read_source: ReadSource) -> list[FaultView]:
    """Return the faults of ``document``."""
    numbered = enumerate(document["faults"], 1)
    return [_fault(number, fault, document, read_source) for number, fault in numbered]


def answers(faults: Sequence[FaultView]) -> list[list[FaultView]]:
    """Return the faults; those with the same first suspect stand together."""
    groups: dict[str, list[FaultView]] = {}
    for fault in faults:
        key = str(fault.rows[0].place) if fault.rows else str(fault.number)
        groups.setdefault(key, []).append(fault)
    return list(groups.values())


def _fault(number: int, fault: Document, document: Document, read_source: ReadSource) -> FaultView:
    error, tests = fault["error"], fault["failing_tests"]
    rows, session = fault["ranking"], document["session"]
    steps = [step for step in document["inspections"] if step["fault"] == number]
    fixes = [fix for fix in document["fixes"] if fix["fault"] == number]
    best = _best_fix(fixes, rows)
    line = changed_line(best, rows)
    shown = snippet(rows[0], fault, read_source, line) if rows else None
    return FaultView(
        number=number,
        entry=fault,
        n_tests=count(len(tests), "test"),
        spoiled=tuple((spoiled_words(s), one_line(s["command"])) for s in fault["spoiled"]),
        changed_data=_listed(fault["changed_data"]),
        headline=headline(error),
        origin=FLAKY if _is_flaky(fault) else ORIGINS[error["origin"]],
        kind=KINDS[error["kind"]],
        raised_at=one_line(f"{error['file']}:{error['line']}") if error["file"] else "",
        confidence=_confidence([row["posterior"] for row in rows], session),
        fixes=tuple(fixes),
        best_fix=best,
        rows=tuple(map(suspect_row, rows)),
        steps=tuple(steps),
        or_test=_or_test(fault),
        snippet=shown,
        excerpt=excerpt(rows[0], read_source, shown[0]) if shown else (),
        values=values_view(fault),
        loop=tuple(_loop(document["memory"], number)),
        remembered=tuple(brief_lines(document["memory"], number)),
        next_steps=tuple(_next_steps(fault, best, line, session)),
    )


def _loop(memory: Document, number: int) -> Iterator[str]:
    """Yield what is said to those who go in circles over a fault; the error they know."""
    for loop in memory["loops"]:
        if loop["fault"] == number:
            yield from (t for t in loop["said"] if not t.startswith(("error: ", "raised ")))
            return


def _best_fix(fixes: Sequence[Document], rows: Sequence[Document]) -> Document | None:
    """Return the change to show first; of what inspections came across, one of the first suspect.

    Others of those may only hide the error.
    """
    first = [key_of(row) for row in rows[:1]]
    found = (f for f in fixes if f["stage"] != "inspection" or key_of(f["target"]) in first)
    return min(found, key=lambda fix: (not fix["verified"], bool(fix["doubt"])), default=None)


def _is_flaky(fault: Document) -> bool:
    return len(fault["flaky"]) == len(fault["failing_tests"]) and not fault["spoiled"]


def _listed(files: Sequence[str]) -> str:
    """Return the first of ``files`` in one line, and how many more there are."""
    more = f" and {len(files) - N_DATA} more" if len(files) > N_DATA else ""
    return ", ".join(map(one_line, files[:N_DATA])) + more


def _or_test(fault: Document) -> str:
    """Return the share of the failing tests themselves in words; empty if it is small."""
    share = fault["test_share"]
    tests = "the test itself" if len(fault["failing_tests"]) == 1 else "the tests themselves"
    return f"{tests} may be wrong: {percent(share)}" if share >= LEAST_SHARE else ""


def _next_steps(
    fault: Document, best: Document | None, line: int, session: Document
) -> Iterator[tuple[str, str]]:
    """Yield things to do now, the most promising first."""
    is_good = best is not None and best["verified"] and best["patch_file"] and not best["doubt"]
    if best is not None and is_good and not best["applied"]:
        yield "apply this fix", f"git apply {one_line(best['patch_file'])}"
    for spoiled in fault["spoiled"]:
        yield "reproduce it", one_line(spoiled["command"])
    rows = fault["ranking"]
    if rows:
        where = one_line(f"{rows[0]['file']}:{line or hot_line(rows[0], fault)[0]}")
        is_sure = rows[0]["posterior"] >= session["threshold"]
        yield f"{'read' if is_sure else 'begin at'} {where}", ""
        if not is_sure and len(rows) > 1:
            yield f"then {location_view(rows[1])}", ""
    if best is None and rows and not rows[0]["is_test"] and "fix" not in session["seconds"]:
        yield "search for a fix", "pytest --lf --bayesloc-fix=suggest"
    words = "run it again" if _is_flaky(fault) else "test your change"
    yield words, tests_to_run(fault["failing_tests"][:N_TO_RUN])


def _confidence(posteriors: Sequence[float], session: Document) -> str:
    """Return how sure the ranking is; empty where its numbers are not shares of one belief."""
    if not posteriors or session["model"] == "independent":
        return ""
    if posteriors[0] >= session["threshold"]:
        return f"sure: {percent(posteriors[0])}"
    sums = list(accumulate(posteriors[:N_LISTED]))
    n = next((n for n, total in enumerate(sums, 1) if total >= ENOUGH), len(sums))
    held = percent(min(1.0, sums[n - 1]))
    if n == 1:
        return f"likely: {held}"
    only = "" if sums[n - 1] >= ENOUGH else "only "
    return f"uncertain: top {n} total {only}{held}"


def sources_of(faults: Sequence[Document], read_source: ReadSource) -> Iterator[Source]:
    """Yield the best of each fault, then the second of each; each place and line once.

    A source is a suspect with its lines, None if they could not be read.
    """
    depths = range(N_SOURCES)
    best = [f["ranking"][i] for i in depths for f in faults if i < len(f["ranking"])]
    rows = {key_of(row): row for row in reversed(best)}
    ordered = sorted(rows.values(), key=best.index)[: max(N_SOURCES, len(faults))]
    anchored: set[str] = set()
    for row in ordered:
        yield suspect_row(row), source_lines(row, read_source, anchored)


def llm_words(used: Document) -> str:
    """Return the use of a language model in words; empty if none was asked."""
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
