"""Runs failing tests once more, and notes which exceptions code catches and says nothing of."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_bayesloc.domain.inspection import Finding
from pytest_bayesloc.domain.source import ReadMap
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.swallowed import SOURCE, Handled, catches, noted_handlers

MAX_FAILING = 3  # test functions that are run
N_NEAR, MAX_NEAR = 8, 30  # passing tests that are compared with: a place, in all
LEAST_S = 2.0
SHARE = 0.05  # of the time that is left: tests that take longer are not run for it
SLOWER = 4.0  # times that they take, before Python 3.12


class Swallowed(InspectionStrategy):
    """Names what was caught in failing tests alone."""

    name = SOURCE

    def __init__(self, read: ReadMap) -> None:
        self._read = read

    def open(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Weigh what failing tests catch. It makes no inspection of a single location."""
        yield from ()
        first = {node_id.partition("[")[0]: node_id for node_id in reversed(case.failing)}
        failing = list(first.values())[::-1][:MAX_FAILING]  # each of another function
        usual_s = budget.usual_s * len(failing) / max(1, len(case.errors))
        if case.culprits or usual_s > SHARE * budget.left_s():
            return
        limit_s = LEAST_S + SLOWER * usual_s
        handled: Handled = budget.runner.caught(failing, limit_s=min(budget.limit_s(), limit_s))
        # Passing tests may catch the same in the same lines.
        places = {c[:2]: None for own in handled.values() for c, _ in catches(own, self._read)}
        known, found = frozenset(case.neighbours()), dict[str, None]()
        for where, line in places:
            near = case.near.nearest(where, len(known), line=line)
            found |= dict.fromkeys([n for n in near if n in known][:N_NEAR])
        if passing := list(found)[:MAX_NEAR]:
            more = budget.runner.caught(passing, limit_s=min(budget.limit_s(), limit_s))
            handled = {**handled, **more}
        at_hand = [e for e in case.evidence if e.source == SOURCE]
        told = noted_handlers(
            handled, failing, at_hand, case.spectrum, self._read, model=case.model
        )
        if told != at_hand:
            case.retell(SOURCE, told)
