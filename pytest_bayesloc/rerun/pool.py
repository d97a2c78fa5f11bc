"""Several runners: on one machine, or on many."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from pytest_bayesloc.domain.errors import ExecutionError, LostError
from pytest_bayesloc.rerun.runner import ServerRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Runner
    from pytest_bayesloc.domain.recording import Recording
    from pytest_bayesloc.rerun.transport import Place

T = TypeVar("T")

PAYS = 3.0  # times what a server takes to start: less work than that is not worth another one


class Pool:
    """Answers ``domain.ports.Crew``: the first runner at once, others once they are ready.

    Args:
        places: Where servers run; the first of them is where the first runner is.
        n_runners: At most; they go round the places.
        tests: Node ids that may be asked for, in the order of the main run.
        texts: Text of each file that holds a target, by its path relative to rootdir.
        note: Tells the user, once.
    """

    def __init__(
        self,
        places: Sequence[Place],
        n_runners: int,
        tests: Sequence[str],
        texts: Mapping[str, str],
        note: Callable[[str], None],
    ) -> None:
        self._places = list(places)
        self._n_runners = n_runners
        self._tests = tests
        self._texts = texts
        self._note = note
        self._lost: list[Place] = []
        self._lock = threading.Lock()
        self._starting: list[threading.Thread] = []
        self._is_closed = False
        self._all = [_Resettled(self, 0)]

    @property
    def first(self) -> Runner:
        """The runner of the first place."""
        return self._all[0]

    def muster(self, work_s: float) -> Sequence[Runner]:
        """All that are ready; the others are started where ``work_s`` of work pays for them."""
        if len(self._all) < self._n_runners and work_s > PAYS * self._all[0].start_s > 0:
            self._start_others()
        return [runner for runner in self._all if runner.is_ready or runner is self._all[0]]

    def start_all(self) -> Sequence[Runner]:
        """All, once they are ready.

        Raises:
            ExecutionError: If one can't be started.
        """
        self._all[0].make_ready()
        self._start_others()
        for thread in self._starting:
            thread.join()
        return self.muster(0.0)

    def _start_others(self) -> None:
        for number in range(len(self._all), self._n_runners):
            runner = _Resettled(self, number)
            self._all.append(runner)
            thread = threading.Thread(target=self._make_ready, args=(runner,), daemon=True)
            self._starting.append(thread)
            thread.start()

    def _make_ready(self, runner: _Resettled) -> None:
        try:
            runner.make_ready()
        except ExecutionError as error:
            if not self._is_closed:
                self._note(str(error))

    def close(self) -> None:
        """End all servers; the places go on."""
        self._is_closed = True
        for runner in self._all:
            runner.call_off()
        for thread in self._starting:
            thread.join()
        for runner in self._all:
            runner.close()

    # -- for runners

    def runner_for(self, number: int) -> tuple[Place, ServerRunner]:
        """A runner at a place that is not lost, with the place.

        Raises:
            ExecutionError: If all are lost.
        """
        left = [place for place in self._places if place not in self._lost]
        if not left:
            names = ", ".join(place.name for place in self._places)
            raise ExecutionError(
                f"Nothing answers any more where tests are run again ({names}): "
                "the ranking is what was known then. Look there for what ended it.",
                slug="lost-executor",
            )
        place = left[number % len(left)]
        return place, ServerRunner(place, self._tests, self._texts)

    def give_up(self, place: Place, error: LostError) -> None:
        """No more is run at ``place``."""
        with self._lock:
            is_news = place not in self._lost
            if is_news:
                self._lost.append(place)
        if is_news and len(self._lost) < len(self._places):
            self._note(str(error))


class _Resettled:
    """A runner that goes on elsewhere when its place is lost; what was under way is done again."""

    def __init__(self, pool: Pool, number: int) -> None:
        self._pool = pool
        self._number = number
        self._place, self._runner = pool.runner_for(number)
        self._is_called_off = False
        self.is_ready = False

    @property
    def start_s(self) -> float:
        return self._runner.start_s

    def make_ready(self) -> None:
        """Start its server, if it may have a warm one."""
        self._anywhere(lambda runner: runner.make_ready())
        self.is_ready = True

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        return self._anywhere(lambda runner: runner.rerun(patch, tests, limit_s=limit_s))

    def record(
        self,
        tests: Sequence[str],
        targets: Sequence[Location],
        *,
        limit_s: float,
        sample: bool = False,
    ) -> Recording:
        return self._anywhere(
            lambda runner: runner.record(tests, targets, limit_s=limit_s, sample=sample)
        )

    def _anywhere(self, ask: Callable[[ServerRunner], T]) -> T:
        """The answer, of another place if one is lost; once, since it may be what ends places."""
        try:
            return ask(self._runner)
        except LostError as error:
            self._pool.give_up(self._place, error)
            self._runner.close()
            self._place, self._runner = self._pool.runner_for(self._number)
            if self._is_called_off:
                self._runner.call_off()
        try:
            return ask(self._runner)
        except LostError as error:
            self._pool.give_up(self._place, error)
            raise ExecutionError(
                "Two places for re-runs were lost one after the other, the second while it did "
                f"again what the first one had begun ({self._place.name}): no more inspections are "
                "made.",
                slug="lost-executor",
            ) from error

    def call_off(self) -> None:
        self._is_called_off = True
        self._runner.call_off()

    def resume(self) -> None:
        self._is_called_off = False
        self._runner.resume()

    def close(self) -> None:
        self._runner.close()
