"""Re-runs on this machine: a warm server, and a fresh process where a swap can't reach."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_bayesloc.rerun.process import Opening, ServerProcess
from pytest_bayesloc.rerun.processes import may_fork
from pytest_bayesloc.rerun.runner import ServerRunner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.wire import Message


class LocalPlace:
    """This machine.

    Args:
        command: How a server is started.
    """

    name = "local"
    n_servers = 0

    def __init__(self, command: Command) -> None:
        self._command = command
        self.may_fork = may_fork()

    def path_of(self, file: str) -> str:
        """Its path below rootdir."""
        return os.path.normpath(self._command.rootdir / file)

    def here(self, text: str) -> str:
        """The text: its paths are of this machine."""
        return text

    def start(self, tests: Sequence[str], once: Message | None) -> ServerProcess:
        """A process."""
        command = self._command
        return ServerProcess(
            Opening(
                argv=(*command.argv, *command.files_of(tests)),
                cwd=str(command.cwd),
                environment=command.environment,
                spec={"tests": list(tests), "options": dict(command.options), "once": once},
            )
        )

    def close(self) -> None:
        """Nothing is kept here but servers."""


def local_runner(command: Command, tests: Sequence[str], texts: Mapping[str, str]) -> ServerRunner:
    """One runner on this machine."""
    return ServerRunner(LocalPlace(command), tests, texts)
