"""Evidence from what changed since the tests passed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytest_bayesloc.domain.evidence import ChangeOutcome, Evidence
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.history.changes import Changes
from pytest_bayesloc.ranking.likelihoods import weigh

SOURCE = "changed"


def change_evidence(
    changes: Changes, candidates: Iterable[Location], *, model: str
) -> list[Evidence]:
    """Weigh what changed since the tests passed; if no candidate did, it says nothing."""
    known = sorted(where for where in candidates if where.file in changes.known)
    changed = {suspect_of(where, known) for where in changes.every}
    if changed.isdisjoint(known):
        return []
    edited, kept = f"changed since {changes.since}", f"did not change since {changes.since}"
    return [
        weigh(model, ChangeOutcome.CHANGED_SINCE_GREEN, where, source=SOURCE, why=edited)
        if where in changed
        else weigh(model, ChangeOutcome.UNCHANGED_SINCE_GREEN, where, source=SOURCE, why=kept)
        for where in known
    ]


def suspect_of(changed: Location, candidates: Collection[Location]) -> Location:
    """Return the candidate that answers for ``changed``: a test answers for what is inside it."""
    if not changed.is_test or changed in candidates:
        return changed
    around = [
        where
        for where in candidates
        if where.file == changed.file and changed.qualname.startswith(f"{where.qualname}.<locals>.")
    ]
    return max(around, key=lambda where: len(where.qualname), default=changed)
