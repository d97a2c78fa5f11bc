"""Opens the transports by which the stages re-run tests: one set for the whole session."""

from __future__ import annotations

import os
import shlex
import warnings
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.inspection.strategies.counterfactual import patch_back
from pytest_bayesloc.options.option import LOCAL
from pytest_bayesloc.rerun.command import command_for
from pytest_bayesloc.rerun.pool import Pool
from pytest_bayesloc.rerun.transports.local import local_transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pytest

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.options.option import Launch
    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.link import Transport
    from pytest_bayesloc.rerun.transports.gateways import GatewayOpener

DASK, DOCKER = "dask:", "docker"
MAX_SERVERS = 4  # on this machine, where nobody says how many
MAX_CHANGES = 10
MAX_TESTS = 5
LIMIT_S = 10.0  # of one re-run: where it takes longer it is not cheap


@dataclass
class RerunTransports:
    """Opens transports at the first re-run, and closes them at the end of the session.

    Attributes:
        config: pytest's.
        executors: ``local``, execnet's specifications, or with ``docker:``, ``docker-image:`` or
            ``dask:`` in front; one that stands N times asks for N servers there. Empty: local.
        workspace: The project's folder here and there; empty: rootdir, and the same as here.
        launch: Environment and path at the start of the process.
        files: The files of the project that decide how tests end, relative to rootdir.
        note: Tells the user, once.
    """

    config: pytest.Config
    executors: Sequence[str]
    workspace: tuple[str, str]
    launch: Launch
    files: Callable[[], Sequence[str]]
    note: Callable[[str], None]
    _transports: list[Transport] = field(default_factory=list, init=False)
    _opener: GatewayOpener | None = field(default=None, init=False)

    def pool(self, tests: Sequence[str], texts: Mapping[str, str]) -> Pool:
        """Return runners for ``tests``.

        Args:
            tests: Node ids that may be asked for, in the order of the main run.
            texts: Text of each file that holds a target, by its path relative to rootdir.

        Raises:
            ExecutionError: If there is nowhere to run tests again.
        """
        if not self._transports:
            self._open()
        return Pool(self._transports, self._n_runners(), tests, texts, self.note)

    @property
    def words(self) -> str:
        """Name the places where tests were run again, for a person."""
        counts = Counter(transport.name for transport in self._transports)
        named = (f"{n} x {name}" if n > 1 else name for name, n in counts.items())
        return ", ".join(named) or (LOCAL if self.is_local else "nowhere")

    def close(self) -> None:
        """End all transports. May be called twice."""
        places, self._transports = self._transports, []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of libraries; the suite may have made errors of them
            for transport in places:
                transport.close()
            if self._opener is not None:
                self._opener.close()
                self._opener = None

    @property
    def is_local(self) -> bool:
        """Whether tests are run again on this machine, by processes of the run's own."""
        return set(self.executors) <= {LOCAL}

    def _n_runners(self) -> int:
        """Return as many as were asked for; here, by themselves, as many as the run had processes.

        A suite that was run by one process may not bear company.
        """
        if not self.is_local:
            return sum(max(1, transport.n_servers) for transport in self._transports)
        asked = getattr(self.config.option, "numprocesses", None) or 1
        usual = max(1, min(int(asked), os.cpu_count() or 1, MAX_SERVERS))
        return len(self.executors) or usual

    def _open(self) -> None:
        """Open what was asked for; what can't be is left out while there is another transport."""
        command = command_for(self.config, self.launch.path, self.launch.environment)
        if self.is_local:
            self._transports = [local_transport(command)]
            return
        files = self.files()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            failed = []
            for spec, number in self._numbered():
                try:
                    self._transports.append(self._transport(spec, number, command, files))
                except ExecutionError as missing:  # noqa: PERF203 - a few, and each may be there
                    failed.append(missing)
        if failed and not self._transports:
            raise failed[0]
        for error in failed:
            self.note(str(error))

    def _numbered(self) -> Iterator[tuple[str, int]]:
        """Yield each specification with its number of servers; gateways have one each."""
        for spec, number in Counter(self.executors).items():
            if spec.startswith((DASK, DOCKER)):
                yield spec, number
            else:
                yield from [(spec, 1)] * number

    def _transport(
        self, spec: str, number: int, command: Command, files: Sequence[str]
    ) -> Transport:
        if spec == LOCAL:
            return local_transport(command)
        try:
            return self._remote(spec, number, command, files)
        except ModuleNotFoundError as error:
            extra = "dask" if spec.startswith(DASK) else "remote"
            raise ExecutionError(
                f"{spec} needs {error.name}, which is not installed: no tests are run again there. "
                f"pip install 'pytest-bayesloc[{extra}]'.",
                slug="no-executor",
            ) from error

    def _remote(self, spec: str, number: int, command: Command, files: Sequence[str]) -> Transport:
        from pytest_bayesloc.rerun.link import Workspaces

        here, named = self.workspace[0] or str(command.rootdir), self.workspace[1]
        both = Workspaces(here, named or here)
        if spec.startswith(DASK):
            from pytest_bayesloc.rerun.transports.cluster import open_cluster

            # Of one, the cluster says itself how many servers it has.
            return open_cluster(spec, command, files, both, number if number > 1 else 0)
        from pytest_bayesloc.rerun.transports.gateways import GatewayOpener

        self._opener = self._opener or GatewayOpener(command, files)
        if spec.startswith(DOCKER):
            from pytest_bayesloc.rerun.transports.gateways import open_container

            container, *run = shlex.split(spec)
            return open_container(container, self._opener, both, run=run, n_servers=number)
        return self._opener.open(spec, workspaces=both if named else None)


def needed_changes(
    transports: RerunTransports, changes: Changes, tests: Sequence[str]
) -> list[Location]:
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
        with closing(transports.pool(chosen, texts)) as pool:
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
