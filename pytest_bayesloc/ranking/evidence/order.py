"""Evidence from the order of calls: the fault often returned last before the failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call, Recording
from pytest_bayesloc.ranking.likelihoods import weigh

SOURCE = "order"
N_LAST = 2  # functions that are said to have returned last


def order_evidence(recording: Recording, failing: Iterable[str], *, model: str) -> list[Evidence]:
    """Weigh for each recorded function whether it was among the last to return before a failure.

    Args:
        recording: The calls of the failing tests.
        failing: Node ids of one group.
        model: Name of the belief model.
    """
    orders = [_by_return(recording.calls[n]) for n in failing if recording.calls.get(n)]
    last = {where for order in orders for where in order[:N_LAST]}
    seen = {where for order in orders for where in order}
    return [
        weigh(model, StaticOutcome.RETURNED_LAST, where, source=SOURCE, why=LAST)
        if where in last
        else weigh(model, StaticOutcome.RETURNED_EARLIER, where, source=SOURCE, why=EARLIER)
        for where in sorted(seen)
        if not where.is_test
    ]


LAST = "among the last to return before the failure"
EARLIER = "others returned between it and the failure"


def _by_return(calls: Sequence[Call]) -> list[Location]:
    """Return the functions of ``calls``, the last to be left first; never left comes before all."""
    left: dict[Location, float] = {}
    for call in calls:
        at = float(call.left) if call.left >= 0 else float("inf")
        left[call.location] = max(at, left.get(call.location, -1.0))
    return sorted(left, key=lambda where: (-left[where], where))
