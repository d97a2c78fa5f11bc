"""Several runners, on one machine or on many."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from pytest_bayesloc.domain.errors import ExecutionError, LostError
from pytest_bayesloc.rerun.runner import ServerRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.ports import Runner
    from pytest_bayesloc.rerun.link import Transport

T = TypeVar("T")

WORTH_STARTING = 3.0  # times the seconds that a server takes to start: less work needs no other


class Pool:
    """Runners that work side by side: the first one at once, others once they are ready.

    Each is for one thread at a time. They are spread evenly over the transports, of which the first
    runner uses the first; ``tests`` and ``texts`` are those of ``ServerRunner``.
    """

    def __init__(
        self,
        transports: Sequence[Transport],
        n_runners: int,
        tests: Sequence[str],
        texts: Mapping[str, str],
        note: Callable[[str], None],
    ) -> None:
        self._transports = list(transports)
        self._n_runners = n_runners
        self.tests = tests
        self.texts = texts
        self._note = note
        self._lost: list[Transport] = []
        self._lock = threading.Lock()
        self._starting: list[threading.Thread] = []
        self._is_closed = False
        self._all = [_PoolRunner(self, 0)]

    @property
    def first(self) -> Runner:
        """The runner that there always is."""
        return self._all[0]

    @property
    def waited_s(self) -> float:
        """Seconds in which there was no CPU for re-runs; of runners side by side, the most."""
        return max(runner.waited_s for runner in self._all)

    def runners(self, work_s: float) -> Sequence[Runner]:
        """Return the runners that are ready, ``first`` among them, always in the same order.

        The others are started meanwhile if that pays.

        Args:
            work_s: Seconds that the rest of the work would take one runner.
        """
        is_worth_it = work_s > WORTH_STARTING * self._all[0].start_s > 0
        if len(self._all) < self._n_runners and is_worth_it:
            for number in range(len(self._all), self._n_runners):
                runner = _PoolRunner(self, number)
                self._all.append(runner)
                thread = threading.Thread(target=self._make_ready, args=(runner,), daemon=True)
                self._starting.append(thread)
                thread.start()
        return [runner for runner in self._all if runner.is_ready or runner is self._all[0]]

    def _make_ready(self, runner: _PoolRunner) -> None:
        try:
            runner.make_ready()
        except ExecutionError as error:
            if not self._is_closed:
                self._note(str(error))

    def close(self) -> None:
        """End all servers; the transports go on."""
        self._is_closed = True
        for runner in self._all:
            runner.cancel()
        for thread in self._starting:
            thread.join()
        for runner in self._all:
            runner.close()

    # -- for runners

    def transport_for(self, number: int) -> Transport:
        """Choose a transport that is not lost for runner ``number``.

        Raises:
            ExecutionError: If all are lost.
        """
        left = [transport for transport in self._transports if transport not in self._lost]
        if not left:
            names = ", ".join(transport.name for transport in self._transports)
            raise ExecutionError(
                f"Nothing answers any more where tests are run again ({names}): "
                "the ranking is what was known then. Look there for what ended it.",
                slug="lost-executor",
            )
        return left[number % len(left)]

    def give_up(self, transport: Transport, error: LostError) -> None:
        """Run no more tests by ``transport``."""
        with self._lock:
            is_news = transport not in self._lost
            if is_news:
                self._lost.append(transport)
        if is_news and len(self._lost) < len(self._transports):
            self._note(str(error))


class _PoolRunner(ServerRunner):
    """Moves to another transport when its own is lost, and does again what was under way."""

    def __init__(self, pool: Pool, number: int) -> None:
        super().__init__(pool.transport_for(number), pool.tests, pool.texts)
        self._pool = pool
        self._number = number
        self.is_ready = False

    def make_ready(self) -> None:
        super().make_ready()
        self.is_ready = True

    def _answer_of(self, ask: Callable[[], T]) -> T:
        """Ask, once more elsewhere if the transport is lost; the request may be what ends them."""
        try:
            return super()._answer_of(ask)
        except LostError as error:
            self._pool.give_up(self.transport, error)
            self.close()
            self.use(self._pool.transport_for(self._number))
        try:
            return super()._answer_of(ask)
        except LostError as error:
            self._pool.give_up(self.transport, error)
            raise ExecutionError(
                "Two places for re-runs were lost one after the other, the second while it did "
                f"again what the first one had begun ({self.transport.name}): no more "
                "inspections are made.",
                slug="lost-executor",
            ) from error
