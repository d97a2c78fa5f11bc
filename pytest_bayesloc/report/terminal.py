"""The lines that a run ends with: the answer in ten rows, never thousands of lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock
from pytest_bayesloc.report.details import diff_lines, next_step, summary_of
from pytest_bayesloc.report.document import Document
from pytest_bayesloc.report.rows import SuspectRow, location_view, words_of
from pytest_bayesloc.report.text import (
    HEAD,
    WARNING,
    Line,
    columns,
    fit,
    one_line,
    percent,
    seconds,
    wrap,
)
from pytest_bayesloc.report.view import FaultView, Page, page

if TYPE_CHECKING:
    import pytest

WHY_INDENT = len("  x1.00   ")
N_BRIEF = 3
N_SUMMARY = 3
N_WHY_LINES = 3
N_SPOILED = 6
EVERYTHING = 1_000
HEADER = f"rank  {'P':>5}  susp.  where"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The number of each that is shown: 0 for none."""

    faults: int
    rows: int
    explained: int
    why: int
    fixes: int
    diff: int
    steps: int
    partial: int


#: By pytest's verbosity: ``-qq`` is the bare answer, ``-vv`` all there is.
EXTENTS = {
    -2: Extent(faults=3, rows=1, explained=0, why=0, fixes=1, diff=0, steps=0, partial=1),
    -1: Extent(faults=3, rows=5, explained=1, why=3, fixes=1, diff=20, steps=0, partial=3),
    0: Extent(faults=3, rows=10, explained=3, why=4, fixes=2, diff=20, steps=0, partial=3),
    1: Extent(faults=10, rows=20, explained=10, why=10, fixes=3, diff=80, steps=10, partial=10),
    2: Extent(**dict.fromkeys(Extent.__slots__, EVERYTHING)),
}


def full(
    document: Document,
    *,
    width: int = 80,
    reports: Mapping[str, str] | None = None,
    verbosity: int = 0,
) -> list[Line]:
    """Return the lines of ``pytest --bayesloc`` below the failures.

    Args:
        document: A ``bayesloc/1`` result.
        width: Columns of the terminal.
        reports: Kind of each written report to its path.
        verbosity: pytest's, by ``-q`` and ``-v``.
    """
    view = page(document, _no_source)
    extent = EXTENTS[max(-2, min(verbosity, 2))]
    lines = [*_faults(view, width, extent), *_ending(view, extent)]
    fitted = (Line(fit(line.text, width), line.markup) for line in lines)
    # A path or command that is cut leads nowhere: a terminal wraps it.
    commands = (Line(f"reproduce: {c}") for f in view.faults[: extent.faults] for _, c in f.spoiled)
    places = (Line(f"report: {k} {path}", HEAD) for k, path in (reports or {}).items())
    return [*fitted, *commands, *places]


def brief(document: Document, *, width: int = 80) -> list[Line]:
    """Return the lines of a plain ``pytest``: three suspects and how to learn more; or none."""
    view = page(document, _no_source)
    if not view.rows:
        return []
    searched = [fix for fault in view.faults for fix in fault.fixes if fix["stage"] != "inspection"]
    lines = [
        Line("bayesloc: the likeliest places of the fault", HEAD),
        *_rows(view.rows[:N_BRIEF], width),
        *(
            Line(f"data changed since the tests passed: {fault.changed_data}", WARNING)
            for fault in view.faults[:1]
            if fault.changed_data
        ),
        *(line for fix in searched[:N_BRIEF] for line in _fix(fix, width, EXTENTS[0])),
        Line("For evidence, inspections and a report: pytest --bayesloc"),
    ]
    return [Line(fit(line.text, width), line.markup) for line in lines]


def _no_source(file: str) -> None:  # noqa: ARG001 - the shape of a reader of sources
    return None


def _faults(view: Page, width: int, extent: Extent) -> Iterator[Line]:
    if not view.faults:
        yield Line("bayesloc: nothing to localize.")
    for fault in view.faults[: extent.faults]:
        yield from _fault(fault, width, extent)
        yield Line("")
    rest = view.faults[extent.faults :]
    if rest:
        heads = "; ".join(fault.headline for fault in rest)
        yield Line(f"and {len(rest)} more, in the report: {heads}")


def _fault(fault: FaultView, width: int, extent: Extent) -> Iterator[Line]:
    title = f"fault {fault.number}: {fault.n_tests} failed with {fault.headline}"
    if fault.is_flaky:
        yield Line(f"fault {fault.number} is flaky: {fault.headline}", {"bold": True, "red": True})
        yield Line(f"  {fault.origin}", WARNING)
        yield from _remarks(fault, width)
        return
    yield Line(title, {"bold": True, "red": True})
    at = f" at {fault.raised_at}" if fault.raised_at else ""
    yield Line(f"  {fault.origin}: {fault.kind}{at}")
    yield from _remarks(fault, width)
    yield from _ranking(fault, width, extent)
    for row in fault.rows[: extent.explained]:
        yield from _why(row, width, extent.why)
    for step in fault.steps[: extent.steps]:
        yield Line(_inspected(step))
    for fix in fault.fixes[: extent.fixes]:
        yield from _fix(fix, width, extent)
    yield Line(f"stopped: {fault.stop_reason}")


