"""Advice on a bug: similar past bugs, failed attempts, and warnings of loops.

Loops are edits that lead nowhere, found in the sightings of one bug; a second opinion on them says
what else to try.

Reference:
    docs/memory.md, section "Loops".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import product, takewhile
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.advice import Advice, LoopWarning, SimilarBug
from pytest_bayesloc.domain.bug import (
    BugRecord,
    DebugTrial,
    Run,
    Sighting,
    Symptom,
    TrialOutcome,
    is_contradicted,
)
from pytest_bayesloc.domain.texts import TextEnum, all_of, listed, words
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.memory import feedback, retrieval
from pytest_bayesloc.memory.ledger import FAILING, PASSING, Ledger
from pytest_bayesloc.memory.retrieval import NEWEST, Entry, Score, by_words

if TYPE_CHECKING:
    from pytest_bayesloc.ranking.case import Case

# -- loops

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


# -- advice

N_SIMILAR = 3  # past bugs that advice shows
N_HISTORY = 60  # sightings in which loops are searched
N_WORDS = 5
N_PROJECTS = 5  # others of a shared memory in which is searched
N_KNOWN = 3  # of each kind
MASKS = frozenset({"int", "float"})
MIN_SCORE = 0.15  # the right ones among the best three reach it (docs/memory.md)


class Adviser:
    """Looks things up for the failures of one run.

    Args:
        ledger: In a transaction.
        workspace: The checkout of the run.
        score: Compares past failures with a present one.
        warns: Whether loops are searched.
    """

    def __init__(
        self, ledger: Ledger, workspace: str, score: Score = by_words, *, warns: bool = True
    ) -> None:
        self._ledger = ledger
        self._workspace = workspace
        self._score = score
        self._warns = warns

    def advise(
        self, event: Advice, symptom: Symptom, origin: str, helping: Sequence[str] | None = None
    ) -> Advice:
        """Return the advice on the failing tests of a bug.

        Args:
            event: What this run did to it.
            symptom: As of this run.
            origin: Where the error lies and why.
            helping: The edits with which its tests passed in memory, in words; None if none was
                tried.
        """
        before = retrieval.first_of_its_run(self._ledger, event.bug)
        check = symptom.first_check
        advice = replace(
            event,
            record=self._ledger.bugs([event.bug])[event.bug],
            similar=tuple(self.similar(symptom, before=before)),
            origin=origin,
            first_check=f"{symptom.constraint}: check it first at {check}" if check else "",
        )
        return replace(advice, loop=self._loop(advice, symptom, helping)) if self._warns else advice

    def world(self, symptoms: Sequence[Symptom]) -> dict[str, tuple[str, ...]]:
        """Return knowledge beyond single bugs that touches these failures, by kind."""
        ledger = self._ledger
        names = {tag[4:] for what in symptoms for tag in what.tags if tag.startswith("api:")}
        believed = [name for what in symptoms for name in what.believed]
        seen = {(what.category, what.signature): None for what in symptoms}
        insights = dict.fromkeys(
            text
            for category in dict.fromkeys(category for category, _ in seen)
            for text in retrieval.insights(ledger, category, N_KNOWN)
        )
        found = {
            "insights": list(insights)[:N_KNOWN],
            "constraints": [
                text
                for text in retrieval.demands(ledger, names, N_KNOWN)
                if not is_contradicted(text, believed)
            ],
            "patterns": [
                f"{n} bugs that failed with {signature} were fixed alike: {kind}"
                for category, signature in seen
                for kind, n in retrieval.fixed_alike(ledger, category, signature).items()
            ][:N_KNOWN],
            "observations": retrieval.general_notes(ledger),
        }
        return {kind: tuple(texts) for kind, texts in found.items()}

    def similar(self, symptom: Symptom, *, before: int = NEWEST) -> list[SimilarBug]:
        """Return bugs that failed alike, best first.

        Args:
            symptom: As of this run.
            before: Number in the store from which on bugs are left out.
        """
        query = symptom.signature, symptom.tags
        own = self._ledger
        found = [
            candidate
            for project in (own.project, *own.others(N_PROJECTS))
            for candidate in retrieval.candidates(Ledger(own.db, project), query, before=before)
        ]
        scores = self._score(query, [entry for _, entry in found])
        same = retrieval.same_failures(own, symptom.fingerprints, before=before)
        best: dict[int, tuple[float, Entry | None]] = dict.fromkeys(same, (1.0, None))
        for (bug, entry), score in zip(found, scores, strict=True):
            if score > max(MIN_SCORE, best.get(bug, (0.0, None))[0]):
                best[bug] = (score, entry)
        order = sorted(best, key=lambda bug: (-best[bug][0], -bug))[:N_SIMILAR]
        records = own.bugs(order)
        return [
            SimilarBug(
                record=records[bug],
                score=best[bug][0],
                why=_why(query, best[bug][1]),
                project=records[bug].project if records[bug].project != own.project else "",
            )
            for bug in order
        ]

    def _loop(
        self, advice: Advice, symptom: Symptom, helping: Sequence[str] | None
    ) -> LoopWarning | None:
        history = self._ledger.sightings(advice.bug, self._workspace, N_HISTORY)
        loop = next(iter(loops(history, in_test=symptom.in_test)), None)
        if loop is None:
            return None
        opinion = []
        if loop.kind == LoopKind.SAME_ERROR.value:
            fixed = {name for like in advice.similar for name in like.record.fixed}
            opinion = second_opinion(advice.record, symptom, loop.n - 1, fixed=fixed, found=helping)
        edited = {name for seen in history for name in seen.edited}
        untried = [name for name in symptom.suspects if name not in edited]
        lines = _step_back(loop, advice.record, symptom, untried)
        if loop.kind == LoopKind.ALTERNATION.value:
            # Each of two states breaks what the other one fixes.
            fates = self._ledger.fates(advice.bug).items()
            failing, passing = (
                listed(sorted(node_id for node_id, found in fates if found == fate))
                for fate in (FAILING, PASSING)
            )
            if failing and passing:
                sides = [f"a change is needed with which both pass: {passing}; {failing}"]
                edits = [trial.strategy for trial in advice.record.trials[-2:]]
                if len(edits) > 1:
                    sides.append(f"after {edits[1]}, this fails: {failing}")
                    sides.append(f"after {edits[0]}, this fails: {passing}")
                lines[:0] = sides
        return replace(loop, messages=loop_messages(loop, symptom, [*lines, *opinion]))


def keep_feedback(
    ledger: Ledger, run: Run, advice: Sequence[Advice], cases: Sequence[Case]
) -> None:
    """Keep with each bug its advice, rejected patches and verdicts, to be judged by the fix."""
    of_bug: dict[int, list[Advice]] = {}
    for item in advice:
        of_bug.setdefault(item.bug, []).append(item)
    for bug, own in of_bug.items():
        suggested = {name for item in own for like in item.similar for name in like.record.fixed}
        loops = {item.loop.kind for item in own if item.loop is not None}
        shown = run.arm == "on"
        feedback.add_advice(ledger, bug, run.id, sorted(suggested), sorted(loops), shown=shown)
        tried = [cases[item.fault].rejected for item in own]
        if tried[0].state:
            new = {patch: how for rejected in tried for patch, how in rejected.new.items()}
            feedback.add_rejections(ledger, bug, tried[0].state, new)
        for case in (cases[item.fault] for item in own):
            if case.judged:
                judged = case.judged.items()
                verdicts = [(use, name_of(where), said) for (use, where), said in judged]
                feedback.add_verdicts(ledger, bug, case.guide, verdicts)


def _why(query: Entry, entry: Entry | None) -> str:
    """Explain the resemblance of two failures; without ``entry``, their fingerprint is the same."""
    if entry is None:
        return "the same failure: the exception's type, the function and the statement agree"
    shared = sorted(query[1] & entry[1])
    named = [tag.partition(":")[2] for tag in shared if not tag.startswith("error:")]
    own, other = (frozenset(words(text.partition(": ")[2])) for text, _ in (query, entry))
    common = (own & other) - MASKS
    parts = []
    if any(tag.startswith("error:") for tag in shared):
        parts.append("the same type of exception")
    if named:
        parts.append(f"both in {', '.join(named[:3])}")
    if own and own == other:
        parts.append("the same message")
    elif common:
        longest = sorted(common, key=lambda word: (-len(word), word))[:N_WORDS]
        parts.append(f"words in common: {', '.join(longest)}")
    return "; ".join(parts) or "similar wording"


_HAPPENS = {
    LoopKind.SAME_ERROR: "the same error over {n} states of the code",
    LoopKind.SEEN_STATE: "this very code failed before, on {since:%Y-%m-%d %H:%M} UTC",
    LoopKind.ALTERNATION: "the same {period} states come and go, {n} times now",
    LoopKind.WRONG_PLACE: "{n} edits in a row, none of them at a suspect",
    LoopKind.UNTESTED_EDIT: "{n} edits in a row of files that no test of the run imports",
    LoopKind.NO_EDIT: "the same command, {n} times, without an edit that the tests could see",
    LoopKind.TEST_AT_FAULT: "{n} edits of the code, but the likely cause is the test or its data",
}


def _step_back(
    loop: LoopWarning, record: BugRecord, symptom: Symptom, untried: Sequence[str]
) -> list[str]:
    """Answer, as far as that can be done, where the edits were, and where to look instead."""
    lines = []
    if loop.edited:
        lines.append(f"all these edits were in: {', '.join(loop.edited[:5])}")
    if symptom.in_test:
        lines.append(
            f"the evidence points at the test's own data: {', '.join(symptom.suspects[:1])}"
        )
    elif symptom.suspects:
        lines.append(f"the evidence points at: {', '.join(symptom.suspects[:3])}")
    if untried:
        lines.append(f"never edited: {', '.join(untried[:3])}")
    demands = record.learned_constraints or (symptom.constraint,)
    return lines + [
        f"does the input meet this? {text}; if it may not, check it first"
        for text in [text for text in demands if text][:2]
    ]


def loop_messages(loop: LoopWarning, symptom: Symptom, answers: Sequence[str]) -> tuple[str, ...]:
    """Describe the loop; where it was told before, in one line, with more answers each time."""
    happens = _HAPPENS[LoopKind(loop.kind)].format(n=loop.n, since=loop.since, period=loop.period)
    head = f"step back: {happens}"
    if loop.n_told:
        return ("; ".join((head, *answers[: loop.n_told])),)
    raised = symptom.error.rpartition("\n")[2]
    error = f"error: {symptom.signature}"
    where = [f"raised {raised}"] if raised.startswith("at ") else []
    return (head, error, *where, *answers)
