"""Explains failing tests that pass when they run alone by the tests before them."""

from __future__ import annotations

import ast
import os
import shlex
from contextlib import closing
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.inspection import TestRun, Verdict
from pytest_bayesloc.domain.result import SpoiledTest
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.inspection.delta import minimal
from pytest_bayesloc.pipeline.execute import open_pool
from pytest_bayesloc.ranking.evidence.provenance import line_that_writes, mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

    from pytest_bayesloc.domain.failure import Failure
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Clock, Runner
    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case


MAX_TESTS = 3  # of a group that are explained: what spoils one mostly spoils the others
MAX_STATE = 3  # variables that are named
MAX_WRITERS = 5  # of each
PASSED = "{0} of {0} failing tests passed when run again"


def explain_order(context: Context, case: Case, *, limit_s: float) -> None:
    """Find the tests that spoil those of ``case`` which passed when they were run again.

    What is found is added to it, in ``limit_s`` wall seconds at most. The tests run in a server of
    their own, which imports all the test files that the main run did until then.
    """
    flaky = [f for f in case.failures if f.node_id in case.flaky][:MAX_TESTS]
    earlier = {f.node_id: context.recorder.recorded.earlier_tests(f.node_id) for f in flaky}
    tests = dict.fromkeys(n for node_id, before in earlier.items() for n in (*before, node_id))
    if limit_s <= 0 or not any(earlier.values()):
        return
    deadline, found, n_flaky = monotonic() + limit_s, list[SpoiledTest](), 0
    files = [where.file for where in case.belief.probabilities]
    texts = {file: context.sources.read(file) or "" for file in files}
    try:
        with closing(open_pool(context, [*tests], texts)) as pool:
            for failure in flaky:
                search = OrderSearch(pool.first, failure, monotonic, deadline)
                before = earlier[failure.node_id]
                if spoilers := search.spoilers(before):
                    found.append(_explained(context, case, search, before, spoilers))
                n_flaky += search.is_flaky
    except BayeslocError as error:
        context.note(str(error))
        return
    case.spoiled = tuple(found)
    if not case.failing and case.spoiled:
        case.stop = f"{PASSED.format(len(case.flaky))}: dependent on order"
    elif not case.failing and n_flaky == len(case.flaky):
        case.stop = f"{PASSED.format(len(case.flaky))}: flaky, not localized further"


def _explained(
    context: Context,
    case: Case,
    search: OrderSearch,
    earlier: Sequence[str],
    spoilers: tuple[str, ...],
) -> SpoiledTest:
    """Return by what ``spoilers``, some of the ``earlier`` tests, spoil the test of a search."""
    names = [n for n in search.changed_by(spoilers) if not _is_import(context, n)]
    test = search.failure.node_id
    return SpoiledTest(
        test=test,
        after=spoilers,
        n_earlier=len(earlier),
        is_smallest=not search.is_cut,
        command=_command(context, [*spoilers, test]),
        state=_state(context, case, test, spoilers, names),
        n_changed=len(names),
    )


def _command(context: Context, tests: Sequence[str]) -> str:
    """Return the command that runs ``tests`` in this order, in one process."""
    config = context.config
    options = ["-n0"] if getattr(config.option, "numprocesses", None) else []
    options += ["-p", "no:randomly"] if config.pluginmanager.hasplugin("randomly") else []
    return shlex.join(["pytest", *options, *(_from_here(config, test) for test in tests)])


def _from_here(config: pytest.Config, node_id: str) -> str:
    """Return ``node_id`` with its file relative to the folder that the run was started in."""
    file, separator, name = node_id.partition("::")
    path = os.path.relpath(config.rootpath / file, config.invocation_params.dir)
    return f"{path.replace(os.sep, '/')}{separator}{name}"


# -- who writes


