"""Servers on another machine: what is sent there, and the half that runs there.

The whole package is sent there, so this half needs Python and pytest alone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import queue
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import BayeslocError, ExecutionError
from pytest_bayesloc.domain.texts import digest_of, listed
from pytest_bayesloc.rerun.command import BOOT_BEFORE, NOT_INHERITED
from pytest_bayesloc.rerun.link import SERVER_VARIABLE
from pytest_bayesloc.rerun.transports.local import ServerProcess, may_fork

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.link import Message, Workspaces

LEAST_PYTHON = (3, 10)
#: The plugin as a module: whether it is installed there, and in which version, does not matter.
OURS = ("-p", "no:bayesloc", "-p", "pytest_bayesloc.plugin")
KEPT = ("PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE")


def opening(
    command: Command,
    workspaces: Workspaces,
    tests: Sequence[str],
    once: Message | None,
    fence: Message,
) -> Message:
    """The message for ``start_server``; the interpreter's own folders are those there."""
    there = workspaces.there
    options = {name: _mapped(value, there) for name, value in command.options.items()}
    # Entries of ``sys.path`` that are the interpreter's own are there already.
    own = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    path = [e for e in command.path if e and not e.endswith((".zip", "-packages"))]
    path = [e for e in path if not any(e == top or e.startswith(f"{top}/") for top in own)]
    arguments = (*OURS, *command.arguments, *command.files_of(tests))
    return {
        "flags": list(command.flags),
        "path": [there(entry) for entry in path],
        "arguments": [there(argument) for argument in arguments],
        "cwd": there(str(command.cwd)),
        "environment": {name: command.environment[name] for name in KEPT},
        "not_inherited": list(NOT_INHERITED),
        "spec": {"tests": list(tests), "options": options, "once": once, "fence": fence},
    }


def check_tree(name: str, rootdir: Path, workspaces: Workspaces, found: Mapping[str, str]) -> None:
    """Compare the project's files with the digests that were ``found`` elsewhere.

    Raises:
        ExecutionError: If they differ; the text names files.
    """
    differ = [file for file, digest in found.items() if digest != digest_of(rootdir / file)]
    if not differ:
        return
    differs = "differs" if len(differ) == 1 else "differ"
    n_missing = sum(not found[file] for file in differ)
    missing = f", {n_missing} of them missing there" if n_missing else ""
    folder = workspaces.there(str(rootdir))
    raise ExecutionError(
        f"The files in {folder} of {name} are not those here: {listed(sorted(differ))} "
        f"({len(differ)} of {len(found)} {differs}{missing}). No tests are run again there: bring "
        "that folder to the state of this one, for example by rsync.",
        slug="other-tree",
    )


def error_from(answer: Message) -> ExecutionError:
    """Rebuild the error of ``error_message``."""
    slug = answer["slug"]
    return ExecutionError(answer["error"].removesuffix(f" ({slug})"), slug=slug)


def _mapped(value: Any, there: Any) -> Any:  # noqa: ANN401 - an option's
    if isinstance(value, str):
        return there(value)
    if isinstance(value, list):
        return [_mapped(item, there) for item in value]
    return value


# -- there


def about() -> Message:
    """Describe this machine, before a server is started on it."""
    return {
        "folder": os.getcwd(),  # noqa: PTH109 - a text is sent
        "python": platform.python_version(),
        "has_pytest": importlib.util.find_spec("pytest") is not None,
        "may_fork": may_fork(),
    }


def digests(folder: str, files: Sequence[str]) -> dict[str, str]:
    """SHA-256 of files, given relative to ``folder``; empty where there is none."""
    return {file: digest_of(Path(folder, file)) for file in files}


def start_server(message: Message, sources: str) -> ServerProcess:
    """Start a server by what ``opening`` made, from ``sources`` or the package as installed."""
    environment: Mapping[str, str] = {**os.environ, **message["environment"]}
    left_out = {*message["not_inherited"], SERVER_VARIABLE}
    path = [*([sources] if sources else []), *message["path"]]
    boot = (*message["flags"], "-c", BOOT_BEFORE, json.dumps(path))
    return ServerProcess(
        (sys.executable, *boot, *message["arguments"]),
        cwd=message["cwd"],
        environment={k: v for k, v in environment.items() if k not in left_out},
        spec=message["spec"],
    )


def error_message(error: BayeslocError) -> Message:
    """An error as a message; ``error_from`` rebuilds it."""
    return {"error": str(error), "slug": error.slug}


def serve(channel: Any, sources: str) -> None:  # noqa: ANN401 - execnet's, which is not needed here
    """Start a server and forward requests to it until the channel is closed.

    Args:
        channel: Brings the server's opening, then one request after the other, each as JSON.
        sources: Where this package lies here.
    """
    asked: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    servers: list[ServerProcess] = []

    def take(text: str | None) -> None:
        asked.put(text)
        if text is None:
            for server in servers:
                server.hang_up()

    channel.setcallback(take, endmarker=None)
    try:
        while (text := asked.get()) is not None:
            channel.send(json.dumps(_answer(json.loads(text), servers, sources)))
    except (OSError, EOFError):  # nobody listens any more
        return
    finally:
        for server in servers:
            server.end()


def _answer(asked: Message, servers: list[ServerProcess], sources: str) -> Message:
    try:
        if "open" in asked:
            servers.append(start_server(asked["open"], sources))
            return {}
        if "ready" in asked:
            return servers[0].ready(asked["ready"])
        return {"messages": servers[0].exchange(asked["request"], asked["limit_s"])}
    except BayeslocError as error:
        return error_message(error)
    except OSError as error:
        return {"error": f"A server could not be started ({error})", "slug": "no-server"}
