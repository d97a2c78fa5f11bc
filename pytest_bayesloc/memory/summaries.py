"""Words on the three stages of a bug, by rules: the same for the same input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pytest_bayesloc.domain.bug import (
    HYPOTHESIS_LENGTH,
    LESSON_LENGTH,
    LLM_MARK,
    STRATEGY_LENGTH,
    WHY_LENGTH,
    BugRecord,
    CodeEdit,
    DebugTrial,
    Run,
    Symptom,
    TrialOutcome,
    clipped,
    is_contradicted,
)

N_NAMED = 3
MIN_P = 0.05  # below it, a suspect is no hypothesis


def hypothesis_of(symptom: Symptom, raised_at: str) -> str:
    """Return the likeliest place, where the error was raised, and what was demanded there.

    Args:
        symptom: As far as it is known, without a hypothesis.
        raised_at: Where the exception was raised, in words; empty if nobody knows.
    """
    parts = []
    if symptom.suspects and symptom.p_first >= MIN_P:
        parts.append(f"most likely: {_short(symptom.suspects[0])} ({symptom.p_first:.0%})")
    if symptom.in_test:
        parts.append("likely cause: the test or its data")
    if raised_at:
        parts.append(f"raised {raised_at}")
    if symptom.constraint:
        parts.append(symptom.constraint)
    return clipped("; ".join(parts) or symptom.signature, HYPOTHESIS_LENGTH)


def failed_trial(
    run: Run, record: BugRecord, edit: CodeEdit, now: Symptom, metric: float
) -> DebugTrial:
    """Say whether ``edit`` changed the error of ``record``, and what the new one demands."""
    before = record.trials[-1].error if record.trials else record.symptom.signature
    if now.signature == before:
        why = f"the error is as it was: {now.signature}"
    else:
        why = f"the error changed from {clipped(before, 90)} to {clipped(now.signature, 90)}"
    gained = len(record.symptom.tests) - len(now.tests)
    if gained > 0:
        why += f"; {gained} of {len(record.symptom.tests)} tests pass now"
    edited = {function.partition(" ")[2] for function in edit.functions}
    # A demand of a guard that was edited just now is not learned: somebody wrote it.
    is_known = now.constraint in record.learned_constraints
    is_new = not is_known and now.constraint.partition(" ")[0] not in edited
    return DebugTrial(
        number=len(record.trials) + 1,
        made_at=run.made_at,
        edit=replace(edit, plan=run.plan),
        outcome=TrialOutcome.FAILED,
        why=clipped(why, WHY_LENGTH),
        strategy=_strategy(edit),
        lesson=clipped(now.constraint if is_new else "", LESSON_LENGTH),
        error=now.signature,
        metric=metric,
    )


def fixing_trial(run: Run, record: BugRecord, edit: CodeEdit) -> DebugTrial:
    """Say what was changed to fix the bug of ``record``, and the kind of mistake that it was."""
    what = _named(edit.functions) or "something that is not known"
    n_tried = len(record.trials)
    before = f" after {n_tried} failed attempt{'s' * (n_tried != 1)}" if n_tried else ""
    place = f"the test code {what}" if edit.in_tests else what
    return DebugTrial(
        number=n_tried + 1,
        made_at=run.made_at,
        edit=replace(edit, plan=run.plan),
        outcome=TrialOutcome.PASSED,
        why=clipped(f"with {what} changed all its tests pass{before}", WHY_LENGTH),
        strategy=_strategy(edit),
        lesson=clipped(f"{edit.mistake}, in {place}" if edit.mistake else "", LESSON_LENGTH),
        metric=1.0,
    )


def without_lesson_about(functions: Sequence[str], trial: DebugTrial) -> DebugTrial:
    """Return ``trial`` without a lesson about one of ``functions``, which are at fault."""
    by_rules, _, _ = trial.lesson.partition(f"; {LLM_MARK}")
    lessons = (trial.lesson, by_rules, "")
    return replace(trial, lesson=next(x for x in lessons if not is_contradicted(x, functions)))


def _strategy(edit: CodeEdit) -> str:
    """Return ``Curve.insert (+2 -1): `a < b` -> `a <= b` ``."""
    what = _named(edit.functions) or "unknown edit"
    counts = f" (+{edit.n_added} -{edit.n_removed})" if edit.diff else ""
    core = core_of(edit.diff)
    return clipped(f"{what}{counts}{f': {core}' if core else ''}", STRATEGY_LENGTH)


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
