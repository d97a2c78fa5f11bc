"""The lines that a run ends with: for each fault the suspect, its line, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock
from pytest_bayesloc.domain.texts import count, listed
from pytest_bayesloc.report.document import ReadSource, ResultDocument, RowEntry
from pytest_bayesloc.report.text import (
    HEAD,
    WARNING,
    Line,
    columns,
    fit,
    one_line,
    padded,
    percent,
    seconds,
    wrap,
)
from pytest_bayesloc.report.view import N_REASONS, FaultView, answers, faults_of
from pytest_bayesloc.report.words import (
    all_flaky_words,
    bare_name,
    belief_words,
    contrast_of,
    counts_of,
    fitting_changes,
    llm_words,
    name_of,
    place_of,
    rank_of,
    ratio_of,
    said_of,
    short_name,
    summary_of,
    suspiciousness_of,
    telling,
    value_rows,
    where_of,
)

if TYPE_CHECKING:
    import pytest

N_WRAPPED = 2  # lines of a flag, a reason, or what is said of a fix
N_SPOILED = 5
N_HINT = 4  # it has a command
N_TIED = 2  # suspects that are named beside the first
MAX_TOP = 6  # lines of title and flags
N_WHY = 10  # reasons of a suspect, and suspects with reasons, in the long form
DOUBTED = 0.1  # share of the tests themselves, for it to be worth a line
WHY_INDENT = len("  x1.00   ")
EVERYTHING = 1_000
HEADER = f"rank  {'P':>5}  susp.  where"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The number of each that is shown: 0 for none.

    Attributes:
        faults: Told of by themselves.
        lines: Of a fault, without its table.
        diff: Lines of a change.
        rows: Suspects in the table, with all reasons and their weight.
        steps: Inspections of a fault.
        notes: On what is missing.
    """

    faults: int
    lines: int
    diff: int
    rows: int
    steps: int
    notes: int


#: By pytest's verbosity: ``-qq`` is the bare answer, ``-vv`` all there is.
EXTENTS = {
    -2: Extent(faults=3, lines=2, diff=0, rows=0, steps=0, notes=0),
    -1: Extent(faults=3, lines=12, diff=6, rows=0, steps=0, notes=1),
    0: Extent(faults=3, lines=12, diff=6, rows=0, steps=0, notes=1),
    1: Extent(faults=10, lines=EVERYTHING, diff=80, rows=20, steps=10, notes=10),
    2: Extent(**dict.fromkeys(Extent.__slots__, EVERYTHING)),
}


def answer(
    document: ResultDocument,
    read_source: ReadSource,
    *,
    width: int = 80,
    reports: Mapping[str, str] | None = None,
    verbosity: int = 0,
    is_inspected: bool = True,
) -> list[Line]:
    """Return the lines below the failures.

    Args:
        document: A ``bayesloc/1`` result.
        read_source: Reads the files that it names.
        width: Columns of the terminal.
        reports: Kind of each written report to its path.
        verbosity: pytest's, by ``-q`` and ``-v``.
        is_inspected: Whether the run was one of ``--bayesloc``; else less is said, and nothing
            where there is no suspect.
    """
    faults, all_flaky = faults_of(document, read_source), all_flaky_words(document)
    lines = [Line(f"bayesloc: {all_flaky}", WARNING, is_whole=True)] if all_flaky else []
    if not is_inspected and not any(fault.rows for fault in faults):
        return lines
    extent = EXTENTS[max(-2, min(verbosity, 2))]
    groups = answers(faults)
    lines += [] if groups else [Line("bayesloc: nothing to localize.")]
    for fault, *others in groups[: extent.faults]:
        lines += _fault(fault, others, width, extent, is_inspected=is_inspected)
        lines += [Line("")] if is_inspected else []
    rest = [fault.headline for group in groups[extent.faults :] for fault in group]
    if rest:
        more = count(len(rest), "more fault")
        lines.append(Line(f"and {more}, in the report: {'; '.join(dict.fromkeys(rest))}"))
    if is_inspected:
        lines += _ending(document, extent, width)
    else:
        lines.append(Line("To inspect these suspects: pytest --bayesloc"))
    fitted = [line if line.is_whole else Line(fit(line.text, width), line.markup) for line in lines]
    return [*fitted, *(Line(f"report: {k} {path}", HEAD) for k, path in (reports or {}).items())]


