"""Finds the earlier tests that make a test fail which passes alone.

Reference:
    Zeller, Hildebrandt: Simplifying and isolating failure-inducing input. TSE 2002, ddmin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.inspection import TestRun, Verdict
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.inspection.strategies.counterfactual import minimal

N_ALONE = 2  # passes alone before a test is taken as one that earlier tests spoil
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
        self._failure = failure
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
        if not earlier or not _is_same(first, self._failure):
            return ()
        if any(self._after(()).verdict is not Verdict.PASS for _ in range(N_ALONE)):
            return ()
        found = minimal(earlier, self._fails)
        self.is_cut = not self._may_run()
        # A test that fails by chance would seldom do so twice after the same tests.
        return tuple(found) if self.is_cut or self._fails(found) else ()

    def changed_by(self, spoilers: Sequence[str]) -> list[str]:
        """List the shared variables that ``spoilers`` leave changed, as the test starts.

        They are named as by ``Runner.state_before``.
        """
        before, after = (
            self._runner.state_before([*tests, self._failure.node_id], limit_s=self._left_s())
            for tests in ((), spoilers)
        )
        # What only one of them imported differs as a whole, and says nothing.
        names = {*before, *after} if before and after else set()
        return sorted(
            name
            for name in names
            if before.get(name) != after.get(name)
            and (name in before or name.rpartition(".")[0] in _owners(before))
        )

    def _fails(self, earlier: Sequence[str]) -> bool:
        return self._may_run() and _is_same(self._after(earlier), self._failure)

    def _after(self, earlier: Sequence[str]) -> TestRun:
        self._n_left -= 1
        node_id = self._failure.node_id
        rerun = self._runner.rerun(None, [*earlier, node_id], limit_s=self._left_s())
        return rerun.tests[node_id]

    def _may_run(self) -> bool:
        return self._n_left > 0 and self._clock() < self._deadline

    def _left_s(self) -> float:
        return max(0.1, self._deadline - self._clock())


def _owners(state: Iterable[str]) -> set[str]:
    return {name.rpartition(".")[0] for name in state}


def _is_same(run: TestRun, failure: Failure) -> bool:
    """Say whether a test failed with the same type of exception: its text may name the state."""
    if run.verdict is not Verdict.FAIL:
        return False
    if run.error.startswith(_PLAIN):
        return failure.exc_type == "AssertionError"
    return run.error.partition(":")[0].rpartition(".")[2] == failure.exc_type
