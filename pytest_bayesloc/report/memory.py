"""The memory's part of a result: encoded, in short lines for a terminal, in full for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pytest_bayesloc.domain.advice import Advice, Estimate, FlakyTest, Remembered, SimilarBug
from pytest_bayesloc.domain.bug import BugRecord
from pytest_bayesloc.report import document as doc
from pytest_bayesloc.report.encoding import entry_of
from pytest_bayesloc.report.text import HEAD, WARNING, Line, clip, one_line, percent
from pytest_bayesloc.report.words import flaky_words, remembered_cause_words

N_LAST = 5  # failed attempts, and lessons, that are shown
N_MONTHS = 24
MAX_DIFF = 4_000  # of an attempt to fix a bug
MIN_MONTHS = 2  # for a line
CURVE = (160, 36)


# -- the document


def memory_entry(remembered: Remembered) -> doc.MemoryEntry:
    """Return the memory's part of a result."""
    shown = remembered.advice if remembered.is_shown else ()
    return doc.MemoryEntry(
        said=list(remembered.messages),
        records=[_record(item.record) for item in remembered.advice],
        advice=[_advice(item) for item in shown],
        loops=[
            entry_of(doc.LoopEntry, item.loop, fault=item.fault + 1, said=item.loop.messages)
            for item in shown
            if item.loop is not None
        ],
        months=[
            entry_of(
                doc.MonthEntry,
                month,
                month=month.name,
                fixed=_value(month.fixed),
                trials=_value(month.trials),
                hours=_value(month.hours),
            )
            for month in remembered.months
        ],
        world_model={
            kind: list(texts) if remembered.is_shown else []
            for kind, texts in remembered.world.items()
        },
        flaky=[_flaky(found) for found in remembered.flaky if remembered.is_shown],
        causes=[
            entry_of(
                doc.RememberedCauseEntry,
                found,
                fault=found.fault + 1,
                cause=entry_of(doc.CauseEntry, found.cause),
            )
            for found in remembered.causes
            if remembered.is_shown
        ],
    )


def _flaky(found: FlakyTest) -> doc.FlakyEntry:
    rate = found.rate
    return entry_of(doc.FlakyEntry, found, rate, fault=found.fault + 1, n_outcomes=rate.n)


def _value(found: Estimate | None) -> float | None:
    return None if found is None else found.value


def _record(record: BugRecord) -> doc.RecordEntry:
    symptom = record.symptom
    return entry_of(
        doc.RecordEntry,
        record,
        symptom,
        tests=symptom.tests[: doc.MAX_TESTS],
        created_at=record.created_at.isoformat(),
        completed_at=record.completed_at.isoformat() if record.completed_at else None,
        trials=[
            entry_of(
                doc.BugTrialEntry,
                trial,
                trial.edit,
                made_at=trial.made_at.isoformat(),
                diff=clip(trial.edit.diff, MAX_DIFF),
            )
            for trial in record.trials[-doc.MAX_BUG_TRIALS :]
        ],
    )


def _advice(advice: Advice) -> doc.AdviceEntry:
    record = advice.record
    return entry_of(
        doc.AdviceEntry,
        advice,
        record,
        fault=advice.fault + 1,
        bug=record.id,
        said=advice.message,
        lies=advice.origin,
        guard=advice.first_check,
        similar=[_similar(item) for item in advice.similar],
        constraints=record.learned_constraints,
    )


def _similar(similar: SimilarBug) -> doc.SimilarEntry:
    record, fix = similar.record, similar.record.fix
    return entry_of(
        doc.SimilarEntry,
        similar,
        record,
        bug=record.id,
        score=round(similar.score, 3),
        seen_at=record.seen_at.isoformat(),
        signature=record.symptom.signature,
        strategy=fix.strategy if fix else "",
        insight=fix.lesson if fix else "",
        failed=record.failed_strategies[:2] if not fix else [],
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _share(value: float | None) -> str:
    return "-" if value is None else percent(value)


#: The figures of a month: key in the document, name, and how it is written.
FIGURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("n_bugs", "bugs", _number),
    ("fixed", "fixed", _share),
    ("trials", "failed trials until fixed", _number),
    ("hours", "hours until fixed", _number),
)


# -- lines


def advice_lines(memory: doc.MemoryEntry, *, in_full: bool) -> list[Line]:
    """Return the memory's advice as lines, the same for a person and for a program.

    If not ``in_full``, it is only what became of bugs that no test fails with any more.
    """
    lines = [Line(one_line(text)) for text in memory.said]
    loops = {entry.fault: entry for entry in memory.loops}
    advice = memory.advice if in_full else []
    for entry in advice:
        lines += _full(entry)
        lines += _flaky_lines(memory, entry.fault)
        if (loop := loops.get(entry.fault)) is not None:
            head, *rest = loop.said
            lines.append(Line(f"  {one_line(head)}", WARNING))
            lines += [Line(f"    {one_line(text)}", WARNING) for text in rest]
    if advice:
        said = {text for entry in advice for text in entry.constraints}
        said |= {similar.insight for entry in advice for similar in entry.similar}
        for kind, texts in memory.world_model.items():
            new = (text for text in texts if text not in said)
            lines += [Line(f"{kind.rstrip('s')}: {one_line(text)}") for text in new]
    return lines


