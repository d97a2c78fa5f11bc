"""Opens the places where the stages re-run tests: one set for the whole session."""

from __future__ import annotations

import os
import shlex
import warnings
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.inspection.strategies.counterfactual import patch_back
from pytest_bayesloc.options.option import LOCAL
from pytest_bayesloc.rerun.command import command_for
from pytest_bayesloc.rerun.conditions import CLOCK
from pytest_bayesloc.rerun.pool import Pool
from pytest_bayesloc.rerun.transports.local import local_transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Runner
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.link import Transport

DASK, DOCKER = "dask:", "docker"
MAX_SERVERS = 4  # on this machine, where nobody says how many
AT_LEAST = 3.0  # times what the run took to collect all tests, to start a server for many
MAX_CHANGES = 10
MAX_TESTS = 5
LIMIT_S = 10.0  # of one re-run: where it takes longer it is not cheap
NO_FORK = (
    "This platform can't fork, so each re-run of tests starts a process of its own, which takes a "
    "second or more. Recording, ranking, memory and advice are as elsewhere. Give more seconds by "
    "--bayesloc-budget if too little was inspected. (no-fork)"
)


def open_pool(context: Context, tests: Sequence[str], texts: Mapping[str, str]) -> Pool:
    """Return runners for ``tests``; at the first re-run, open the places where they run.

    Args:
        context: The session, which closes the places at its end.
        tests: Node ids that may be asked for, in the order of the main run.
        texts: Text of each file that holds a target, by its path relative to rootdir.

    Raises:
        ExecutionError: If there is nowhere to run tests again.
    """
    if not context.transports:
        context.transports = []
        _open(context, context.transports)
    n_runners = _n_runners(context, context.transports)
    return Pool(context.transports, n_runners, tests, texts, context.note)


class WideRunners:
    """A runner of more tests than re-runs were begun with, started when it is first asked for."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._pool: Pool | None = None

    def runner_of(self, tests: Sequence[str], at_hand: Pool, left_s: float) -> Runner | None:
        """Return a runner whose forked processes can run ``tests``, that ``at_hand`` if it can.

        A server has all tests of the files that it collected.

        Returns:
            None if ``left_s`` wall seconds may be too few to start another.
        """
        files = set(map(file_of_test, tests))
        for pool in (at_hand, self._pool):
            if pool is not None and files.issubset(map(file_of_test, pool.tests)):
                return pool.first
        if left_s < AT_LEAST * self._context.collected_s:
            return None
        others = () if self._pool is None else self._pool.tests
        self.close()
        self._pool = open_pool(self._context, [*dict.fromkeys((*others, *tests))], {})
        return self._pool.first

    def close(self) -> None:
        """End its processes."""
        if self._pool is not None:
            self._pool.close()


def _command(context: Context) -> Command:
    launch = context.launch
    command = command_for(context.config, launch.path, launch.environment)
    return replace(command, umask=launch.umask)


def open_elsewhere(
    context: Context, tests: Sequence[str], variables: Mapping[str, str], later_s: float = 0.0
) -> Pool:
    """Return a runner on this machine whose processes have other ``variables``, or a later clock.

    Theirs is ``later_s`` seconds later than this one's, before anything is imported.
    """
    command = _command(context)
    environment = {**command.environment, **variables}
    other = replace(command, environment=environment, options={**command.options, CLOCK: later_s})
    return Pool([local_transport(other, context.effects)], 1, tests, {}, context.note)


def is_local(context: Context) -> bool:
    """Return whether tests are run again on this machine, by processes of the run's own."""
    return set(context.settings.executors) <= {LOCAL}


def _n_runners(context: Context, transports: Sequence[Transport]) -> int:
    """Return as many as were asked for; here, by themselves, as many as the run had processes.

    A suite that was run by one process may not bear company.
    """
    if not is_local(context):
        return sum(max(1, transport.n_servers) for transport in transports)
    asked = getattr(context.config.option, "numprocesses", None) or 1
    usual = max(1, min(int(asked), os.cpu_count() or 1, MAX_SERVERS))
    return len(context.settings.executors) or usual


def _open(context: Context, transports: list[Transport]) -> None:
    """Open what was asked for; what can't be is left out while there is another transport."""
    command = _command(context)
    if is_local(context):
        if not hasattr(os, "fork"):
            context.note(NO_FORK)
        transports.append(local_transport(command, context.effects))
        return
    failed, numbered = [], list[tuple[str, int]]()
    for spec, number in Counter(context.settings.executors).items():
        has_many = spec.startswith((DASK, DOCKER))  # gateways have one server each
        numbered += [(spec, number)] if has_many else [(spec, 1)] * number
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for spec, number in numbered:
            try:
                transports.append(_transport(context, spec, number, command))
            except ExecutionError as missing:  # noqa: PERF203 - a few, and each may be there
                failed.append(missing)
    if failed and not transports:
        raise failed[0]
    for error in failed:
        context.note(str(error))


def _transport(context: Context, spec: str, number: int, command: Command) -> Transport:
    """Open ``local``, execnet's specification, or one with ``docker`` or ``dask:`` in front."""
    if spec == LOCAL:
        return local_transport(command, context.effects)
    try:
        return _remote(context, spec, number, command)
    except ModuleNotFoundError as error:
        extra = "dask" if spec.startswith(DASK) else "remote"
        raise ExecutionError(
            f"{spec} needs {error.name}, which is not installed: no tests are run again there. "
            f"pip install 'pytest-bayesloc[{extra}]'.",
            slug="no-executor",
        ) from error


def _remote(context: Context, spec: str, number: int, command: Command) -> Transport:
    from pytest_bayesloc.rerun.link import Workspaces

    files = [*context.recorder.files_in_use()]
    here, named = context.settings.workspace
    here = here or str(command.rootdir)
    both = Workspaces(here, named or here)
    if spec.startswith(DASK):
        from pytest_bayesloc.rerun.transports.cluster import open_cluster

        # Of one, the cluster says itself how many servers it has.
        return open_cluster(
            spec, command, files, both, context.effects_elsewhere, number if number > 1 else 0
        )
    from pytest_bayesloc.rerun.transports.gateways import GatewayOpener, open_container

    context.opener = context.opener or GatewayOpener(command, files, context.effects_elsewhere)
    if spec.startswith(DOCKER):
        container, *run = shlex.split(spec)
        return open_container(container, context.opener, both, run=run, n_servers=number)
    return context.opener.open(spec, workspaces=both if named else None)


def needed_changes(context: Context, changes: Changes, tests: Sequence[str]) -> list[Location]:
    """Find the changed locations without whose change one of ``tests`` fails.

    Each is put back as it was by itself, in memory. None where that can't be tried, or all
    changes are needed only together.
    """
    if len(changes.every) > MAX_CHANGES:
        return []
    texts = {file: change.now.text for file, change in changes.files.items()}
    chosen = list(tests[:MAX_TESTS])
    needed = []
    try:
        with closing(open_pool(context, chosen, texts)) as pool:
            for where in changes.every:
                patch = patch_back(changes, [where])
                if patch is None:
                    continue
                rerun = pool.first.rerun(patch, chosen, limit_s=LIMIT_S)
                failed = any(run.verdict is Verdict.FAIL for run in rerun.tests.values())
                if rerun.n_swapped and failed:
                    needed.append(where)
    except BayeslocError:  # the root cause is what was changed, then
        return []
    return needed