def _fault(
    fault: FaultView, others: Sequence[FaultView], width: int, extent: Extent, *, is_inspected: bool
) -> Iterator[Line]:
    """Yield the answer to a fault, and to ``others`` with the same first suspect.

    The change gets the room that flags, suspect and next step leave, the reasons what it leaves.
    """
    is_flaky = " is flaky" if fault.is_flaky else ""
    title = f"fault {fault.number}{is_flaky}: {fault.n_tests} failed with {fault.headline}"
    top = [Line(title, {"bold": True, "red": True}), *_flags(fault, width)]
    if len(top) > MAX_TOP:
        top[MAX_TOP - 1 :] = [Line(f"{top[MAX_TOP - 1].text} ...", WARNING)]
    if others:
        also = (f"fault {o.number}: {o.n_tests} failed with {o.headline}" for o in others)
        top.append(Line(f"  the same suspect as in {'; '.join(also)}"))
    if fault.cause:
        yield from _caused(fault, top, width, extent)
        return
    verdict = list(_verdict(fault, width))
    if not extent.diff:
        yield from [top[0], *verdict, *top[1:]][: extent.lines]
        return
    found = [*top, *verdict, *_source(fault, width)]
    end = list(_next(fault)) if is_inspected or fault.fixes else []
    found += _changes(fault, width, extent, extent.lines - len(found) - len(end))
    yield from found
    if extent.rows:
        yield from _table(fault, width, extent)
    else:
        reasons = _strong(fault) if is_inspected else []
        yield from _told(fault, reasons, width, extent.lines - len(found) - len(end))
    yield from end


def _caused(fault: FaultView, top: Sequence[Line], width: int, extent: Extent) -> Iterator[Line]:
    """Yield the answer where the cause is no mistake in a function; suspects come last."""
    cause = [Line(part if n == 0 else f"  {part}", HEAD)
             for n, part in enumerate(wrap(fault.cause, width - 2, N_SPOILED))]  # fmt: skip
    loop = [line for text in fault.loop[:1] for line in _wrapped(text, width)]
    known = [line for text in fault.known for line in _wrapped(text, width)]
    yield from [top[0], *cause, *loop, *known][: extent.lines]
    if not extent.diff:
        return
    if fault.advice:
        yield from (Line(f"  {part}") for part in wrap(f"Next, {fault.advice}", width - 2, N_HINT))
    if fault.fixes:
        yield from _changes(fault, width, extent, extent.lines)
    yield from (Line(f"  {line.text}") for line in _verdict(fault, width - 2, "If not that, "))
    if extent.rows:
        yield from _table(fault, width, extent)
    yield from _next(fault)


def _flags(fault: FaultView, width: int) -> Iterator[Line]:
    """Yield what to know before the suspect: a cause that is not in the code, or in doubt."""
    if fault.loop:
        yield from _wrapped(fault.loop[0], width)
    for text in fault.known:
        yield from _wrapped(text, width, N_SPOILED)
    if fault.is_flaky or fault.is_elsewhere:
        yield from _wrapped(fault.origin, width)
    if fault.entry.flaky and not fault.is_flaky:
        flaky = [*map(one_line, fault.entry.flaky)]
        yield from _wrapped(f"passed when run again: {listed(flaky)}", width)
    for words, _ in fault.spoiled:
        yield from _wrapped(words, width, N_SPOILED)
    if fault.entry.test_share >= DOUBTED:
        yield from _wrapped(fault.or_test, width)
    if fault.changed_data:
        yield from _wrapped(f"data changed since the tests passed: {fault.changed_data}", width)


def _wrapped(text: str, width: int, n_lines: int = N_WRAPPED) -> Iterator[Line]:
    yield from (Line(f"  {part}", WARNING) for part in wrap(text, width - 2, n_lines))


