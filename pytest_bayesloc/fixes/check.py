"""The re-runs that verify a change: of the failing tests, and of those that it may break."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pytest_bayesloc.domain.inspection import InspectionPatch, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.domain.source import Unit, map_of
from pytest_bayesloc.domain.texts import TextEnum
from pytest_bayesloc.fixes.ahead import Ahead
from pytest_bayesloc.fixes.candidate import OTHER_CONSTANT, Candidate, patch_of
from pytest_bayesloc.syntax.nodes import raising_lines
from pytest_bayesloc.syntax.text import differing_lines

Rerunner = Callable[[Runner, InspectionPatch | None, Sequence[str], float], Rerun]
Covering = Callable[[Location], Sequence[str]]

N_TELLING = 5  # tests, with which a change that empties code hardly passes
N_FIRST = 5  # failing tests that a candidate must pass before all are run
LEAST_S = 1.0
PATIENCE = 10.0  # times what the tests took as they are, for a candidate that may loop
PATIENCE_ALL = 3.0  # times what all tests of the run took
FRESH_S = 30.0  # for a new process to start and collect
LATE = "its tests did not end in time"


class Status(TextEnum):
    """Names the result of checking a candidate."""

    VERIFIED = "verified"
    STILL_FAILS = "the failing tests still fail"
    BREAKS = "other tests break"
    UNSURE = "not checked to the end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A candidate with what came of it.

    Attributes:
        patch: As it was run.
        why: In words, where it is not verified.
        failing: The failing tests that pass with it; each passed twice if verified.
        passing: The tests that passed before and still do.
        seconds: Wall seconds of all its re-runs.
        test: The first that still fails; empty if none does.
        before: How that test ends as the code is; None if that is not known.
        still: How it ends with the change.
        doubt: Why it is probably wrong although it is verified; empty if nothing says so.
        is_emptied: Whether the doubt is that it makes code do less.
        rivals: Likewise, where other guesses pass as well.
        is_forked: Whether a process that never saw other code is still to agree.
    """

    candidate: Candidate
    patch: InspectionPatch
    status: Status
    why: str = ""
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    seconds: float = 0.0
    test: str = ""
    before: TestRun | None = None
    still: TestRun | None = None
    doubt: str = ""
    is_emptied: bool = False
    rivals: str = ""
    is_forked: bool = False

    @property
    def shown_doubt(self) -> str:
        """Says why it is shown as probably wrong: rivals, or a doubt that no tests outweigh."""
        if OTHER_CONSTANT in self.candidate.tools:  # made to fit one test; others pass with any
            is_telling = len(self.failing) > 1
        else:
            is_telling = len(self.failing) + len(self.passing) >= N_TELLING
        is_outweighed = is_telling and not self.is_emptied
        return ("" if is_outweighed else self.doubt) or self.rivals

    @property
    def n_green(self) -> int:
        """The number of failing tests that pass with it."""
        return len(self.failing)

    @property
    def targets(self) -> tuple[Location, ...]:
        """All that it changes."""
        parts = (self.patch, *self.patch.companions)
        return tuple(where for part in parts for where in (part.target, *part.others))


def telling_lines(unit: Unit, *, is_passing: bool) -> list[int]:
    """Return the lines of a function's body that a fix keeps tests on.

    Failing tests may get to a ``raise`` by the fault alone: blocks that end with one are left out,
    unless ``is_passing``.
    """
    left_out = frozenset() if is_passing else raising_lines(unit.node)
    body = range(unit.body_line, unit.location.end_line + 1)
    return [n for n in body if n not in left_out]


def reached_lines(
    runner: Runner,
    tests: Sequence[str],
    unit: Unit,
    limit_s: float,
    lines: Iterable[int],
    patch: InspectionPatch | None,
) -> frozenset[int] | None:
    """Return those of ``lines`` that tests execute in a function itself, nothing nested.

    None if not all of the tests end. Lines have the numbers that they have without the patch.
    """
    points = [(unit, [(n, n) for n in lines])]
    found = runner.samples(tests, points, limit_s=limit_s, patch=patch, is_valued=False)
    if set(found) != set(tests):
        return None
    return frozenset(sample.point[0] for own in found.values() for sample in own)


