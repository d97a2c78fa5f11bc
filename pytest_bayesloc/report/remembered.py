"""What the memory knows of the faults, for the page: past bugs, and what was tried when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.report.steps import DiffLine, diff_lines
from pytest_bayesloc.report.text import one_line, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
class MemoryView:
    """All of it; ``said`` is of the run as a whole, ``world`` what is known beyond single bugs."""

    said: tuple[str, ...]
    bugs: tuple[BugView, ...]
    world: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.said or self.bugs or self.world)


def memory_of(memory: Mapping[str, Any]) -> MemoryView:
    """The ``memory`` of a ``bayesloc/1`` result."""
    records = {record["id"]: record for record in memory["records"]}
    loops = {loop["fault"]: loop for loop in memory["loops"]}
    return MemoryView(
        said=_lines(memory["said"]),
        bugs=tuple(
            _bug(advice, records.get(advice["bug"]), loops.get(advice["fault"]))
            for advice in memory["advice"]
        ),
        world=tuple(
            (one_line(kind), _lines(texts))
            for kind, texts in memory["world_model"].items()
            if texts
        ),
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