def brief_lines(memory: doc.MemoryEntry, fault: int) -> Iterator[str]:
    """Yield the few lines that are worth a place beside the answer to a fault."""
    for entry in memory.advice:
        if entry.fault == fault:
            if entry.said and "begins" not in entry.said:  # else it is known, or no news
                yield one_line(entry.said)
            for similar in entry.similar[:1]:
                yield f"similar to {_past(similar)}"
    for loop in memory.loops:
        if loop.fault == fault:
            yield one_line(loop.said[0])


def _full(entry: doc.AdviceEntry) -> Iterator[Line]:
    yield Line(f"advice on fault {entry.fault}, bug {entry.bug}", HEAD)
    if entry.said:
        yield Line(f"  {one_line(entry.said)}")
    yield Line(f"  likely cause: {one_line(entry.lies)}")
    if entry.guard:
        yield Line(f"  {one_line(entry.guard)}")
    for similar in entry.similar:
        yield Line(f"  similar to {_past(similar)}")
        yield Line(f"    score {similar.score:.2f}: {one_line(similar.why)}")
        notes = [("note", text) for text in similar.notes]
        known = [("root cause", similar.root_cause), ("lesson", similar.insight), *notes]
        yield from (Line(f"    {label}: {one_line(text)}") for label, text in known if text)
    if not entry.similar:
        yield Line("  no similar past bug")
    for label, texts in (
        ("failed before", entry.failed_strategies),
        ("learned", entry.constraints),
        ("note", entry.notes),
    ):
        for text in texts[-N_LAST:]:
            yield Line(f"  {label}: {one_line(text)}")


def _flaky_lines(memory: doc.MemoryEntry, fault: int) -> Iterator[Line]:
    """Yield which tests of a fault are known to be flaky, and the causes found before."""
    for entry in memory.flaky:
        if entry.fault == fault:
            yield Line(f"  {flaky_words(entry)}")
    for found in memory.causes:
        if found.fault == fault:
            yield Line(f"  {remembered_cause_words(found)}")
            cause = found.cause
            known = (("next", cause.advice), ("reproduce it", cause.command))
            yield from (Line(f"    {label}: {one_line(text)}") for label, text in known if text)


def _past(similar: doc.SimilarEntry) -> str:
    of = f" in another project, {one_line(similar.project)}" if similar.project else ""
    head = f"bug {similar.bug} ({similar.seen_at[:10]}{of})"
    if similar.strategy:
        return f"{head}, fixed by {one_line(similar.strategy)}"
    failed = "; ".join(one_line(text) for text in similar.failed)
    return f"{head}, {similar.state}{f'; failed attempts: {failed}' if failed else ''}"


# -- the page


def is_empty(memory: doc.MemoryEntry) -> bool:
    """Return whether the page has nothing to show of the memory."""
    return not (memory.said or memory.advice or any(memory.world_model.values()))


def month_rows(months: Sequence[doc.MonthEntry]) -> list[tuple[str, ...]]:
    """Return the months as rows of a table: the month, then its ``FIGURES``."""
    return [
        (one_line(month.month), *(shown(getattr(month, name)) for name, _, shown in FIGURES))
        for month in months[-N_MONTHS:]
    ]


def curves(months: Sequence[doc.MonthEntry]) -> Iterator[tuple[str, str, str, str]]:
    """Yield a line for each figure that is known of two months or more.

    Yields:
        Its name, its first and its last value, and the points of the line in a box of ``CURVE``.
    """
    months = months[-N_MONTHS:]
    width, height = CURVE
    for key, name, shown in FIGURES:
        values = ((i, getattr(month, key)) for i, month in enumerate(months))
        known = [(i, value) for i, value in values if value is not None]
        if len(known) < MIN_MONTHS:
            continue
        highest = max(value for _, value in known) or 1
        dots = (
            (round(width * i / (len(months) - 1), 1), round(height * (1 - value / highest), 1))
            for i, value in known
        )
        points = " ".join(f"{x:g},{y:g}" for x, y in dots)
        yield name, shown(known[0][1]), shown(known[-1][1]), points


def similar_lines(similar: doc.SimilarEntry) -> list[tuple[str, str]]:
    """Return what is known of a past bug, as labels and texts."""
    return _labelled(
        ("fixed by", similar.strategy),
        ("root cause", similar.root_cause),
        ("lesson", similar.insight),
        *(("failed attempt", text) for text in similar.failed),
        *(("note", text) for text in similar.notes),
    )


def trial_lines(trial: doc.BugTrialEntry) -> list[tuple[str, str]]:
    """Return what was tried and learned in an attempt to fix a bug, as labels and texts."""
    return _labelled(
        ("meant to", trial.plan),
        ("strategy", trial.strategy),
        ("edited", ", ".join(trial.functions)),
        ("then", trial.error),
        ("why", trial.why),
        ("root cause", trial.cause),
        ("lesson", trial.lesson),
    )


def _labelled(*known: tuple[str, str]) -> list[tuple[str, str]]:
    """Return those that say something, each on one line."""
    return [(label, one_line(text)) for label, text in known if text]
