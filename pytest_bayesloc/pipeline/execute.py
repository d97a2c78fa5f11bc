"""Where the other stages run tests again: one set of places for the whole session."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.options.executor import LOCAL
from pytest_bayesloc.rerun.command import command_for
from pytest_bayesloc.rerun.pool import Pool
from pytest_bayesloc.rerun.transports.local import LocalPlace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pytest

    from pytest_bayesloc.options import Launch
    from pytest_bayesloc.options.executor import ExecutorSettings
    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.transport import Place
    from pytest_bayesloc.rerun.transports.gateways import Opener

DASK, DOCKER = "dask:", "docker"


@dataclass
class Executing:
    """What the stage is given.

    Attributes:
        config: pytest's.
        executor: What the user asked for.
        launch: What the process was started with.
        files: The files of the project that decide how tests end, relative to rootdir.
        note: Tells the user, once.
    """

    config: pytest.Config
    executor: ExecutorSettings
    launch: Launch
    files: Callable[[], Sequence[str]]
    note: Callable[[str], None]
    _places: list[Place] = field(default_factory=list, init=False)
    _opener: Opener | None = field(default=None, init=False)

    def crew(self, tests: Sequence[str], texts: Mapping[str, str]) -> Pool:
        """Runners for ``tests``.

        Args:
            tests: Node ids that may be asked for, in the order of the main run.
            texts: Text of each file that holds a target, by its path relative to rootdir.

        Raises:
            ExecutionError: If there is nowhere to run tests again.
        """
        if not self._places:
            self._open()
        return Pool(self._places, self._n_runners(), tests, texts, self.note)

    @property
    def words(self) -> str:
        """Where tests were run again, for a person."""
        counts = Counter(place.name for place in self._places)
        named = (f"{n} x {name}" if n > 1 else name for name, n in counts.items())
        return ", ".join(named) or (LOCAL if self.executor.is_local else "nowhere")

    def close(self) -> None:
        """End all places. May be called twice."""
        places, self._places = self._places, []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of libraries; the suite may have made errors of them
            for place in places:
                place.close()
            if self._opener is not None:
                self._opener.close()
                self._opener = None

    def _n_runners(self) -> int:
        return self.executor.n_workers or sum(max(1, place.n_servers) for place in self._places)

    def _open(self) -> None:
        """Open what was asked for; what can't be is left out while there is another place."""
        command = command_for(self.config, self.launch.path, self.launch.environment)
        if self.executor.is_local:
            self._places = [LocalPlace(command)]
            return
        files = self.files()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            failed = [
                error for spec in self.executor.specs if (error := self._try(spec, command, files))
            ]
        if failed and not self._places:
            raise failed[0]
        for error in failed:
            self.note(str(error))

    def _try(self, spec: str, command: Command, files: Sequence[str]) -> ExecutionError | None:
        try:
            self._places.append(self._place(spec, command, files))
        except ExecutionError as error:
            return error
        return None

    def _place(self, spec: str, command: Command, files: Sequence[str]) -> Place:
        if spec == LOCAL:
            return LocalPlace(command)
        try:
            return self._remote(spec, command, files)
        except ModuleNotFoundError as error:
            extra = "dask" if spec.startswith(DASK) else "remote"
            raise ExecutionError(
                f"{spec} needs {error.name}, which is not installed: no tests are run again there. "
                f"pip install 'pytest-bayesloc[{extra}]'.",
                slug="no-executor",
            ) from error

    def _remote(self, spec: str, command: Command, files: Sequence[str]) -> Place:
        from pytest_bayesloc.rerun.workspaces import Workspaces

        here = self.executor.host_workspace or str(command.rootdir)
        named = self.executor.container_workspace
        both = Workspaces(here, named or here)
        if spec.startswith(DASK):
            from pytest_bayesloc.rerun.transports.cluster import open_cluster

            return open_cluster(spec, command, files, both, self.executor.n_workers)
        from pytest_bayesloc.rerun.transports.gateways import Opener

        self._opener = self._opener or Opener(command, files)
        if spec.startswith(DOCKER):
            from pytest_bayesloc.rerun.transports.containers import Docker

            docker = Docker(
                client=self.executor.docker_command,
                workspaces=both,
                run=self.executor.docker_run,
                n_servers=self.executor.n_workers or 1,
            )
            return docker.open(spec, self._opener)
        return self._opener.open(spec, workspaces=both if named else None)
