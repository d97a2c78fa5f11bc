"""Inspections side by side: each runner has one, and they end in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from pytest_bayesloc.domain.inspection import Finding
from pytest_bayesloc.domain.ports import Runner
from pytest_bayesloc.inspection.selection import Action
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.rerun.pool import Pool

PATIENCE_S = 0.5  # with what is not needed any more
LEAST_MEASURED = 3  # inspections before their mean is believed


class Batch:
    """What is under way for one group of failing tests.

    With one runner an inspection is made when its result is asked for, in the thread that asks.

    Args:
        pool: Where tests are run again.
        kinds: By name.
        case: The group.
        budget: Of its first runner.
    """

    def __init__(
        self, pool: Pool, kinds: Mapping[str, InspectionStrategy], case: Case, budget: Budget
    ) -> None:
        self._pool = pool
        self._kinds = kinds
        self._case = case
        self._budget = budget
        self._threads: ThreadPoolExecutor | None = None
        self._busy: dict[Future[Sequence[Finding]], tuple[Action, Budget]] = {}
        self._alone: Action | None = None
        self._n_done = 0
        self._started = budget.clock()

    def close(self) -> None:
        """Call off what is under way: it is not needed any more."""
        for _, budget in self._busy.values():
            budget.end()
        # Most end at once, and their servers stay warm.
        _, late = wait(self._busy, timeout=PATIENCE_S)
        stuck = [self._busy[future][1].runner for future in late]
        for runner in stuck:
            runner.cancel()
        if self._threads is not None:
            self._threads.shutdown(wait=True)
        for runner in stuck:
            runner.resume()

    @property
    def pending(self) -> list[Action]:
        """What is under way."""
        alone = [] if self._alone is None else [self._alone]
        return [*alone, *(action for action, _ in self._busy.values())]

    def free(self, n_left: int) -> Runner | None:
        """A runner that has nothing to do, if there is work for it.

        Args:
            n_left: Inspections that may be made yet.
        """
        if self._alone is not None:
            return None
        taken = [budget.runner for _, budget in self._busy.values()]
        runners = self._pool.runners(self._mean_s() * n_left)
        return next((runner for runner in runners if runner not in taken), None)

    def _mean_s(self) -> float:
        """Seconds of an inspection by one runner; 0 where nobody knows yet."""
        if self._n_done < LEAST_MEASURED:
            return 0.0
        spent_s = self._budget.clock() - self._started
        return spent_s * max(1, len(self._busy)) / self._n_done

    def start(self, action: Action, runner: Runner) -> None:
        """Have ``action`` carried out by ``runner``."""
        is_alone = len(self._pool.runners(0.0)) == 1 and not self._busy
        if is_alone:
            self._alone = action
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(thread_name_prefix="bayesloc")
        budget = self._budget.beside(runner)
        future = self._threads.submit(self._carry_out, action, budget)
        self._busy[future] = action, budget

    def next(self) -> Sequence[Finding]:
        """Return what the first inspection to end found.

        Raises:
            ExecutionError: If the place where re-runs happen is lost.
        """
        self._n_done += 1
        if self._alone is not None:
            action, self._alone = self._alone, None
            return self._carry_out(action, self._budget)
        done, _ = wait(self._busy, return_when=FIRST_COMPLETED)
        future = next(future for future in self._busy if future in done)  # as they were started
        del self._busy[future]
        return future.result()

    def _carry_out(self, action: Action, budget: Budget) -> Sequence[Finding]:
        return self._kinds[action.kind].inspect(self._case, action.target, budget)
