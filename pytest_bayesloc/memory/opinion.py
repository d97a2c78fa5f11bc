"""A second opinion at the third failure: the tries in common, what speaks against, what to try."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence

from pytest_bayesloc.domain.bug import BugRecord, DebugTrial, Symptom, TrialOutcome

#: A place that holds so much leaves too little for another to be worth a try.
SURE = 0.9
N_EXPERIMENTS = 2
#: Kinds of edits by the beginning of each changed line.
_KINDS = {
    "conditions": re.compile(r"(?:if|elif|while|assert)\b"),
    "returned values": re.compile(r"(?:return|yield)\b"),
    "imports": re.compile(r"(?:import|from)\b"),
    "assignments": re.compile(r"[\w.\[\]'\", ]+[-+*/|&%]?=(?!=)"),
}


def second_opinion(
    record: BugRecord,
    symptom: Symptom,
    n_tries: int,
    *,
    fixed: Collection[str] = (),
    found: Sequence[str] | None = None,
) -> list[str]:
    """Return at most four lines: none says more than the evidence of this run and the tries do.

    Args:
        record: The bug, with its trials.
        symptom: As of this run.
        n_tries: The last trials, which left the error as it was.
        fixed: Functions that fixed bugs like it: nothing is said against them.
        found: Edits with which the failing tests passed, in words; None if none was tried.
    """
    failed = [trial for trial in record.trials if trial.outcome is TrialOutcome.FAILED]
    tries = failed[-n_tries:] if n_tries else []
    if len(tries) < 2 or symptom.in_test:
        return []
    experiments = _experiments(symptom, tries, found)
    return [
        *_common(tries),
        *_refuted(symptom, tries, fixed),
        *(f"experiment {i}: {text}" for i, text in enumerate(experiments[:N_EXPERIMENTS], 1)),
    ]


def _common(tries: Sequence[DebugTrial]) -> Iterator[str]:
    """Say in which functions each try was, and of which kind each was, if they share any."""
    shared = [n for n in tries[0].edit.functions if all(n in t.edit.functions for t in tries)]
    kinds = {kind_of(trial.edit.diff) for trial in tries}
    words = [f"edit {', '.join(shared[:3])}"] if shared else []
    if len(kinds) == 1 and (kind := kinds.pop()):
        words.append(f"change {kind} only")
    if words:
        yield f"all {len(tries)} tries {' and '.join(words)}"


def _refuted(
    symptom: Symptom, tries: Sequence[DebugTrial], fixed: Collection[str]
) -> Iterator[str]:
    """Name edited places that the evidence of now speaks against: a wrong edit alone does not."""
    if symptom.p_first < SURE or not symptom.suspects:
        return
    first = symptom.suspects[0]
    edited = dict.fromkeys(name for trial in tries for name in trial.edit.functions)
    against = [name for name in edited if name != first and name not in fixed]
    if against and first not in edited:
        yield (
            f"the evidence speaks against {', '.join(against[:3])}: the error stayed with each "
            f"edit, and the probability of {first} is {symptom.p_first:.0%}"
        )


def _experiments(
    symptom: Symptom, tries: Sequence[DebugTrial], found: Sequence[str] | None
) -> list[str]:
    """Return the most telling first: an edit that is known to help, then the place to try.

    That is the likeliest one if it holds more than half, tried or not; else one that was not.
    """
    edited = {name for trial in tries for name in trial.edit.functions}
    untried = [name for name in symptom.suspects if name not in edited]
    places = (symptom.believed or untried or symptom.suspects)[:1]
    run = shlex.join(symptom.tests[:1])
    experiments = [f"make the edit with which the tests pass: {text}" for text in found or ()]
    if found is None:
        where = f", of {places[0]} first" if places else ""
        experiments.append(f"have edits tried in memory{where}: pytest --bayesloc {run}")
    else:
        experiments += [f"edit {name}: pytest {run}" for name in places if name in untried]
    return [
        *experiments,
        f"search for an edit that fixes: pytest --bayesloc-fix=suggest {run}",
        f"look at the values where it fails: pytest --showlocals {run}",
    ]


def kind_of(diff: str) -> str:
    """Return the kind of all changed lines of a unified diff; empty if they are of several."""
    changed = [
        line[1:].strip()
        for line in diff.splitlines()
        if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"} and line[1:].strip()
    ]
    fitting = (name for name, kind in _KINDS.items() if changed and all(map(kind.match, changed)))
    return next(fitting, "")