def _verdict(fault: FaultView, width: int, before: str = "") -> Iterator[Line]:
    if not fault.rows:
        return
    first, *rest = fault.rows
    tied = [row for row in rest if rank_of(row) == rank_of(first)]
    belief = percent(first.posterior)
    start, end = f"Most likely: {short_name(first)}", f", {belief}"
    if tied:
        start = f"Equally likely, {belief} each: {short_name(first)}"
        named = "".join(f", {short_name(row)} ({where_of(row)})" for row in tied[:N_TIED])
        end = f"{named} and {len(tied) - N_TIED} more" if len(tied) > N_TIED else named
    start = f"{before}{start[0].lower()}{start[1:]}" if before else start
    where = _short(first, width - columns(f"{start} (){'' if tied else end}"))
    then = ""
    if rest and not tied:
        then = f"; next {short_name(rest[0])} {percent(rest[0].posterior)}"
    text, *more = wrap(f"{start} ({where}){end}{then}", width - 2, N_WRAPPED)
    yield from (Line(text, HEAD), *(Line(f"  {part}", HEAD) for part in more))


def _short(row: RowEntry, room: int) -> str:
    """Return the place; leading folders give way first, since file and line say more."""
    where = where_of(row)
    while columns(where) > room and "/" in where.removeprefix(".../"):
        where = f".../{where.removeprefix('.../').split('/', 1)[1]}"
    return where


def _source(fault: FaultView, width: int) -> Iterator[Line]:
    if fault.snippet is not None and fault.snippet[1]:
        number, text, label = fault.snippet
        line = f"  line {number}: {one_line(text)}"
        fits = columns(line) + 4 + columns(label) <= width
        yield Line(f"{line}  ({label})" if fits else line)


def _changes(fault: FaultView, width: int, extent: Extent, room: int) -> Iterator[Line]:
    """Yield the first change, one that was verified if there is any; all in the long form.

    Behind it comes a command for a test that may expect something else now.
    """
    for fix in fault.fixes if extent.rows else filter(None, [fault.best_fix, fault.hint]):
        near = fault.rows[0].file if fault.rows else ""
        said = wrap(summary_of(fix, near), width - 2, N_WRAPPED if fix.diff else N_HINT)
        if fix is fault.hint and len(said) > room:
            return
        yield from (Line(f"  {text}", HEAD) for text in said)
        changed = fitting_changes(fix.diff, width - 4)
        most = max(1, min(extent.diff, room - len(said)))
        n_shown = most if len(changed) <= most else most - 1
        for kind, text in changed[:n_shown]:
            yield Line(f"    {text}", {"green": True} if kind == "add" else {"red": True})
        if len(changed) > n_shown:
            yield Line(f"    ... {count(len(changed) - n_shown, 'more line')}")
        room -= len(said) + min(most, len(changed))


def _told(fault: FaultView, reasons: Sequence[str], width: int, room: int) -> Iterator[Line]:
    """Yield reasons and what is remembered; first what somebody should know who goes in circles."""
    remembered = (text for text in fault.remembered if text not in fault.loop)
    for text in (*fault.loop[1:], *reasons, *remembered):
        first, *rest = wrap(text, width - 4, N_WRAPPED)
        if room <= len(rest):
            return
        yield Line(f"  * {first}")
        yield from (Line(f"    {part}") for part in rest)
        room -= 1 + len(rest)


def _strong(fault: FaultView) -> list[str]:
    """Return the reasons; the weakest is what differs from a passing call, or who executed it."""
    if not fault.rows or fault.rows[0].is_test:
        return fault.reasons
    near = fault.nearest_call
    weakest = (near and contrast_of(near)) or counts_of(fault.rows[0])
    return [*fault.reasons, weakest][:N_REASONS]


def _next(fault: FaultView) -> Iterator[Line]:
    """Yield what to do next; a command is never cut, since it would lead nowhere."""
    for words, command in fault.next_steps:
        if command:
            yield Line(f"  Next, {words}: {command}", is_whole=True)
            return


# -- the long form


