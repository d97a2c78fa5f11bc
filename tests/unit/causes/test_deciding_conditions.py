from __future__ import annotations

import ast
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.causes.asked import rewrites
from pytest_bayesloc.causes.condition_words import told
from pytest_bayesloc.causes.conditions import (
    IMPORT_OFFSETS,
    N_SEEDS,
    OFFSETS,
    ConditionSearch,
    Decided,
    Surroundings,
)
from pytest_bayesloc.domain.cause import CauseKind
from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.inspection import TestRun, Verdict
from tests.fakes.clock import Clock
from tests.fakes.runner import PASSED, FakeRunner
from tests.fakes.sources import TextSources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_bayesloc.domain.ports import Runner

FAILURE = Failure(node_id="test_app.py::test_one", phase="call", exc_type="KeyError", message="'a'")
FAILED = TestRun(verdict=Verdict.FAIL, error="KeyError: 'a'")
CLOCK = ("app.py", 3, 1, "<module>")
READER = ("app.py", 2, 1, "find")


def one_test(reads: str, other: Mapping[Any, TestRun], plain: TestRun = FAILED) -> FakeRunner:
    """Runs a test that ends as ``plain``, and under some conditions in another way."""
    return FakeRunner(
        answer=lambda _patch, _test: plain,
        asking={FAILURE.node_id: {reads: [READER]}},
        conditions=lambda condition: other.get(condition, plain),
    )


def search(
    runner: Runner,
    variables: Mapping[str, str] | None = None,
    folder: str = "/p",
    elsewhere: Runner | None = None,
    later: Mapping[float, Runner] | None = None,
    **more: Any,  # noqa: ANN401 - of ``Surroundings``
) -> ConditionSearch:
    @contextmanager
    def opened(_: Mapping[str, str], later_s: float) -> Iterator[Runner]:
        yield (later or {}).get(later_s) or elsewhere or runner

    around = Surroundings(
        rootdir="/p",
        folder=folder,
        variables=variables or {},
        encoding="utf-8",
        elsewhere=opened,
        clocks=[CLOCK] if later else [],
        left=lambda paths: [path for path in paths if "lock" in path],
        **{"n_workers": 1, "set_files": (), **more},
    )
    return ConditionSearch(runner, FAILURE, around, Clock(), 1e9)


@pytest.mark.parametrize(
    ("reads", "condition", "kind"),
    [
        ("found:/p/run.lock", ("absent", "/p/run.lock"), CauseKind.LEFT_BEHIND),
        ("clock", ("clock", OFFSETS[3]), CauseKind.CLOCK),
        ("time-zone", ("time-zone", "Asia/Tokyo"), CauseKind.TIME_ZONE),
        ("listing", ("listing", "sorted"), CauseKind.LISTING_ORDER),
        ("folder", ("folder", "/p"), CauseKind.WORKING_DIRECTORY),
        ("variable:SHOP_TAX", ("variable", "SHOP_TAX"), CauseKind.VARIABLE),
        ("random", ("random", 5), CauseKind.RANDOM),
        ("waiting", ("waiting", 6.0), CauseKind.SLOWNESS),
    ],
)
def test_steady_failure_is_decided_by_what_the_code_reads(
    reads: str, condition: tuple[str, object], kind: CauseKind
) -> None:
    runner = one_test(reads, {condition: PASSED})

    found = search(runner, {"SHOP_TAX": "7"}, "/p/tests").decided()
    assert found is not None
    assert (found.kind, found.condition, list(found.readers)) == (kind, condition, [READER])
    unread = search(one_test("other", {condition: PASSED})).decided()
    assert unread is None


def test_condition_under_which_the_test_passes_only_at_times_decides_nothing() -> None:
    turns = cycle([PASSED, PASSED, PASSED, FAILED])
    runner = one_test("listing", {})
    runner.conditions = lambda _: next(turns)

    assert search(runner).decided() is None


def test_failure_that_depends_on_the_seed_tells_how_often() -> None:
    bad = {("random", n): FAILED for n in (2, 5, 7)}

    found = search(one_test("random", bad, PASSED)).decided()

    assert found is not None
    assert (found.kind, found.seen) == (
        CauseKind.RANDOM,
        f"fails with 3 of {N_SEEDS} seeds of random",
    )


def test_seed_with_which_the_test_ends_in_both_ways_decides_nothing() -> None:
    turns = cycle([PASSED, FAILED, PASSED, PASSED, FAILED])
    runner = one_test("random", {}, PASSED)
    runner.conditions = lambda _: next(turns)

    assert search(runner).decided() is None


