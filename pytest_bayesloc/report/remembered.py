"""What the memory knows of the faults, for the page: past bugs, and what was tried when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_bayesloc.report.steps import DiffLine, diff_lines
from pytest_bayesloc.report.text import one_line, percent

N_MONTHS = 24
MIN_MONTHS = 2  # for a line
CURVE = (160, 36)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _share(value: float | None) -> str:
    return "-" if value is None else percent(value)


#: What is told of a month: its key in the document, its name, and how it is written.
FIGURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("n_bugs", "bugs", _number),
    ("mended", "mended", _share),
    ("trials", "failed trials until mended", _number),
    ("hours", "hours until mended", _number),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialView:
    """One attempt: when, what came of it, and what was tried and learned, each in a line."""

    number: int
    when: str
    outcome: str
    is_success: bool
    said: tuple[tuple[str, str], ...]
    diff: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarView:
    """A past bug that is like this one, and why it is taken to be."""

    head: str
    why: str
    score: str
    said: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BugView:
    """The record of one fault."""

    fault: int
    bug: str
    state: str
    since: str
    said: str
    lies: str
    guard: str
    loop: tuple[str, ...]
    similar: tuple[SimilarView, ...]
    failed: tuple[str, ...]
    constraints: tuple[str, ...]
    notes: tuple[str, ...]
    trials: tuple[TrialView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One figure over the months: its name, and points of a line in a box of ``CURVE``."""

    name: str
    first: str
    last: str
    points: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """All of it; ``said`` is of the run as a whole, ``world`` what is known beyond single bugs.

    ``months`` are rows of a table: month, bugs that began, share mended, failed trials and hours
    until mended.
    """

    said: tuple[str, ...]
    bugs: tuple[BugView, ...]
    world: tuple[tuple[str, tuple[str, ...]], ...]
    months: tuple[tuple[str, ...], ...]
    curves: tuple[Curve, ...]

    @property
    def figures(self) -> tuple[str, ...]:
        """The columns of ``months`` after the first."""
        return tuple(name for _, name, _ in FIGURES)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.said or self.bugs or self.world)


def memory_of(memory: Mapping[str, Any]) -> MemoryView:
    """The ``memory`` of a ``bayesloc/1`` result."""
    records = {record["id"]: record for record in memory["records"]}
    loops = {loop["fault"]: loop for loop in memory["loops"]}
    world = memory["world_model"].items()
    months = memory["months"][-N_MONTHS:]
    return MemoryView(
        said=_lines(memory["said"]),
        bugs=tuple(
            _bug(advice, records.get(advice["bug"]), loops.get(advice["fault"]))
            for advice in memory["advice"]
        ),
        world=tuple((one_line(kind), _lines(texts)) for kind, texts in world if texts),
        months=tuple(map(_month, months)),
        curves=tuple(_curves(months)),
    )


def _month(month: Mapping[str, Any]) -> tuple[str, ...]:
    return (one_line(month["month"]), *(shown(month[name]) for name, _, shown in FIGURES))


def _curves(months: Sequence[Mapping[str, Any]]) -> Iterator[Curve]:
    """A line for each figure that is known of two months or more."""
    width, height = CURVE
    for key, name, shown in FIGURES:
        known = [(i, month[key]) for i, month in enumerate(months) if month[key] is not None]
        if len(known) < MIN_MONTHS:
            continue
        highest = max(value for _, value in known) or 1
        dots = (
            (round(width * i / (len(months) - 1), 1), round(height * (1 - value / highest), 1))
            for i, value in known
        )
        yield Curve(
            name=name,
            first=shown(known[0][1]),
            last=shown(known[-1][1]),
            points=" ".join(f"{x:g},{y:g}" for x, y in dots),
        )


def _bug(
    advice: Mapping[str, Any], record: Mapping[str, Any] | None, loop: Mapping[str, Any] | None
) -> BugView:
    return BugView(
        fault=advice["fault"],
        bug=one_line(str(advice["bug"])),
        state=one_line(record["state"]) if record else "",
        since=record["created_at"][:10] if record else "",
        said=one_line(advice["said"]),
        lies=one_line(advice["lies"]),
        guard=one_line(advice["guard"]),
        loop=_lines(loop["said"]) if loop else (),
        similar=tuple(map(_similar, advice["similar"])),
        failed=_lines(advice["failed_strategies"]),
        constraints=_lines(advice["constraints"]),
        notes=_lines(advice["notes"]),
        trials=tuple(map(_trial, record["trials"])) if record else (),
    )


def _similar(similar: Mapping[str, Any]) -> SimilarView:
    known = (
        ("mended by", similar["strategy"]),
        ("root cause", similar["root_cause"]),
        ("lesson", similar["insight"]),
        *(("in vain", text) for text in similar["failed"]),
        *(("note", text) for text in similar["notes"]),
    )
    return SimilarView(
        head=f"bug {similar['bug']} of {similar['seen_at'][:10]}, {similar['state']}",
        why=one_line(similar["why"]),
        score=f"{similar['score']:.2f}",
        said=tuple((label, one_line(text)) for label, text in known if text),
    )


def _trial(trial: Mapping[str, Any]) -> TrialView:
    known = (
        ("meant to", trial["plan"]),
        ("strategy", trial["strategy"]),
        ("edited", ", ".join(trial["functions"])),
        ("then", trial["error"]),
        ("why", trial["why"]),
        ("root cause", trial["cause"]),
        ("lesson", trial["lesson"]),
    )
    return TrialView(
        number=trial["number"],
        when=trial["made_at"][:16].replace("T", " "),
        outcome=f"{trial['outcome']}; {percent(trial['metric'])} of its tests pass",
        is_success=trial["outcome"] == "passed",
        said=tuple((label, one_line(text)) for label, text in known if text),
        diff=tuple(diff_lines(trial["diff"])),
    )


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(one_line, texts))
