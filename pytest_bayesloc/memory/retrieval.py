"""Past failures that resemble a failure, and other knowledge that touches it.

Reference:
    docs/memory.md, section "Retrieval".
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate
from math import sqrt
from typing import TypeAlias

from pytest_bayesloc.domain.bug import Category, TrialOutcome
from pytest_bayesloc.domain.ports import Embedder
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import bm25, numbered, text_digest, words
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.schema import safe, written
from pytest_bayesloc.memory.store import CHUNK, BugStore, Connection, chunks

N_CANDIDATES = 300  # past failures that are scored
N_COUNTED = 2000  # a word that so many failures hold is common
N_SAME = 20
MAX_WORDS = 200  # of a failure
N_FUNCTIONS = 20  # of a traceback, whose demands are looked up
N_OBSERVED = 5

MAX_KEPT = 20_000  # vectors of a memory, the newest
NEWEST = 2**62
BATCH = 32  # texts that are asked for, and kept, together; the query's come first
LIMIT_S = 10.0
DIGEST = 32


#: A failure, past or present, as it is compared with others: its masked signature, and its tags.
Entry: TypeAlias = tuple[str, frozenset[str]]
Score: TypeAlias = Callable[[Entry, Sequence[Entry]], list[float]]


def by_words(query: Entry, entries: Sequence[Entry]) -> list[float]:
    """Score entries by BM25 of the words of message and tags, in [0, 1].

    The type of the exception is left out: one bug shows in several, and many bugs in one.
    """
    return bm25(_word_counts(query), list(map(_word_counts, entries)))


def _word_counts(entry: Entry) -> Counter[str]:
    signature, all_tags = entry
    tags = frozenset(tag for tag in all_tags if not tag.startswith("error:"))
    counts = Counter(words(signature.partition(": ")[2]))
    counts.update(f"t:{tag}" for tag in tags)
    counts.update(word for tag in tags for word in words(tag.partition(":")[2]))
    return counts


# -- in the database


def first_of_its_run(ledger: Ledger, bug: int) -> int:
    """Return the first bug that began in the same run: others of that run are no past ones."""
    # In two steps, and not min() in SQL: for that PostgreSQL walks through all bugs.
    run = ledger.db.value("SELECT run FROM bug WHERE seq = ?", bug)
    return min(map(int, ledger.db.column("SELECT seq FROM bug WHERE run = ?", run)))


def same_failures(ledger: Ledger, fingerprints: Collection[str], *, before: int) -> list[int]:
    """Return older bugs that failed with one of these fingerprints, youngest first."""
    # Sorted here: for ORDER BY and DISTINCT a database may walk through all of its bugs.
    asked = """SELECT failure.bug, bug.project FROM failure JOIN bug ON bug.seq = failure.bug
        WHERE failure.fingerprint IN ?"""
    rows = ledger.db.rows(asked, sorted(fingerprints)[:CHUNK])
    found = {int(bug) for bug, project in rows if project == ledger.project and bug < before}
    return sorted(found, reverse=True)[:N_SAME]


def candidates(ledger: Ledger, query: Entry, *, before: int) -> list[tuple[int, Entry]]:
    """Return failures of older bugs that share the rarest words, with their bug's number."""
    signature, tags = query
    own = words(" ".join([safe(signature), *sorted(tags)]))
    wanted = sorted(numbered(own, ledger.project))[:MAX_WORDS]
    # One statement for all: each takes its time to be made, and to reach a server.
    each = (
        f"SELECT {word}, count(*) FROM "
        f"(SELECT 1 FROM posting WHERE word = {word} LIMIT {N_COUNTED}) AS capped"
        for word in wanted
    )
    counting = " UNION ALL ".join(each)
    counted = ledger.db.rows(counting) if counting else []
    counts = [(int(word), int(n)) for word, n in counted if n]
    counts.sort(key=lambda item: (item[1], item[0]))
    reached = accumulate((n for _, n in counts), initial=0)
    rarest = [word for (word, _), n in zip(counts, reached, strict=False) if n < N_CANDIDATES]
    newest = """SELECT DISTINCT failure FROM posting
        WHERE word IN ? ORDER BY failure DESC LIMIT ?"""
    failures = ledger.db.column(newest, rarest, N_CANDIDATES)
    asked = """SELECT failure.bug, failure.signature, bug.tags
        FROM failure JOIN bug ON bug.seq = failure.bug WHERE failure.seq IN ?"""
    return [
        (int(bug), (str(signature), frozenset(json.loads(listed))))
        for bug, signature, listed in sorted(ledger.db.rows(asked, failures))
        if bug < before
    ]


def fixed_alike(ledger: Ledger, category: Category, signature: str) -> dict[str, int]:
    """Count the kinds of mistakes that several bugs of this category and signature had."""
    asked = """SELECT trial.lesson FROM trial JOIN bug ON bug.seq = trial.bug
        WHERE bug.project = ? AND bug.category = ? AND bug.signature = ? AND trial.outcome = ?"""
    key = (ledger.project, category.value, written("bug.signature", signature))
    found = ledger.db.column(asked, *key, TrialOutcome.PASSED.value)
    counts = Counter(text.partition(": ")[0] for text in found if ": `" in text)
    return {kind: n for kind, n in counts.most_common() if n > 1}