def _table(fault: FaultView, width: int, extent: Extent) -> Iterator[Line]:
    at = f" at {fault.raised_at}" if fault.raised_at else ""
    yield Line(f"  {fault.origin}: {fault.kind}{at}")
    if fault.confidence:
        yield Line(f"  {fault.confidence}")
    if fault.rows:
        yield Line(HEADER, HEAD)
    for row in fault.rows[: extent.rows]:
        rank = rank_of(row) if row.tied > 1 else f"{rank_of(row)} "
        start = f"{rank:>5} {percent(row.posterior):>5}  {suspiciousness_of(row):>5}  "
        badge = f" {name_of(row)}{' [test]' if row.is_test else ''}"
        yield Line(f"{start}{_short(row, width - columns(start) - columns(badge))}{badge}")
    hidden = len(fault.rows) - extent.rows
    if hidden > 0:
        yield Line(f"      {count(hidden, 'more suspect')} in the report")
    for row in fault.rows[:N_WHY]:
        if telling(row) or not row.is_test:
            yield from _why(row, width)
    yield from _values(fault, width)
    for step in fault.steps[: extent.steps]:
        head = f"inspected {place_of(step.target)} by {one_line(step.kind)}, {belief_words(step)}"
        first, *rest = wrap(f"{head}: {said_of(step)}", width - 2, N_WRAPPED)
        yield from (Line(first), *(Line(f"  {text}") for text in rest))
    yield from (Line(f"  memory: {text}") for text in (*fault.remembered, *fault.loop[1:]))
    yield Line(f"stopped: {one_line(fault.entry.stop_reason)}")


def _why(row: RowEntry, width: int) -> Iterator[Line]:
    name = name_of(row)
    yield Line(f"why {_short(row, width - columns(f'why  {name}'))} {name}", HEAD)
    for evidence in telling(row)[:N_WHY]:
        first, *rest = wrap(said_of(evidence), width - WHY_INDENT, N_WRAPPED)
        yield Line(f"  {ratio_of(evidence):>6}  {first}")
        yield from (Line(f"{' ' * WHY_INDENT}{text}") for text in rest)
    if not row.is_test:
        yield Line(f"{' ' * WHY_INDENT}{counts_of(row)}")


def _values(fault: FaultView, width: int) -> Iterator[Line]:
    """Yield what the first suspect was given and returned; ``>`` marks what differs."""
    near = fault.nearest_call
    if near is None:
        return
    rows, head = value_rows(near), f"values of {name_of(fault.rows[0])}"
    tests = (
        f"passing: {bare_name(near.passing_test)}",
        f"failing: {bare_name(near.failing_test)}",
    )
    names = min(width // 3, max(columns(head), *(columns(row[0]) + 4 for row in rows)))
    room = (width - names - 4) // 2
    first = min(room, max(columns(tests[0]), *(columns(row[1]) for row in rows)))
    last = fit(tests[1], width - names - first - 4)
    yield Line(f"{padded(head, names)}  {padded(tests[0], first)}  {last}", HEAD)
    for name, passing, failing in rows:
        mark = ">" if passing != failing else " "
        start = padded(f"  {mark} {name}", names)
        yield Line(f"{start}  {padded(passing, first)}  {failing}")
    if near.n_more:
        differ = "differs" if near.n_more == 1 else "differ"
        yield Line(f"    {count(near.n_more, 'more part')} {differ}")


def _ending(document: ResultDocument, extent: Extent, width: int) -> Iterator[Line]:
    hidden = len(document.partial) - extent.notes
    more = f" ({count(hidden, 'more note')} in the report)" if hidden > 0 and extent.notes else ""
    for note in document.partial[: extent.notes]:
        yield Line(f"Note: {one_line(note)}{more}", is_whole=True)
    stages = document.session.seconds.items()
    if stages and extent.rows:
        yield Line("time: " + ", ".join(f"{name} {seconds(spent)}" for name, spent in stages))
    if llm := llm_words(document.llm):
        yield from map(Line, wrap(f"language model: {llm}", width, N_WRAPPED))


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
            what = f"inspection {number}, {target}, now {percent(belief)} likely"
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
