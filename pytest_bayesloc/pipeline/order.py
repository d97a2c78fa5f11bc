"""Explains failing tests that pass when they run alone by the tests before them."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_bayesloc.causes.order import (
    AT_IMPORT,
    FILES,
    FIXTURE,
    OrderSearch,
    changed_variables,
    changes_at_import,
    is_import,
    missing_set_up,
    polluted_at_import,
    pollution,
    read_first,
)
from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.failure import Cause
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.domain.result import SpoiledTest
from pytest_bayesloc.domain.standard_library import monotonic
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.fixes.tasks import python_files
from pytest_bayesloc.history.git import tracked_below
from pytest_bayesloc.inspection.delta import minimal
from pytest_bayesloc.inspection.loop import NO_FURTHER, passed_again
from pytest_bayesloc.pipeline.execute import open_pool
from pytest_bayesloc.rerun.conditions import ABSENT
from pytest_bayesloc.syntax.nodes import base_texts, decorator_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.inspection import Reader, Rerun
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.rerun.pool import Pool


MAX_TESTS = 3  # of a group that are explained: what spoils one mostly spoils the others
_TEST = re.compile(r"\bdef\s+(test\w*)")
_SKIPPED = re.compile(r"\b(?:importorskip|allow_module_level)\b")  # what skips a whole file
#: Folders of tools, in which no test leaves anything.
_NO_DATA = frozenset({".git", ".pytest_cache", "__pycache__", ".bayesloc", ".venv", "venv"})


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
    deadline, found, n_flaky = monotonic() + limit_s, list[tuple[SpoiledTest, Cause]](), 0
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
    case.spoiled = tuple(spoiled for spoiled, _ in found)
    if found and not case.failing:
        case.cause = found[0][1]
    if not case.failing and case.spoiled:
        case.stop = f"{passed_again(len(case.flaky))}: dependent on order"
    elif not case.failing and n_flaky == len(case.flaky):
        case.stop = f"{passed_again(len(case.flaky))}: flaky, {NO_FURTHER}"


MAX_FILES = 6  # that pollute as they are imported, each of which takes a server
#: Tests that did not run before a failing one: how many are run, and for how long; the same where
#: it is not known that the failing one ever passed.
MAX_OTHERS, MAX_OTHERS_S = 200, 5.0
FEW_OTHERS, FEW_S = 40, 2.0


def explain_missing(context: Context, case: Case, limit_s: float) -> bool:
    """Say whether a failing test passes after tests that did not run before it, and add the cause.

    Where all tests ran in the order of their files there are none, and nothing is run again.
    """
    failure = case.failures[0]
    others = _left_out(context, failure.node_id) if case.cause is None else []
    n_most, most_s = (MAX_OTHERS, MAX_OTHERS_S) if case.changes.known else (FEW_OTHERS, FEW_S)
    if not 0 < len(others) <= n_most:
        return False
    try:
        with closing(open_pool(context, [*others, *case.failing], {})) as pool:
            deadline = monotonic() + min(limit_s, most_s)
            search = OrderSearch(pool.first, failure, monotonic, deadline)
            needed = search.needed_tests(others)
            if (
                needed is None
                or not _pass_too(case, pool, needed)
                or (not needed and not _fails_alone(context, search))
            ):
                return False
            names = search.changed_by(needed)
    except BayeslocError as error:
        context.note(str(error))
        return False
    own = [n.partition("::")[2].removeprefix(FIXTURE) for n in names if file_of_test(n)]
    files = [*dict.fromkeys(file_of_test(n) for n in others)]
    files = [file for file in files if file != file_of_test(failure.node_id)] or files
    found = SpoiledTest(
        test=failure.node_id,
        after=needed,
        n_earlier=len(others),
        is_smallest=not search.is_cut,
        command=_command(context, [*needed, failure.node_id]),
    )
    case.cause = missing_set_up(context.sources, found, files, own[0] if own else "")
    return True


def explain_import(context: Context, case: Case, pool: Pool, limit_s: float) -> bool:
    """Say whether a failing test passes where another test file is not imported, and add that.

    A test that fails in ``pool`` is not run again unless that imports a file which changes others.
    """
    failure, changes = case.failures[0], _changing_files(context, case)
    imported = {file_of_test(n) for n in pool.tests}
    files = [file for file in changes if case.flaky or file in imported][:MAX_FILES]
    if case.cause is not None or not files:
        return False
    deadline = monotonic() + limit_s

    def ends(tests: Sequence[str], verdict: Verdict) -> bool:
        with closing(open_pool(context, tests, {})) as own:
            search = OrderSearch(own.first, failure, monotonic, deadline)
            return monotonic() < deadline and search.always_ends(verdict)

    try:
        if not ends([failure.node_id], Verdict.PASS):
            return False
        for file in files:
            first = next(n for n in context.recorder.recorded.verdicts if n.startswith(f"{file}::"))
            if ends([first, failure.node_id], Verdict.FAIL):
                command = _command(context, [file, failure.node_id])
                case.cause = polluted_at_import(
                    context.sources, failure.node_id, file, changes[file], command
                )
                return True
    except BayeslocError as error:
        context.note(str(error))
    return False


def _changing_files(context: Context, case: Case) -> dict[str, tuple[int, str]]:
    """Return the other test files that change something as they are imported, with the first."""
    own = file_of_test(case.failures[0].node_id)
    files = dict.fromkeys(file_of_test(n) for n in context.recorder.recorded.verdicts)
    found = {}
    for file in islice(files, MAX_OTHERS):
        is_asked = file != own and AT_IMPORT.search(context.sources.read(file) or "")
        source = context.sources.map(file) if is_asked else None
        if source is not None and (change := next(changes_at_import(source.module.node), None)):
            found[file] = change
    return found


def _pass_too(case: Case, pool: Pool, needed: Sequence[str]) -> bool:
    """Say whether the other failing tests of ``case`` pass after ``needed`` as well."""
    others = [n for n in case.failing[1:MAX_TESTS] if n in pool.tests]
    return all(
        pool.first.rerun(None, [*needed, n], limit_s=MAX_OTHERS_S).tests[n].verdict is Verdict.PASS
        for n in others
    )


def _fails_alone(context: Context, search: OrderSearch) -> bool:
    """Say whether the test of a search fails each time where no other file is imported."""
    with closing(open_pool(context, [search.failure.node_id], {})) as pool:
        own = OrderSearch(pool.first, search.failure, monotonic, monotonic() + MAX_OTHERS_S)
        return own.is_steady()


def _left_out(context: Context, node_id: str) -> list[str]:
    """List the tests before ``node_id``, in the order of files, that did not run before it.

    Those that a run of all tests leaves out as well are not among them.
    """
    earlier = context.recorder.recorded.earlier_tests(node_id)
    ran = {n.partition("[")[0] for n in (*earlier, node_id)}  # files tell no parameters
    n_ran = Counter((file_of_test(n), n.rpartition("::")[2]) for n in ran)
    files = sorted(
        file
        for file in python_files(context.sources)
        if PurePosixPath(file).name.startswith("test_") or file.endswith("_test.py")
    )
    config = context.config
    deselected = tuple(config.getoption("deselect") or ())
    own, plain = file_of_test(node_id), node_id.partition("[")[0]
    left_out = list[str]()
    for file in files[: files.index(own) + 1] if own in files else files:
        text = context.sources.read(file) or ""
        n_written = Counter(_TEST.findall(text))
        if all(n_ran[file, name] >= n for name, n in n_written.items()):
            continue  # to read its tests takes a hundred times as long
        if file != own and (
            config.hook.pytest_ignore_collect(collection_path=context.rootdir / file, config=config)
            or _SKIPPED.search(text)
        ):
            continue
        known = _tests_of(context, file)
        before = known[: known.index(plain)] if plain in known else known
        left_out += [n for n in before if n not in ran and not n.startswith(deselected)]
    return left_out if len(left_out) <= MAX_OTHERS else []


def _tests_of(context: Context, file: str) -> list[str]:
    """Return the node ids of the plain tests of a file, in the order that they run in.

    Those of a ``unittest.TestCase`` run in the order of their names. Neither fixtures nor methods
    of a class whose tests only others inherit are tests.
    """
    source = context.sources.map(file)
    found: list[tuple[int, str, str]] = []
    for unit in source.units if source is not None else ():
        parts = unit.location.qualname.split(".")
        if unit.is_function and parts[-1].startswith("test") and "<locals>" not in parts:
            owner = unit.outer if unit.outer is not None and len(parts) > 1 else unit
            is_case = any("TestCase" in base for base in base_texts(owner.node))
            is_inherited = len(parts) > 1 and not is_case and not parts[-2].startswith("Test")
            if is_inherited or "fixture" in decorator_names(unit.node):
                continue
            line = owner.location.start_line
            name = parts[-1] if is_case else f"{unit.location.start_line:09}"
            found.append((line, name, "::".join((file, *parts))))
    return [node_id for *_, node_id in sorted(found)]


def _explained(
    context: Context,
    case: Case,
    search: OrderSearch,
    earlier: Sequence[str],
    spoilers: tuple[str, ...],
) -> tuple[SpoiledTest, Cause]:
    """Return by what ``spoilers``, some of the ``earlier`` tests, spoil the test of a search."""
    sources, test = context.sources, search.failure.node_id
    changed = [n for n in search.changed_by(spoilers) if not is_import(sources, n)]
    names = read_first(sources, case, test, changed)
    needed = search.needed(spoilers, names)
    names = [*needed] or [n for n in names if file_of_test(n) or "os.environ" in n]
    found = SpoiledTest(
        test=test,
        after=spoilers,
        n_earlier=len(earlier),
        is_smallest=not search.is_cut,
        command=_command(context, [*spoilers, test]),
        state=changed_variables(sources, case, test, spoilers, names),
        n_changed=len(names),
    )
    return found, pollution(sources, found, needed)


# -- files


def left_files(context: Context, test: str, paths: Sequence[str]) -> list[str]:
    """Select from ``paths`` what is there, unknown to git and outside of temporary folders.

    Where git does not know the file of the failing ``test`` either, tests before it must have left
    it: without these, there is nothing to select.
    """
    root, file = os.path.realpath(context.rootdir), file_of_test(test)
    own = [path for path in paths if path.startswith(f"{root}{os.sep}") and os.path.lexists(path)]
    own = [path for path in own if _NO_DATA.isdisjoint(Path(path).relative_to(root).parts)]
    known = _known(context, file, own)
    if known is None and not context.recorder.recorded.earlier_tests(test):
        return []
    sources = [f"{root}{os.sep}{name}" for name in python_files(context.sources)]
    kept = [*(known or ()), *sources]
    return [p for p in own if not any(k == p or k.startswith(f"{p}{os.sep}") for k in kept)]


def _known(context: Context, file: str, paths: Sequence[str]) -> list[str] | None:
    """Return what git knows of ``paths``; None where it does not even know the test's ``file``."""
    root = Path(os.path.realpath(context.rootdir))
    known = tracked_below(root, [file, *paths]) if paths else None
    return known if known and str(root / file) in known else None


