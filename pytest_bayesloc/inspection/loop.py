"""The inspection loop of one group of failing tests, from the prior to a decided suspect."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.domain.inspection import Finding, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.domain.recording import Recording
from pytest_bayesloc.domain.texts import all_of
from pytest_bayesloc.inspection.strategy import (
    NOTHING_LEFT,
    Action,
    Budget,
    InspectionStrategy,
    Limits,
    likeliest,
    stop_reason,
)
from pytest_bayesloc.ranking.case import N_HISTORY, N_MINED, Case
from pytest_bayesloc.ranking.evidence.invariants import mine, seen_values
from pytest_bayesloc.ranking.faults import nearest_call

Progress = Callable[[int, Location | None, float], None]
Look = Callable[[Case, Budget], Iterable[Finding]]

MAX_CHECKED = 100  # failing tests that are checked for failing again
MAX_ALONE = 5  # of them that are run alone, too
MAX_FAILING = 3
N_LIKELY = 60  # targets, of which some may be inspected
N_COMPARED = 5  # targets whose calls in the nearest passing tests are recorded
LEAST_GAIN = 0.0003  # of the chance to name the right place first, by one inspection
N_MOST = 15  # targets: what inspections of more would show has not been measured
RECORD_SHARE = 0.05  # of the budget, for each of three recordings: noting values slows tests down
TOO_WEAK = "no remaining inspection can change the top suspect"
NOT_COMPARED = ": passing tests call the suspects too rarely to compare with"
SEVERAL = "its tests fail for several reasons"
NO_FURTHER = "not localized further"
NOT_REACHED = ": patches don't reach child processes"


def passed_again(n: int) -> str:
    """Return that ``n`` failing tests, which are all, passed when run again."""
    return f"{all_of(n, 'failing test')} passed when run again"


class InspectionLoop:
    """Inspects suspects until one is decided or a limit is met.

    Args:
        runner: Where tests are run again.
        strategies: Ways to inspect a target, cheapest first.
        limits: When to stop.
        clock: Monotonic seconds.
        progress: Told before each inspection: its number, the target and the belief in it; with
            no target before the failing tests are run again as they are.
    """

    def __init__(
        self,
        runner: Runner,
        strategies: Sequence[InspectionStrategy],
        limits: Limits,
        clock: Clock,
        progress: Progress,
    ) -> None:
        self._runner = runner
        self._strategies = tuple({strategy.name: strategy for strategy in strategies}.values())
        self._limits = limits
        self._clock = clock
        self._progress = progress
        self._started = clock()

    def run(self, case: Case, *, share: float = 1.0) -> None:
        """Work on ``case``, for a share of what is left of the budget, in (0, 1].

        What was found is in it when this returns or raises.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        now = self._clock()
        deadline = now + share * (self._started + self._limits.budget_s - now)
        budget = Budget(self._runner, self._clock, deadline, case)
        case.history.append(case.belief.top(N_HISTORY))
        if not budget.left_s():
            case.stop = (
                f"not inspected: no time was left of the budget of {self._limits.budget_s:g} s"
            )
        elif not self._fails_again(case, budget):
            case.stop = (
                f"{passed_again(len(case.flaky))}: flaky or dependent on order, {NO_FURTHER}"
            )
        else:
            case.stop = self._inspect_all(case, budget)
            if case.stop == SEVERAL:
                return
            self._compare(case, budget)
            is_reached = any(case.near.is_reached(where) for where in case.targets()[:1])
            if not is_reached and case.stop in {NOTHING_LEFT, TOO_WEAK}:
                case.stop += NOT_REACHED
            elif case.stop == NOTHING_LEFT and not case.inspections:
                case.stop += NOT_COMPARED

    def left_s(self) -> float:
        """Return seconds left of the budget; 0 if there are none."""
        return max(0.0, self._started + self._limits.budget_s - self._clock())

    def _stop(self, case: Case, budget: Budget) -> str | None:
        if case.explained():
            return SEVERAL
        reason = stop_reason(
            case.belief,
            self._limits,
            spent_s=self._clock() - self._started,
            n_made=len(case.inspections),
        )
        if reason is None and not budget.left_s():
            return f"its share of the budget of {self._limits.budget_s:g} s is spent"
        return reason

    def _fails_again(self, case: Case, budget: Budget) -> bool:
        """Say whether failing tests fail as they are, twice; the others are flaky."""
        self._progress(0, None, 0.0)
        tests = case.failing[:MAX_CHECKED]
        limit_s = max(1.0, budget.left_s())
        first = case.again or self._runner.rerun(None, tests, limit_s=limit_s)
        budget.wait_s, budget.usual_s = (first.seconds + 1.0) * 15, first.seconds
        runs = dict(budget.rerun(None, tests).tests)
        if any(Verdict.PASS in {first.tests[n].verdict, runs[n].verdict} for n in tests):
            failed = [n for n in tests if runs[n].verdict is Verdict.FAIL]
            for test in failed[:MAX_ALONE]:  # those that pass may spoil the others
                runs |= budget.rerun(None, [test]).tests
        pairs = ((n, {first.tests[n].verdict, runs[n].verdict}) for n in tests)
        case.flaky = tuple(node_id for node_id, verdicts in pairs if Verdict.PASS in verdicts)
        case.failing = tuple(node_id for node_id in case.failing if node_id not in case.flaky)
        case.errors = {node_id: run.error for node_id, run in runs.items()}
        case.sides = {node_id: run.sides for node_id, run in runs.items()}
        case.printed = {node_id: run.printed for node_id, run in runs.items()}
        return bool(case.failing)

    def _inspect_all(self, case: Case, budget: Budget) -> str:
        # Also where the belief is decided: a change that is reverted proves what was guessed.
        self._take_all(case, budget, [strategy.open for strategy in self._strategies])
        if reason := self._stop(case, budget):
            return reason
        self._record(case, budget)
        for strategy in self._strategies:
            strategy.prepare(case, budget)
        self._take_all(case, budget, [strategy.explore for strategy in self._strategies])
        reason = self._inspect_targets(case, budget)
        if reason != SEVERAL and case.belief.top(1)[0][1] < self._limits.threshold:
            self._harvest(case, budget, wait_s=budget.left_s())
        return self._stop(case, budget) or reason

    def _take_all(self, case: Case, budget: Budget, ways: Iterable[Look]) -> None:
        most = self._limits.n_inspections
        for look in ways:
            if most is not None and len(case.inspections) >= most:
                return
            for finding in look(case, budget) if budget.left_s() else ():
                self._take(case, finding)
                if most is not None and len(case.inspections) >= most:
                    return

    def _harvest(self, case: Case, budget: Budget, *, wait_s: float) -> None:
        for strategy in self._strategies:
            for finding in strategy.harvest(case, budget, wait_s=wait_s):
                self._take(case, finding)

    def _take(self, case: Case, finding: Finding) -> None:
        case.take(finding)
        self._progress(len(case.inspections), finding.target, case.belief.p(finding.target))

    def _inspect_targets(self, case: Case, budget: Budget) -> str:
        made = {(finding.target, finding.evidence.source) for finding in case.inspections}
        reached = [where for where in case.targets() if case.near.is_reached(where)]
        ways = [strategy for strategy in self._strategies if strategy.outcomes]
        likely = reached[:N_LIKELY]
        actions = [(where, s) for where in likely for s in ways if (where, s.name) not in made]
        touched: set[Location] = set()
        while True:
            self._harvest(case, budget, wait_s=0.0)
            reason = self._stop(case, budget)
            chosen = likeliest(case.belief, _worth(case, actions, touched))
            if reason is not None or chosen is None:
                return reason or (TOO_WEAK if actions else NOTHING_LEFT)
            actions.remove(chosen)
            target, strategy = chosen
            touched.add(target)
            self._progress(len(case.inspections) + 1, target, case.belief.p(target))
            for finding in strategy.inspect(case, target, budget):
                case.take(finding)

    def _record(self, case: Case, budget: Budget) -> None:
        """Record the calls of failing and passing tests; of these, what is likely to be told."""
        targets = case.targets()
        near = case.near.union(targets[:N_COMPARED], each=N_MINED)
        limit_s = self._limits.budget_s * RECORD_SHARE
        # Apart: a time-out of one spares the other.
        parts = [
            self._runner.record(tests, noted, limit_s=min(budget.limit_s(), limit_s), sample=sample)
            for tests, noted, sample in (
                (case.failing[:MAX_FAILING], targets, False),
                (near, targets[:N_MOST], True),
            )
            if tests
        ]
        calls = {node_id: seen for part in parts for node_id, seen in part.calls.items()}
        case.recording = Recording(calls=calls, edges=parts[0].edges if parts else {})
        case.invariants = mine(case.recording, near)
        case.values = seen_values(case.recording, case.failing, near)
        case.innocent = None

    def _compare(self, case: Case, budget: Budget) -> None:
        """Run a failing test and passing ones once more, and note values of the first suspect.

        Where no calls are recorded yet, those of the other suspects are.
        """
        targets = case.targets()
        first = targets[0] if targets and budget.left_s() else None
        if first is None or not case.near.is_reached(first):
            return
        targets = [first] if case.recording.edges else targets
        failing, passing = case.failing_of(first, 1), case.near.nearest(first, N_MINED)
        limit_s = min(budget.limit_s(), self._limits.budget_s * RECORD_SHARE)
        with suppress(ExecutionError):
            seen = self._runner.record(
                (*failing, *passing), targets, limit_s=limit_s, detailed=first
            )
            case.nearest_call = nearest_call(seen, first, failing, passing)
            if not case.recording.edges:
                case.recording = seen


def _worth(case: Case, actions: Iterable[Action], touched: Collection[Location]) -> list[Action]:
    """Return those that may well change what leads, and what may show a fix of what leads.

    Not more than ``N_MOST`` targets are inspected.
    """
    leading = [*case.belief.top(2), (None, 0.0)]

    def gain(target: Location, strategy: InspectionStrategy) -> float:
        """The chance to lead rightly after the inspection, less that before it."""
        p = case.belief.p(target)
        other = next(q for where, q in leading if where != target)
        sign = 1.0 if other > p else -1.0
        pairs = (case.likelihood(outcome, target) for outcome in strategy.outcomes)
        return sum(max(0.0, sign * (p * faulty - other * clean)) for faulty, clean in pairs)

    def is_worth(target: Location, strategy: InspectionStrategy) -> bool:
        if target not in touched and len(touched) >= N_MOST:
            return False
        return target == leading[0][0] or gain(target, strategy) >= LEAST_GAIN

    return [action for action in actions if is_worth(*action)]
