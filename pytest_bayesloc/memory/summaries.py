"""Words on the three stages of a bug, by rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import methodcaller
from typing import Any, TypeAlias

from pytest_bayesloc.domain.bug import (
    HYPOTHESIS_LENGTH,
    LESSON_LENGTH,
    LLM_MARK,
    STRATEGY_LENGTH,
    WHY_LENGTH,
    BugRecord,
    CodeEdit,
    Symptom,
    TrialSummary,
    clipped,
    is_contradicted,
)

#: Asks another summarizer, that of a language model, for better words than those of rules.
Ask: TypeAlias = Callable[[Any], str | TrialSummary]

N_NAMED = 3
MIN_P = 0.05  # below it, a suspect is no hypothesis


class RuleSummarizer:
    """Fills in sentences, the same for the same input, and keeps them.

    Attributes:
        hypotheses: Of each group of failing tests, with what asks for better words.
        trials: Of each trial, behind the bug as it was before, likewise.
    """

    def __init__(self) -> None:
        self.hypotheses: list[tuple[str, Ask]] = []
        self.trials: list[tuple[BugRecord, TrialSummary, Ask]] = []

    def begun(self, symptom: Symptom, *, raised_at: str, p: float) -> str:
        """Return the likeliest place, where the error was raised, and what was demanded there.

        Args:
            symptom: As far as it is known, without a hypothesis.
            raised_at: Where the exception was raised, in words; empty if nobody knows.
            p: Probability of the first suspect, 0 if there is none.
        """
        parts = []
        if symptom.suspects and p >= MIN_P:
            parts.append(f"most likely: {_short(symptom.suspects[0])} ({p:.0%})")
        if symptom.in_test:
            parts.append("likely cause: the test or its data")
        if raised_at:
            parts.append(f"raised {raised_at}")
        if symptom.constraint:
            parts.append(symptom.constraint)
        said = clipped("; ".join(parts) or symptom.signature, HYPOTHESIS_LENGTH)
        self.hypotheses.append((said, methodcaller("begun", symptom, said)))
        return said

    def failed(self, record: BugRecord, edit: CodeEdit, now: Symptom) -> TrialSummary:
        """Say whether the edit changed the error, and what the new one demands.

        The record is without this trial, here and in ``succeeded``.
        """
        before = record.trials[-1].error if record.trials else record.symptom.signature
        if now.signature == before:
            why = f"the error is as it was: {now.signature}"
        else:
            why = f"the error changed from {clipped(before, 90)} to {clipped(now.signature, 90)}"
        gained = len(record.symptom.tests) - len(now.tests)
        if gained > 0:
            why += f"; {gained} of {len(record.symptom.tests)} tests pass now"
        known = {record.symptom.constraint, *record.learned_constraints}
        edited = {function.partition(" ")[2] for function in edit.functions}
        # A demand of a guard that was edited just now is not learned: somebody wrote it.
        is_new = now.constraint not in known and now.constraint.partition(" ")[0] not in edited
        constraint = now.constraint if is_new else ""
        said = TrialSummary(
            why=clipped(why, WHY_LENGTH),
            strategy=clipped(_strategy(edit), STRATEGY_LENGTH),
            lesson=clipped(constraint, LESSON_LENGTH),
        )
        self.trials.append((record, said, methodcaller("failed", record, edit, now, said)))
        return said

    def succeeded(self, record: BugRecord, edit: CodeEdit) -> TrialSummary:
        """Return what was changed, and the kind of mistake that it was."""
        what = _named(edit.functions) or "something that is not known"
        n_tried = len(record.trials)
        before = f" after {n_tried} failed attempt{'s' * (n_tried != 1)}" if n_tried else ""
        lesson = edit.mistake
        place = f"the test code {what}" if edit.in_tests else what
        said = TrialSummary(
            why=clipped(f"with {what} changed all its tests pass{before}", WHY_LENGTH),
            strategy=clipped(_strategy(edit), STRATEGY_LENGTH),
            lesson=clipped(f"{lesson}, in {place}" if lesson else "", LESSON_LENGTH),
        )
        self.trials.append((record, said, methodcaller("succeeded", record, edit, said)))
        return said


def without_lesson_about(functions: Sequence[str], summary: TrialSummary) -> TrialSummary:
    """Return ``summary`` without a lesson about one of ``functions``, which are at fault."""
    by_rules, _, _ = summary.lesson.partition(f"; {LLM_MARK}")
    lessons = (summary.lesson, by_rules, "")
    return replace(summary, lesson=next(x for x in lessons if not is_contradicted(x, functions)))


def _strategy(edit: CodeEdit) -> str:
    """Return ``Curve.insert (+2 -1): `a < b` -> `a <= b` ``."""
    what = _named(edit.functions) or "unknown edit"
    counts = f" (+{edit.n_added} -{edit.n_removed})" if edit.diff else ""
    core = core_of(edit.diff)
    return f"{what}{counts}{f': {core}' if core else ''}"


def core_of(diff: str) -> str:
    """Return the first line that a diff removes and the first one that it adds."""
    lines = diff.splitlines()
    old, new = (
        next((t for line in lines if (t := _changed(line, sign))), "") for sign in ("-", "+")
    )
    if old and new:
        return f"`{clipped(old, 60)}` -> `{clipped(new, 60)}`"
    return f"removed `{clipped(old, 80)}`" if old else f"added `{clipped(new, 80)}`" if new else ""


def _changed(line: str, sign: str) -> str:
    """Return the text of a changed line; empty for others, heads and comments."""
    if not line.startswith(sign) or line.startswith(sign * 3):
        return ""
    text = line[1:].strip()
    return text if re.search(r"\w", text) and not text.startswith("#") else ""


def _named(functions: Sequence[str]) -> str:
    rest = len(functions) - N_NAMED
    named = ", ".join(_short(function) for function in functions[:N_NAMED])
    return f"{named} and {rest} more" if rest > 0 else named


def _short(function: str) -> str:
    """Return ``shop/cart.py Cart.total`` without the folders."""
    file, _, qualname = function.partition(" ")
    return f"{file.rpartition('/')[2]} {qualname}"
