"""The three stages of a bug in words, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_bayesloc.domain.bug import (
    HYPOTHESIS_LENGTH,
    LESSON_LENGTH,
    STRATEGY_LENGTH,
    WHY_LENGTH,
    BugRecord,
    Edit,
    Setback,
    Success,
    Symptom,
    clipped,
)

N_NAMED = 3
MIN_P = 0.05  # below it, a suspect is no hypothesis


class RuleSummarizer:
    """Fills sentences with what is known; the same for the same input."""

    def begun(self, symptom: Symptom, *, raised_at: str, p: float) -> str:
        """The likeliest place, where it was raised, and what was demanded there."""
        parts = []
        if symptom.suspects and p >= MIN_P:
            parts.append(f"likeliest place: {_short(symptom.suspects[0])} ({p:.0%})")
        if symptom.in_test:
            parts.append("the error stands in the test or its data")
        if raised_at:
            parts.append(f"raised {raised_at}")
        if symptom.constraint:
            parts.append(symptom.constraint)
        return clipped("; ".join(parts) or symptom.signature, HYPOTHESIS_LENGTH)

    def failed(self, record: BugRecord, edit: Edit, now: Symptom) -> Setback:
        """Whether the edit changed the error, and what the new one demands."""
        before = record.trials[-1].error if record.trials else record.symptom.signature
        what = _named(edit.functions) or "what is not known"
        if now.signature == before:
            why = f"the error is as it was: {now.signature}"
        else:
            why = f"the error changed from {clipped(before, 90)} to {clipped(now.signature, 90)}"
        gained = len(record.symptom.tests) - len(now.tests)
        if gained > 0:
            why += f"; {gained} of {len(record.symptom.tests)} tests pass now"
        known = {record.symptom.constraint, *record.learned_constraints}
        edited = {function.partition(" ")[2] for function in edit.functions}
        # What a guard demands that was edited just now is not learned: somebody wrote it.
        is_new = now.constraint not in known and now.constraint.partition(" ")[0] not in edited
        constraint = now.constraint if is_new else ""
        if not constraint and now.signature == before and edit.functions:
            constraint = f"changing {what} does not change this error"
        return Setback(
            why=clipped(why, WHY_LENGTH),
            strategy=clipped(_strategy(edit), STRATEGY_LENGTH),
            constraint=clipped(constraint, LESSON_LENGTH),
        )

    def succeeded(self, record: BugRecord, edit: Edit) -> Success:
        """What was changed, and the demand that it meets."""
        what = _named(edit.functions) or "something that is not known"
        n_tried = len(record.trials)
        before = f" after {n_tried} failed attempt{'s' * (n_tried != 1)}" if n_tried else ""
        side = "the test side" if edit.in_tests else "the code"
        symptom = record.symptom
        lesson = symptom.constraint or f"{symptom.category.value} at {_first(symptom.suspects)}"
        return Success(
            why=clipped(f"with {what} changed all its tests pass{before}", WHY_LENGTH),
            strategy=clipped(_strategy(edit), STRATEGY_LENGTH),
            insight=clipped(f"{lesson}: {side} had to change, in {what}", LESSON_LENGTH),
        )


def _strategy(edit: Edit) -> str:
    """``Curve.insert (+2 -1): `a < b` -> `a <= b` ``."""
    what = _named(edit.functions) or "unknown edit"
    counts = f" (+{edit.n_added} -{edit.n_removed})" if edit.diff else ""
    core = _core(edit.diff)
    return f"{what}{counts}{f': {core}' if core else ''}"


def _core(diff: str) -> str:
    """The first line that a diff takes away and the first one that it adds."""
    lines = diff.splitlines()
    old, new = (
        next((t for line in lines if (t := _changed(line, sign))), "") for sign in ("-", "+")
    )
    if old and new:
        return f"`{clipped(old, 60)}` -> `{clipped(new, 60)}`"
    return f"removed `{clipped(old, 80)}`" if old else f"added `{clipped(new, 80)}`" if new else ""


def _changed(line: str, sign: str) -> str:
    """The text of a changed line; empty for others, heads and comments."""
    if not line.startswith(sign) or line.startswith(sign * 3):
        return ""
    text = line[1:].strip()
    return text if re.search(r"\w", text) and not text.startswith("#") else ""


def _named(functions: Sequence[str]) -> str:
    rest = len(functions) - N_NAMED
    named = ", ".join(_short(function) for function in functions[:N_NAMED])
    return f"{named} and {rest} more" if rest > 0 else named


def _short(function: str) -> str:
    """``shop/cart.py Cart.total`` without the folders."""
    file, _, qualname = function.partition(" ")
    return f"{file.rpartition('/')[2]} {qualname}"


def _first(suspects: Iterable[str]) -> str:
    return next((_short(suspect) for suspect in suspects), "an unknown place")
