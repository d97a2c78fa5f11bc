"""The half that runs where tests are run again: it starts servers, and says what lies there.

It is sent there, so it needs Python and pytest alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import queue
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.rerun.command import BOOT_BEFORE
from pytest_bayesloc.rerun.process import Opening, ServerProcess
from pytest_bayesloc.rerun.processes import may_fork
from pytest_bayesloc.rerun.wire import SERVER_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.rerun.process import Reply
    from pytest_bayesloc.rerun.wire import Message

LEAST_PYTHON = (3, 10)


def about() -> Message:
    """What must be known of this place before a server is started."""
    return {
        "folder": os.getcwd(),  # noqa: PTH109 - a text is sent
        "python": platform.python_version(),
        "has_pytest": importlib.util.find_spec("pytest") is not None,
        "may_fork": may_fork(),
    }


def digests(folder: str, files: Sequence[str]) -> dict[str, str]:
    """SHA-256 of files, given relative to ``folder``; empty where there is none."""
    return {file: digest_of(Path(folder, file)) for file in files}


def digest_of(path: Path) -> str:
    """SHA-256 of a file; empty if it can't be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def opening_of(told: Message, sources: str) -> Opening:
    """A server here, as the main run told it.

    Args:
        told: ``flags``, ``path``, ``arguments``, ``cwd``, ``environment`` and ``spec``.
        sources: Where this package lies here; empty if it is installed.
    """
    environment: Mapping[str, str] = {**os.environ, **told["environment"]}
    left_out = {*told["not_inherited"], SERVER_VARIABLE}
    path = [*([sources] if sources else []), *told["path"]]
    boot = (*told["flags"], "-c", BOOT_BEFORE, json.dumps(path))
    return Opening(
        argv=(sys.executable, *boot, *told["arguments"]),
        cwd=told["cwd"],
        environment={k: v for k, v in environment.items() if k not in left_out},
        spec=told["spec"],
    )


def reply_told(reply: Reply) -> Message:
    """A reply, to be sent."""
    return {
        "messages": list(reply.messages),
        "is_done": reply.is_done,
        "timed_out": reply.timed_out,
        "seconds": reply.seconds,
    }


def error_told(error: BayeslocError) -> Message:
    """An error, to be sent; ``remote.told`` makes one of it again."""
    return {"error": str(error), "slug": error.slug}


def serve(channel: Any, sources: str) -> None:  # noqa: ANN401 - execnet's, which is not needed here
    """Start a server, and pass on what it is asked, until the channel is closed.

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
            servers.append(ServerProcess(opening_of(asked["open"], sources)))
            return {}
        if "ready" in asked:
            return servers[0].ready(asked["ready"])
        return reply_told(servers[0].exchange(asked["request"], asked["limit_s"]))
    except BayeslocError as error:
        return error_told(error)
    except OSError as error:
        return {"error": f"A server could not be started ({error})", "slug": "no-server"}
