"""Runs of ``python -m pytest`` that share the import of pytest, of the plugin and its dependencies.

That, and looking through it for garbage, is half of a small run. A server imports these once and
forks a child for each run. Other plugins and the project are imported by each child, as in a
process of its own.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from _pytest.config import default_plugins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEPENDENCIES = ("coverage", "jinja2", "msgspec", "sqlite3", "yaml")
#: Python, or a tool that is loaded with it, reads them once, when it starts.
READ_AT_START = ("COV", "LANG", "LC_", "PYTHON", "TZ")


class ForkServer:
    """Starts with the first run, and ends with ``close``.

    Args:
        environment: Of the server.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._popen: subprocess.Popen[bytes] | None = None

    def can_start(self, changes: Mapping[str, str]) -> bool:
        """Whether a run with these changes of its environment is the same from a fork."""
        return hasattr(os, "fork") and not any(name.startswith(READ_AT_START) for name in changes)

    def run(
        self, args: Sequence[str], *, cwd: Path, environment: Mapping[str, str], limit_s: float
    ) -> subprocess.CompletedProcess[str]:
        """What came of ``python -m pytest ARGS``.

        Raises:
            TimeoutExpired: If it took longer than ``limit_s``.
        """
        if self._popen is None:
            self._start()
        with tempfile.TemporaryDirectory() as folder:
            outputs = [str(Path(folder, name)) for name in ("stdout", "stderr")]
            self._requests.write(json.dumps([list(args), str(cwd), dict(environment), outputs]))
            self._requests.write("\n")
            self._requests.flush()
            if not select.select([self._replies], [], [], limit_s)[0]:
                self.close()
                raise subprocess.TimeoutExpired(list(args), limit_s)
            status = int(self._replies.readline())
            texts = [Path(output).read_text(encoding="utf-8") for output in outputs]
        return subprocess.CompletedProcess(list(args), status, *texts)

    def _start(self) -> None:
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        self._popen = subprocess.Popen(
            [sys.executable, __file__, str(request_read), str(reply_write)],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            pass_fds=(request_read, reply_write),
            start_new_session=True,
        )
        os.close(request_read)
        os.close(reply_write)
        self._requests: IO[str] = os.fdopen(request_write, "w", encoding="utf-8")
        self._replies: IO[str] = os.fdopen(reply_read, encoding="utf-8")

    def close(self) -> None:
        """End the server, with a run that may be under way."""
        if self._popen is not None:
            os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()
            self._popen = None
            self._requests.close()
            self._replies.close()


def serve(requests: IO[str], replies: IO[str]) -> list[Any]:
    """Answer requests with the exit statuses of children; in a child, return its request."""
    for line in requests:
        if not (pid := os.fork()):
            requests.close()
            replies.close()
            request: list[Any] = json.loads(line)
            return request
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(status, file=replies, flush=True)
    raise SystemExit


def be_started(
    args: Sequence[str], cwd: str, environment: Mapping[str, str], outputs: Sequence[str]
) -> None:
    """Give this process what ``python -m pytest`` begins with."""
    for number, output in enumerate(outputs, start=1):
        stream = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.path[0] = str(Path.cwd())
    sys.argv = ["pytest", *args]
    sys.orig_argv = [sys.executable, "-m", *sys.argv]


def import_plugin() -> None:
    """Import what a run imports of it, but for what notes how the process was started.

    pytest is not to warn that it can't rewrite asserts in them any more.
    """
    package = importlib.import_module("pytest_bayesloc")
    for module in pkgutil.walk_packages(package.__path__, "pytest_bayesloc."):
        if not module.name.endswith((".__main__", ".plugin")):
            with suppress(ImportError):  # what it needs is optional
                importlib.import_module(module.name)
    package.__doc__ = f"{package.__doc__} PYTEST_DONT_REWRITE"
    page = importlib.import_module("pytest_bayesloc.report.html")
    for template in resources.files(package).joinpath("report/templates").iterdir():
        page.environment().get_template(template.name)


if __name__ == "__main__":
    for plugin in default_plugins:
        importlib.import_module(f"_pytest.{plugin}")
    for dependency in DEPENDENCIES:
        importlib.import_module(dependency)
    import_plugin()
    gc.collect()
    gc.freeze()  # else each child copies what it looks through for garbage
    be_started(*serve(os.fdopen(int(sys.argv[1])), os.fdopen(int(sys.argv[2]), "w")))
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)
