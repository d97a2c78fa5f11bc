"""A candidate is verified by all that it must mend and all that it may break."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.inspection import OtherValue, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.recording import Sample
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.fixes.candidate import OTHER_CONSTANT, patch_of
from pytest_bayesloc.fixes.check import FRESH_S, Checker, Status, telling_lines
from tests.unit.fixes.candidates import candidate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.inspection import InspectionPatch

PASS, FAIL = TestRun(verdict=Verdict.PASS), TestRun(verdict=Verdict.FAIL, error="E: same")
OTHER = TestRun(verdict=Verdict.FAIL, error="E: other")
SKIP, LATE = TestRun(verdict=Verdict.NOT_RUN), TestRun(verdict=Verdict.TIMEOUT)
BEFORE, AFTER = "def f():\n    return 1\n", "def f():\n    return 2\n"


class Scripted:
    """Answers re-runs from two tables: without the change, and with it.

    Args:
        without: Per test, how it goes as it is.
        changed: Per test, how it goes with the change.
    """

    def __init__(self, without: Mapping[str, TestRun], changed: Mapping[str, TestRun]) -> None:
        self._tables = without, changed
        self.asked: list[tuple[bool, bool, tuple[str, ...]]] = []
        self.limits: list[float] = []

    def rerun(
        self, patch: InspectionPatch | None, tests: Sequence[str], *, limit_s: float
    ) -> Rerun:
        self.limits.append(limit_s)
        is_changed = patch is not None and patch.patched == AFTER
        self.asked.append((is_changed, patch is not None and patch.fresh, tuple(tests)))
        table = self._tables[is_changed]
        runs = {test: table.get(test, PASS) for test in tests}
        return Rerun(tests=runs, n_swapped=int(set(runs.values()) != {SKIP}))


WHERE = Location(file="a.py", start_line=1, end_line=2, qualname="f")
CHANGE = candidate(BEFORE, AFTER)


def checker_of(
    runner: Scripted,
    covering: Sequence[str] = (),
    failing: tuple[str, ...] = ("t::bad",),
    known: Mapping[str, Mapping[str, TestRun]] | None = None,
) -> Checker:
    return Checker(
        runner=runner,  # type: ignore[arg-type]  # records nothing
        clock=lambda: 0.0,
        deadline=100.0,
        failing=failing,
        covering=lambda _: covering,
        near=frozenset(covering),
        known=known or {},
    )


def checked(
    without: Mapping[str, TestRun],
    changed: Mapping[str, TestRun],
    covering: Sequence[str] = (),
    failing: tuple[str, ...] = ("t::bad",),
) -> tuple[Checker, Scripted, Status, str]:
    runner = Scripted({"t::bad": FAIL, **without}, changed)
    checker = checker_of(runner, covering, failing)
    assert checker.fails_again()
    found = checker.check(CHANGE)
    return checker, runner, found.status, found.why


def test_a_fix_passes_in_a_fork_and_then_anew_with_what_it_may_break() -> None:
    _, runner, status, _ = checked({}, {}, covering=["t::good"])

    assert status is Status.VERIFIED
    assert runner.asked[1:] == [(True, False, ("t::bad",)), (True, True, ("t::bad", "t::good"))]


@pytest.mark.parametrize(
    ("end", "status"), [(LATE, Status.UNSURE), (OTHER, Status.BREAKS), (FAIL, Status.BREAKS)]
)
def test_an_edit_of_a_function_that_others_do_not_bear_gets_no_process_of_its_own(
    end: TestRun, status: Status
) -> None:
    runner = Scripted({"t::bad": FAIL}, {"t::good": end})
    checker = checker_of(runner, ["t::good"])
    assert checker.fails_again()

    assert checker.check(replace(CHANGE, target=WHERE)).status is status
    assert not any(is_fresh for _, is_fresh, _ in runner.asked)


@pytest.mark.parametrize(
    ("end", "status"), [(PASS, Status.VERIFIED), (LATE, Status.UNSURE), (OTHER, Status.BREAKS)]
)
def test_tests_that_a_function_may_break_are_forked_where_no_import_called_it(
    end: TestRun, status: Status
) -> None:
    runner, wide = Scripted({"t::bad": FAIL}, {}), Scripted({}, {"t::good": end})
    checker = checker_of(runner, ["t::good"])
    checker.wide = lambda _: wide  # type: ignore[return-value,assignment]  # records nothing
    checker.by_import = lambda _: False
    assert checker.fails_again()

    assert checker.check(CHANGE).status is status
    anew = [(True, True, ("t::bad",))] if status is Status.VERIFIED else []
    assert runner.asked[1:] == [(True, False, ("t::bad",)), *anew]
    assert wide.asked[0] == (True, False, ("t::good",))


def test_tests_that_never_come_to_a_change_are_run_as_soon_as_all_others_pass() -> None:
    runner = Scripted({"t::bad": FAIL}, {"t::far": FAIL})
    checker = checker_of(runner, ["t::far", "t::good"])
    checker.unconcerned = lambda _: ["t::far"]
    assert checker.fails_again()

    found = checker.check(replace(CHANGE, target=WHERE))

    assert (found.status, found.why) == (Status.BREAKS, "t::far breaks")
    assert [tests for _, _, tests in runner.asked[1:4]] == [
        ("t::bad",),
        ("t::good",),
        ("t::bad", "t::far", "t::good"),
    ]


@pytest.mark.parametrize(
    ("n_turned", "said"), [(1, ""), (2, "2 tests pass whichever way the condition goes")]
)
def test_condition_that_most_tests_pass_either_way_is_turned_round_by_accident(
    n_turned: int, said: str
) -> None:
    checker = checker_of(Scripted({"t::bad": FAIL}, {}), ["t::far", "t::good"])
    checker.n_turned = lambda _: n_turned
    assert checker.fails_again()

    assert checker.either_way(checker.check(CHANGE)) == said


def test_pattern_that_was_exchanged_in_memory_gets_one_new_process() -> None:
    runner = Scripted({"t::bad": FAIL}, {})
    checker = checker_of(runner, ["t::good"])
    assert checker.fails_again()

    change = candidate("A = 'a'\n", AFTER, tools=("pattern-class",))
    assert checker.check(change).status is Status.VERIFIED
    assert runner.asked[1:] == [(True, True, ("t::bad", "t::good"))]


def test_constant_is_exchanged_in_memory_until_failing_tests_pass() -> None:
    runner = Scripted({"t::bad": FAIL}, {})
    checker = checker_of(runner, ["t::good"])
    assert checker.fails_again()

    held = Location(file="a.py", start_line=1, end_line=1, qualname=MODULE)
    value = OtherValue(owner="", name="A", text="2")
    change = candidate("A = 1\n", AFTER, tools=(OTHER_CONSTANT,), held=(held, value))
    tried = checker.attempt(change)
    checked = checker.anew(checker.confirm(tried))

    assert (tried.patch.value, tried.patch.fresh, tried.why) == (value, False, "")
    assert checked.status is Status.VERIFIED
    assert (checked.patch.value, checked.patch.fresh) == (None, True)
    assert runner.asked[1:] == [(True, False, ("t::bad",)), (True, True, ("t::bad", "t::good"))]


def test_what_is_forked_is_run_anew_after_the_last_second() -> None:
    runner = Scripted({"t::bad": FAIL}, {})
    checker = checker_of(runner)
    checker.by_import = lambda _: False
    done = checker.confirm(checker.attempt(CHANGE))
    checker.deadline = 0.0

    assert checker.anew(done).status is Status.VERIFIED
    assert runner.asked[-1] == (True, True, ("t::bad",))
    assert runner.limits[-1] >= FRESH_S


BAD, GOOD, ILL = "t::bad", "t::good", "t::ill"
ENDS: dict[str, tuple[Mapping[str, TestRun], Mapping[str, TestRun], Status, str]] = {
    "still fails": ({}, {BAD: OTHER}, Status.STILL_FAILS, "E: other"),
    "is not run": ({}, {BAD: SKIP}, Status.UNSURE, "no patch is tried with its tests"),
    "breaks one that passed": ({}, {GOOD: OTHER}, Status.BREAKS, "t::good breaks"),
    "leaves one as ill as before": ({ILL: FAIL}, {ILL: FAIL}, Status.VERIFIED, ""),
    "gives one another error": ({ILL: FAIL}, {ILL: OTHER}, Status.BREAKS, "t::ill breaks"),
    "leaves one skipped": ({GOOD: SKIP}, {GOOD: SKIP}, Status.VERIFIED, ""),
    "leaves one endless":
        ({GOOD: LATE}, {GOOD: LATE}, Status.UNSURE, "its tests did not end in time"),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_change_is_a_fix_if_the_failing_tests_pass_and_no_other_is_worse(end: str) -> None:
    without, changed, status, why = ENDS[end]
    others = sorted({*without, *changed} - {BAD})

    assert checked(without, changed, others)[2:] == (status, why)


@pytest.mark.parametrize(
    ("seen", "status", "n_runs"),
    [
        ({"t::bad": OTHER}, Status.STILL_FAILS, 0),
        ({"t::bad": PASS, "t::good": OTHER}, Status.BREAKS, 0),
        ({"t::bad": PASS, "t::good": PASS}, Status.VERIFIED, 2),
        ({"t::bad": PASS, "t::of_another_fault": FAIL}, Status.VERIFIED, 2),
    ],
)
def test_a_failure_that_inspections_saw_is_not_run_again_and_a_repair_is(
    seen: Mapping[str, TestRun], status: Status, n_runs: int
) -> None:
    runner = Scripted({"t::bad": FAIL}, {})
    checker = checker_of(runner, ["t::good"], known={patch_of(CHANGE).key: seen})
    assert checker.fails_again()
    runner.asked.clear()

    assert (checker.check(CHANGE).status, len(runner.asked)) == (status, n_runs)


def test_all_tests_of_a_file_that_could_not_be_collected_must_pass() -> None:
    whole = {"t.py": FAIL}

    assert checked(whole, {}, failing=("t.py",))[2] is Status.VERIFIED
    assert checked(whole, {"t.py::*": OTHER}, failing=("t.py",))[2] is Status.STILL_FAILS


def test_a_test_that_passes_when_run_again_is_set_aside() -> None:
    checker, *_ = checked({"t::flaky": PASS}, {}, failing=("t::bad", "t::flaky"))

    assert (checker.failing, checker.flaky) == (("t::bad",), ("t::flaky",))


CODE = "def f(x):\n    if x < 0:\n        x = 0\n    return x\n"
NOW = "def f(x):\n    y = 1\n    if x > 0:\n        x = 0\n    return x\n"


def test_failing_tests_may_get_to_what_raises_by_the_fault_alone() -> None:
    text = "def f(a):\n    if a:\n        b = 1\n        raise E(b)\n    return a\n"
    unit = SourceMap(text, "a.py").units[1]

    assert telling_lines(unit, is_passing=True) == [2, 3, 4, 5]
    assert telling_lines(unit, is_passing=False) == [2, 5]


def test_body_that_ends_by_raising_tells_but_for_its_end() -> None:
    unit = SourceMap("def f(a):\n    if a:\n        return a\n    raise E\n", "a.py").units[1]

    assert telling_lines(unit, is_passing=False) == [2, 3]


F = Location(file="a.py", start_line=1, end_line=4, qualname="f")


class Sampling(Scripted):
    """Answers samples, too: per test, the lines that it executes as the code is, and now."""

    def __init__(self, lines: Mapping[str, tuple[set[int], set[int] | None]]) -> None:
        super().__init__({"t::bad": FAIL}, {})
        self._lines = lines
        self.sampled: list[tuple[str, ...]] = []

    def samples(
        self,
        tests: Sequence[str],
        points: Sequence[tuple[object, Sequence[tuple[int, int]]]],
        *,
        limit_s: float,
        patch: InspectionPatch | None,
        is_valued: bool,
    ) -> dict[str, list[Sample]]:
        del limit_s, is_valued
        self.sampled.append(tuple(tests))
        executed = {test: self._lines[test][patch is not None] for test in tests}
        return {
            test: [
                Sample(location=F, point=point, then=0, values={})
                for _, own in points
                for point in own
                if point[0] in lines
            ]
            for test, lines in executed.items()
            if lines is not None
        }


@pytest.mark.parametrize(
    ("executed", "still", "words"),
    [
        ({3, 4}, {3, 4}, ""),
        ({3, 4}, {4}, "no test gets to line 3 any more"),
        ({2, 4}, {4}, ""),  # a line that is changed
        ({3}, set(), "no test gets to line 3 any more"),
        ({3}, None, ""),  # the run was cut
        (set(), {4}, ""),
    ],
)
def test_line_that_no_passing_test_gets_to_with_a_change_is_told(
    executed: set[int], still: set[int] | None, words: str
) -> None:
    checker = checker_of(Sampling({"t::good": (executed, still)}), ["t::good"])
    change = replace(CHANGE, before=CODE, after=NOW, target=F)

    assert checker.unreached(checker.check(change)) == words


@pytest.mark.parametrize(
    ("still", "asked", "words"),
    [
        ({3, 4}, [("t::good",)], ""),
        ({4}, [("t::good",), ("t::far", "t::good")], ""),
        (set(), [("t::good",), ("t::far", "t::good")], "no test gets to line 4 any more"),
    ],
)
def test_tests_that_never_come_to_a_change_are_asked_if_others_lose_a_line(
    still: set[int], asked: list[tuple[str, ...]], words: str
) -> None:
    runner = Sampling({"t::far": ({3}, {3}), "t::good": ({3, 4}, still)})
    checker = checker_of(runner, ["t::far", "t::good"])
    checker.unconcerned = lambda _: ["t::far"]
    change = replace(CHANGE, before=CODE, after=NOW, target=F)

    assert checker.unreached(checker.check(change)) == words
    assert [*dict.fromkeys(runner.sampled)] == asked
