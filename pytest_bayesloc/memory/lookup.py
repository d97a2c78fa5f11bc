"""What of the memory touches the failures at hand."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import accumulate

from sqlalchemy import func, select, text

from pytest_bayesloc.domain.bug import Category, Outcome
from pytest_bayesloc.domain.words import numbered, words
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.retrieval import Entry
from pytest_bayesloc.memory.rows import CHUNK
from pytest_bayesloc.memory.schema import BUG, FAILURE, NOTE, OBSERVATION, POSTING, TRIAL
from pytest_bayesloc.memory.store import safe

N_CANDIDATES = 300  # past failures that are scored
N_COUNTED = 2000  # a word that so many failures hold is common
N_SAME = 20
MAX_WORDS = 200  # of a failure
N_FUNCTIONS = 20  # of a traceback, whose demands are looked up
N_OBSERVED = 5


class Lookup:
    """Searches a ledger.

    Args:
        ledger: In a transaction.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._db, self._project = ledger.db, ledger.project

    def first_of_its_run(self, bug: int) -> int:
        """The first bug that began in the same run: others of that run are no past ones."""
        # In two steps, and not min() in SQL: for that PostgreSQL walks through all bugs.
        run = self._db.execute(select(BUG.c.run).where(BUG.c.seq == bug)).scalar_one()
        return min(map(int, self._db.execute(select(BUG.c.seq).where(BUG.c.run == run)).scalars()))

    def same(self, fingerprints: Collection[str], *, before: int) -> list[int]:
        """The older bugs that failed with one of these fingerprints, youngest first."""
        # Sorted here: for ORDER BY and DISTINCT a database may walk through all of its bugs.
        asked = (
            select(FAILURE.c.bug, BUG.c.project)
            .join_from(FAILURE, BUG, BUG.c.seq == FAILURE.c.bug)
            .where(FAILURE.c.fingerprint.in_(sorted(fingerprints)[:CHUNK]))
        )
        rows = self._db.execute(asked).all()
        found = {int(bug) for bug, project in rows if project == self._project and bug < before}
        return sorted(found, reverse=True)[:N_SAME]

    def candidates(
        self, signature: str, tags: Collection[str], *, before: int
    ) -> list[tuple[int, Entry]]:
        """Failures of older bugs that share the rarest words, with their bug's number."""
        said = words(" ".join([safe(signature), *sorted(tags)]))
        wanted = sorted(numbered(said, self._project))[:MAX_WORDS]
        counts = sorted(self._counted(wanted), key=lambda item: (item[1], item[0]))
        reached = accumulate((n for _, n in counts), initial=0)
        rarest = [word for (word, _), n in zip(counts, reached, strict=False) if n < N_CANDIDATES]
        holding = select(POSTING.c.failure).where(POSTING.c.word.in_(rarest)).distinct()
        newest = holding.order_by(POSTING.c.failure.desc()).limit(N_CANDIDATES)
        failures = list(self._db.execute(newest).scalars())
        rows = (
            select(FAILURE.c.bug, FAILURE.c.signature, BUG.c.tags, BUG.c.category)
            .join_from(FAILURE, BUG, BUG.c.seq == FAILURE.c.bug)
            .where(FAILURE.c.seq.in_(failures))
        )
        return [
            (
                int(bug),
                Entry(
                    signature=str(signature),
                    tags=frozenset(json.loads(listed)),
                    category=Category(category),
                ),
            )
            for bug, signature, listed, category in sorted(self._db.execute(rows).all())
            if bug < before
        ]

    def _counted(self, wanted: Sequence[int]) -> list[tuple[int, int]]:
        """Per word that is there, how many failures hold it, counted up to a bound."""
        # One statement for all: each takes its time to be made, and to reach a server.
        each = (
            f"SELECT {word}, count(*) FROM "  # noqa: S608 - numbers of ours
            f"(SELECT 1 FROM posting WHERE word = {word} LIMIT {N_COUNTED}) AS capped"
            for word in wanted
        )
        asked = " UNION ALL ".join(each)
        rows = self._db.execute(text(asked)).all() if asked else []
        return [(int(word), int(n)) for word, n in rows if n]

    def n_alike(self, category: Category, signature: str) -> int:
        """How many bugs have shown this category and signature."""
        where = (BUG.c.project == self._project) & (BUG.c.category == category.value)
        asked = select(func.count()).where(where, BUG.c.signature == safe(signature)[:200])
        return int(self._db.execute(asked).scalar_one())

    def demands(self, functions: Collection[str], at_most: int) -> list[str]:
        """What is known that these functions, by qualified name, demand of their callers."""
        found: dict[str, None] = {}
        for name in sorted(functions)[:N_FUNCTIONS]:
            for start in (f"{name} needs ", f"{name}() "):
                where = BUG.c.demand.startswith(start, autoescape=True)
                asked = select(BUG.c.demand).where(BUG.c.project == self._project, where)
                newest = asked.distinct().order_by(BUG.c.demand).limit(at_most)
                found.update(dict.fromkeys(self._db.execute(newest).scalars()))
        return list(found)[:at_most]

    def insights(self, category: Category, at_most: int) -> list[str]:
        """What mended the last bugs of a category, youngest first."""
        asked = (
            select(TRIAL.c.lesson)
            .join_from(TRIAL, BUG, BUG.c.seq == TRIAL.c.bug)
            .where(BUG.c.project == self._project, BUG.c.category == category.value)
            .where(TRIAL.c.outcome == Outcome.PASSED.value, TRIAL.c.lesson != "")
            .order_by(TRIAL.c.made_at.desc())
            .limit(at_most)
        )
        return list(dict.fromkeys(self._db.execute(asked).scalars()))

    def observed(self, kind: str, texts: Collection[str] | None = None) -> dict[str, int]:
        """What was observed of a kind, of ``texts`` if given, and how often; the last first."""
        where = (OBSERVATION.c.project == self._project) & (OBSERVATION.c.kind == kind)
        asked = select(OBSERVATION.c.text, OBSERVATION.c.n).where(where)
        if texts is not None:
            wanted = [safe(text)[:1000] for text in sorted(texts)[:CHUNK]]
            asked = asked.where(OBSERVATION.c.text.in_(wanted))
        last = asked.order_by(OBSERVATION.c.last_at.desc()).limit(N_OBSERVED)
        return {str(text): int(n) for text, n in self._db.execute(last)}

    def general_notes(self) -> list[str]:
        """What persons noted that belongs to no bug, youngest first."""
        where = (NOTE.c.project == self._project) & NOTE.c.bug.is_(None)
        asked = select(NOTE.c.text).where(where).order_by(NOTE.c.seq.desc()).limit(N_OBSERVED)
        return list(self._db.execute(asked).scalars())
