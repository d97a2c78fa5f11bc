"""Tries of the candidates that come next, on other runners, while one is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from pytest_bayesloc.domain.inspection import Rerun
from pytest_bayesloc.domain.ports import Runner
from pytest_bayesloc.fixes.candidate import Candidate

PATIENCE_S = 0.5  # with what is not needed any more


class Ahead:
    """Begins tries before their results are asked for, one on each other runner.

    Args:
        others: Returns the other runners that are ready.
    """

    def __init__(self, others: Callable[[], Sequence[Runner]] = tuple) -> None:
        self.others = others
        self._threads: ThreadPoolExecutor | None = None
        self._begun: dict[int, tuple[Candidate, Future[Rerun], Runner]] = {}

    def begin(self, candidate: Candidate, run: Callable[[Runner], Rerun]) -> None:
        """Have an idle runner try a candidate; no-op if there is none, or it was begun."""
        busy = [runner for _, future, runner in self._begun.values() if not future.done()]
        idle = next((runner for runner in self.others() if runner not in busy), None)
        if idle is not None and id(candidate) not in self._begun:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(thread_name_prefix="bayesloc")
            self._begun[id(candidate)] = candidate, self._threads.submit(run, idle), idle

    def take(self, candidate: Candidate) -> Rerun | None:
        """Return what came of a candidate, once it is known; None if it was not begun.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        _, future, _ = self._begun.get(id(candidate), (None, None, None))
        if future is None:
            return None
        rerun = future.result()  # until then it is under way
        del self._begun[id(candidate)]
        return rerun

    def close(self) -> None:
        """Cancel what is under way: it is not needed any more."""
        runners = {future: runner for _, future, runner in self._begun.values()}
        # Most end at once, and their servers stay warm.
        _, late = wait(runners, timeout=PATIENCE_S)
        for future in late:
            runners[future].cancel()
        if self._threads is not None:
            self._threads.shutdown(wait=True)
        for future in late:
            runners[future].resume()
        self._begun.clear()
