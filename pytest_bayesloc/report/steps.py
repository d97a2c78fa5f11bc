"""What was tried, in words: inspections, and the fixes that came of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_bayesloc.domain.fixing import TAKE_BACK
from pytest_bayesloc.report.rows import Place, Why, place, why_of, words_of
from pytest_bayesloc.report.text import count, one_line, percent, seconds

TREATS = "It may treat the symptom rather than the cause."
LOSES = "It loses what the change was to do."


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
    """A change that may mend the fault.

    ``said`` is what was checked, ``level`` how far it goes, and ``next_step`` how to have it; empty
    where it is an inspection's. ``caution`` is what it may be otherwise.
    """

    place: Place
    words: str
    said: str
    level: str
    next_step: str
    diff: tuple[DiffLine, ...]
    caution: str = ""

    @property
    def changed(self) -> tuple[DiffLine, ...]:
        """Only what is taken away and added."""
        return tuple(line for line in self.diff if line.kind in {"add", "del"})


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
        diff=tuple(diff_lines(step["patch"])),
        log=step["log"],
        seconds=seconds(step["seconds"]),
    )


def fix_of(fix: Mapping[str, Any]) -> FixView:
    """An entry of the document's ``fixes``."""
    where, patch = place(fix["target"]), fix["patch_file"]
    return FixView(
        place=where,
        words=one_line(fix["words"]),
        said=_checked(fix, where.name),
        level="" if fix["stage"] == "inspection" else one_line(fix["level"]),
        next_step=f"git apply {one_line(patch)}" if patch and not fix["applied"] else "",
        diff=tuple(diff_lines(fix["diff"])),
        caution="" if not fix["diff"] else LOSES if fix["tool"] == TAKE_BACK else TREATS,
    )


def _checked(fix: Mapping[str, Any], name: str) -> str:
    """What a change was checked against, in a sentence."""
    if fix["stage"] == "inspection":
        n = count(len(fix["checked"]), "test")
        how = f"{name} as it was" if fix["tool"] == TAKE_BACK else f"this edit of {name}"
        return f"with {how}, {n} passed (nothing was changed)"
    by = f"by {one_line(fix['tool'])}: {one_line(fix['words'])}"
    if not fix["verified"]:
        why = "not checked: it changes a test" if fix["diff"] else "nothing was changed"
        return f"to look at, {by} ({why})"
    done = "applied" if fix["applied"] else "nothing was changed"
    failing, passing = count(fix["n_failing"], "failing test"), fix["n_passing"]
    passes = "pass" if fix["n_failing"] != 1 else "passes"
    others = {
        0: "no other executes it",
        1: "1 that executes it still passes",
    }.get(passing, f"{passing} that execute it still pass")
    return f"fix {by}; {failing} {passes} twice, {others} ({done})"


def _test(test: Mapping[str, Any]) -> TestRow:
    return TestRow(
        node_id=one_line(test["node_id"]),
        verdict=test["verdict"],
        covered=test["covered"],
        error=one_line(test["error"]),
        output=test["output"],
    )


def diff_lines(patch: str) -> Iterator[DiffLine]:
    """The lines of a unified diff, each with its kind."""
    kinds = {"+++": "file", "---": "file", "@@": "hunk", "+": "add", "-": "del"}
    for text in patch.split("\n")[: -1 if patch.endswith("\n") else None]:
        kind = next((kind for start, kind in kinds.items() if text.startswith(start)), "same")
        yield DiffLine(kind=kind, text=text)
