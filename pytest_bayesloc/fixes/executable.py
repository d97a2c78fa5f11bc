"""Runs a tool that is a program of its own, apart from the project, and within limits.

Reference:
    docs/fixes.md, section "A tool of your own".
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.fixes.definition import Tool
from pytest_bayesloc.fixes.library import MAX_PROPOSALS
from pytest_bayesloc.fixes.project import Project, Proposal, Task

LIMIT_S = 10.0
MAX_ANSWER = 8 << 20
PYTHON = "python"
#: Limits of the process by their names in ``resource``; CPU seconds, else bytes or a number.
LIMITS: Mapping[str, int] = {
    "RLIMIT_CPU": int(LIMIT_S),
    "RLIMIT_AS": 2 << 30,
    "RLIMIT_FSIZE": MAX_ANSWER,
    "RLIMIT_NOFILE": 64,
    "RLIMIT_CORE": 0,
}
_BOOT = """
import json, os, sys
try:
    import resource
except ImportError:
    pass
else:
    for name, bound in json.loads(sys.argv[1]).items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))
os.execv(sys.argv[2], sys.argv[2:])
"""


def run_program(tool: Tool, task: Task, _project: Project) -> Iterator[Proposal]:
    """Yields the proposals of a tool's program, whose files are as they were when it was loaded.

    Raises:
        ToolError: If it can't be run, does not end in time, or does not answer as it should.
    """
    with tempfile.TemporaryDirectory(prefix="bayesloc-tool-") as name:
        folder = Path(name)
        for file, data in tool.files.items():
            (folder / file).write_bytes(data)
            (folder / file).chmod(0o500)
        argv = _argv(tool, folder)
        if os.name == "posix":
            argv = [sys.executable, "-I", "-S", "-c", _BOOT, json.dumps(LIMITS), *argv]
        answer = _answer(tool.name, argv, folder, _request(task))
    yield from _proposals(answer, tool.name)


def _argv(tool: Tool, folder: Path) -> list[str]:
    command = tool.command
    args = [str(folder / arg) if arg in tool.files else arg for arg in tool.args]
    if command == PYTHON:
        return [sys.executable, "-I", *args]
    found = str(folder / command) if command in tool.files else shutil.which(command)
    if found is None:
        raise _broken(tool.name, f"there is no {command}")
    return [found, *args]


def _answer(name: str, argv: list[str], folder: Path, request: bytes) -> bytes:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                argv,
                cwd=folder,
                env=_environment(folder),
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _broken(name, f"it can't be started ({error})") from error
        try:
            process.communicate(request, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            raise _broken(name, f"it did not end within {LIMIT_S:g} s") from None
        except BrokenPipeError:
            process.wait()
        finally:
            _end(process)
        if process.returncode:
            err.seek(0)
            lines = err.read(4_000).decode("utf-8", "replace").strip().splitlines()
            said = lines[-1] if lines else "it said nothing"
            raise _broken(name, f"it ended with {process.returncode} ({said})")
        out.seek(0)
        return out.read(MAX_ANSWER)


def _request(task: Task) -> bytes:
    asked = {
        "code": task.code,
        "filename": task.filename,
        "error": task.error,
        "line": task.line,
        "lines": list(task.lines),
        "values": {name: list(seen) for name, seen in task.values.items()},
        "test": task.test,
        "test_file": task.test_file,
    }
    return json.dumps(asked).encode("ascii")


def _proposals(answer: bytes, name: str) -> Iterator[Proposal]:
    """Yields the proposals in an answer."""
    try:
        read: Any = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise _broken(name, f"it wrote no JSON ({error})") from error
    more = read.get("alternatives", []) if isinstance(read, dict) else None
    if not isinstance(more, list):
        raise _broken(name, "it wrote no JSON object with fixed, fixed_code and message")
    for item in [read, *more][:MAX_PROPOSALS]:
        given = item if isinstance(item, dict) else {}
        code, message = given.get("fixed_code"), given.get("message", "")
        if given.get("fixed") is True and isinstance(code, str) and isinstance(message, str):
            yield Proposal(code=code, message=" ".join(message.split())[:200] or name)
        elif given.get("fixed") is not False:
            raise _broken(name, "it wrote no JSON object with fixed, fixed_code and message")


def _broken(name: str, why: str) -> ToolError:
    return ToolError(
        f"The fix tool {name} is left out: {why}. Run it by hand with a JSON object on standard "
        "input to see why.",
        slug="broken-tool",
    )


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the user's but where programs are."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    own = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
    return {**kept, **own, "PYTHONDONTWRITEBYTECODE": "1"}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what it started, too."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
