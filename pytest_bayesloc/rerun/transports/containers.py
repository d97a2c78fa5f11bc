"""Servers in containers: a gateway whose Python runs in one.

Reference:
    https://docs.docker.com/reference/cli/docker/container/run/
"""

from __future__ import annotations

import contextlib
import secrets
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.rerun.transports.gateways import GatewayOpener, GatewayTransport
    from pytest_bayesloc.rerun.transports.remote import Workspaces

RUNNING, IMAGE = "docker:", "docker-image:"
PYTHON_KEY = "//python="
CLIENT = "docker"
REMOVE_S = 20.0


def open_container(
    spec: str,
    opener: GatewayOpener,
    workspaces: Workspaces,
    *,
    run: Sequence[str] = (),
    n_servers: int = 1,
) -> GatewayTransport:
    """Open the container that ``docker:CONTAINER`` or ``docker-image:IMAGE`` names.

    Either may end with ``//python=PATH``, the interpreter in the container.

    Args:
        spec: As the user gave it.
        opener: Opens the gateway.
        workspaces: The project's folder here, and in the container.
        run: More options of ``docker run``.
        n_servers: That may run side by side in one container.

    Raises:
        ExecutionError: If it can't be used.
    """
    named, _, python = spec.partition(PYTHON_KEY)
    if named.startswith(IMAGE):
        container = f"bayesloc-{secrets.token_hex(6)}"
        options = [f"--name={container}", *_options(workspaces, run)]
        image = named.removeprefix(IMAGE)
        command = [CLIENT, "run", *options, f"--entrypoint={python or 'python'}", image]
    else:
        container = ""
        inside = named.removeprefix(RUNNING)
        command = [CLIENT, "exec", "-i", inside, python or "python"]
    _check_client(spec)
    folder = tempfile.mkdtemp(prefix="bayesloc-")

    def end() -> None:
        _remove(container)
        shutil.rmtree(folder, ignore_errors=True)

    try:
        return opener.open(
            f"popen//python={_script(folder, command)}",
            name=spec,
            workspaces=workspaces,
            n_servers=n_servers,
            end=end,
        )
    except BaseException:
        end()
        raise


def _options(workspaces: Workspaces, run: Sequence[str]) -> list[str]:
    """A container whose only process is the gateway: it ends, and is removed, with the line."""
    here, there = workspaces.here_folder, workspaces.there_folder
    options = ["--rm", "-i", f"--workdir={there}"]
    if not any(there in option.split(":") for option in run):
        options.append(f"--volume={here}:{there}:ro")
    if "--read-only" in run:
        options.append("--tmpfs=/tmp:exec")
    return [*options, *run]


def _check_client(spec: str) -> None:
    try:
        subprocess.run([CLIENT, "version"], check=True, capture_output=True, timeout=REMOVE_S)
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or str(error).encode()
        line = output.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ExecutionError(
            f"{spec} can't be reached: {CLIENT} says {''.join(line)!r}. No "
            "tests are run again there: start the engine, or name its socket by "
            "DOCKER_HOST.",
            slug="no-executor",
        ) from error


def _remove(container: str) -> None:
    """Remove a container of ours, if its end has not done that already."""
    if container:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [CLIENT, "rm", "--force", container],
                check=False,
                capture_output=True,
                timeout=REMOVE_S,
            )


def _script(folder: str, command: Sequence[str]) -> str:
    """``command`` as one word: execnet's specifications may hold no ``//``, and URLs do."""
    path = Path(folder, "python")
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
    path.chmod(0o700)
    return str(path)