def test_seed_of_hash_is_tried_in_processes_of_their_own() -> None:
    runner, other = one_test("hash", {}), one_test("hash", {}, PASSED)

    found = search(runner, elsewhere=other).decided()

    assert found is not None
    assert (found.kind, found.seen) == (CauseKind.HASH_ORDER, "passes where PYTHONHASHSEED=1")
    assert search(runner).decided() is None


def test_no_process_is_started_for_what_dicts_and_sets_ask_for() -> None:
    runner = one_test("hash", {})
    runner.asking = {FAILURE.node_id: {"hash": [(*READER[:3], "Card.__hash__")]}}

    assert search(runner, elsewhere=one_test("hash", {}, PASSED)).decided() is None


def test_no_process_is_started_for_a_seed_of_hash_where_the_code_was_edited() -> None:
    runner, other = one_test("hash", {}), one_test("hash", {}, PASSED)

    found = search(runner, elsewhere=other).decided(is_edited=True)

    assert found is None
    assert other.asked == []


def test_condition_that_was_found_by_chance_is_searched_as_one_of_a_flaky_test() -> None:
    answers = iter([FAILED] * 12)
    ends = {("waiting", 6.0): PASSED, ("starting", 0.2): FAILED}
    runner = one_test("waiting", ends)
    runner.answer = lambda _patch, _test: next(answers, PASSED)
    runner.asking = {FAILURE.node_id: {"waiting": [READER], "threads": [READER]}}

    found = search(runner).decided()

    assert found is not None
    assert (found.kind, found.condition) == (CauseKind.SLOWNESS, ("starting", 0.2))


@pytest.mark.parametrize(
    ("code", "readers", "name"),
    [
        pytest.param(
            "def start():\n    run(book)\n\n\ndef book(plan):\n    plan.free -= 1\n",
            [("app.py", 2, 1, "start"), ("app.py", 5, 5, "book")],
            "book",
            id="writes what threads share",
        ),
        pytest.param(
            "def take(plates):\n    plates.left -= 1\n\n\ndef write(left):\n    file.text = left\n",
            [("app.py", 5, 5, "write"), ("app.py", 1, 1, "take")],
            "take",
            id="sets what it read before the late call",
        ),
    ],
)
def test_race_is_told_at_the_function_that(
    code: str, readers: list[tuple[str, int, int, str]], name: str
) -> None:
    found = Decided(kind=CauseKind.RACE, seen="fails", readers=readers)

    cause = told(found, FAILURE.node_id, TextSources({"app.py": code}), "pytest")

    assert cause.location is not None
    assert cause.location.qualname == name


@pytest.mark.parametrize(
    ("code", "does"),
    [
        ("self.n += 1", True),
        ("rest = self.n - 1; self.n = rest", True),
        ("if key not in table: table[key] = 1", False),
        ("if table[key] is None: table[key] = 1", True),
        ("global n\n    if n is None: n = make()", True),
        ("global n\n    n += 1", True),
        ("global n\n    n = make()", False),
        ("n = self.n\n    n += 1", False),
        ("self.text = str(self.n)", False),
    ],
)
def test_function_rewrites_what_it_reads_of_what_others_see(code: str, does: bool) -> None:
    (function,) = ast.parse(f"def f(self, table, key):\n    {code}\n").body

    assert rewrites(function) is does


def test_race_is_the_function_whose_delay_makes_the_test_fail_even_if_waits_are_long() -> None:
    slow: dict[Any, TestRun] = {("delaying", (1, "find", "app.py")): FAILED}
    race = {**slow, ("delaying", (1, "find", "app.py", 20.0)): FAILED}

    found = search(one_test("in-thread", race, PASSED)).decided()
    assert found is not None
    assert (found.kind, list(found.readers)) == (CauseKind.RACE, [READER])
    assert search(one_test("in-thread", slow, PASSED)).decided() is None
    uneven: dict[Any, TestRun] = {
        ("delaying", (1, "find", "app.py", factor, True)): FAILED for factor in (1.0, 20.0)
    }
    assert search(one_test("in-thread", uneven, PASSED)).decided() is not None


def test_clock_that_is_read_at_import_is_another_one_in_a_process_of_its_own() -> None:
    runner = one_test("other", {("clock", IMPORT_OFFSETS[1]): PASSED})
    younger = one_test("other", {}, PASSED)

    found = search(runner, later={IMPORT_OFFSETS[1]: younger}).decided()

    assert found is not None
    assert (found.kind, list(found.readers)) == (CauseKind.CLOCK, [CLOCK])
    assert found.seen.startswith("passes if it is imported on ")
    assert search(runner).decided() is None


