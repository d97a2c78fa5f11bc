"""Searches the condition that a failure depends on: each is tried alone.

A test that fails each time must pass under a condition, one that fails by chance must fail under
it. What chance does less than once in a hundred times is taken for a decision.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from math import inf
from typing import TypeAlias

from pytest_bayesloc.causes.order import N_AGREEING, is_same
from pytest_bayesloc.domain.failure import CauseKind, Failure
from pytest_bayesloc.domain.inspection import Reader, Rerun, TestRun, Verdict
from pytest_bayesloc.domain.ports import Clock, Runner
from pytest_bayesloc.inspection.delta import minimal
from pytest_bayesloc.rerun.conditions import ABSENT, TASKS, TWIN

#: Words in the code of a test that make a condition worth a re-run.
WORDS = re.compile(
    r"\b(?:now|today|utcnow|time|localtime|gmtime|strftime|fromtimestamp|astimezone|mktime"
    r"|random|shuffle|sample|choices?|randint|uniform|uuid4|secrets|listdir|scandir|iterdir|r?glob"
    r"|walk|subprocess|which|Popen|connect|urlopen|HTTPS?Connection|requests|exists|read|open"
    r"|(?:read|write)_text|Path|mkdir|makedirs|touch|sqlite3|is_?(?:file|dir)|environ|getenv"
    r"|locale|sleep|wait|wait_for|timeout|join|find_spec|hash|Thread|submit|create_task"
    r"|ensure_future|gather|as_completed|ThreadPoolExecutor)\b"
)
HASH, HASH_SEEDS = "hash", ("1", "2", "3")  # each takes the start of a process
DAY_S = 86_400.0
#: Seconds from now: to other hours, days of the week, ends of months, years.
OFFSETS = tuple(DAY_S * days for days in (0.5, 2, 4, 9, 15, 45, 190, -365, -1_000, -1_900))
IMPORT_OFFSETS = tuple(DAY_S * days for days in (-365, -1_000, -1_900, 45, 0.5))
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo")
N_SEEDS = 12
N_ORDERS, LEAST_ORDERS, ORDERS_S = 16, 5, 3.0  # of sets; fewer where they take their time
N_RACES = 10
N_RERUNS = 10  # of the test that there has to be time for
VARYING = frozenset({"in-thread", "random", "threads"})
N_DELAYED, MAX_DELAYED = 5, 6
FREQUENT_S, RARE_S = 1e-6, 5.0  # between switches of threads
LONGER, SHORTER = 20.0, 0.1
#: Where a test takes its time, its waits take fewer times as long: seconds, and the least factor.
LONGEST_S, LEAST_LONGER = 3.0, 3.0
LATE_S = 0.2
FOUND, MAX_LEFT = "found:", 5  # paths that code finds, and that are tried without
#: Of a re-run, as tasks that wait for each other never end in turn; and of all such re-runs.
MAX_TURNS_S, TURNS_S = 2.0, 3.0
TIME = "%A, %d %B %Y, %H:%M"
_USUAL = re.compile(r"(?:PATH|HOME|PWD|USER|SHELL|TERM|TMPDIR|TZ|LANG|LC_\w+|PYTHON\w*|PYTEST\w*)$")

#: Conditions with their values, and a sentence on each value, that need nothing else.
_SIMPLE: Sequence[tuple[str, Sequence[object], CauseKind, str]] = (
    (
        "listing",
        ("sorted", "reversed"),
        CauseKind.LISTING_ORDER,
        "if the entries of folders come {}",
    ),
    # A server gives ``random`` the same seed in each re-run: others may end otherwise.
    ("random", range(1, N_SEEDS), CauseKind.RANDOM, "if the seed of random is {}"),
)
_ENDS = {Verdict.PASS: "passes", Verdict.FAIL: "fails"}

Condition: TypeAlias = "tuple[str, object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The folders, variables and encoding of the run, and a way to others.

    Attributes:
        rootdir: The project's folder.
        folder: The one that tests start in.
        variables: Of the environment.
        encoding: That of text files by default.
        elsewhere: Opens a runner whose processes have other variables than these, and a clock that
            is so many seconds later.
        clocks: The code that reads the clock as it is imported.
        n_workers: Processes that ran tests at the same time.
        left: Selects from paths those that tests may have left behind.
        set_files: The files whose code the test executes and that makes sets there.
        keeps_hash: Whether code that calls ``hash`` keeps it for ``__hash__`` to give back.
    """

    rootdir: str
    folder: str
    variables: Mapping[str, str]
    encoding: str
    elsewhere: Callable[[Mapping[str, str], float], AbstractContextManager[Runner]]
    clocks: Sequence[Reader]
    n_workers: int
    left: Callable[[Sequence[str]], Sequence[str]]
    set_files: Sequence[str]
    keeps_hash: Callable[[Reader], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A condition that decides how a test ends.

    Attributes:
        condition: Its name and value, where one was put in place.
        seen: What was seen, in words.
        readers: The code that asks for what it changes; empty if that is not known.
    """

    kind: CauseKind
    seen: str
    condition: Condition | None = None
    readers: Sequence[Reader] = ()

    @property
    def turns(self) -> bool:
        """Whether it is that tasks take turns."""
        return self.condition is not None and self.condition[0] == TASKS


class ConditionSearch:
    """Runs one test alone under other conditions.

    Args:
        runner: Of a server that knows the test.
        failure: Of the test in the main run.
        around: Where it runs.
        clock: Monotonic seconds.
        deadline: When the search must end.

    Attributes:
        first: The first re-run of the test as it is.
        is_steady: Whether the test fails each time, alone and as it is.
        readers: What the test asks for, as ``Runner.readers`` has it; empty until it was seen.
    """

    def __init__(
        self, runner: Runner, failure: Failure, around: Surroundings, clock: Clock, deadline: float
    ) -> None:
        self._runner = runner
        self._failure = failure
        self._test = failure.node_id
        self._around = around
        self._clock = clock
        self._deadline = deadline
        self.first: Rerun | None = None
        self.is_steady = True
        self.readers: Mapping[str, Sequence[Reader]] = {}
        self._read_order: Sequence[Reader] = ()  # of sets, in the last re-run
        self._usual_s = 0.0  # of a re-run of the test as it is

    def decided(self, *, is_edited: bool = False) -> Decided | None:
        """Return the condition that decides how the test ends, alone and as it is.

        Args:
            is_edited: Whether that code changed since the test passed. It is the likelier cause
                then, and no processes are started for other seeds of ``hash``.
        """
        first = self.first = self._runner.rerun(None, [self._test], limit_s=self._limit_s())
        self.is_steady = self._fails(first.tests[self._test])
        self._usual_s = first.seconds
        if first.seconds * N_RERUNS > self.left_s():  # without the start of a server
            return None  # it takes too long
        self.readers = self._runner.readers(self._test, limit_s=self._limit_s())
        if self.is_steady and VARYING & {*self.readers}:  # it may have failed by chance
            self.is_steady = self._fails_each_time(N_RACES)
        found = _first(self._of_steady() if self.is_steady else self._of_flaky())
        wanted = Verdict.PASS if self.is_steady else Verdict.FAIL
        if found is None and self._around.set_files:
            found = self._other_order(wanted)
        # What ``__hash__`` gives is for dicts, whose order it does not decide, and for sets.
        asking = (r for r in self.readers.get(HASH, ()) if not r[3].endswith("__hash__"))
        hashing = [reader for reader in asking if not self._around.keeps_hash(reader)]
        if found is None and hashing and not is_edited:
            found = self._other_hash(wanted, hashing)
        if found is not None and self.is_steady and not self._fails_each_time(N_AGREEING):
            self.is_steady, found = False, _first(self._of_flaky())
        return found if found is not None or self.is_steady else self._by_chance()

    def _fails_each_time(self, n: int) -> bool:
        return all(self._fails(self._plain()) for _ in range(n))

    # -- of a steady failure

    def _of_steady(self) -> Iterator[Callable[[], Decided | None]]:
        yield from (self._without_file, self._other_clock, self._other_zone)
        yield from (self._other_folder, self._other_variable)
        yield from (partial(self._passing, *way) for way in _SIMPLE)
        words = "if waits take {:g} times as long"
        yield partial(self._passing, "waiting", (self._longer,), CauseKind.SLOWNESS, words)
        yield from (self._other_locale, self._other_start, self._in_turn)

    def _without_file(self) -> Decided | None:
        paths = [name.removeprefix(FOUND) for name in self.readers if name.startswith(FOUND)]
        left = sorted(self._around.left(paths), key=lambda path: -path.count(os.sep))
        for path in left[:MAX_LEFT]:
            words = f"without {os.path.relpath(path, self._around.rootdir)}"
            readers, kind = self.readers[FOUND + path], CauseKind.LEFT_BEHIND
            if found := self._passing(ABSENT, (path,), kind, words, readers):
                return found
        return None

    def _other_clock(self) -> Decided | None:
        found = self._passing("clock", OFFSETS, CauseKind.CLOCK, "")
        return found and replace(found, seen=self._times(found.condition))

    def _other_start(self) -> Decided | None:
        """Return the clock with which modules must be imported, in processes of their own."""
        clocks = self._around.clocks
        for condition in [("clock", later_s) for later_s in IMPORT_OFFSETS if clocks]:
            seen = self._times(condition).replace("passes", "passes if it is imported")
            found = Decided(kind=CauseKind.CLOCK, seen=seen, condition=condition, readers=clocks)
            if self._ends_in_others({}, Verdict.PASS, condition[1]):
                return found
        return None

    def _times(self, condition: Condition | None) -> str:
        """Tell at which time the test passes, and at which it does not."""
        now = datetime.now().astimezone()
        then = now + timedelta(seconds=float(str(condition[1]))) if condition else now
        return f"passes on {then:{TIME}} and fails on {now:{TIME}}"

    def _other_zone(self) -> Decided | None:
        current = self._around.variables.get("TZ", "")
        zones = [zone for zone in ZONES if zone != current]
        found = self._passing("time-zone", zones, CauseKind.TIME_ZONE, "if TZ is {}")
        if found is None and "time-zone" in self.readers:
            found = self._in_environment(CauseKind.TIME_ZONE, "time-zone", TZ=zones[0])
        return found

    def _other_folder(self) -> Decided | None:
        root, kind = self._around.rootdir, CauseKind.WORKING_DIRECTORY
        words, readers = "if tests start in the project's folder", self.readers.get("folder", ())
        folders = () if self._around.folder == root else (root,)
        return self._passing("folder", folders, kind, words, readers)

    def _other_variable(self) -> Decided | None:
        words, kind = "if {} is not set", CauseKind.VARIABLE
        for asked, readers in self.readers.items():
            name = asked.removeprefix("variable:")
            is_set = name != asked and name in self._around.variables and not _USUAL.match(name)
            if is_set and (found := self._passing("variable", (name,), kind, words, readers)):
                return found
        return None

    @property
    def _longer(self) -> float:
        """Factor of waits."""
        fewer = LONGEST_S // self._usual_s if self._usual_s else LONGER
        return min(LONGER, max(LEAST_LONGER, fewer))

    def _other_locale(self) -> Decided | None:
        names = ("LC_ALL", "LC_CTYPE", "LC_TIME", "LC_NUMERIC", "LANG")
        plain = {"", "C", "POSIX", "C.UTF-8", "en_US.UTF-8"}
        is_usual = all(self._around.variables.get(name, "") in plain for name in names)
        if is_usual and self._around.encoding.lower().replace("-", "") == "utf8":
            return None
        name = "set-locale" if "set-locale" in self.readers else "locale"
        return self._in_environment(CauseKind.LOCALE, name, LC_ALL="C.UTF-8", PYTHONUTF8="1")

    def _in_environment(self, kind: CauseKind, reader: str, **variables: str) -> Decided | None:
        seen = "passes where " + " and ".join(f"{n}={value}" for n, value in variables.items())
        found = Decided(kind=kind, seen=seen, readers=self.readers.get(reader, ()))
        return found if self._ends_in_others(variables, Verdict.PASS) else None

    def _ends_in_others(
        self, variables: Mapping[str, str], wanted: Verdict, later_s: float = 0.0
    ) -> bool:
        """Say whether the test ends as ``wanted`` in other processes."""
        if self.left_s() <= 0:
            return False
        with self._around.elsewhere(variables, later_s) as runner:
            return all(self._run(runner).verdict is wanted for _ in range(N_AGREEING))

    def _passing(
        self,
        name: str,
        values: Sequence[object],
        kind: CauseKind,
        words: str,
        readers: Sequence[Reader] | None = None,
    ) -> Decided | None:
        """Return the first value of a condition under which the test passes.

        The ``readers`` are those of ``name``; where there are none, it is not tried.
        """
        readers = self.readers.get(name) if readers is None else readers
        for value in values if readers is not None else ():
            if self._passes((name, value)):
                seen, condition = f"passes {words.format(value)}", (name, value)
                return Decided(kind=kind, seen=seen, condition=condition, readers=readers or ())
        return None

    def _in_turn(self, slow: Sequence[Reader] = ()) -> Decided | None:
        """Return the innermost functions with which the test passes if tasks take turns in them.

        Half of the times, all others wait a while behind each of their awaits: turns in one may
        help by chance, as they change when the others go on. ``slow`` ones wait each time.
        """
        readers = [*self.readers.get("in-tasks", ())][::-1]
        ends = self._clock() + TURNS_S

        def passes(some: Sequence[Reader]) -> bool:
            ways = [_tasks(part, some) for part in (slow, readers)] * (N_AGREEING // 2)
            return self._clock() < ends and all(
                self._end_of(way, MAX_TURNS_S) is Verdict.PASS for way in ways
            )

        found = next(([reader] for reader in readers if passes([reader])), [])
        # The outermost ones only start the tasks, which then go on within their turn.
        inner = (readers[:-n] for n in (1, 2, 3) if len(readers) > n + 1)
        if not found and (several := next(filter(passes, inner), [])):
            found = minimal(several, passes)
        seen, condition = "passes if tasks execute it one after another", _tasks(slow, found)
        made = Decided(kind=CauseKind.RACE, seen=seen, condition=condition, readers=found)
        return made if found else None

    # -- of a failure that comes and goes

    def _failing_await(self) -> Decided | None:
        """Return the functions whose turns help where another one that waits makes it fail."""
        for reader in self.readers.get("in-tasks", ())[:MAX_DELAYED]:
            slow = _tasks([reader], ())
            ends = [self._end_of(slow) is Verdict.FAIL for _ in range(N_DELAYED)]  # in any way
            if sum(ends) >= N_DELAYED - 1 and (found := self._in_turn([reader])):
                return found
        return None

    def _of_flaky(self) -> Iterator[Callable[[], Decided | None]]:
        yield from (self._failing_seed, self._failing_twin, self._failing_delay)
        yield from (self._failing_wait, self._failing_await, self._failing_switch)

    def _failing_seed(self) -> Decided | None:
        readers = self.readers.get("random")
        if readers is None:
            return None

        def fails(seed: int) -> bool:
            return self._fails(self._under(("random", seed)))

        ends = [fails(seed) for seed in range(N_SEEDS)]
        failing = [seed for seed, end in enumerate(ends) if end]
        if not failing or len(failing) == N_SEEDS:
            return None
        # Each seed gives the same end each time: what can't be seeded does not.
        pair = (failing[0], ends.index(False)) * (N_AGREEING - 1)
        if any(fails(seed) is not ends[seed] for seed in pair):
            return None
        seen = f"fails with {len(failing)} of {N_SEEDS} seeds of random"
        return Decided(kind=CauseKind.RANDOM, seen=seen, readers=readers)

    def _failing_twin(self) -> Decided | None:
        """Say whether the test fails while another process runs it, and not if it runs as often."""
        readers = self.readers.get("shared", ())
        if self._around.n_workers < 2 or not readers:
            return None
        ends = [self._end_of((TWIN, is_on)) for is_on in (False, True) for _ in range(N_AGREEING)]
        if ends != [Verdict.PASS] * N_AGREEING + [Verdict.FAIL] * N_AGREEING:
            return None
        seen = "fails if two processes run it at once, and passes as often in one"
        return Decided(kind=CauseKind.RACE, seen=seen, condition=(TWIN, True), readers=readers)

    def _failing_wait(self) -> Decided | None:
        readers = self.readers.get("waiting")
        if readers is None:
            return None
        for condition, words in (
            (("starting", LATE_S), f"threads start {LATE_S:g} s late"),
            (("waiting", SHORTER), f"waits are {1 / SHORTER:g} times as short"),
        ):
            n_failed = self._n_failed(condition, N_AGREEING)
            if n_failed == N_AGREEING and self._passes(("waiting", self._longer)):
                seen = f"fails each time if {words}, and passes if waits take longer"
                kind = CauseKind.SLOWNESS
                return Decided(kind=kind, seen=seen, condition=condition, readers=readers)
        return None

    def _failing_delay(self) -> Decided | None:
        """Return the functions that make the test fail if each of their lines takes a while.

        A test that waits too short a time would pass if it waited longer: it is none of these.
        """
        in_threads = {(r[0], *r[2:]): r for r in self.readers.get("in-thread", ())}
        readers = [*in_threads.values()][:MAX_DELAYED]
        late = [reader for reader in readers if self._fails_if_late(reader)]
        if not late:
            return None
        seen = "fails nearly every time if this code, or what it calls, takes longer"
        # What takes longer may be called between a caller's reading and its setting.
        late += [reader for reader in readers if reader not in late]
        return Decided(kind=CauseKind.RACE, seen=seen, readers=late)

    def _fails_if_late(self, reader: Reader) -> bool:
        """Say whether the test fails if a function takes a while in all threads, or in the first.

        Where all wait as long before they return, each may return what the last one has stored.
        """
        file, _, first_line, name = reader
        return any(
            all(self._often(("delaying", (first_line, name, file, *way))) for way in ways)
            for ways in (((), (LONGER,)), ((1.0, True), (LONGER, True)))
        )

    def _often(self, condition: Condition) -> bool:
        """Say whether the test fails under a condition in nearly each of some runs."""
        n_else = 0
        for _ in range(N_DELAYED):
            n_else += not self._fails(self._under(condition))
            if n_else > 1:
                return False
        return True

    def _n_failed(self, condition: Condition, n: int) -> int:
        return sum(self._fails(self._under(condition)) for _ in range(n))

    def _failing_switch(self) -> Decided | None:
        if "threads" not in self.readers:
            return None
        often = self._n_failed(("switching", FREQUENT_S), N_RACES)
        seldom = self._n_failed(("switching", RARE_S), N_RACES)
        if often < 3 or often - seldom < N_RACES / 3:  # by chance less than once in 100
            return None
        seen = (
            f"fails in {often} of {N_RACES} runs if threads switch often, "
            f"and in {seldom} of {N_RACES} if they hardly do"
        )
        return Decided(kind=CauseKind.RACE, seen=seen, readers=self._in_threads)

    @property
    def _in_threads(self) -> Sequence[Reader]:
        """The functions that threads execute, then those that start them."""
        return [r for name in ("in-thread", "threads") for r in self.readers.get(name, ())]

    def _by_chance(self) -> Decided | None:
        n_failed = sum(self._fails(self._plain()) for _ in range(N_RACES))
        if not 0 < n_failed < N_RACES:
            return None
        seen = f"fails in {n_failed} of {N_RACES} runs of the same code"
        if "threads" in self.readers:
            return Decided(kind=CauseKind.RACE, seen=seen, readers=self._in_threads)
        readers = self.readers.get("random", ())
        kind = CauseKind.RANDOM if readers else CauseKind.CHANCE
        return Decided(kind=kind, seen=seen, readers=readers)

    # -- of both

    def _other_order(self, wanted: Verdict) -> Decided | None:
        """Return the order of sets if one makes the test end as ``wanted``, and another one not.

        Its reader is the code that alone has to get that order.
        """
        ends, files = dict[int, Verdict](), self._around.set_files
        began = self._clock()
        for seed in range(N_ORDERS):
            if len(ends) >= LEAST_ORDERS and self._clock() - began > ORDERS_S:
                break
            ends[seed] = self._end_of(("sets", (seed, None, files)))
            readers = self._read_order
            if not readers:
                return None
            others = {end for end in ends.values() if end is not wanted}
            if ends[seed] is wanted and (others or wanted is Verdict.PASS):
                alone = [
                    r for r in readers if self._end_of(("sets", (seed, r[:2], files))) is wanted
                ]
                seen = f"{_ENDS[wanted]} with another order of a set, which differs from run to run"
                return Decided(kind=CauseKind.HASH_ORDER, seen=seen, readers=alone or readers)
        return None

    def _other_hash(self, wanted: Verdict, readers: Sequence[Reader]) -> Decided | None:
        """Return the seed of ``hash`` with which the test ends as ``wanted``, as it does not here.

        It is decided when a process starts.
        """
        if any(self._plain().verdict is wanted for _ in range(N_AGREEING)):
            return None
        kind = CauseKind.HASH_ORDER
        for seed in HASH_SEEDS:
            if self._ends_in_others({"PYTHONHASHSEED": seed}, wanted):
                seen = f"{_ENDS[wanted]} where PYTHONHASHSEED={seed}"
                return Decided(kind=kind, seen=seen, condition=(HASH, seed), readers=readers)
        return None

    def _plain(self) -> TestRun:
        return self._run(self._runner)

    def _run(self, runner: Runner) -> TestRun:
        return runner.rerun(None, [self._test], limit_s=self._limit_s()).tests[self._test]

    def _under(self, condition: Condition, limit_s: float = inf) -> TestRun:
        if self.left_s() <= 0:
            return TestRun(verdict=Verdict.NOT_RUN)
        limit_s = min(limit_s, self._limit_s())
        found = self._runner.under(condition, [self._test], limit_s=limit_s)
        if found is None:  # no process can be forked
            return TestRun(verdict=Verdict.NOT_RUN)
        rerun, self._read_order = found
        return rerun.tests[self._test]

    def _end_of(self, condition: Condition, limit_s: float = inf) -> Verdict:
        return self._under(condition, limit_s).verdict

    def _passes(self, condition: Condition) -> bool:
        return all(self._end_of(condition) is Verdict.PASS for _ in range(N_AGREEING))

    def _fails(self, run: TestRun) -> bool:
        return is_same(run, self._failure)

    def left_s(self) -> float:
        """Seconds that are left of the time."""
        return self._deadline - self._clock()

    def _limit_s(self) -> float:
        return max(0.5, self.left_s())


def _first(ways: Iterator[Callable[[], Decided | None]]) -> Decided | None:
    return next((found for way in ways if (found := way()) is not None), None)


def _tasks(slow: Sequence[Reader], in_turn: Sequence[Reader]) -> Condition:
    """Return the condition for coroutine functions: which wait longer, and which take turns."""
    parts = (slow, in_turn)
    return TASKS, tuple(tuple((file, n, name) for file, _, n, name in part) for part in parts)
