"""Edits that lead nowhere, found in the sightings of one bug, and a second opinion on them.

Reference:
    docs/memory.md, section "Loops".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import product, takewhile

from pytest_bayesloc.domain.advice import LoopWarning
from pytest_bayesloc.domain.bug import BugRecord, DebugTrial, Sighting, Symptom, TrialOutcome
from pytest_bayesloc.domain.texts import TextEnum, all_of

MAX_PERIOD = 5
# Two in a row is an ordinary second try. Each is told as long as it lasts.
N_ERRORS = 3  # code states with the same error
N_MISSES = 3  # edits of which none hit a top suspect
N_CYCLES = 3  # repetitions of a cycle of errors: they may be steps of one way
N_SURE_CYCLES = 2  # of failing tests or states: it is the same code, or the same breakage
N_UNTESTED = 2  # edits of files that no test of the run imports
N_IDLE = 4  # runs of one command on one state: a look at the full output is no loop
N_CODE_EDITS = 2  # edits of code where the test causes the error: the first was one too many


class LoopKind(TextEnum):
    """The sort of loop."""

    SAME_ERROR = "same error"
    SEEN_STATE = "seen state"
    ALTERNATION = "alternation"
    WRONG_PLACE = "wrong place"
    TEST_AT_FAULT = "test at fault"
    UNTESTED_EDIT = "untested edit"
    NO_EDIT = "no edit"


def loops(history: Sequence[Sighting], *, in_test: bool) -> list[LoopWarning]:
    """Return the loops that the last sighting of ``history`` closes, the most telling first.

    The attempts are the first sighting and those after an edit: a run without an edit closes none
    but two of its own. Each is told from its limit on, as long as it lasts. A changed error ends a
    streak of the same error, and so does a test that passes now. States are of texts: commits,
    branches and stashes in between change nothing.

    Args:
        history: Of one bug in one checkout, oldest first, this run last.
        in_test: Whether the test or its data cause the error.
    """
    attempts = [seen for i, seen in enumerate(history) if i == 0 or seen.edited]
    if len(attempts) < 2 or attempts[-1] is not history[-1]:
        return list(_without_attempt(history))
    found = list(_alternation(attempts))
    streak = [attempts[-1]]  # of one error, in no fewer tests
    for seen in reversed(attempts[:-1]):
        if seen.error != streak[0].error or seen.n_failing > streak[0].n_failing:
            break
        streak.insert(0, seen)
    found += _in_vain(streak, in_test=in_test)
    state = attempts[-1].state  # the same failing code as before, with other code in between
    for i, seen in enumerate(attempts):
        if seen.state == state and any(other.state != state for other in attempts[i:]):
            found.append(_loop(LoopKind.SEEN_STATE, 2, attempts[i:], 2))
            break
    return found


def _last(history: Sequence[Sighting], holds: Callable[[Sighting], object]) -> list[Sighting]:
    """Return the sightings at the end of which each ``holds``."""
    return list(takewhile(holds, reversed(history)))[::-1]


def _in_vain(streak: Sequence[Sighting], *, in_test: bool) -> Iterator[LoopWarning]:
    """Find edits that left the error as it was."""
    edits = streak[1:]
    n_states = len({seen.test_state for seen in edits})
    if in_test and n_states <= 1 and len(edits) >= N_CODE_EDITS:
        yield _loop(LoopKind.TEST_AT_FAULT, len(edits), edits, N_CODE_EDITS)
    before = {seen.state for seen in streak[:-1]}
    if streak[-1].state not in before and len(before) + 1 >= N_ERRORS:
        yield _loop(LoopKind.SAME_ERROR, len(before) + 1, streak, N_ERRORS)
    missed = _last(edits, lambda seen: not seen.is_aimed)
    if len(missed) >= N_MISSES:
        yield _loop(LoopKind.WRONG_PLACE, len(missed), missed, N_MISSES)


def _without_attempt(history: Sequence[Sighting]) -> Iterator[LoopWarning]:
    """Find edits that no test imports, then runs without any edit."""
    edits = _last(history, lambda seen: seen.untested)
    if len(edits) >= N_UNTESTED:
        names = dict.fromkeys(name for seen in edits for name in seen.untested)
        loop = _loop(LoopKind.UNTESTED_EDIT, len(edits), edits, N_UNTESTED)
        yield replace(loop, edited=tuple(names))
    if not history or not history[-1].command:  # empty: something was edited
        return
    ran = _as_run(history[-1])
    same = _last(history, lambda seen: _as_run(seen) == ran and not seen.untested)
    if len(same) >= N_IDLE:
        yield _loop(LoopKind.NO_EDIT, len(same), same, N_IDLE)


def _as_run(seen: Sighting) -> Hashable:
    return seen.state, seen.error, seen.command


def _alternation(attempts: Sequence[Sighting]) -> Iterator[LoopWarning]:
    """Find errors, failing tests or states that repeat with a period of 2 to 5: ``A B A B A B``."""
    sequences: tuple[tuple[list[Hashable], int], ...] = (
        ([seen.tests for seen in attempts], N_SURE_CYCLES),
        ([seen.state for seen in attempts], N_SURE_CYCLES),
        ([seen.error for seen in attempts], N_CYCLES),
    )
    for (sequence, limit), period in product(sequences, range(2, MAX_PERIOD + 1)):
        if len(sequence) < period:
            continue
        n = period  # the last items, which repeat with it
        while n < len(sequence) and sequence[-n - 1] == sequence[-n - 1 + period]:
            n += 1
        if n // period < limit:
            continue
        cycle = list(sequence[-period:])
        parts = (p for p in range(1, period) if period % p == 0)
        # With a shorter period it is another loop, and with one of 1 it stands.
        if not any(cycle[:p] * (period // p) == cycle for p in parts):
            yield _loop(LoopKind.ALTERNATION, n // period, attempts[-n:], limit, period)
            return


def _loop(
    kind: LoopKind, n: int, seen: Sequence[Sighting], limit: int, period: int = 0
) -> LoopWarning:
    return LoopWarning(
        kind=kind.value,
        n=n,
        edited=tuple(dict.fromkeys(name for sighting in seen for name in sighting.edited)),
        since=seen[0].seen_at,
        period=period,
        n_told=len(seen) - limit * period if period else n - limit,
    )


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
    lines = []
    # The tries may share functions, or the kind of their edits.
    shared = [n for n in tries[0].edit.functions if all(n in t.edit.functions for t in tries)]
    kinds = {kind_of(trial.edit.diff) for trial in tries}
    words = [f"edit {', '.join(shared[:3])}"] if shared else []
    if len(kinds) == 1 and (kind := kinds.pop()):
        words.append(f"change {kind} only")
    if words:
        lines.append(f"{all_of(len(tries), 'attempt')} {' and '.join(words)}")
    if symptom.p_first >= SURE and symptom.suspects:  # a wrong edit alone refutes no place
        first = symptom.suspects[0]
        edited = dict.fromkeys(name for trial in tries for name in trial.edit.functions)
        against = [name for name in edited if name != first and name not in fixed]
        if against and first not in edited:
            lines.append(
                f"the evidence speaks against {', '.join(against[:3])}: the error stayed with each "
                f"edit, and the probability of {first} is {100 * symptom.p_first:.0f} %"
            )
    experiments = _experiments(symptom, tries, found)[:N_EXPERIMENTS]
    return [*lines, *(f"experiment {i}: {text}" for i, text in enumerate(experiments, 1))]


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