def test_test_that_fails_beside_its_twin_races_for_a_port_or_file_where_there_are_workers() -> None:
    runner = one_test("shared", {("twin", True): FAILED}, PASSED)

    found = search(runner, n_workers=2).decided()

    assert found is not None
    assert (found.kind, list(found.readers)) == (CauseKind.RACE, [READER])
    assert search(runner).decided() is None
    often = one_test("shared", {("twin", True): FAILED, ("twin", False): FAILED}, PASSED)
    assert search(often, n_workers=2).decided() is None


def in_turn(condition: tuple[str, object]) -> bool:
    return condition[0] == "tasks" and condition[1][1] == (("app.py", 1, "find"),)  # type: ignore[index]


def test_steady_race_of_tasks_is_the_function_in_which_turns_help() -> None:
    runner = one_test("in-tasks", {})
    runner.conditions = lambda condition: PASSED if in_turn(condition) else FAILED

    found = search(runner).decided()

    assert found is not None
    assert (found.kind, list(found.readers)) == (CauseKind.RACE, [READER])
    assert search(one_test("in-tasks", {})).decided() is None


@pytest.mark.parametrize(("is_helped", "kind"), [(True, CauseKind.RACE), (False, None)])
def test_race_of_tasks_by_chance_fails_with_long_awaits_unless_tasks_take_turns(
    is_helped: bool, kind: CauseKind | None
) -> None:
    runner = one_test("in-tasks", {}, PASSED)
    runner.conditions = lambda c: PASSED if is_helped and in_turn(c) else FAILED

    found = search(runner).decided()

    assert (found and found.kind) == kind


def test_stale_read_is_told_with_both_lines() -> None:
    code = "async def find(self):\n    n = self.n\n    await log()\n    self.n = n + 1\n"
    condition = ("tasks", [[], [("app.py", 1, "find")]])
    seen = "passes if tasks execute it one after another"
    found = Decided(kind=CauseKind.RACE, seen=seen, condition=condition, readers=[READER])

    cause = told(found, FAILURE.node_id, TextSources({"app.py": code}), "pytest")

    assert cause.text == (
        "a race between tasks: find (app.py:2) reads self.n before an await and uses the "
        "old value after it (line 4), while another task may write it: test_one passes if tasks "
        "execute it one after another"
    )
    assert cause.line == 2


def test_wait_that_is_too_short_fails_where_threads_start_late() -> None:
    late = {("starting", 0.2): FAILED}

    found = search(one_test("waiting", late, PASSED)).decided()

    assert found is not None
    assert found.kind is CauseKind.SLOWNESS


@pytest.mark.parametrize(("takes_s", "factor"), [(0.1, 20.0), (2.0, 3.0)])
def test_waits_of_a_test_that_takes_its_time_take_fewer_times_as_long(
    takes_s: float, factor: float
) -> None:
    runner = one_test("waiting", {("waiting", factor): PASSED})
    runner.seconds = takes_s

    found = search(runner).decided()

    assert found is not None
    assert found.seen == f"passes if waits take {factor:g} times as long"


@pytest.mark.parametrize("plain", [FAILED, PASSED])
def test_order_of_sets_is_shuffled_where_the_code_makes_some(plain: TestRun) -> None:
    other = PASSED if plain is FAILED else FAILED
    files = ("app.py",)
    seed = {("sets", (3, None, files)): other, ("sets", (3, ("app.py", 2), files)): other}
    runner = one_test("sets", seed, plain)
    runner.asking = {FAILURE.node_id: {}, "sets": {"sets": [READER]}}

    found = search(runner, set_files=files).decided()
    assert found is not None
    assert (found.kind, list(found.readers)) == (CauseKind.HASH_ORDER, [READER])
    assert search(runner).decided() is None


def test_failure_that_never_comes_again_has_no_cause() -> None:
    assert search(one_test("random", {}, PASSED), set_files=("app.py",)).decided() is None


def test_place_is_rather_in_code_than_in_a_test() -> None:
    sources = TextSources(
        {"app.py": "def find():\n    pass\n", "test_app.py": "def test_one():\n    pass\n"}
    )
    readers = [("test_app.py", 2, 1, "test_one"), READER]
    found = Decided(kind=CauseKind.CLOCK, seen="passes tomorrow", readers=readers)

    cause = told(found, FAILURE.node_id, sources, "pytest")

    assert cause.text == "find (app.py:2) reads the clock: test_one passes tomorrow"
