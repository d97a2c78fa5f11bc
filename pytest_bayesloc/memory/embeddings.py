"""Errors compared by what they mean: vectors by one model, kept so that each is asked for once."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select

from pytest_bayesloc.domain.clock import monotonic
from pytest_bayesloc.domain.ports import Embedder
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.lookup import Lookup
from pytest_bayesloc.memory.retrieval import Entry, bm25
from pytest_bayesloc.memory.rows import chunks
from pytest_bayesloc.memory.schema import EMBEDDING
from pytest_bayesloc.memory.store import BugStore, safe

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAX_KEPT = 20_000  # vectors of a memory, the newest
NEWEST = 2**62
BATCH = 32  # texts that are asked for, and kept, together; the query's come first
LIMIT_S = 10.0
DIGEST = 32


class Embeddings:
    """Scores past failures by the mean of BM25 and the cosine of their vectors.

    Args:
        embedder: Turns texts into vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: Mapping[str, array[float]] = {}

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
            lookup = Lookup(Ledger(connection, project))
            past = [
                entry
                for query in queries
                for _, entry in lookup.candidates(query.signature, query.tags, before=NEWEST)
            ]
            texts = list(dict.fromkeys(map(text_of, (*queries, *past)))) if past else []
            known = self._kept(connection, texts)
            is_first = not known and not self._n_kept(connection)
        self._vectors = known
        missing = [text for text in texts if text not in known]
        until = monotonic() + LIMIT_S
        for start in range(0, len(missing), BATCH):
            if start and monotonic() > until:
                break  # the next run goes on from here
            new = vectors_of(self._embedder, missing[start : start + BATCH])
            with store.transaction() as connection:
                self._keep(connection, new)
            self._vectors = {**self._vectors, **new}
        return is_first and bool(missing)

    def score(self, query: Entry, entries: Sequence[Entry]) -> list[float]:
        """Per entry, in [0, 1]."""
        return mixed(query, entries, self._vectors)

    # -- what is kept

    def _kept(self, connection: Connection, texts: Collection[str]) -> dict[str, array[float]]:
        by_digest = {_digest(text): text for text in texts}
        found: dict[str, array[float]] = {}
        for chunk in chunks(list(by_digest)):
            asked = select(EMBEDDING.c.text, EMBEDDING.c.vector).where(
                EMBEDDING.c.model == self._model, EMBEDDING.c.text.in_(chunk)
            )
            for digest, data in connection.execute(asked):
                found[by_digest[digest]] = array("f", data)
        return found

    def _n_kept(self, connection: Connection) -> int:
        asked = select(func.count()).where(EMBEDDING.c.model == self._model)
        return int(connection.execute(asked).scalar_one())

    def _keep(self, connection: Connection, new: Mapping[str, array[float]]) -> None:
        known = self._kept(connection, new)  # another run may have been faster
        rows = [
            {"model": self._model, "text": _digest(text), "vector": vector.tobytes()}
            for text, vector in new.items()
            if text not in known
        ]
        if rows:
            connection.execute(insert(EMBEDDING), rows)
        newest = int(connection.execute(select(func.max(EMBEDDING.c.seq))).scalar() or 0)
        connection.execute(delete(EMBEDDING).where(EMBEDDING.c.seq <= newest - MAX_KEPT))

    @property
    def _model(self) -> str:
        return self._embedder.model[:100]


def mixed(
    query: Entry, entries: Sequence[Entry], vectors: Mapping[str, array[float]]
) -> list[float]:
    """The mean of BM25 and the cosine of vectors by text; BM25 alone where one is missing."""
    by_words = bm25(query, entries)
    own = vectors.get(text_of(query))
    theirs = [vectors.get(text_of(entry)) for entry in entries]
    if own is None:
        return by_words
    return [
        words if other is None else (words + max(0.0, _dot(own, other))) / 2
        for words, other in zip(by_words, theirs, strict=True)
    ]


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> dict[str, array[float]]:
    """Per text its vector, of length 1.

    Raises:
        EndpointError: If they can't be had.
    """
    return dict(zip(texts, map(_unit, embedder.embed(texts)), strict=True))


def text_of(entry: Entry) -> str:
    """What is embedded of a failure: its message, and the names that it touched."""
    named = sorted(tag.partition(":")[2] for tag in entry.tags if not tag.startswith("error:"))
    return safe(f"{entry.signature}\n{' '.join(named)}")


def _unit(vector: Iterable[float]) -> array[float]:
    found = array("f", vector)
    length = sqrt(sum(x * x for x in found)) or 1.0
    return array("f", (x / length for x in found))


def _dot(a: array[float], b: array[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=False)) if len(a) == len(b) else 0.0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:DIGEST]
