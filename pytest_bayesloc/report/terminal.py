"""The lines that a run ends with: the answer in ten rows, never thousands of lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_bayesloc.report.text import columns, fit, wrap
from pytest_bayesloc.report.view import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_bayesloc.report.rows import Row
    from pytest_bayesloc.report.steps import FixView
    from pytest_bayesloc.report.view import Document, FaultView, Page

N_FAULTS = 3
N_ROWS = 10
N_EXPLAINED = 3
N_WHY = 4
N_WHY_LINES = 3
WHY_INDENT = len("  x1.00   ")
N_PARTIAL = 3
N_DIFF = 20
N_FIXES = 2
N_SAID = 3
N_BRIEF = 3
HEADER = f"rank  {'P':>5}  susp.  where"

#: How kinds of lines look.
MARKUP: Mapping[str, Mapping[str, bool]] = MappingProxyType(
    {"": {}, "head": {"bold": True}, "warning": {"yellow": True}}
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output; ``markup`` as ``TerminalReporter.write_line`` takes it."""

    text: str
    markup: Mapping[str, bool] = field(default_factory=dict)


def full(
    document: Document, *, width: int = 80, reports: Mapping[str, str] | None = None
) -> list[Line]:
    """What ``pytest --bayesloc`` prints below the failures.

    Args:
        document: A ``bayesloc/1`` result.
        width: Columns of the terminal.
        reports: Kind of each written report to its path.
    """
    view = page(document, _no_source)
    lines = [*_faults(view, width), *_ending(view)]
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
        *(line for fix in searched[:N_BRIEF] for line in _fix(fix, width)),
        Line("For evidence, inspections and a report: pytest --bayesloc"),
    ]
    return [Line(fit(line.text, width), line.markup) for line in lines]


def _no_source(file: str) -> None:  # noqa: ARG001 - the shape of a reader of sources
    return None


def _faults(view: Page, width: int) -> Iterator[Line]:
    if not view.faults:
        yield Line("bayesloc: nothing to localize.")
    for fault in view.faults[:N_FAULTS]:
        yield from _fault(fault, width)
        yield Line("")
    rest = view.faults[N_FAULTS:]
    if rest:
        heads = "; ".join(fault.headline for fault in rest)
        yield Line(f"and {len(rest)} more, in the report: {heads}")


def _fault(fault: FaultView, width: int) -> Iterator[Line]:
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
    yield from _rows(fault.rows[:N_ROWS], width)
    hidden = len(fault.rows) - N_ROWS
    if hidden > 0:
        yield Line(f"      {hidden} more in the report")
    for row in fault.rows[:N_EXPLAINED]:
        yield from _why(row, width)
    for fix in fault.fixes[:N_FIXES]:
        yield from _fix(fix, width)
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


def _why(row: Row, width: int) -> Iterator[Line]:
    yield Line(f"why {_where(row, width - len('why '))}", {"bold": True})
    for why in row.why[:N_WHY]:
        first, *rest = wrap(why.text, width - WHY_INDENT, N_WHY_LINES)
        yield Line(f"  {why.ratio:>6}  {first}")
        for text in rest:
            yield Line(f"{' ' * WHY_INDENT}{text}")
    if not row.why:
        yield Line(f"  {row.counts}")


def _fix(fix: FixView, width: int) -> Iterator[Line]:
    first, *rest = wrap(fix.said, width - 2, N_SAID)
    yield Line(first, {"bold": True})
    for text in rest:
        yield Line(f"  {text}", {"bold": True})
    if fix.level:
        then = f"; {fix.next_step}" if fix.next_step else ""
        yield Line(f"  {fix.place.where} {fix.place.name}, {fix.level}{then}")
    for line in fix.diff[:N_DIFF]:
        if line.kind in {"add", "del"}:
            yield Line(f"    {line.text}", {"green": True} if line.kind == "add" else {"red": True})


def _ending(view: Page) -> Iterator[Line]:
    for note in view.partial[:N_PARTIAL]:
        yield Line(f"partial: {note}", {"yellow": True})
    if len(view.partial) > N_PARTIAL:
        yield Line(f"partial: {len(view.partial) - N_PARTIAL} more notes", {"yellow": True})
    if view.stages:
        yield Line("time: " + ", ".join(f"{name} {spent}" for name, spent in view.stages))
    if view.llm:
        yield Line(f"language model: {view.llm}")
