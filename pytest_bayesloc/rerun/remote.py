"""What all places beyond this machine have in common."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import ExecutionError
from pytest_bayesloc.rerun.agent import digest_of
from pytest_bayesloc.rerun.command import NOT_INHERITED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.wire import Message
    from pytest_bayesloc.rerun.workspaces import Workspaces

#: The plugin as a module: whether it is installed there, and in which version, does not matter.
OURS = ("-p", "no:bayesloc", "-p", "pytest_bayesloc.plugin")
KEPT = ("PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE")
N_NAMED = 5


@dataclass(frozen=True, slots=True)
class Remote:
    """The command of a server, for a place where the project lies in another folder.

    Attributes:
        command: As it is on this machine.
        workspaces: Both folders.
    """

    command: Command
    workspaces: Workspaces

    def path_of(self, file: str) -> str:
        """Where a file of the project, given relative to rootdir, is there."""
        return self.workspaces.there(str(Path(self.command.rootdir, file)))

    def told(self, tests: Sequence[str], once: Message | None) -> Message:
        """What ``agent.opening_of`` needs; the interpreter's own folders are those there."""
        command, there = self.command, self.workspaces.there
        options = {name: _mapped(value, there) for name, value in command.options.items()}
        arguments = (*OURS, *command.arguments, *command.files_of(tests))
        return {
            "flags": list(command.flags),
            "path": [there(entry) for entry in command.path if _is_projects(entry)],
            "arguments": [there(argument) for argument in arguments],
            "cwd": there(str(command.cwd)),
            "environment": {name: command.environment[name] for name in KEPT},
            "not_inherited": list(NOT_INHERITED),
            "spec": {"tests": list(tests), "options": options, "once": once},
        }

    def check_tree(self, name: str, found: Mapping[str, str]) -> None:
        """Compare the project there with the one here.

        Args:
            name: Of the place.
            found: Per file, relative to rootdir, its digest there.

        Raises:
            ExecutionError: If they differ; the text names files.
        """
        rootdir = self.command.rootdir
        differ = [file for file, digest in found.items() if digest != digest_of(rootdir / file)]
        if not differ:
            return
        missing = sum(not found[file] for file in differ)
        named = ", ".join(sorted(differ)[:N_NAMED])
        more = f" and {len(differ) - N_NAMED} more" if len(differ) > N_NAMED else ""
        folder = self.workspaces.there(str(rootdir))
        raise ExecutionError(
            f"The files in {folder} of {name} are not those here: {named}{more} "
            f"({len(differ)} of {len(found)} differ, {missing} of them are missing there). No "
            "tests are run again there: bring that folder to the state of this one, for example by "
            "rsync.",
            slug="other-tree",
        )


def told(answer: Message) -> ExecutionError:
    """An error that was met there."""
    slug = answer["slug"]
    return ExecutionError(answer["error"].removesuffix(f" ({slug})"), slug=slug)


def _is_projects(entry: str) -> bool:
    """Whether an entry of ``sys.path`` is not the interpreter's own."""
    own = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    is_own = any(entry == folder or entry.startswith(f"{folder}/") for folder in own)
    return bool(entry) and not is_own and not entry.endswith((".zip", "-packages"))


def _mapped(value: Any, there: Any) -> Any:  # noqa: ANN401 - an option's
    if isinstance(value, str):
        return there(value)
    if isinstance(value, list):
        return [_mapped(item, there) for item in value]
    return value