def lost_line(
    known: frozenset[int],
    patch: InspectionPatch,
    reached: Callable[[Iterable[int], InspectionPatch], frozenset[int] | None],
) -> str:
    """Say which of the ``known`` lines, executed as the code is, no test gets to with a patch."""
    spans = differing_lines(patch.original, patch.patched)
    changed = {n + 1 for first, last, _ in spans for n in range(first, last)}
    kept = sorted(known - changed)
    now = reached(kept, patch)
    lost = [n for n in kept if now is not None and n not in now]
    return f"no test gets to line {lost[0]} any more" if lost else ""


def plain_rerun(
    runner: Runner, patch: InspectionPatch | None, tests: Sequence[str], limit_s: float
) -> Rerun:
    """Run tests by a runner, whatever is known of them."""
    return runner.rerun(patch, tests, limit_s=limit_s)


@dataclass(kw_only=True)
class Checker:
    """Checks candidates for one group of failing tests.

    Attributes:
        runner: Where tests are run again.
        clock: Monotonic seconds.
        deadline: When the work must end.
        failing: Node ids of the group.
        covering: Which passing tests a change of a place may break.
        users: Which of them use what a change is of; None where that is not known.
        unconcerned: Those that execute the place, but never come to the change.
        n_turned: How many passing tests go another way by a change that turns a condition round.
        earlier: Per failing test that others spoil, those, which run before it.
        tests_s: Wall seconds of all tests of the run.
        near: Passing tests that forked processes can run, too.
        wide: Gives a runner whose forked processes can run all of some tests; None where there is
            none, or no time to start it.
        rerun: Runs tests by a runner, unless it is known how they end.
        by_import: Whether an import may have called a function: what it made then is older than any
            change of it in a forked process.
        runs: Per failing test, how it ends as it is; empty until ``fails_again`` was asked.
        flaky: Failing tests that passed when they were run again.
        ahead: Begins tries on other runners.
        known: Per change that inspections tried (``InspectionPatch.key``), how tests went under it.
    """

    runner: Runner
    clock: Clock
    deadline: float
    failing: tuple[str, ...]
    covering: Covering
    users: Callable[[Candidate], Sequence[str] | None] = lambda _: None
    unconcerned: Callable[[Candidate], Sequence[str]] = lambda _: ()
    n_turned: Callable[[Candidate], int] = lambda _: 0
    earlier: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tests_s: float = 0.0
    near: frozenset[str] = frozenset()
    wide: Callable[[Sequence[str]], Runner | None] = lambda _: None
    by_import: Callable[[Location], bool] = lambda _: True
    runs: Mapping[str, TestRun] = field(default_factory=dict)
    flaky: tuple[str, ...] = ()
    known: Mapping[str, Mapping[str, TestRun]] = field(default_factory=dict)
    rerun: Rerunner = plain_rerun
    ahead: Ahead = field(default_factory=Ahead)
    _usual_s: float = 0.0
    _ill: set[str] = field(default_factory=set)
    _well: set[str] = field(default_factory=set)  # that pass in a forked process as the code is
    _lines: dict[tuple[Location, tuple[str, ...]], frozenset[int] | None] = field(
        default_factory=dict
    )

    def left_s(self) -> float:
        """Seconds left; 0 if there are none."""
        return max(0.0, self.deadline - self.clock())

    def fails_again(self) -> bool:
        """Whether any test of the group fails as it is; those that don't are set aside.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        tests = self._in_order(self.failing)
        rerun = self.runner.rerun(None, tests, limit_s=max(LEAST_S, self.left_s()))
        self._usual_s = rerun.seconds
        self.flaky = tuple(n for n in self.failing if rerun.tests[n].verdict is Verdict.PASS)
        self.failing = tuple(n for n in self.failing if n not in self.flaky)
        self.runs = rerun.tests
        return bool(self.failing)

    def check(self, candidate: Candidate) -> Checked:
        """Attempt a change, and verify it if failing tests pass.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        done = self.attempt(candidate)
        return done if done.why else self.anew(self.confirm(done))

    def attempt(self, candidate: Candidate) -> Checked:
        """Run the failing tests and those near; say why not if the change is no fix by them.

        What inspections saw is not run again, unless it is a repair.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        patch = patch_of(candidate)
        done = Checked(candidate=candidate, patch=patch, status=Status.UNSURE, why="no time left")
        if not self.left_s():
            return done
        if candidate.is_pattern and patch.fresh:  # its tests passed with it, exchanged in memory
            return replace(done, why="")
        first = self.ahead.take(candidate)
        seen = self._seen(done) if first is None else None
        if seen is not None:
            return seen
        return self._judged(done, first or self._rerun(patch, self.failing[:N_FIRST]))

    def _judged(self, done: Checked, first: Rerun) -> Checked:
        """Say what a change came to with which the first failing tests were run."""
        if done.candidate.held is not None and not first.n_swapped:  # it is not where it was read
            return self.attempt(replace(done.candidate, held=None))
        if not first.n_swapped and {r.verdict for r in first.tests.values()} == {Verdict.NOT_RUN}:
            return replace(done, why="no patch is tried with its tests")
        done = replace(done, seconds=first.seconds)
        if first.refused:
            return replace(done, why=first.refused)
        is_passing = first.n_swapped and len(_passed(first)) == len(first.tests)
        return self._beside_others(done) if is_passing else self._still_failing(done, first)

    def begin(self, candidate: Candidate) -> None:
        """Begin to attempt a change on another runner, if one is idle."""
        patch = patch_of(candidate)
        if not self._known_of(patch):
            self.ahead.begin(
                candidate,
                lambda runner: self._rerun(patch, self.failing[:N_FIRST], runner=runner),
            )

    def check_part(self, done: Checked, failing: tuple[str, ...]) -> Checked:
        """Check a change in full for some of the failing tests alone.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        n_all = len(self.failing)
        n = n_all - len(failing)
        words = f"{done.candidate.message}; {n} of {n_all} failing tests still fail"
        candidate = replace(done.candidate, message=words if n > 1 else f"{words}s")
        return replace(self, failing=failing).check(candidate)

    def _beside_others(self, done: Checked) -> Checked:
        """The tests near, in a forked process: they cost little, and a loop ends early there."""
        done = replace(done, why="")
        passing = self._concerned(done, self._near(done))
        if not passing or done.candidate.target is None:
            return done
        rerun = self._rerun(done.patch, passing, more_s=PATIENCE_ALL * self.tests_s)
        done = replace(done, seconds=done.seconds + rerun.seconds)
        failed = {t: run for t, run in rerun.tests.items() if run.verdict is Verdict.FAIL}
        if failed and (broken := self._broken(done.patch, failed, self.runner)):
            return _breaking(done, broken)
        if any(run.verdict is Verdict.TIMEOUT for run in rerun.tests.values()):
            return replace(done, why=LATE)
        return done

    def _seen(self, done: Checked) -> Checked | None:
        """Return what inspections saw of a change that is no fix; None if they saw no failure."""
        runs = self._known_of(done.patch)
        failed = {test: run for test, run in runs.items() if run.verdict is Verdict.FAIL}
        if not failed:
            return None
        if not set(self.failing).isdisjoint(failed):
            return self._still_failing(done, Rerun(tests=runs, n_swapped=1))
        # Tests that fail for another reason are no concern of this group.
        broken = failed.keys() & {*self._may_break(done)}
        return _breaking(done, sorted(broken)) if broken else None

    def _known_of(self, patch: InspectionPatch) -> Mapping[str, TestRun]:
        """The runs under a patch that was tried; tests that others spoil end otherwise."""
        return {} if any(self.earlier.values()) else self.known.get(patch.key, {})

    def confirm(self, done: Checked) -> Checked:
        """Run all failing tests, and all that may break: forked, if that is as good.

        Args:
            done: As ``attempt`` returned it, without a reason against it.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        if done.candidate.held is not None:  # exchanged in memory until now
            candidate = replace(done.candidate, held=None)
            done = replace(done, candidate=candidate, patch=patch_of(candidate))
        # Those too that never come to the change: they may use what another test made by it.
        passing = self._may_break(done)
        # Of a file that could not be collected, all tests must pass once it can.
        wholes = tuple(f"{test}::*" for test in self.failing if "::" not in test)
        is_old = done.patch.fresh or wholes or any(map(self.by_import, done.targets))
        wide = None if is_old else self.wide(passing) if passing else self.runner
        if wide is None:
            patch = replace(done.patch, fresh=True)
            rerun = self._rerun(patch, (*self.failing, *wholes, *passing), more_s=FRESH_S)
            done = replace(done, seconds=done.seconds + rerun.seconds)
            if not rerun.refused and not _passed(rerun).issuperset((*self.failing, *wholes)):
                return self._still_failing(done, rerun)
            return self._with_others(done, patch, rerun, passing, self.runner)
        done, rerun = replace(done, is_forked=True), Rerun(tests={})
        if rest := self.failing[N_FIRST:]:
            rerun = self._rerun(done.patch, rest)
            done = replace(done, seconds=done.seconds + rerun.seconds)
            if not rerun.refused and not _passed(rerun).issuperset(rest):
                return self._still_failing(done, rerun)
        if passing and not rerun.refused:
            rerun = self._rerun(
                done.patch, passing, more_s=PATIENCE_ALL * self.tests_s, runner=wide
            )
            done = replace(done, seconds=done.seconds + rerun.seconds)
        return self._with_others(done, done.patch, rerun, passing, wide)

    def anew(self, done: Checked) -> Checked:
        """Run failing tests in a process that never saw other code, if none has agreed yet.

        That is done even if time is up: what was found is not lost for a start of a process.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        if done.why or not done.is_forked:
            return done
        limit_s = LEAST_S + PATIENCE * self._usual_s + FRESH_S
        tests = self._in_order(self.failing)
        rerun = self.runner.rerun(replace(done.patch, fresh=True), tests, limit_s=limit_s)
        done = replace(done, seconds=done.seconds + rerun.seconds, is_forked=False)
        if rerun.refused:
            return replace(done, status=Status.UNSURE, why=rerun.refused)
        passes = _passed(rerun).issuperset(self.failing)
        return done if passes else self._still_failing(done, rerun)

    def _with_others(
        self,
        done: Checked,
        patch: InspectionPatch,
        rerun: Rerun,
        passing: Sequence[str],
        runner: Runner,
    ) -> Checked:
        """Verify a change by how the ``passing`` tests went in ``rerun``, under ``patch``."""
        passed = _passed(rerun)
        if rerun.refused:
            return replace(done, why=rerun.refused)
        if any(run.verdict is Verdict.TIMEOUT for run in rerun.tests.values()):
            return replace(done, why=LATE)
        failed = {t: rerun.tests[t] for t in passing if t not in passed}
        if failed and (broken := self._broken(patch, failed, runner)):
            return _breaking(done, broken)
        kept = tuple(t for t in passing if t in passed)
        return replace(done, status=Status.VERIFIED, why="", failing=self.failing, passing=kept)

    def is_harmless(self, done: Checked) -> bool:
        """Whether the tests near still pass as before, with a change that is no fix yet.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        passing = self._concerned(done, self._near(done))
        if not passing:
            return True
        rerun = self._rerun(done.patch, passing)
        failed = {t: run for t, run in rerun.tests.items() if run.verdict is Verdict.FAIL}
        return not failed or not self._broken(done.patch, failed, self.runner)

    def unreached(self, done: Checked) -> str:
        """Say which line no passing test near executes with a change, if one did; else nothing.

        Where no passing test executes the function, failing ones tell.

        Raises:
            ExecutionError: If tests can't be run again.
        """
        target = done.candidate.target
        if target is None or not self.left_s():
            return ""
        passing = self._near(done)
        # No other test may lose a line; that it still gets to one counts only if these do not.
        coming = self._concerned(done, passing)
        lost = ""
        for tests in dict.fromkeys((coming, passing)) if passing else [self.failing[:N_FIRST]]:
            lost = self._lost(done, target, tests, is_passing=bool(passing)) if tests else ""
            if not lost:
                break
        return lost

    def _lost(
        self, done: Checked, target: Location, tests: tuple[str, ...], *, is_passing: bool
    ) -> str:
        unit = map_of(done.candidate.before, done.candidate.file).unit(target)
        if unit is None:
            return ""
        lines = telling_lines(unit, is_passing=is_passing)
        reached = partial(
            reached_lines, self.runner, tests, unit, self._limit_s(PATIENCE_ALL * self.tests_s)
        )
        if (target, tests) not in self._lines:
            self._lines[target, tests] = reached(lines, None)
        known = self._lines[target, tests] or frozenset()
        return lost_line(known, done.patch, reached)

    def either_way(self, done: Checked) -> str:
        """Say how many passing tests don't mind that a condition is turned round, if most do not.

        They come to it, and go the other way now: where it is wrong, they would fail as it is.
        """
        n_passing = self.n_turned(done.candidate)
        is_most = n_passing > len(done.failing)
        return f"{n_passing} tests pass whichever way the condition goes" if is_most else ""

    def _may_break(self, done: Checked) -> tuple[str, ...]:
        tests = self.users(done.candidate)
        if tests is None:
            tests = [test for where in done.targets for test in self.covering(where)]
        passing = dict.fromkeys(tests)
        return tuple(t for t in passing if t not in self._ill and t not in self.failing)

    def _concerned(self, done: Checked, tests: Sequence[str]) -> tuple[str, ...]:
        unconcerned = set(self.unconcerned(done.candidate))
        return tuple(test for test in tests if test not in unconcerned)

    def _near(self, done: Checked) -> tuple[str, ...]:
        return tuple(test for test in self._may_break(done) if test in self.near)

    def _broken(
        self, patch: InspectionPatch, failed: Mapping[str, TestRun], runner: Runner
    ) -> list[str]:
        """Those of ``failed`` that end otherwise in such a process without the change."""
        well = set[str]() if patch.fresh else self._well
        asked = tuple(test for test in failed if test not in well)
        if not asked:
            return list(failed)
        same_parts = tuple(replace(part, patched=part.original) for part in patch.companions)
        unchanged = replace(patch, patched=patch.original, companions=same_parts)
        rerun = self._rerun(
            unchanged if patch.fresh else None, asked, more_s=FRESH_S, runner=runner
        )
        same = {
            test
            for test in asked
            if (failed[test].verdict, failed[test].error)
            == (rerun.tests[test].verdict, rerun.tests[test].error)
        }
        self._ill |= same
        well.update(_passed(rerun))
        return [test for test in failed if test not in same]

    def _rerun(
        self,
        patch: InspectionPatch | None,
        tests: Sequence[str],
        *,
        more_s: float = 0.0,
        runner: Runner | None = None,
    ) -> Rerun:
        more_s += FRESH_S if patch is not None and patch.fresh else 0.0
        tests, limit_s = self._in_order(tests), self._limit_s(more_s)
        return self.rerun(runner or self.runner, patch, tests, limit_s)

    def _limit_s(self, more_s: float) -> float:
        """Wall seconds for tests that took ``_usual_s`` as they are, as far as there is time."""
        limit_s = LEAST_S + PATIENCE * self._usual_s + more_s
        return max(0.1, min(limit_s, self.left_s()))

    def _in_order(self, tests: Sequence[str]) -> tuple[str, ...]:
        """The tests, first those that spoil some of them."""
        before = dict.fromkeys(n for test in tests for n in self.earlier.get(test, ()))
        return (*before, *(test for test in tests if test not in before))

    def _still_failing(self, done: Checked, rerun: Rerun) -> Checked:
        if not rerun.n_swapped:
            return replace(done, status=Status.STILL_FAILS, why="the change was never in place")
        green = _passed(rerun)
        done = replace(done, failing=tuple(test for test in self.failing if test in green))
        still = (
            (node_id, run)
            for node_id, run in rerun.tests.items()
            if node_id.removesuffix("::*") in self.failing and run.verdict is not Verdict.PASS
        )
        test, run = next(still, ("", None))
        if run is None:  # a test fails that spoils one of them
            return replace(done, status=Status.BREAKS, why="a test that ran before breaks")
        # Of a file that can't be collected, all that is known is how its traceback is printed.
        why = run.error.removeprefix("E  ").strip() or run.verdict.value
        return replace(
            done,
            status=Status.STILL_FAILS,
            why=why,
            test=test,
            before=self.runs.get(test.removesuffix("::*")),
            still=run,
        )


def _breaking(done: Checked, broken: Sequence[str]) -> Checked:
    why = f"{broken[0]} breaks" + (f", and {len(broken) - 1} more" if broken[1:] else "")
    return replace(done, status=Status.BREAKS, why=why)


def _passed(rerun: Rerun) -> set[str]:
    return {node_id for node_id, run in rerun.tests.items() if run.verdict is Verdict.PASS}
