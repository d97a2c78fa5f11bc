"""Advice on a bug: similar past bugs, failed attempts, and warnings of loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.advice import Advice, LoopWarning, SimilarBug
from pytest_bayesloc.domain.bug import BugRecord, Run, Symptom, is_contradicted
from pytest_bayesloc.domain.texts import words
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.memory import feedback, retrieval
from pytest_bayesloc.memory.episodes import Event
from pytest_bayesloc.memory.ledger import FAILING, PASSING, Ledger
from pytest_bayesloc.memory.loops import LoopKind, loops, second_opinion
from pytest_bayesloc.memory.retrieval import NEWEST, Entry, Score, by_words

if TYPE_CHECKING:
    from pytest_bayesloc.ranking.case import Case

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
        found: Per group, the edits with which its tests passed in memory, in words; None if none
            was tried.
    """

    def __init__(
        self,
        ledger: Ledger,
        workspace: str,
        score: Score = by_words,
        *,
        warns: bool = True,
        found: Sequence[Sequence[str] | None] = (),
    ) -> None:
        self._ledger = ledger
        self._workspace = workspace
        self._score = score
        self._warns = warns
        self._found = found

    def advise(self, fault: int, bug: int, symptom: Symptom, message: str, origin: str) -> Advice:
        """Return the advice on the failing tests of ``bug``.

        Args:
            fault: Index of the group.
            bug: Number in the store.
            symptom: As of this run.
            message: What became of the bug in this run.
            origin: Where the error lies and why.
        """
        record = self._ledger.bugs([bug])[bug]
        before = retrieval.first_of_its_run(self._ledger, bug)
        similar = tuple(self.similar(symptom, before=before))
        fixed = {name for like in similar for name in like.record.root_cause.split(", ") if name}
        found = self._found[fault] if fault < len(self._found) else None
        opinion = partial(second_opinion, record, symptom, fixed=fixed, found=found)
        return Advice(
            fault=fault,
            record=record,
            message=message,
            similar=similar,
            loop=self._loop(bug, record, symptom, opinion),
            origin=origin,
            first_check=_first_check(symptom),
        )

    def world(self, symptoms: Sequence[Symptom]) -> dict[str, tuple[str, ...]]:
        """Return knowledge beyond single bugs that touches these failures, by kind."""
        ledger = self._ledger
        names = {tag[4:] for what in symptoms for tag in what.tags if tag.startswith("api:")}
        believed = [name for what in symptoms for name in what.believed]
        tests = [node_id for what in symptoms for node_id in what.tests]
        seen = {(what.category, what.signature): None for what in symptoms}
        insights = dict.fromkeys(
            text
            for category in dict.fromkeys(category for category, _ in seen)
            for text in retrieval.insights(ledger, category, N_KNOWN)
        )
        flaky = retrieval.observed(ledger, "flaky", tests)
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
            "observations": [
                *(
                    f"{test} passed and failed without an edit, {n} times"
                    for test, n in flaky.items()
                ),
                *retrieval.general_notes(ledger),
            ],
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
        same = retrieval.same_failures(own, symptom.fingerprints, before=before)
        projects = [own.project, *own.others(N_PROJECTS)]
        foreign: dict[int, str] = {}
        found = []
        for project in projects:
            ledger = Ledger(own.db, project)
            new = retrieval.candidates(ledger, query, before=before)
            if project != own.project:
                foreign |= dict.fromkeys((other for other, _ in new), project)
            found += new
        entries = [entry for _, entry in found]
        scores = self._score(query, entries)
        best: dict[int, tuple[float, Entry | None]] = dict.fromkeys(same, (1.0, None))
        for (other, entry), score in zip(found, scores, strict=True):
            if score > max(MIN_SCORE, best.get(other, (0.0, None))[0]):
                best[other] = (score, entry)
        order = sorted(best, key=lambda other: (-best[other][0], -other))[:N_SIMILAR]
        records = self._ledger.bugs(order)
        return [
            SimilarBug(
                record=records[other],
                score=best[other][0],
                why=_why(query, best[other][1]),
                project=foreign.get(other, ""),
            )
            for other in order
        ]

    def _loop(
        self, bug: int, record: BugRecord, symptom: Symptom, opinion: Callable[[int], list[str]]
    ) -> LoopWarning | None:
        if not self._warns:
            return None
        history = self._ledger.sightings(bug, self._workspace, N_HISTORY)
        loop = next(iter(loops(history, in_test=symptom.in_test)), None)
        if loop is None:
            return None
        edited = tuple(dict.fromkeys(name for seen in history for name in seen.edited))
        past = edited, self._ledger.fates(bug)
        said = opinion(loop.n - 1) if loop.kind == LoopKind.SAME_ERROR.value else ()
        return replace(loop, messages=_step_back(loop, record, symptom, past, said))


