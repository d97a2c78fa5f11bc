"""The lines that a run ends with: the answer in ten rows, never thousands of lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_bayesloc.report.document import Document
from pytest_bayesloc.report.rows import Row
from pytest_bayesloc.report.steps import FixView
from pytest_bayesloc.report.text import columns, fit, wrap
from pytest_bayesloc.report.view import FaultView, Page, page

WHY_INDENT = len("  x1.00   ")
N_BRIEF = 3
N_SAID = 3
N_WHY_LINES = 3
EVERYTHING = 1_000
HEADER = f"rank  {'P':>5}  susp.  where"

#: How kinds of lines look.
MARKUP: Mapping[str, Mapping[str, bool]] = MappingProxyType(
    {"": {}, "head": {"bold": True}, "warning": {"yellow": True}}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is told of each: 0 for nothing."""

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
    2: Extent(
        faults=EVERYTHING,
        rows=EVERYTHING,
        explained=EVERYTHING,
        why=EVERYTHING,
        fixes=EVERYTHING,
        diff=EVERYTHING,
        steps=EVERYTHING,
        partial=EVERYTHING,
    ),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output; ``markup`` as ``TerminalReporter.write_line`` takes it."""

    text: str
    markup: Mapping[str, bool] = field(default_factory=dict)


def full(
    document: Document,
    *,
    width: int = 80,
    reports: Mapping[str, str] | None = None,
    verbosity: int = 0,
) -> list[Line]:
    """What ``pytest --bayesloc`` prints below the failures.

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
    # A path that is cut leads nowhere: a terminal wraps it.
    places = (Line(f"report: {k} {path}", {"bold": True}) for k, path in (reports or {}).items())
    return [*fitted, *places]


def brief(document: Document, *, width: int = 80) -> list[Line]:
    """What a plain ``pytest`` prints: three suspects and how to learn more; nothing if none."""
    view = page(document, _no_source)
    if not view.rows:
        return []
    searched = [fix for fault in view.faults for fix in fault.fixes if fix.level]
    lines = [
        Line("bayesloc: the likeliest places of the fault", {"bold": True}),
        *_rows(view.rows[:N_BRIEF], width),
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
    yield Line(title, {"bold": True, "red": True})
    at = f" at {fault.raised_at}" if fault.raised_at else ""
    yield Line(f"  {fault.origin}: {fault.kind}{at}")
    if fault.flaky:
        yield Line(f"  passed when re-run as they were: {', '.join(fault.flaky)}", {"yellow": True})
    if fault.confidence:
        yield Line(f"  {fault.confidence}")
    if fault.rows:
        yield Line(HEADER, {"bold": True})
    yield from _rows(fault.rows[: extent.rows], width)
    hidden = len(fault.rows) - extent.rows
    if hidden > 0:
        yield Line(f"      {hidden} more in the report")
    for row in fault.rows[: extent.explained]:
        yield from _why(row, width, extent.why)
    for step in fault.steps[: extent.steps]:
        what = f"inspected {step.place.where} {step.place.name}, {step.kind}: {step.outcome}"
        yield Line(f"{what} ({step.before} to {step.after}, {step.seconds})")
    for fix in fault.fixes[: extent.fixes]:
        yield from _fix(fix, width, extent)
    yield Line(f"stopped: {fault.stop_reason}")


def _rows(rows: Sequence[Row], width: int) -> Iterator[Line]:
    for index, row in enumerate(rows):
        rank = row.rank if row.rank.endswith("=") else f"{row.rank} "
        start = f"{rank:>5} {row.posterior:>5}  {row.suspiciousness:>5}  "
        badge = " [test]" if row.place.is_test else ""
        room = width - columns(start) - columns(badge)
        text = f"{start}{fit(_where(row, room), room)}{badge}"
        yield Line(text, {"bold": True} if index == 0 else {})


def _where(row: Row, room: int) -> str:
    """Place and name; leading folders give way first, since file, line and name say more."""
    where, name = row.place.where, row.place.name
    while columns(where) + 1 + columns(name) > room and "/" in where.removeprefix(".../"):
        where = f".../{where.removeprefix('.../').split('/', 1)[1]}"
    return f"{where} {name}"


def _why(row: Row, width: int, n_why: int) -> Iterator[Line]:
    yield Line(f"why {_where(row, width - len('why '))}", {"bold": True})
    for why in row.why[:n_why]:
        first, *rest = wrap(why.text, width - WHY_INDENT, N_WHY_LINES)
        yield Line(f"  {why.ratio:>6}  {first}")
        for text in rest:
            yield Line(f"{' ' * WHY_INDENT}{text}")
    if not row.why:
        yield Line(f"  {row.counts}")


def _fix(fix: FixView, width: int, extent: Extent) -> Iterator[Line]:
    first, *rest = wrap(fix.said, width - 2, N_SAID)
    yield Line(first, {"bold": True})
    for text in rest:
        yield Line(f"  {text}", {"bold": True})
    if fix.level:
        then = f"; {fix.next_step}" if fix.next_step else ""
        yield Line(f"  {fix.place.where} {fix.place.name}, {fix.level}{then}")
    for line in fix.diff[: extent.diff]:
        if line.kind in {"add", "del"}:
            yield Line(f"    {line.text}", {"green": True} if line.kind == "add" else {"red": True})


def _ending(view: Page, extent: Extent) -> Iterator[Line]:
    for note in view.partial[: extent.partial]:
        yield Line(f"partial: {note}", {"yellow": True})
    if len(view.partial) > extent.partial:
        yield Line(f"partial: {len(view.partial) - extent.partial} more notes", {"yellow": True})
    if view.stages:
        yield Line("time: " + ", ".join(f"{name} {spent}" for name, spent in view.stages))
    if view.llm:
        yield Line(f"language model: {view.llm}")