def left_behind(context: Context, cause: Cause, test: str, limit_s: float) -> Cause | None:
    """Return ``cause`` with the tests of this run that leave its file; it needs some without git.

    A file that none of them makes when it is absent was made by hand: it is no cause.

    Raises:
        BayeslocError: If they can't be run again.
    """
    path, deadline = cause.state, monotonic() + limit_s
    file = os.path.relpath(path, os.path.realpath(context.rootdir))
    recorded = context.recorder.recorded
    earlier = recorded.earlier_tests(test)
    others = [n for n in recorded.verdicts if n != test and n not in {*earlier}]
    with closing(open_pool(context, [*earlier, test, *others], {})) as pool:

        def without(tests: Sequence[str]) -> tuple[Rerun | None, Sequence[Reader]]:
            left_s = deadline - monotonic()
            condition = (ABSENT, path)
            ended = left_s > 0 and pool.first.under(condition, tests, limit_s=left_s)
            return ended or (None, ())

        def fails(some: Sequence[str]) -> bool:
            ended, _ = without([*some, test])
            return ended is not None and ended.tests[test].verdict is Verdict.FAIL

        after = tuple(minimal(earlier, fails)) if earlier and fails(earlier) else ()
        is_made = bool(after or without([*earlier, test, *others])[1])
    if not after:
        is_known = is_made and _known(context, file_of_test(test), [path]) is not None
        return replace(cause, state=file) if is_known else None
    found = SpoiledTest(
        test=test,
        after=after,
        n_earlier=len(earlier),
        is_smallest=monotonic() < deadline,
        command=_command(context, [*after, test]),
    )
    told = pollution(context.sources, found, {f"::{FILES}": [(file, "", "")]})
    return replace(told, state=file)


def _command(context: Context, tests: Sequence[str]) -> str:
    """Return the command that runs ``tests`` in this order, in one process."""
    config = context.config
    options = ["-n0"] if getattr(config.option, "numprocesses", None) else []
    options += ["-p", "no:randomly"] if config.pluginmanager.hasplugin("randomly") else []
    for test in tests:
        file, separator, name = test.partition("::")
        # Files are relative to the folder that the run was started in.
        path = os.path.relpath(config.rootpath / file, config.invocation_params.dir)
        options.append(f"{path.replace(os.sep, '/')}{separator}{name}")
    return shlex.join(["pytest", *options])