def _state(
    context: Context, case: Case, test: str, spoilers: Sequence[str], names: Sequence[str]
) -> dict[str, tuple[tuple[Location, int], ...]]:
    """Return some variables of ``names``, and the lines of ``spoilers`` that write them.

    First come those that ``test`` reads, and that are written.
    """
    writing = [unit for spoiler in spoilers for unit in _test_code(context, spoiler)]
    writing += _executed(context, case, spoilers)
    reading = [*_test_code(context, test), *_executed(context, case, [test])]

    def writers(name: str) -> tuple[tuple[Location, int], ...]:
        lines = {unit.location: line_that_writes(unit.node, _variable(name)) for unit in writing}
        return tuple((where, line) for where, line in lines.items() if line)[:MAX_WRITERS]

    plain = [name.partition("::")[2] for name in names]
    state = {name: writers(name) for name in plain}
    is_read = {
        name: any(mentions(unit.node, _variable(name)) for unit in reading) for name in plain
    }
    ordered = sorted(state, key=lambda name: (not is_read[name], not state[name], name))
    return {name: state[name] for name in ordered[:MAX_STATE]}


def _variable(name: str) -> str:
    return name.partition("[")[0]  # of an environment variable, ``os.environ``


def _is_import(context: Context, name: str) -> bool:
    """Say whether a variable is only another module's, under a name of its own."""
    file, _, dotted = name.partition("::")
    source = context.sources.map(file) if file else None
    body = [] if source is None else [*ast.walk(source.module.node)]
    imported = [alias for node in body if isinstance(node, ast.ImportFrom) for alias in node.names]
    return dotted.rpartition(".")[2] in {alias.asname or alias.name for alias in imported}


def _executed(context: Context, case: Case, tests: Sequence[str]) -> Iterator[Unit]:
    """Yield the functions of the code that ``tests`` execute."""
    spectrum = case.spectrum
    wanted = spectrum.bitset(tests)
    for where in sorted(w for w, executed in spectrum.executed.items() if executed & wanted):
        found = context.sources.unit(where)
        if found is not None and found[1].is_function:
            yield found[1]


def _test_code(context: Context, node_id: str) -> Iterator[Unit]:
    """Yield the function of a test, then what it uses of its file and of conftest files by name."""
    file, _, name = node_id.partition("::")
    qualname = name.partition("[")[0].replace("::", ".")
    folders = PurePosixPath(file).parents
    files = [file, *(str(folder / "conftest.py") for folder in folders)]
    maps = [source for f in files if (source := context.sources.map(f)) is not None]
    known = [unit for source in maps for unit in source.units if unit.is_function]
    used = [unit for unit in known if unit.location.qualname == qualname][:1]
    for unit in used:  # grows while it is read
        yield unit
        rest = [other for other in known if other not in used]
        used += [other for other in rest if _uses(unit, other)]


def _uses(unit: Unit, other: Unit) -> bool:
    """Say whether ``unit`` asks for a fixture or names a function ``other``, or is set up by it."""
    around, _, name = other.location.qualname.rpartition(".")
    asked = {node.arg for node in ast.walk(unit.node) if isinstance(node, ast.arg)}
    is_set_up = name.lower().startswith("setup") and bool(around)
    is_own = is_set_up and unit.location.qualname.rpartition(".")[0] == around
    return name in asked or is_own or mentions(unit.node, name)


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
        if not earlier or not _is_same(first, self.failure):
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
            self._runner.state_before([*tests, self.failure.node_id], limit_s=self._left_s())
            for tests in ((), spoilers)
        )
        # What only one of them imported differs as a whole, and says nothing.
        names = {*before, *after} if before and after else set()
        known = {name.rpartition(".")[0] for name in before}
        return sorted(
            name
            for name in names
            if before.get(name) != after.get(name)
            and (name in before or name.rpartition(".")[0] in known)
        )

    def _fails(self, earlier: Sequence[str]) -> bool:
        return self._may_run() and _is_same(self._after(earlier), self.failure)

    def _after(self, earlier: Sequence[str]) -> TestRun:
        self._n_left -= 1
        node_id = self.failure.node_id
        rerun = self._runner.rerun(None, [*earlier, node_id], limit_s=self._left_s())
        return rerun.tests[node_id]

    def _may_run(self) -> bool:
        return self._n_left > 0 and self._clock() < self._deadline

    def _left_s(self) -> float:
        return max(0.1, self._deadline - self._clock())


def _is_same(run: TestRun, failure: Failure) -> bool:
    """Say whether a test failed with the same type of exception: its text may name the state."""
    if run.verdict is not Verdict.FAIL:
        return False
    if run.error.startswith(_PLAIN):
        return failure.exc_type == "AssertionError"
    return run.error.partition(":")[0].rpartition(".")[2] == failure.exc_type
