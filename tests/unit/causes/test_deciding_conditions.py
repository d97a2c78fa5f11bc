from __future__ import annotations

import ast
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.causes.asked import keeps_hash, rewrites
from pytest_bayesloc.causes.condition_words import told
from pytest_bayesloc.causes.conditions import ConditionSearch, Decided, Surroundings
from pytest_bayesloc.domain.failure import CauseKind, Failure
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
        **{"n_workers": 1, "set_files": (), "keeps_hash": lambda _: False, **more},
    )
    return ConditionSearch(runner, FAILURE, around, Clock(), 1e9)


def decided(runner: Runner, **more: Any) -> Decided:  # noqa: ANN401 - of ``search``
    found = search(runner, **more).decided()
    assert found is not None
    return found


def flickering(reads: str, plain: TestRun, *ends: TestRun) -> FakeRunner:
    """Runs a test that ends in turn as ``ends`` under any condition."""
    runner, turns = one_test(reads, {}, plain), cycle(ends)
    runner.conditions = lambda _: next(turns)
    return runner


# What decides is held with its words, by ``decided`` in tests/unit/report/sentences.py.
LATE: Mapping[Any, TestRun] = {("delaying", (1, "find", "app.py")): FAILED}
TWINS: Mapping[Any, TestRun] = {("twin", True): FAILED, ("twin", False): FAILED}
UNDECIDED: dict[str, tuple[FakeRunner, dict[str, Any]]] = {
    "what the code does not read": (flickering("other", FAILED, PASSED), {}),
    "a condition under which it passes at times":
        (flickering("listing", FAILED, PASSED, PASSED, PASSED, FAILED), {}),
    "a seed with which it ends in both ways":
        (flickering("random", PASSED, PASSED, FAILED, PASSED, PASSED, FAILED), {}),
    "a seed of hash that changes nothing": (one_test("hash", {}), {}),
    "a delay that makes it fail unless waits are long": (one_test("in-thread", LATE, PASSED), {}),
    "its twin, where there are no workers":
        (one_test("shared", {("twin", True): FAILED}, PASSED), {}),
    "its twin, with which it fails in one process":
        (one_test("shared", TWINS, PASSED), {"n_workers": 2}),
    "turns of tasks that do not help": (one_test("in-tasks", {}), {}),
    "a failure that never comes again":
        (one_test("random", {}, PASSED), {"set_files": ("app.py",)}),
}  # fmt: skip


@pytest.mark.parametrize("what", UNDECIDED)
def test_nothing_is_decided_by(what: str) -> None:
    runner, more = UNDECIDED[what]

    assert search(runner, **more).decided() is None


def test_no_process_is_started_for_what_dicts_and_sets_ask_for() -> None:
    runner = one_test("hash", {})
    runner.asking = {FAILURE.node_id: {"hash": [(*READER[:3], "Card.__hash__")]}}

    assert search(runner, elsewhere=one_test("hash", {}, PASSED)).decided() is None


def test_no_process_is_started_for_a_hash_that_is_kept() -> None:
    runner, other = one_test("hash", {}), one_test("hash", {}, PASSED)

    assert search(runner, elsewhere=other).decided() is not None
    assert search(runner, elsewhere=other, keeps_hash=lambda _: True).decided() is None


CACHED = """
class Card:
    def __hash__(self):
        return self._hash
"""


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ("self._hash = hash((self.suit, self.rank))", True),
        ("object.__setattr__(self, '_hash', hash(self.suit))", True),
        ("self._bucket = hash(self.suit) % 8", False),
        ("self.other_hash = hash(self.suit)", False),
        ("return hash(self.suit)", False),
    ],
)
def test_hash_is_kept_in_an_attribute_that_hash_reads(line: str, *, is_kept: bool) -> None:
    assert keeps_hash(ast.parse(CACHED), line) is is_kept


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

    found = decided(runner)

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


def test_race_is_the_function_whose_uneven_delay_makes_the_test_fail() -> None:
    uneven: dict[Any, TestRun] = {
        ("delaying", (1, "find", "app.py", factor, True)): FAILED for factor in (1.0, 20.0)
    }

    assert decided(one_test("in-thread", uneven, PASSED)).kind is CauseKind.RACE


def in_turn(condition: tuple[str, object]) -> bool:
    return condition[0] == "tasks" and condition[1][1] == (("app.py", 1, "find"),)  # type: ignore[index]


@pytest.mark.parametrize(("is_helped", "kind"), [(True, CauseKind.RACE), (False, None)])
def test_race_of_tasks_by_chance_fails_with_long_awaits_unless_tasks_take_turns(
    is_helped: bool, kind: CauseKind | None
) -> None:
    runner = one_test("in-tasks", {}, PASSED)
    runner.conditions = lambda c: PASSED if is_helped and in_turn(c) else FAILED

    found = search(runner).decided()

    assert (found and found.kind) == kind


@pytest.mark.parametrize(("takes_s", "factor"), [(0.1, 20.0), (2.0, 3.0)])
def test_waits_of_a_test_that_takes_its_time_take_fewer_times_as_long(
    takes_s: float, factor: float
) -> None:
    runner = one_test("waiting", {("waiting", factor): PASSED})
    runner.seconds = takes_s

    found = decided(runner)

    assert found.seen == f"passes if waits take {factor:g} times as long"


def test_order_of_sets_is_shuffled_where_the_code_makes_some() -> None:
    files = ("app.py",)
    seed = {("sets", (3, None, files)): FAILED, ("sets", (3, ("app.py", 2), files)): FAILED}
    runner = one_test("sets", seed, PASSED)
    runner.asking = {FAILURE.node_id: {}, "sets": {"sets": [READER]}}

    found = decided(runner, set_files=files)

    assert (found.kind, list(found.readers)) == (CauseKind.HASH_ORDER, [READER])
    assert search(runner).decided() is None


def test_place_is_rather_in_code_than_in_a_test() -> None:
    sources = TextSources(
        {"app.py": "def find():\n    pass\n", "test_app.py": "def test_one():\n    pass\n"}
    )
    readers = [("test_app.py", 2, 1, "test_one"), READER]
    found = Decided(kind=CauseKind.CLOCK, seen="passes tomorrow", readers=readers)

    cause = told(found, FAILURE.node_id, sources, "pytest")

    assert cause.text == "find (app.py:2) reads the clock: test_one passes tomorrow"