def _remarks(fault: FaultView, width: int) -> Iterator[Line]:
    if fault.flaky:
        yield Line(f"  passed when re-run as they were: {', '.join(fault.flaky)}", WARNING)
    for words, _ in fault.spoiled:
        for text in wrap(words, width - 2, N_SPOILED):
            yield Line(f"  {text}", WARNING)
    if fault.changed_data:
        yield Line(f"  data changed since the tests passed: {fault.changed_data}", WARNING)


def _ranking(fault: FaultView, width: int, extent: Extent) -> Iterator[Line]:
    hidden = len(fault.rows) - extent.rows
    if fault.confidence:
        yield Line(f"  {fault.confidence}")
    if fault.rows:
        yield Line(HEADER, HEAD)
    yield from _rows(fault.rows[: extent.rows], width)
    if hidden > 0:
        yield Line(f"      {hidden} more in the report")
    if fault.or_test:
        yield Line(f"  {fault.or_test}")


def _inspected(step: Document) -> str:
    moved = f"{percent(step['belief_before'])} to {percent(step['belief_after'])}"
    what = f"{one_line(step['kind'])}: {words_of(step['outcome'])}"
    return (
        f"inspected {location_view(step['target'])}, {what} ({moved}, {seconds(step['seconds'])})"
    )


def _rows(rows: Sequence[SuspectRow], width: int) -> Iterator[Line]:
    for index, row in enumerate(rows):
        rank = row.rank if row.rank.endswith("=") else f"{row.rank} "
        start = f"{rank:>5} {row.posterior:>5}  {row.suspiciousness:>5}  "
        badge = " [test]" if row.place.is_test else ""
        room = width - columns(start) - columns(badge)
        text = f"{start}{fit(_where(row, room), room)}{badge}"
        yield Line(text, HEAD if index == 0 else {})


def _where(row: SuspectRow, room: int) -> str:
    """Return place and name; leading folders give way first, since file, line and name say more."""
    where, name = row.place.where, row.place.name
    while columns(where) + 1 + columns(name) > room and "/" in where.removeprefix(".../"):
        where = f".../{where.removeprefix('.../').split('/', 1)[1]}"
    return f"{where} {name}"


def _why(row: SuspectRow, width: int, n_why: int) -> Iterator[Line]:
    yield Line(f"why {_where(row, width - len('why '))}", HEAD)
    for why in row.why[:n_why]:
        first, *rest = wrap(why.text, width - WHY_INDENT, N_WHY_LINES)
        yield Line(f"  {why.ratio:>6}  {first}")
        for text in rest:
            yield Line(f"{' ' * WHY_INDENT}{text}")
    if not row.why:
        yield Line(f"  {row.counts}")


def _fix(fix: Document, width: int, extent: Extent) -> Iterator[Line]:
    first, *rest = wrap(summary_of(fix), width - 2, N_SUMMARY)
    yield Line(first, HEAD)
    for text in rest:
        yield Line(f"  {text}", HEAD)
    if fix["stage"] != "inspection":
        step = next_step(fix)
        then = f"; {step}" if step else ""
        yield Line(f"  {location_view(fix['target'])}, {one_line(fix['level'])}{then}")
    for kind, text in islice(diff_lines(fix["diff"]), extent.diff):
        if kind in {"add", "del"}:
            yield Line(f"    {text}", {"green": True} if kind == "add" else {"red": True})


def _ending(view: Page, extent: Extent) -> Iterator[Line]:
    for note in view.partial[: extent.partial]:
        yield Line(f"partial: {note}", WARNING)
    if len(view.partial) > extent.partial:
        yield Line(f"partial: {len(view.partial) - extent.partial} more notes", WARNING)
    if view.stages:
        yield Line("time: " + ", ".join(f"{name} {spent}" for name, spent in view.stages))
    if view.llm:
        yield Line(f"language model: {view.llm}")


class Progress:
    """One line that is rewritten while inspections run, on a terminal only.

    It says how long they may go on, of ``budget_s`` seconds from now.
    """

    def __init__(self, config: pytest.Config, clock: Clock, budget_s: float) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        shown = reporter is not None and reporter.isatty and config.getoption("verbose") >= 0
        self._reporter = reporter if shown else None
        self._clock = clock
        self._ends = clock() + budget_s

    def show(self, number: int, target: Location | None, belief: float) -> None:
        """Show what is done now, how much is believed so far, and how long it may go on."""
        what = "running the failing tests again"
        if target is not None:
            what = f"inspection {number}, {target}, P = {belief:.0%}"
        self.say(what)

    def say(self, what: str) -> None:
        """Show what is done now, and how long it may go on."""
        if self._reporter is None:
            return
        self._reporter.ensure_newline()  # the dots stay
        width = self._reporter._tw.fullwidth  # noqa: SLF001 - no public way leads to the width
        left_s = max(0.0, self._ends - self._clock())
        self._reporter.rewrite(f"bayesloc, {left_s:.0f} s left: {what}"[: width - 1], erase=True)

    def clear(self) -> None:
        """Leave an empty line."""
        if self._reporter is not None:
            self._reporter.rewrite("", erase=True)
