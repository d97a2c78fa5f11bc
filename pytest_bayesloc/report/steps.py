"""What was tried, in words: inspections, and the fixes that came of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.report.rows import Place, Why, place, why_of, words_of
from pytest_bayesloc.report.text import count, one_line, percent, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRow:
    """One test of one inspection."""

    __test__ = False  # not a test class for pytest

    node_id: str
    verdict: str
    covered: bool
    error: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line of a unified diff; ``kind`` is ``add``, ``del``, ``hunk``, ``file`` or ``same``."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One inspection."""

    number: int
    place: Place
    kind: str
    outcome: str
    decision: str
    why: Why
    p_if_faulty: str
    p_if_clean: str
    before: str
    after: str
    signals: tuple[tuple[str, bool], ...]
    tests: tuple[TestRow, ...]
    diff: tuple[DiffLine, ...]
    log: str
    seconds: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FixView:
    """A small edit that made the failing tests pass."""

    place: Place
    words: str
    n_checked: str
    diff: tuple[DiffLine, ...]


def step_of(step: Mapping[str, Any]) -> Step:
    """An entry of the document's ``inspections``."""
    chances = step["likelihoods"]
    return Step(
        number=step["step"],
        place=place(step["target"]),
        kind=one_line(step["kind"]),
        outcome=words_of(step["outcome"]),
        decision=words_of(step["decision"]),
        why=why_of({**chances, "why": step["why"], "outcome": step["outcome"]}),
        p_if_faulty=f"{chances['p_if_faulty']:.2f}",
        p_if_clean=f"{chances['p_if_clean']:.2f}",
        before=percent(step["belief_before"]),
        after=percent(step["belief_after"]),
        signals=tuple((words_of(name), seen) for name, seen in step["signals"].items()),
        tests=tuple(map(_test, step["tests"])),
        diff=tuple(_diff(step["patch"])),
        log=step["log"],
        seconds=seconds(step["seconds"]),
    )


def fix_of(fix: Mapping[str, Any]) -> FixView:
    """An entry of the document's ``fixes``."""
    return FixView(
        place=place(fix["target"]),
        words=one_line(fix["words"]),
        n_checked=count(len(fix["checked"]), "test"),
        diff=tuple(_diff(fix["diff"])),
    )


def _test(test: Mapping[str, Any]) -> TestRow:
    return TestRow(
        node_id=one_line(test["node_id"]),
        verdict=test["verdict"],
        covered=test["covered"],
        error=one_line(test["error"]),
        output=test["output"],
    )


def _diff(patch: str) -> Iterator[DiffLine]:
    kinds = {"+++": "file", "---": "file", "@@": "hunk", "+": "add", "-": "del"}
    for text in patch.split("\n")[: -1 if patch.endswith("\n") else None]:
        kind = next((kind for start, kind in kinds.items() if text.startswith(start)), "same")
        yield DiffLine(kind=kind, text=text)