def keep_feedback(
    ledger: Ledger,
    run: Run,
    events: Sequence[Event],
    advice: Sequence[Advice],
    cases: Sequence[Case],
) -> None:
    """Keep with each bug its advice, rejected patches and verdicts, to be judged by the fix."""
    bug_of = {event.group: event.bug for event in events if event.group >= 0}
    for bug in dict.fromkeys(bug_of.values()):
        own = [item for item in advice if bug_of[item.fault] == bug]
        causes = (like.record.root_cause.split(", ") for item in own for like in item.similar)
        suggested = sorted({name for names in causes for name in names if name})
        loops = sorted({item.loop.kind for item in own if item.loop is not None})
        feedback.add_advice(ledger, bug, run.id, suggested, loops, shown=run.arm == "on")
    rejected: dict[int, dict[str, str]] = {}
    for group, bug in bug_of.items() if cases else ():
        case = cases[group]
        if case.rejected.state:
            rejected.setdefault(bug, {}).update(case.rejected.new)
        if case.judged:
            verdicts = [(use, name_of(where), said) for (use, where), said in case.judged.items()]
            feedback.add_verdicts(ledger, bug, case.guide, verdicts)
    for bug, new in rejected.items():
        feedback.add_rejections(ledger, bug, cases[0].rejected.state, new)


def _first_check(symptom: Symptom) -> str:
    """Return ``check needs n > 0: check it first at shop/cart.py:12 in Cart.add``."""
    where = symptom.first_check
    return f"{symptom.constraint}: check it first at {where}" if where else ""


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
    loop: LoopWarning,
    record: BugRecord,
    symptom: Symptom,
    past: tuple[Sequence[str], Mapping[str, str]],
    opinion: Sequence[str],
) -> tuple[str, ...]:
    """Describe the loop, and answer five questions as far as that can be done.

    Where it was told before, in one line, with more of the answers each time.
    """
    edited, fates = past
    happens = _HAPPENS[LoopKind(loop.kind)].format(n=loop.n, since=loop.since, period=loop.period)
    head, error = f"step back: {happens}", [f"error: {symptom.signature}"]
    raised = symptom.error.rpartition("\n")[2]
    if raised.startswith("at "):
        error.append(f"raised {raised}")
    lines = _both_sides(record, fates) if loop.kind == LoopKind.ALTERNATION.value else []
    if loop.edited:
        lines.append(f"all these edits were in: {', '.join(loop.edited[:5])}")
    if symptom.in_test:
        lines.append(
            f"the evidence points at the test's own data: {', '.join(symptom.suspects[:1])}"
        )
    elif symptom.suspects:
        lines.append(f"the evidence points at: {', '.join(symptom.suspects[:3])}")
    untried = [name for name in symptom.suspects if name not in edited][:3]
    if untried:
        lines.append(f"never edited: {', '.join(untried)}")
    demands = record.learned_constraints or (symptom.constraint,)
    constraints = [text for text in demands if text]
    lines += [
        f"does the input meet this? {text}; if it may not, check it first"
        for text in constraints[:2]
    ]
    lines += opinion
    if loop.n_told:
        return ("; ".join((head, *lines[: loop.n_told])),)
    return (head, *error, *lines)


def _both_sides(record: BugRecord, fates: Mapping[str, str]) -> list[str]:
    """Name the tests and the edits of two states, of which each breaks what the other fixes."""
    failing, passing = (
        ", ".join(sorted(node_id for node_id, found in fates.items() if found == fate))
        for fate in (FAILING, PASSING)
    )
    if not failing or not passing:
        return []
    edits = [trial.summary.strategy for trial in record.trials[-2:]]
    lines = [f"a change is needed with which both pass: {passing}; {failing}"]
    if len(edits) > 1:
        lines += [f"{failing} fails after {edits[1]}", f"{passing} fails after {edits[0]}"]
    return lines
