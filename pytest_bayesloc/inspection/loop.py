"""One group of failing tests: from the prior to a decided suspect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError
from pytest_bayesloc.domain.evidence import Outcome
from pytest_bayesloc.domain.inspection import Inspection, Signals, Verdict
from pytest_bayesloc.domain.recording import Recording
from pytest_bayesloc.inspection.invariants import mine, seen_values
from pytest_bayesloc.inspection.reflection import describe, innocents, reflect
from pytest_bayesloc.localization.likelihoods import likelihood, weigh
from pytest_bayesloc.localization.outcomes import classify, fired_checks, signals_of
from pytest_bayesloc.localization.selection import NOTHING_LEFT, Limits, select, stop_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.evidence import Decision
    from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun, TestRun
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Clock, Runner
    from pytest_bayesloc.inspection.invariants import Invariant
    from pytest_bayesloc.inspection.neighbours import Neighbourhood
    from pytest_bayesloc.localization.belief import Belief

    Propose = Callable[[Location, Sequence[Invariant]], Sequence[InspectionPatch]]
    Progress = Callable[[int, Location | None, float], None]

MAX_CHECKED = 100  # failing tests that are checked for failing again
MAX_FAILING = 3
MAX_PASSING = 6
N_ALWAYS = 5  # targets that a person looks at first are inspected in any case
N_TARGETS = 25
N_MINED, MAX_MINED = 8, 60  # passing tests that invariants are mined from: a target, in all
N_RECORDED = 300
RECORD_SHARE = 0.15  # of the budget, for each of two recordings: noting values slows tests down
N_HISTORY = 8
NO_SIGNALS = Signals(is_covered=False, has_target_assertion=False, is_failure=False)


@dataclass(kw_only=True)
class Case:
    """What the loop works on; ``belief`` and the lists grow as it goes.

    Attributes:
        failing: Node ids of the group.
        near: Which tests to run again.
        belief: After the evidence that needs no re-run.
        model: Name of the belief model.
        raising: Where the traceback says that the exception was raised.
        stop: Why the loop ended.
        history: The likeliest locations: at first, then after each step.
        inspections: Those made.
        flaky: Tests that did not fail again.
        values: Per function, what passing and failing calls had.
        recording: The calls of the failing tests and their neighbours.
    """

    failing: tuple[str, ...]
    near: Neighbourhood
    belief: Belief
    model: str
    raising: frozenset[Location] = frozenset()
    stop: str = ""
    history: list[tuple[tuple[Location, float], ...]] = field(default_factory=list)
    inspections: list[Inspection] = field(default_factory=list)
    flaky: tuple[str, ...] = ()
    values: Mapping[Location, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    recording: Recording = field(default_factory=Recording)

    def targets(self) -> list[Location]:
        """The likeliest locations that are code, best first."""
        top = self.belief.top(N_RECORDED)
        return [where for where, _ in top if not where.is_test]

    def tests(self) -> tuple[str, ...]:
        """Every test that the loop may run again."""
        passing = self.near.union(self.targets()[:N_TARGETS], each=N_MINED, at_most=MAX_MINED)
        return (*self.failing, *passing)


class Loop:
    """Inspects suspects until one is decided or a limit is met.

    Args:
        runner: Where tests are run again.
        propose: Inspection patches of a location, given its invariants.
        limits: When to stop.
        clock: Monotonic seconds.
        progress: Told before each inspection: its number, the target and the belief in it; with
            no target before the failing tests are run again as they are.
    """

    def __init__(
        self, runner: Runner, propose: Propose, limits: Limits, clock: Clock, progress: Progress
    ) -> None:
        self._runner = runner
        self._propose = propose
        self._limits = limits
        self._clock = clock
        self._progress = progress
        self._started = clock()
        self._deadline = self._started + limits.budget_s
        self._wait_s = limits.budget_s

    def run(self, case: Case, *, share: float = 1.0) -> None:
        """Work on ``case``; what was found is in it when this returns or raises.

        Args:
            case: A group of failing tests.
            share: Of what is left of the budget, in (0, 1].

        Raises:
            ExecutionError: If tests can't be run again.
        """
        now = self._clock()
        self._deadline = now + share * (self._started + self._limits.budget_s - now)
        case.history.append(case.belief.top(N_HISTORY))
        if not self._left_s():
            case.stop = f"not inspected: the budget of {self._limits.budget_s:g} s was spent before"
        elif not self._fails_again(case):
            case.stop = (
                f"{len(case.flaky)} of {len(case.flaky)} failing tests passed when run again: "
                "flaky or dependent on order, not localized further"
            )
        else:
            case.stop = self._stop(case, ()) or self._inspect_all(case)
            if case.stop == NOTHING_LEFT and not case.inspections:
                case.stop += ": passing tests call the suspects too rarely to compare with"

    def _left_s(self) -> float:
        """Seconds left for the case at hand; 0 if there are none."""
        return max(0.0, self._deadline - self._clock())

    def _stop(self, case: Case, done: Sequence[Location]) -> str | None:
        now = self._clock()
        reason = stop_reason(
            case.belief,
            self._limits,
            spent_s=now - self._started,
            n_made=len(case.inspections),
            done=frozenset(done),
        )
        if reason is None and now >= self._deadline:
            return f"its share of the budget of {self._limits.budget_s:g} s spent"
        return reason

    def _fails_again(self, case: Case) -> bool:
        """Whether failing tests fail as they are, twice; the others are flaky."""
        self._progress(0, None, 0.0)
        tests = case.failing[:MAX_CHECKED]
        first = self._runner.rerun(None, tests, limit_s=max(1.0, self._left_s()))
        self._wait_s = (first.seconds + 1.0) * 15
        second = self._runner.rerun(None, tests, limit_s=self._limit_s())
        passed = {node_id for node_id in tests if _passes(node_id, first, second)}
        steady = tuple(node_id for node_id in case.failing if node_id not in passed)
        case.flaky = tuple(node_id for node_id in case.failing if node_id not in steady)
        case.failing = steady
        return bool(steady)

    def _limit_s(self) -> float:
        return max(0.1, min(self._wait_s, self._left_s()))

    def _inspect_all(self, case: Case) -> str:
        targets = case.targets()
        near = case.near.union(targets[:N_TARGETS], each=N_MINED, at_most=MAX_MINED)
        case.recording = self._record(case.failing, near, targets)
        invariants = mine(case.recording, near)
        case.values = seen_values(case.recording, case.failing, near)
        innocent = innocents(case.recording, case.failing, invariants)
        done: set[Location] = set()
        while True:
            reason = self._stop(case, tuple(done))
            target = select(case.belief, done)
            if reason is not None or target is None:
                return reason or NOTHING_LEFT
            if len(done) >= N_ALWAYS and not _may_lead(case, target):
                return "no location that is left could take the lead"
            done.add(target)
            known = target in case.raising  # the traceback says so already: each source once
            usable = [i for i in invariants.get(target, ()) if not (known and i.at_raise)]
            for patch in self._proposals(target, usable):
                if self._left_s():
                    self._inspect(case, patch, innocent)

    def _record(
        self, failing: Sequence[str], passing: Sequence[str], targets: Sequence[Location]
    ) -> Recording:
        """The calls of failing and passing tests, apart: a time-out of one spares the other."""
        limit_s = self._limits.budget_s * RECORD_SHARE
        parts = [
            self._runner.record(
                tests, targets, limit_s=min(self._limit_s(), limit_s), sample=sample
            )
            for tests, sample in ((tuple(failing)[:MAX_FAILING], False), (tuple(passing), True))
            if tests
        ]
        calls = {node_id: seen for part in parts for node_id, seen in part.calls.items()}
        return Recording(calls=calls, edges=parts[0].edges if parts else {})

    def _proposals(
        self, target: Location, invariants: Sequence[Invariant]
    ) -> Sequence[InspectionPatch]:
        try:
            return self._propose(target, invariants)
        except ExecutionError:
            raise
        except BayeslocError:
            return ()

    def _inspect(self, case: Case, patch: InspectionPatch, innocent: frozenset[Location]) -> None:
        started, before = self._clock(), case.belief.p(patch.target)
        self._progress(len(case.inspections) + 1, patch.target, before)
        failing = case.near.failing(patch.target, MAX_FAILING)
        failing = tuple(n for n in failing if n in case.failing) or case.failing[:MAX_FAILING]
        passing = case.near.nearest(patch.target, MAX_PASSING)
        rerun = self._runner.rerun(patch, failing, limit_s=self._limit_s())
        runs_failing, runs_passing = rerun.tests, self._control(patch, rerun, passing)
        placed = rerun.n_swapped or any(run.covered for run in rerun.tests.values())
        signals = signals_of(runs_failing, runs_passing, n_swapped=int(placed))
        fired = fired_checks(runs_failing, runs_passing)
        decision, reason = reflect(patch, fired, innocent)
        outcome = _outcome(signals, decision, patch, case.model)
        why = describe(patch, fired, reason)
        evidence = weigh(case.model, outcome, patch.target, source=patch.kind, why=why)
        case.belief = case.belief.update(evidence)
        case.history.append(case.belief.top(N_HISTORY))
        case.inspections.append(
            Inspection(
                step=len(case.inspections) + 1,
                target=patch.target,
                kind=patch.kind,
                diff=patch.diff,
                tests={**runs_failing, **runs_passing},
                signals=signals or NO_SIGNALS,
                decision=decision,
                evidence=evidence,
                belief_before=before,
                belief_after=case.belief.p(patch.target),
                top_after=case.history[-1],
                seconds=self._clock() - started,
                cpu_s=rerun.cpu_s,
                log=_log(patch, rerun),
            )
        )

    def _control(
        self, patch: InspectionPatch, rerun: Rerun, passing: Sequence[str]
    ) -> Mapping[str, TestRun]:
        """Passing tests under a patch that made a difference: what they break too is void."""
        changed = any(run.violations or run.verdict is Verdict.PASS for run in rerun.tests.values())
        if not changed or not passing:
            return {}
        return self._runner.rerun(patch, passing, limit_s=self._limit_s()).tests


def _may_lead(case: Case, target: Location) -> bool:
    """Whether the strongest evidence against ``target`` would make it the likeliest of all."""
    ratio = likelihood(case.model, Outcome.TARGET_ASSERTION_FAILED).ratio
    _, leading = case.belief.top(1)[0]
    return case.belief.p(target) * ratio >= leading


def _passes(node_id: str, *reruns: Rerun) -> bool:
    """Whether it passed in any of ``reruns``."""
    return any(rerun.tests[node_id].verdict is Verdict.PASS for rerun in reruns)


def _outcome(
    signals: Signals | None, decision: Decision, patch: InspectionPatch, model: str
) -> Outcome:
    """The outcome, such that the measured model is only told what was measured.

    There, a callee that broke an invariant excuses nobody, and where no assertion was in place,
    that none fired says nothing.
    """
    outcome = classify(signals, decision)
    if model == "independent" or outcome not in _COLLATERAL:
        return outcome
    return Outcome.COLLATERAL_FAILURE if patch.checks else Outcome.INCONCLUSIVE


_COLLATERAL = frozenset({Outcome.COLLATERAL_FAILURE, Outcome.COLLATERAL_FAILURE_LLM_INNOCENT})


def _log(patch: InspectionPatch, rerun: Rerun) -> str:
    beats = [
        f"--- INSPECTION_START: {patch.target.fqn} --- ({node_id})"
        for node_id, run in rerun.tests.items()
        if run.covered
    ]
    notes = [f"{rerun.how}: code replaced in {rerun.n_swapped} place(s)", rerun.log]
    return "\n".join(line for line in (*notes, *beats) if line)
