"""Follows the value that a check refused back to where it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.inspection import Finding
from pytest_bayesloc.domain.recording import ValueFlow
from pytest_bayesloc.domain.source import ReadMap
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.value_flow import traced_guard

MAX_TESTS = 2  # failing tests that are followed
LEAST_S = 2.0  # what is noted at most takes less
SHARE = 0.05  # of the time that is left: tests that take longer are not followed
SLOWER = 4.0  # times that they take while they are followed


class FollowValues(InspectionStrategy):
    """Runs one or two failing tests once more, and notes which objects go through which calls.

    Args:
        read: Finds the locations of a file.
    """

    name = "values"

    def __init__(self, read: ReadMap) -> None:
        self._read = read

    def open(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Learn who owns what a check refused. It makes no inspection of a single location."""
        yield from ()
        if case.cause or not budget.left_s():
            return
        flows = self._followed(case, budget)
        fixtures = {where for f in case.group.failures for where in f.test_locations[1:]}
        guards = [traced_guard(flow, self._read, fixtures) for flow in flows]
        owners = {guard.owner if guard is not None else None for guard in guards}
        if guards and guards[0] is not None and len(owners) == 1:
            case.answer_for(guards[0])

    def _followed(self, case: Case, budget: Budget) -> Sequence[ValueFlow]:
        # A check that refuses the data of several tests is more likely to be wrong itself.
        refused = {f.node_id for f in case.group.failures if not _is_of_test(f)}
        failing = [node_id for node_id in case.failing if node_id in refused]
        apart = {node_id.partition("[")[0]: node_id for node_id in reversed(failing)}
        chosen = sorted(apart.values(), key=case.failing.index)[:MAX_TESTS]
        usual_s = budget.usual_s * len(chosen) / max(1, len(case.errors))
        if not chosen or usual_s > SHARE * budget.left_s():
            return ()
        limit_s = min(budget.limit_s(), LEAST_S + SLOWER * usual_s)
        flows = budget.runner.follow(chosen, limit_s=limit_s)
        return [flow for flow in flows if flow.error == case.errors.get(flow.node_id)]


def _is_of_test(failure: Failure) -> bool:
    """Return whether the test itself raised, as a failed assertion does: no check of the code."""
    frame = failure.raise_frame
    return frame is not None and frame.is_test
