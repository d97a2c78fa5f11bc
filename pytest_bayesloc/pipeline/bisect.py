"""Searches the commits for the one that broke tests, which run on copies of older commits.

A copy is a folder outside of the repository: nothing of the user's is checked out.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ExecutionError, StoreError
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.domain.texts import count, listed
from pytest_bayesloc.history.git import (
    MAX_SUBJECT,
    Bisection,
    changed_names,
    copy_at,
    first_parents,
    is_shallow,
)
from pytest_bayesloc.history.snapshots import SnapshotStore
from pytest_bayesloc.pipeline.context import FOLDER, own_folder
from pytest_bayesloc.rerun.command import command_for
from pytest_bayesloc.rerun.effects import Effects
from pytest_bayesloc.rerun.link import Workspaces
from pytest_bayesloc.rerun.runner import ServerRunner
from pytest_bayesloc.rerun.transports.local import local_transport
from pytest_bayesloc.spectrum.validity import digest, installation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.inspection import TestRun
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.history.git import Commit, GitHistory
    from pytest_bayesloc.inspection.strategy import Budget
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.report.terminal import Progress
    from pytest_bayesloc.rerun.command import Command

MAX_COMMITS = 20_000  # 15 steps back, and 14 to halve
MAX_FAILING = 10
SHARE = 0.5  # of the time left: the user asked for the commit
LEAST_S = 1.0  # tests can't be started in less
PASS, FAIL, SILENT = Verdict.PASS.value, Verdict.FAIL.value, ""
# A test that ends so on an older commit misses what came later: it says nothing of the bug.
MISSING = ("ImportError", "ModuleNotFoundError")
NO_FIXTURE = re.compile(r"^E? *fixture '.*' not found$", re.MULTILINE)


class CommitSearch:
    """Finds the commit since which failing tests fail."""

    def __init__(self, context: Context, history: GitHistory, progress: Progress) -> None:
        self._context = context
        self._history = history
        self._progress = progress
        self._store = SnapshotStore(context.rootdir / FOLDER / "green.sqlite", context.note)
        self._place = digest(installation())

    def __call__(self, case: Case, budget: Budget) -> Changes | None:
        """Return the changes of the commit that broke the tests of ``case``; None if unknown."""
        rootdir, tests = self._context.rootdir, case.failing[:MAX_FAILING]
        errors = {node_id: case.errors.get(node_id, "") for node_id in tests}
        commits = first_parents(rootdir, MAX_COMMITS)
        search = Bisection(len(commits))
        is_cut = self._search(search, commits, errors, budget)
        words = words_of(commits, search, tests)
        if is_cut:
            words = f"{words} {CUT if self._context.settings.remembers else CUT_FOR_GOOD}"
        elif commits and search.passing is None and is_shallow(rootdir):
            words = f"{words} {SHALLOW}"
        if search.passing is None:
            self._context.note(f"{words} (bisect)")
            return None
        good = commits[search.passing]
        bad = commits[search.failing] if search.failing >= 0 else None
        found = self._history.changes_of(good, bad)
        if not found.every:
            files = changed_names(rootdir, good.id, bad.id if bad is not None else "")
            what = (
                f"No Python code changed that is still there: {listed(files)}."
                if files
                else "Git sees no change: a file that is ignored, or not added, may be the cause."
            )
            words = f"{words} {what}"
        self._context.note(f"{words} (bisect)")
        return found

    def _search(
        self,
        search: Bisection,
        commits: Sequence[Commit],
        errors: Mapping[str, str],
        budget: Budget,
    ) -> bool:
        """Try commits, and return whether the time was up before the search had ended.

        The ``errors`` are those of the tests as they are.
        """
        until_s = (1 - SHARE) * budget.left_s()
        known = self._known([*errors])
        while (at := search.next()) is not None:
            commit = commits[at]
            ends = known.get(commit.id)
            if ends is None:
                self._progress.say(f"step {search.n_tried + 1} back, to {_named(commit)}")
                limit_s = min(budget.limit_s(), budget.left_s() - until_s)
                ends = self._try(commit, errors, limit_s, budget)
            if ends is None:
                return True
            search.take(at, passes(ends))
        return False

    def _try(
        self, commit: Commit, errors: Mapping[str, str], limit_s: float, budget: Budget
    ) -> Mapping[str, str] | None:
        """Return how the tests end on a copy of ``commit``, and keep it; None if time was short."""
        if limit_s < LEAST_S:
            return None
        started = budget.clock()
        found = self._run(commit, errors, limit_s)
        if budget.clock() - started >= limit_s < budget.wait_s:
            return None
        if self._context.settings.remembers:
            try:
                own_folder(self._context.rootdir)
                self._store.note_tried(self._place, commit.id, found)
            except (OSError, StoreError):  # it is tried again in the next run
                self._context.note(NOT_KEPT)
        return found

    def _run(self, commit: Commit, errors: Mapping[str, str], limit_s: float) -> dict[str, str]:
        with copy_at(self._context.rootdir, commit.id) as copy:
            if copy is None:
                return dict.fromkeys(errors, SILENT)
            workspaces = Workspaces(*map(str, copy))
            local = local_transport(self._command(workspaces), Effects(free=str(copy[1])))
            # Tests run once there, so nothing is forked; texts have the repository's paths.
            transport = replace(local, may_fork=False, workspaces=workspaces)
            runner = ServerRunner(transport, [*errors], {})
            try:
                rerun = runner.rerun(None, [*errors], limit_s=limit_s)
            except ExecutionError:
                return dict.fromkeys(errors, SILENT)
            finally:
                runner.close()
            if rerun.refused:
                return dict.fromkeys(errors, SILENT)
        return ends_of(rerun.tests, errors)

    def _command(self, workspaces: Workspaces) -> Command:
        """Return the command of a server that sees the copy in the place of the repository."""
        context, there = self._context, workspaces.there
        is_installed = context.recorder.files.is_installed

        def moved(entry: str) -> str:
            is_own = not is_installed(f"{entry}/x") and not Path(entry).is_relative_to(sys.prefix)
            return there(entry) if is_own else entry

        # An editable install may lead to the repository by a finder, which is asked last.
        path = dict.fromkeys(map(moved, (*context.launch.path, *self._import_roots())))
        environment = dict(context.launch.environment)
        if "PYTHONPATH" in environment:
            entries = environment["PYTHONPATH"].split(os.pathsep)
            environment["PYTHONPATH"] = os.pathsep.join(map(moved, entries))
        command = command_for(context.config, tuple(path), environment)
        cwd = Path(there(str(command.cwd)))
        arguments = list(map(there, command.arguments))
        at = arguments.index("-c") if "-c" in arguments else -1
        if at >= 0 and not Path(arguments[at + 1]).is_file():
            del arguments[at : at + 2]  # the commit does not have the ini file
        return replace(
            command,
            arguments=tuple(arguments),
            rootdir=Path(there(str(command.rootdir))),
            cwd=cwd if cwd.is_dir() else Path(workspaces.there_folder),
        )

    def _import_roots(self) -> list[str]:
        """Return the folders that the project's modules are imported from."""
        files = self._context.recorder.files_in_use().values()
        roots: dict[str, None] = {}
        for folder in dict.fromkeys(path.parent for path in files):
            root = folder
            while (root / "__init__.py").is_file():
                root = root.parent
            roots[str(root)] = None
        return list(roots)

    def _known(self, tests: Sequence[str]) -> dict[str, Mapping[str, str]]:
        """Return what earlier runs found, of commits on which all of ``tests`` were tried."""
        if not self._context.settings.remembers:
            return {}
        try:
            found = self._store.tried(self._place, tests)
        except StoreError as error:
            self._context.note(str(error))
            return {}
        return {commit: ends for commit, ends in found.items() if len(ends) == len(tests)}


