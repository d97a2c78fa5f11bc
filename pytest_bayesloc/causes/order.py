"""Tests that fail after others: which ones, and by what variable that they leave changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.inspection import Change, TestRun, Verdict
from pytest_bayesloc.inspection.delta import minimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.failure import Failure
    from pytest_bayesloc.domain.ports import Clock, Runner


#: Passes alone, and failures after others, before a test is taken as one that those spoil: what
#: fails by chance, as often as it likes, does all that less than once in 200 times.
N_AGREEING = 4
MAX_RERUNS = 120  # of one test: some 2 * log2 of its earlier tests where one spoils it
_PLAIN = ("assert ", "AssertionError")  # pytest leaves the type out of some messages


class OrderSearch:
    """Runs one test after others, in one process.

    Args:
        runner: Of a server that knows them all.
        failure: Of the test in the main run.
        clock: Monotonic seconds.
        deadline: When the search must end.

    Attributes:
        is_flaky: Whether the test passed after all earlier ones as well.
        is_cut: Whether the search ended before no smaller part was left to try.
    """

    def __init__(self, runner: Runner, failure: Failure, clock: Clock, deadline: float) -> None:
        self._runner = runner
        self.failure = failure
        self._clock = clock
        self._deadline = deadline
        self._n_left = MAX_RERUNS
        self.is_flaky = False
        self.is_cut = False

    def spoilers(self, earlier: Sequence[str]) -> tuple[str, ...]:
        """Return a smallest part of ``earlier`` after which the test fails as in the main run.

        None if it passes after all of them, or fails alone as well. When time is up, what is left
        by then is returned: the test was seen to fail after it.
        """
        first = self._after(earlier)
        self.is_flaky = first.verdict is Verdict.PASS
        if not earlier or not is_same(first, self.failure):
            return ()
        if any(self._after(()).verdict is not Verdict.PASS for _ in range(N_AGREEING)):
            return ()
        found = minimal(earlier, self._fails)
        self.is_cut = not self._may_run()
        is_sure = self.is_cut or all(self._fails(found) for _ in range(N_AGREEING - 1))
        return tuple(found) if is_sure else ()

    def needed_tests(self, others: Sequence[str]) -> tuple[str, ...] | None:
        """Return a smallest part of ``others`` after which the test passes, which fails alone.

        Empty if it passes as soon as their files are imported; None if it fails after all of them,
        or by chance.
        """
        if self._after(others).verdict is not Verdict.PASS:
            return None
        if all(self._after(()).verdict is Verdict.PASS for _ in range(N_AGREEING)):
            return ()
        found = minimal(others, self._passes)
        is_sure = all(self._passes(found) for _ in range(N_AGREEING - 1)) and self.is_steady()
        return tuple(found) if is_sure else None

    def is_steady(self) -> bool:
        """Say whether the test fails each time when it runs alone."""
        return self.always_ends(Verdict.FAIL)

    def always_ends(self, verdict: Verdict) -> bool:
        """Say whether the test passes, or fails as it did, each time when it runs alone."""
        runs = (self._after(()) for _ in range(N_AGREEING))
        if verdict is Verdict.FAIL:
            return all(is_same(run, self.failure) for run in runs)
        return all(run.verdict is verdict for run in runs)

    def _passes(self, earlier: Sequence[str]) -> bool:
        return self._may_run() and self._after(earlier).verdict is Verdict.PASS

    def changed_by(self, spoilers: Sequence[str]) -> list[str]:
        """List the shared variables that ``spoilers`` leave changed, as the test starts.

        They are named as by ``Runner.changed_state``.
        """
        tests = [*spoilers, self.failure.node_id]
        return [*self._runner.changed_state(tests, limit_s=self._left_s())]

    def needed(self, spoilers: Sequence[str], names: Sequence[str]) -> dict[str, list[Change]]:
        """Return those of the variables that make the test pass when they are put back alone.

        Each comes with what ``spoilers`` changed of it. Empty if all of ``names`` are not enough.
        """
        tests, seen = [*spoilers, self.failure.node_id], dict[str, list[Change]]()

        def passes(some: Sequence[str]) -> bool:
            if not self._may_run():
                return False
            self._n_left -= 1
            run, changes = self._runner.restored(tests, some, limit_s=self._left_s())
            seen.update({name: [*parts] for name, parts in changes.items()})
            return run.verdict is Verdict.PASS

        if not names or not passes(names):
            return {}
        return {name: seen.get(name, []) for name in minimal(names, passes)}

    def _fails(self, earlier: Sequence[str]) -> bool:
        return self._may_run() and is_same(self._after(earlier), self.failure)

    def _after(self, earlier: Sequence[str]) -> TestRun:
        self._n_left -= 1
        node_id = self.failure.node_id
        rerun = self._runner.rerun(None, [*earlier, node_id], limit_s=self._left_s())
        return rerun.tests[node_id]

    def _may_run(self) -> bool:
        return self._n_left > 0 and self._clock() < self._deadline

    def _left_s(self) -> float:
        return max(0.1, self._deadline - self._clock())


def is_same(run: TestRun, failure: Failure) -> bool:
    """Say whether a test failed with the same type of exception: its text may name the state."""
    if run.verdict is not Verdict.FAIL:
        return False
    if run.error.startswith(_PLAIN):
        return failure.exc_type == "AssertionError"
    return run.error.partition(":")[0].rpartition(".")[2] == failure.exc_type
