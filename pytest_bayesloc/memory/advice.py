"""Advice on a bug: what was like it, what failed, and whether somebody goes in circles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_bayesloc.domain.advice import Advice, LoopWarning, Similar
from pytest_bayesloc.domain.bug import BugRecord, Symptom
from pytest_bayesloc.domain.words import words
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.lookup import Lookup
from pytest_bayesloc.memory.loops import Limits, Loop, LoopKind, loops
from pytest_bayesloc.memory.retrieval import Entry, Score, bm25, jaccard

N_HISTORY = 60
N_WORDS = 5
N_KNOWN = 3  # of each kind
MASKS = frozenset({"int", "float"})
NEVER = 1 << 62
MIN_SCORE = 0.15  # the right ones among the best three reach it (docs/memory.md)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How much is said.

    Attributes:
        n_similar: Past bugs at most.
        score: How past failures are scored.
        limits: When a streak is a loop; None: loops are not looked for.
    """

    n_similar: int = 3
    score: Score = bm25
    limits: Limits | None = field(default_factory=Limits)


class Adviser:
    """Looks things up for the failures of one run.

    Args:
        ledger: In a transaction.
        workspace: The checkout of the run.
        terms: How much is said.
    """

    def __init__(self, ledger: Ledger, workspace: str, terms: Terms) -> None:
        self._ledger = ledger
        self._lookup = Lookup(ledger)
        self._workspace = workspace
        self._terms = terms

    def advise(self, fault: int, bug: int, symptom: Symptom, said: str, lies: str) -> Advice:
        """What is known about the failing tests of ``bug``.

        Args:
            fault: Index of the group.
            bug: Number in the store.
            symptom: As of this run.
            said: What became of the bug in this run.
            lies: Where the error lies and why.
        """
        record = self._ledger.bugs([bug])[bug]
        return Advice(
            fault=fault,
            record=record,
            said=said,
            similar=tuple(self.similar(symptom, before=self._lookup.first_of_its_run(bug))),
            loops=tuple(self._loops(bug, record, symptom)),
            lies=lies,
            guard=_guard(symptom),
        )

    def world(self, symptoms: Sequence[Symptom]) -> dict[str, tuple[str, ...]]:
        """What is known of the world that touches these failures, by kind."""
        lookup = self._lookup
        names = {tag[4:] for what in symptoms for tag in what.tags if tag.startswith("api:")}
        tests = [node_id for what in symptoms for node_id in what.tests]
        seen = {(what.category, what.signature): None for what in symptoms}
        counts = {key: lookup.n_alike(*key) for key in seen}
        insights = dict.fromkeys(
            f"{category.value}: {text}"
            for category in dict.fromkeys(category for category, _ in seen)
            for text in lookup.insights(category, N_KNOWN)
        )
        flaky = lookup.observed("flaky", tests)
        found = {
            "insights": list(insights)[:N_KNOWN],
            "constraints": lookup.demands(names, N_KNOWN),
            "patterns": [
                f"{n} bugs so far: {category.value}, {signature}"
                for (category, signature), n in counts.items()
                if n > 1
            ][:N_KNOWN],
            "observations": [
                *(
                    f"{test} passed and failed without an edit, {n} times"
                    for test, n in flaky.items()
                ),
                *lookup.general_notes(),
            ],
        }
        return {kind: tuple(texts) for kind, texts in found.items()}

    def similar(self, symptom: Symptom, *, before: int = NEVER) -> list[Similar]:
        """Bugs that failed alike, best first.

        Args:
            symptom: As of this run.
            before: Number in the store from which on bugs are left out.
        """
        query = entry_of(symptom)
        same = self._lookup.same(symptom.fingerprints, before=before)
        found = self._lookup.candidates(query.signature, query.tags, before=before)
        entries = [entry for _, entry in found]
        scores = self._terms.score(query, entries)
        best: dict[int, tuple[float, Entry | None]] = dict.fromkeys(same, (1.0, None))
        for (other, entry), score in zip(found, scores, strict=True):
            if score > max(MIN_SCORE, best.get(other, (0.0, None))[0]):
                best[other] = (score, entry)
        order = sorted(best, key=lambda other: (-best[other][0], -other))[: self._terms.n_similar]
        records = self._ledger.bugs(order)
        return [
            Similar(record=records[other], score=best[other][0], why=_why(query, best[other][1]))
            for other in order
        ]

    def _loops(self, bug: int, record: BugRecord, symptom: Symptom) -> list[LoopWarning]:
        limits = self._terms.limits
        if limits is None:
            return []
        history = self._ledger.sightings(bug, self._workspace, N_HISTORY)
        found = loops(history, in_test=symptom.in_test, limits=limits)
        edited = tuple(dict.fromkeys(name for seen in history for name in seen.edited))
        return [
            LoopWarning(
                kind=loop.kind.value, n=loop.n, said=_step_back(loop, record, symptom, edited)
            )
            for loop in found[:1]
        ]


def entry_of(symptom: Symptom) -> Entry:
    """A failure at hand as it is compared."""
    return Entry(signature=symptom.signature, tags=symptom.tags, category=symptom.category)


def _guard(symptom: Symptom) -> str:
    """``check needs n > 0: check it first at shop/cart.py:12 in Cart.add``."""
    where = symptom.first_check
    return f"{symptom.constraint}: check it first at {where}" if where else ""


def _why(query: Entry, entry: Entry | None) -> str:
    """In what two failures are alike."""
    if entry is None:
        return "the same failure: the exception's type, the function and the statement agree"
    shared = sorted(query.tags & entry.tags)
    named = [tag.partition(":")[2] for tag in shared if not tag.startswith("error:")]
    said, before = (frozenset(words(e.signature.partition(": ")[2])) for e in (query, entry))
    common = (said & before) - MASKS
    share = jaccard(said, before)
    parts = []
    if any(tag.startswith("error:") for tag in shared):
        parts.append("the same type of exception")
    if named:
        parts.append(f"both in {', '.join(named[:3])}")
    if share == 1.0:
        parts.append("the same message")
    elif common:
        longest = sorted(common, key=lambda word: (-len(word), word))[:N_WORDS]
        parts.append(f"words in common: {', '.join(longest)}")
    return "; ".join(parts) or "similar wording"


_HAPPENS = {
    LoopKind.SAME_ERROR: "the same error over {n} states of the code",
    LoopKind.SEEN_STATE: "this very code failed before, on {since:%Y-%m-%d %H:%M} UTC",
    LoopKind.ALTERNATION: "the same {period} states come and go, {n} times now",
    LoopKind.WRONG_PLACE: "{n} edits in a row, none of them at a likely place of the fault",
    LoopKind.TEST_AT_FAULT: "{n} edits of the code, but the error stands in the test or its data",
}


def _step_back(
    loop: Loop, record: BugRecord, symptom: Symptom, edited: Sequence[str]
) -> tuple[str, ...]:
    """What happens, and five questions answered as far as that can be done."""
    happens = _HAPPENS[loop.kind].format(n=loop.n, since=loop.since, period=loop.period)
    lines = [f"step back: {happens}", f"error: {symptom.signature}"]
    raised = symptom.error.rpartition("\n")[2]
    if raised.startswith("at "):
        lines.append(f"raised {raised}")
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
    said = [text for text in demands if text and " does not change " not in text]
    lines += [
        f"does the input meet this? {text}; if it may not, check it first" for text in said[:2]
    ]
    return tuple(lines)