def demands(ledger: Ledger, functions: Collection[str], at_most: int) -> list[str]:
    """Return the known demands of functions, by qualified name, on their callers."""
    found: dict[str, None] = {}
    asked = """SELECT DISTINCT demand FROM bug WHERE project = ? AND substr(demand, 1, ?) = ?
        ORDER BY demand LIMIT ?"""
    names = sorted(functions)[:N_FUNCTIONS]
    for start in (f"{name}{verb}" for name in names for verb in (" needs ", "() ")):
        known = ledger.db.column(asked, ledger.project, len(start), start, at_most)
        found.update(dict.fromkeys(known))
    return list(found)[:at_most]


def insights(ledger: Ledger, category: Category, at_most: int) -> list[str]:
    """Return the lessons of the last fixed bugs of a category, youngest first."""
    asked = """SELECT trial.lesson FROM trial JOIN bug ON bug.seq = trial.bug
        WHERE bug.project = ? AND bug.category = ? AND trial.outcome = ? AND trial.lesson <> ''
        ORDER BY trial.made_at DESC LIMIT ?"""
    key = (ledger.project, category.value, TrialOutcome.PASSED.value)
    return list(dict.fromkeys(ledger.db.column(asked, *key, at_most)))


def general_notes(ledger: Ledger) -> list[str]:
    """Return persons' notes that belong to no bug, youngest first."""
    asked = "SELECT text FROM note WHERE project = ? AND bug IS NULL ORDER BY seq DESC LIMIT ?"
    return ledger.db.column(asked, ledger.project, N_OBSERVED)


# -- by meaning


class Embeddings:
    """Scores past failures by the mean of BM25 and the cosine of their vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._model = embedder.model[:100]  # as long as the column
        self._vectors: dict[str, array[float]] = {}

    def prepare(self, store: BugStore, project: str, queries: Sequence[Entry]) -> bool:
        """Get the vectors of ``queries`` and of what they may be compared with.

        Outside of any transaction, since an endpoint may be slow.

        Returns:
            Whether the model was asked for the first time in this memory.

        Raises:
            EndpointError: If the vectors can't be had; the score is BM25 alone then.
            StoreError: If the memory can't be used.
        """
        with store.transaction(write=False) as connection:
            ledger = Ledger(connection, project)
            past = [
                entry for query in queries for _, entry in candidates(ledger, query, before=NEWEST)
            ]
            texts = list(dict.fromkeys(map(text_of, (*queries, *past)))) if past else []
            known = self._kept(connection, texts)
            asked = "SELECT count(*) FROM embedding WHERE model = ?"
            is_first = not known and not connection.value(asked, self._model)
        self._vectors = known
        missing = [item for item in texts if item not in known]
        until = monotonic() + LIMIT_S
        for start in range(0, len(missing), BATCH):
            if start and monotonic() > until:
                break  # the next run goes on from here
            new = vectors_of(self._embedder, missing[start : start + BATCH])
            with store.transaction() as connection:
                kept = self._kept(connection, new)  # another run may have been faster
                rows = [
                    {"model": self._model, "text": text_digest(text, DIGEST), "vector": v.tobytes()}
                    for text, v in new.items()
                    if text not in kept
                ]
                connection.insert_each("embedding", rows)
                newest = int(connection.value("SELECT max(seq) FROM embedding") or 0)
                connection.change("DELETE FROM embedding WHERE seq <= ?", newest - MAX_KEPT)
            known |= new
        return is_first and bool(missing)

    def score(self, query: Entry, entries: Sequence[Entry]) -> list[float]:
        """Score entries, in [0, 1]."""
        return mixed(query, entries, self._vectors)

    def _kept(self, connection: Connection, texts: Collection[str]) -> dict[str, array[float]]:
        by_digest = {text_digest(item, DIGEST): item for item in texts}
        found: dict[str, array[float]] = {}
        for chunk in chunks(list(by_digest)):
            asked = "SELECT text, vector FROM embedding WHERE model = ? AND text IN ?"
            for digest, data in connection.rows(asked, self._model, chunk):
                found[by_digest[digest]] = array("f", data)
        return found


def mixed(
    query: Entry, entries: Sequence[Entry], vectors: Mapping[str, array[float]]
) -> list[float]:
    """Score by the mean of BM25 and the cosine of vectors; BM25 alone where one is missing."""
    own, scores = vectors.get(text_of(query)), by_words(query, entries)
    for i, entry in enumerate(entries):
        other = vectors.get(text_of(entry))
        if own is not None and other is not None:
            fits = len(own) == len(other)
            cosine = sum(x * y for x, y in zip(own, other, strict=True)) if fits else 0.0
            scores[i] = (scores[i] + max(0.0, cosine)) / 2
    return scores


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> dict[str, array[float]]:
    """Ask for the vector of each text, of length 1.

    Raises:
        EndpointError: If they can't be had.
    """
    found = {}
    for text, embedded in zip(texts, embedder.embed(texts), strict=True):
        vector = array("f", embedded)
        length = sqrt(sum(x * x for x in vector)) or 1.0
        found[text] = array("f", (x / length for x in vector))
    return found


def text_of(entry: Entry) -> str:
    """Return the embedded text of a failure: its message, and the names that it touched."""
    signature, tags = entry
    named = sorted(tag.partition(":")[2] for tag in tags if not tag.startswith("error:"))
    return safe(f"{signature}\n{' '.join(named)}")