NOT_KEPT = "The results on older commits could not be kept: the next run begins anew. (bisect)"


def passes(ends: Mapping[str, str]) -> bool | None:
    """Return whether tests passed that ended as ``ends`` says; None if none of them ran.

    Those that were not there yet say nothing.
    """
    if FAIL in ends.values():
        return False
    return True if PASS in ends.values() else None


def ends_of(runs: Mapping[str, TestRun], errors: Mapping[str, str]) -> dict[str, str]:
    """Return how tests, whose errors are those on the code of now, ended on an older commit."""
    # The tests behind one that hangs or ends the process were not run.
    is_whole = {Verdict.TIMEOUT, Verdict.CRASH}.isdisjoint(run.verdict for run in runs.values())
    ends: dict[str, str] = {}
    for node_id, run in runs.items():
        if run.verdict is Verdict.FAIL:
            misses = run.error.startswith(MISSING) or NO_FIXTURE.search(run.output) is not None
            # It misses what came later, unless it fails for want of the same now.
            ends[node_id] = SILENT if misses and run.error != errors[node_id] else FAIL
        else:
            ends[node_id] = PASS if run.verdict is Verdict.PASS and is_whole else SILENT
    return ends


# -- words


def words_of(commits: Sequence[Commit], search: Bisection, tests: Sequence[str]) -> str:
    """Return what a search found among ``commits``, newest first, for a person."""
    named = listed(tests, 1)
    if not commits:
        return f"git knows no commits here, so none that broke {named} can be found."
    steps = f"{search.n_tried} of {count(len(commits), 'commit')} tried"
    if search.silent:
        steps += f", {len(search.silent)} of them could not run the tests"
    if search.passing is None:
        return f"No commit was found on which {named} passed ({steps})."
    young, old = search.failing, search.passing
    passed = f"passed at {commits[old].name}"
    first = _named(commits[young]) if young >= 0 else "what is not committed"
    if old - young > 1:
        last = _named(commits[old - 1])
        said = f"{named} {passed}, and broke between {last} and {first}: what changed is ranked"
    elif young < 0:
        said = f"What is not committed broke {named}, which {passed}, the last commit"
    else:
        said = f"{first} broke {named}, which {passed}: its changes are ranked"
    return f"{said} ({steps})."


CUT = "The time for that was up: run again to go on, or raise --bayesloc-budget."
CUT_FOR_GOOD = "The time for that was up, and nothing is kept: raise --bayesloc-budget."
SHALLOW = "The clone is shallow: `git fetch --unshallow` gets older commits."


def _named(commit: Commit) -> str:
    subject = shorten(commit.subject, MAX_SUBJECT, placeholder=" ...")
    return f"{commit.name} ({subject}, {commit.date})"
