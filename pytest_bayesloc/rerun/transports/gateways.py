"""Servers behind execnet gateways: in other interpreters, machines and containers."""

from __future__ import annotations

import contextlib
import io
import json
import secrets
import shlex
import shutil
import subprocess
import tempfile
import zipfile
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import ExecutionError, LostError
from pytest_bayesloc.rerun.link import Transport, Workspaces
from pytest_bayesloc.rerun.transports.remote import LEAST_PYTHON, check_tree, error_from, opening

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execnet import Channel, Gateway, Group

    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.effects import Effects
    from pytest_bayesloc.rerun.link import Message


OPEN_S = 60.0  # for a gateway to come up
NET_S = 10.0  # more than a server may take, for the way to it and back
END_S = 3.0

_CALL = "from pytest_bayesloc.rerun.transports import remote; "
ABOUT = f"{_CALL} channel.send(remote.about())"
DIGESTS = f"{_CALL} channel.send(remote.digests(*channel.receive()))"
SERVE = f"{_CALL} remote.serve(channel, channel.receive())"


# Executed by a gateway, which has nothing of this package yet.
UNPACK = """
import os, shutil, sys, tempfile
packed = channel.receive()
if sys.version_info < (3, 10):
    channel.send({"python": "%d.%d" % sys.version_info[:2]})
else:
    folder = tempfile.mkdtemp(prefix="bayesloc-")
    try:
        path = os.path.join(folder, "sources.zip")
        with open(path, "wb") as stream:
            stream.write(packed)
        sys.path.insert(0, path)
        channel.send({"sources": path})
        for _ in channel:
            pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)
"""


