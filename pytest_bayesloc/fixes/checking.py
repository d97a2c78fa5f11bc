"""Whether a candidate mends the failing tests and breaks no other: tests run again in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.fixes.candidate import Candidate, patch_of

Covering = Callable[[Location], Sequence[str]]

N_FIRST = 5  # failing tests that a candidate must pass before all are run
LEAST_S = 1.0
PATIENCE = 10.0  # times what the tests took as they are, for a candidate that may loop
FRESH_S = 30.0  # for a new process to start and collect


class Status(str, Enum):
    """What checking a candidate came to."""

    VERIFIED = "verified"
    IN_VAIN = "the failing tests still fail"
    BREAKS = "other tests break"
    UNSURE = "not checked to the end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A candidate with what came of it.

    Attributes:
        candidate: The change.
        patch: As it was run.
        status: What it came to.
        why: In words, where it is not verified.
        failing: The failing tests that it was checked against; each passed twice if verified.
        passing: The tests that passed before and still do.
        seconds: Wall seconds of all its re-runs.
        n_better: Failing tests that pass with it.
        output: What a test that still fails printed.
    """

    candidate: Candidate
    patch: InspectionPatch
    status: Status
    why: str = ""
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    seconds: float = 0.0
    n_better: int = 0
    output: str = ""


@dataclass(kw_only=True)
class Checker:
    """Checks candidates for one group of failing tests.

    Attributes:
        runner: Where tests are run again.
        clock: Monotonic seconds.
        deadline: When the work must end.
        failing: Node ids of the group.
        covering: Which passing tests a change may break.
        errors: Per failing test, its error as it is; empty until ``fails_again`` was asked.
        flaky: Failing tests that passed when they were run again.
    """

    runner: Runner
    clock: Clock
    deadline: float
    failing: tuple[str, ...]
    covering: Covering
    errors: Mapping[str, str] = field(default_factory=dict)
    flaky: tuple[str, ...] = ()
    _usual_s: float = 0.0
    _ill: set[str] = field(default_factory=set)

    def left_s(self) -> float:
        """Seconds left; 0 if there are none."""
        return max(0.0, self.deadline - self.clock())

    def fails_again(self) -> bool:
        """Whether any test of the group fails as it is; those that don't are set aside.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        rerun = self.runner.rerun(None, self.failing, limit_s=max(LEAST_S, self.left_s()))
        self._usual_s = rerun.seconds
        self.flaky = tuple(n for n in self.failing if rerun.tests[n].verdict is Verdict.PASS)
        self.failing = tuple(n for n in self.failing if n not in self.flaky)
        self.errors = {n: run.error for n, run in rerun.tests.items()}
        return bool(self.failing)

    def check(self, candidate: Candidate) -> Checked:
        """Run the failing tests with the change, then again with all that it may break.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        patch = patch_of(candidate)
        done = Checked(candidate=candidate, patch=patch, status=Status.UNSURE, why="no time left")
        if not self.left_s():
            return done
        first = self._rerun(patch, self.failing[:N_FIRST])
        n_better = len(_passed(first)) if first.n_swapped else 0
        done = replace(done, seconds=first.seconds, n_better=n_better)
        if n_better < len(first.tests):
            return self._in_vain(done, first)
        return self._in_full(done)

    def _in_full(self, done: Checked) -> Checked:
        """All failing tests and all that may break, in a process that never saw other code."""
        targets = (done.patch.target, *done.patch.others)
        passing = tuple(dict.fromkeys(t for where in targets for t in self.covering(where)))
        passing = tuple(t for t in passing if t not in self._ill and t not in self.failing)
        fresh = replace(done.patch, fresh=True)
        # Of a file that could not be collected, all tests must pass once it can.
        wholes = tuple(f"{test}::*" for test in self.failing if "::" not in test)
        rerun = self._rerun(fresh, (*self.failing, *wholes, *passing), more_s=FRESH_S)
        passed = _passed(rerun)
        done = replace(done, seconds=done.seconds + rerun.seconds)
        if not passed.issuperset((*self.failing, *wholes)):
            return self._in_vain(done, rerun)
        if any(run.verdict is Verdict.TIMEOUT for run in rerun.tests.values()):
            return replace(done, why="its tests did not end in time")
        failed = {t: rerun.tests[t] for t in passing if t not in passed}
        if failed and (broken := self._broken(fresh, failed)):
            why = f"{broken[0]} breaks" + (f", and {len(broken) - 1} more" if broken[1:] else "")
            return replace(done, status=Status.BREAKS, why=why)
        kept = tuple(t for t in passing if t in passed)
        return replace(done, status=Status.VERIFIED, why="", failing=self.failing, passing=kept)

    def _broken(self, fresh: InspectionPatch, failed: Mapping[str, TestRun]) -> list[str]:
        """Those of ``failed`` that end otherwise in such a process without the change."""
        unchanged = replace(fresh, patched=fresh.original)
        rerun = self._rerun(unchanged, tuple(failed), more_s=FRESH_S)
        same = {
            test
            for test, run in failed.items()
            if (run.verdict, run.error) == (rerun.tests[test].verdict, rerun.tests[test].error)
        }
        self._ill |= same
        return [test for test in failed if test not in same]

    def _rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, more_s: float = 0.0
    ) -> Rerun:
        limit_s = LEAST_S + PATIENCE * self._usual_s + more_s
        if patch is not None and patch.fresh:
            limit_s += FRESH_S
        return self.runner.rerun(patch, tests, limit_s=max(0.1, min(limit_s, self.left_s())))

    def _in_vain(self, done: Checked, rerun: Rerun) -> Checked:
        if not rerun.n_swapped:
            return replace(done, status=Status.IN_VAIN, why="the change was never in place")
        still = (
            run
            for node_id, run in rerun.tests.items()
            if node_id.removesuffix("::*") in self.failing and run.verdict is not Verdict.PASS
        )
        run = next(still)
        # Of a file that can't be collected, all that is known is how its traceback is printed.
        why = run.error.removeprefix("E  ").strip() or run.verdict.value
        return replace(done, status=Status.IN_VAIN, why=why, output=run.output)


def _passed(rerun: Rerun) -> set[str]:
    return {node_id for node_id, run in rerun.tests.items() if run.verdict is Verdict.PASS}
