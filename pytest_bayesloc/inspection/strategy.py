"""The interface of inspection strategies, their budget, and what is inspected next until when."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

from pytest_bayesloc.domain.evidence import Outcome
from pytest_bayesloc.domain.inspection import Finding, InspectionPatch, Rerun
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.domain.texts import count
from pytest_bayesloc.ranking.belief import TIE, Belief
from pytest_bayesloc.ranking.case import Case

PATIENCE = 10.0  # times what the tests take as they are, for a patch that may loop


class Budget:
    """The runner that tries patches of ``case``, and the time that is left until ``deadline``."""

    def __init__(self, runner: Runner, clock: Clock, deadline: float, case: Case) -> None:
        self.runner = runner
        self._case = case
        self.clock = clock
        self.deadline = deadline
        self.wait_s = max(0.0, deadline - clock())  # of one re-run, once tests have been timed
        self.usual_s = 0.0  # what the failing tests took as they are
        self.passes_fresh: dict[str, bool] = {}  # tests as they are, in a process of their own

    def left_s(self) -> float:
        """Return seconds left; 0 if there are none."""
        return max(0.0, self.deadline - self.clock())

    def limit_s(self) -> float:
        """Return seconds that one re-run may take."""
        return max(0.1, min(self.wait_s, self.left_s()))

    def patience_s(self, least_s: float) -> float:
        """Return seconds for a patch that should take about as long as the tests as they are."""
        return least_s + PATIENCE * self.usual_s

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, at_most_s: float = inf
    ) -> Rerun:
        """Run ``tests`` under ``patch``, unless it is known that they fail under it.

        Raises:
            ExecutionError: If the place where re-runs happen is lost.
        """
        limit_s = min(self.limit_s(), at_most_s)
        return rerun_once(self._case, self.runner, patch, tests, limit_s)


def rerun_once(
    case: Case,
    runner: Runner,
    patch: InspectionPatch | None,
    tests: Sequence[str],
    limit_s: float,
) -> Rerun:
    """Run ``tests`` under ``patch``, unless an earlier run on this code saw them fail under it.

    Raises:
        ExecutionError: If the place where re-runs happen is lost.
    """
    # What is computed with another value says which one to try next: that is not remembered.
    if patch is None or patch.value is not None:
        return runner.rerun(patch, tests, limit_s=limit_s)
    known = case.rejected.find(patch, tests, case.errors)
    if known is not None:
        return known
    rerun = runner.rerun(patch, tests, limit_s=limit_s)
    case.rejected.add(patch, tests, case.errors, rerun)
    if patch.key and rerun.n_swapped:
        case.tried.setdefault(patch.key, {}).update(rerun.tests)
    return rerun


class InspectionStrategy:
    """One way to inspect a suspect; an ``ExecutionError`` if re-runs are not possible any more.

    Attributes:
        name: What it is called in reports.
        outcomes: What may come out of inspecting a target, but for what says nothing; none if it
            has all its work done when the case is opened.
    """

    name: str
    outcomes: tuple[Outcome, ...] = ()

    def open(self, case: Case, budget: Budget) -> Iterable[Finding]:
        """Yield what it finds about any location before targets are chosen."""
        del case, budget
        return ()

    def explore(self, case: Case, budget: Budget) -> Iterable[Finding]:
        """Yield what it finds about any location, once calls and values are known."""
        del case, budget
        return ()

    def inspect(self, case: Case, target: Location, budget: Budget) -> Sequence[Finding]:
        """Inspect ``target``; nothing if there is nothing to try."""
        del case, target, budget
        return ()

    def prepare(self, case: Case, budget: Budget) -> None:
        """Start what takes long elsewhere; calls and values are known by now."""
        del case, budget

    def harvest(self, case: Case, budget: Budget, *, wait_s: float) -> Iterable[Finding]:
        """Yield what came of that since the last time; asked between inspections and at the end.

        Args:
            case: The group.
            budget: Where patches are tried.
            wait_s: Seconds to wait for what is still under way.
        """
        del case, budget, wait_s
        return ()


#: Yields the calls that it waits for, and what it finds. It goes on once a call has ended, or when
#: there is no more time for it.
Work: TypeAlias = Iterator[Future[Any] | Finding]


class AskingStrategy(InspectionStrategy):
    """Runs asynchronous queries, and goes on with each answer between inspections."""

    def __init__(self) -> None:
        self._waiting: dict[Work, Future[Any]] = {}

    @abstractmethod
    def works(self, case: Case, budget: Budget) -> Iterable[Work]:
        """Return what is to be done about ``case``, as it is known now."""

    def prepare(self, case: Case, budget: Budget) -> None:
        """Ask, and forget what was asked about other cases."""
        self._waiting.clear()
        self._begin(self.works(case, budget))

    def _begin(self, works: Iterable[Work]) -> None:
        for work in works:
            for asked in work:  # before it is answered, nothing is found
                assert isinstance(asked, Future)  # noqa: S101 - likewise
                self._waiting[work] = asked
                break

    def harvest(self, case: Case, budget: Budget, *, wait_s: float) -> Iterator[Finding]:
        """Go on where an answer has come, or there is time to wait for it."""
        del case
        until = budget.clock() + wait_s
        while due := [w for w, f in self._waiting.items() if f.done() or until > budget.clock()]:
            for work in due:
                wait([self._waiting.pop(work)], timeout=max(0.0, until - budget.clock()))
                for found in work:
                    if isinstance(found, Future):
                        self._waiting[work] = found
                        break
                    yield found


NOTHING_LEFT = "nothing left to inspect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that end the loop.

    Attributes:
        threshold: Belief at which a location is found.
        budget_s: Seconds that inspections may take.
        n_inspections: How many may be made; None for any number.
    """

    threshold: float
    budget_s: float
    n_inspections: int | None = None


#: A location, and a way to inspect it.
Action: TypeAlias = tuple[Location, InspectionStrategy]


def likeliest(belief: Belief, actions: Sequence[Action]) -> Action | None:
    """Choose the action on the likeliest location; ties by location, then in the order given."""
    if not actions:
        return None
    bar = max(belief.p(target) for target, _ in actions) - TIE
    chosen = min(target for target, _ in actions if belief.p(target) >= bar)
    return next((target, strategy) for target, strategy in actions if target == chosen)


def stop_reason(
    belief: Belief,
    limits: Limits,
    *,
    spent_s: float,
    n_made: int,
) -> str | None:
    """Return why the loop ends now, in words; None to go on.

    The threshold is held against the likeliest location, code or test.
    """
    for where, p in belief.top(1):
        if p >= limits.threshold:
            return f"{where} reached the threshold of {limits.threshold:g}"
    if spent_s >= limits.budget_s:
        return f"the budget of {limits.budget_s:g} s is spent"
    if limits.n_inspections is not None and n_made >= limits.n_inspections:
        return f"{count(n_made, 'inspection')} made, as many as allowed"
    return None