@lru_cache(maxsize=1)
def packed_sources() -> bytes:
    """Pack this package's modules as a zip archive for ``sys.path``."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        root = Path(__file__).resolve().parents[2]
        for module in sorted(root.rglob("*.py")):
            name = module.relative_to(root.parent).as_posix()
            archive.writestr(name, module.read_bytes())
    return stream.getvalue()


class _GatewayServer:
    """Implements ``RerunServer`` over a channel of its own; this package is in ``sources``."""

    def __init__(self, name: str, gateway: Gateway, sources: str, message: Message) -> None:
        self._name = name
        self._is_hung_up = False
        try:
            self._channel: Channel = gateway.remote_exec(SERVE)
            self._channel.send(sources)
        except OSError as error:
            raise _lost(self._name) from error
        self._ask({"open": message}, 0.0)

    def ready(self, limit_s: float) -> Message:
        return self._ask({"ready": limit_s}, limit_s)

    def exchange(self, request: Message | None, limit_s: float) -> Sequence[Message]:
        answer = self._ask({"request": request, "limit_s": limit_s}, limit_s)
        messages: Sequence[Message] = answer.get("messages", ())
        return messages

    def hang_up(self) -> None:
        self._is_hung_up = True
        _quietly(self._channel.close)

    def end(self) -> None:
        self.hang_up()

    def _ask(self, asked: Message, limit_s: float) -> Message:
        """Send ``asked`` and return the answer, which is empty if the server was hung up on."""
        try:
            self._channel.send(json.dumps(asked))
            answer: Message = json.loads(self._channel.receive(timeout=limit_s + NET_S))
        except (EOFError, OSError, self._channel.TimeoutError, self._channel.RemoteError) as error:
            if self._is_hung_up:
                return {}
            raise _lost(self._name) from error
        if "error" in answer:
            raise error_from(answer)
        return answer


def _lost(name: str) -> LostError:
    return LostError(
        f"{name} does not answer any more: what it had under way is done again elsewhere.",
        slug="lost-executor",
    )


class GatewayOpener:
    """Opens gateways, all of one group, where ``files`` of the project must be the same as here.

    What tests do there is known by ``effects``.
    """

    def __init__(self, command: Command, files: Sequence[str], effects: Effects) -> None:
        import execnet

        self._group: Group = execnet.Group()
        self._command = command
        self._files = files
        self._effects = effects

    def open(
        self,
        spec: str,
        *,
        name: str = "",
        workspaces: Workspaces | None = None,
        n_servers: int = 1,
        end: Callable[[], None] = lambda: None,
    ) -> Transport:
        """Open a gateway and return its transport.

        Args:
            spec: execnet's.
            name: The name by which a person knows it; the specification if it is empty.
            workspaces: The project here and there; None: as the specification's ``chdir`` says.
            n_servers: That may run there at once.
            end: Ends the processes that were started for it, after the gateway; also if that can't
                be opened or used.

        Raises:
            ExecutionError: If it can't be opened, or what is there can't be used.
        """
        name, here = name or spec, str(self._command.rootdir)
        with contextlib.ExitStack() as opened:  # ended again if it can't be used
            opened.callback(end)
            gateway = self._gateway(spec, name)
            opened.callback(_quietly, gateway.exit)
            line, unpacked = _first_answer(gateway, name, UNPACK, packed_sources())
            opened.callback(_quietly, line.close)  # this package, which came by it, goes away there
            if "python" in unpacked:
                least = ".".join(map(str, LEAST_PYTHON))
                raise _unfit(name, f"Python {unpacked['python']}; {least} or later is needed")
            _, about = _first_answer(gateway, name, ABOUT)
            if not about["has_pytest"]:
                raise _unfit(name, f"no pytest in its Python {about['python']}")
            if workspaces is None:
                has_folder = "chdir" in vars(gateway.spec)
                workspaces = Workspaces(here, about["folder"] if has_folder else here)
            asked = (workspaces.there(here), list(self._files))
            _, found = _first_answer(gateway, name, DIGESTS, asked)
            check_tree(name, self._command.rootdir, workspaces, found)
            serve = partial(_GatewayServer, name, gateway, unpacked["sources"])
            openings = partial(opening, self._command, workspaces)
            return Transport(
                name=name,
                n_servers=n_servers,
                may_fork=about["may_fork"],
                rootdir=self._command.rootdir,
                workspaces=workspaces,
                start=lambda *asked: serve(openings(*asked)),
                effects=self._effects,
                close=opened.pop_all().close,
            )

    def _gateway(self, spec: str, name: str) -> Gateway:
        try:
            return self._group.makegateway(spec)
        except Exception as error:  # execnet lets through whatever it meets
            raise ExecutionError(
                f"{name} can't be reached ({_words(error)}): no tests are run again there. Check "
                "that this machine reaches it, and that a Python of 3.10 or later is there.",
                slug="no-executor",
            ) from error

    def close(self) -> None:
        """End all gateways."""
        _quietly(partial(self._group.terminate, timeout=END_S))


def _quietly(end: Callable[[], None]) -> None:
    with contextlib.suppress(OSError, EOFError):  # it is gone
        end()


def _first_answer(gateway: Gateway, name: str, source: str, *sent: Any) -> tuple[Channel, Any]:  # noqa: ANN401 - as it comes
    """Execute ``source`` there; return its channel and the first thing that it sends."""
    try:
        channel = gateway.remote_exec(source)
        for item in sent:
            channel.send(item)
        return channel, channel.receive(timeout=OPEN_S)
    except Exception as error:  # execnet lets through whatever it meets
        raise _unfit(name, _words(error)) from error


def _unfit(name: str, why: str) -> ExecutionError:
    return ExecutionError(
        f"{name} can't run tests again: {why}. Install what the tests need there, or name another "
        "interpreter (python=... in the specification).",
        slug="no-executor",
    )


def _words(error: BaseException) -> str:
    text = str(error).partition(": <Gateway")[0]  # of execnet's own
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__


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
) -> Transport:
    """Open the container that ``docker:CONTAINER`` or ``docker-image:IMAGE`` names.

    Either may end with ``//python=PATH``, the interpreter in the container. More options of
    ``docker run`` may be given.

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
        if container:  # of ours; its end may have removed it already
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                _docker("rm", "--force", container)
        shutil.rmtree(folder, ignore_errors=True)

    with contextlib.ExitStack() as made:
        made.callback(end)
        python = _script(folder, command)
        made.pop_all()
    return opener.open(
        f"popen//python={python}", name=spec, workspaces=workspaces, n_servers=n_servers, end=end
    )


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
        _docker("version")
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or str(error).encode()
        line = output.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ExecutionError(
            f"{spec} can't be reached: {CLIENT} says {''.join(line)!r}. No "
            "tests are run again there: start the engine, or name its socket by "
            "DOCKER_HOST.",
            slug="no-executor",
        ) from error


def _docker(*arguments: str) -> None:
    subprocess.run([CLIENT, *arguments], check=True, capture_output=True, timeout=REMOVE_S)


def _script(folder: str, command: Sequence[str]) -> str:
    """``command`` as one word: execnet's specifications may hold no ``//``, and URLs do."""
    path = Path(folder, "python")
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
    path.chmod(0o700)
    return str(path)
