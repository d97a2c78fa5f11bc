"""Advice on a bug: similar past bugs, failed attempts, and warnings of loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.advice import Advice, LoopWarning, SimilarBug
from pytest_bayesloc.domain.bug import BugRecord, Run, Symptom, is_contradicted
from pytest_bayesloc.domain.texts import listed, words
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.memory import feedback, retrieval
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
