"""Fix tools as programs of their own, which read and write a JSON object each.

Those of a user are run apart from the project, and within limits. One of the package is such a
program as well: ``python -m pytest_bayesloc.fixes.run NAME``.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.fixes.definition import Tool
from pytest_bayesloc.fixes.library import MAX_PROPOSALS
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.tools import PACKAGE_TOOLS

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
        command = tool.command
        args = [str(folder / arg) if arg in tool.files else arg for arg in tool.args]
        if command == PYTHON:
            argv = [sys.executable, "-I", *args]
        else:
            is_beside = command in tool.files
            found = str(folder / command) if is_beside else shutil.which(command)
            if found is None:
                raise _broken(tool.name, f"there is no {command}")
            argv = [found, *args]
        if os.name == "posix":
            argv = [sys.executable, "-I", "-S", "-c", _BOOT, json.dumps(LIMITS), *argv]
        answer = _answer(tool.name, argv, folder, json.dumps(asdict(task)).encode("ascii"))
    yield from _proposals(answer, tool.name)


def _answer(name: str, argv: list[str], folder: Path, request: bytes) -> bytes:
    # Nothing of the user's but where programs are.
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    own = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                argv,
                cwd=folder,
                env={**kept, **own, "PYTHONDONTWRITEBYTECODE": "1"},
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


def _proposals(answer: bytes, name: str) -> Iterator[Proposal]:
    """Yields the proposals in an answer."""
    try:
        read: Any = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise _broken(name, f"it wrote no JSON ({error})") from error
    more = read.get("alternatives", []) if isinstance(read, dict) else None
    for item in [read, *more][:MAX_PROPOSALS] if isinstance(more, list) else [None]:
        given = item if isinstance(item, dict) else {}
        code, message = given.get("fixed_code"), given.get("message", "")
        is_fixed = given.get("fixed", given.get("success"))
        if is_fixed is True and isinstance(code, str) and isinstance(message, str):
            yield Proposal(code=code, message=" ".join(message.split())[:200] or name)
        elif is_fixed is not False:
            raise _broken(name, "it wrote no JSON object with fixed, fixed_code and message")


def _broken(name: str, why: str) -> ToolError:
    return ToolError(
        f"The fix tool {name} is left out: {why}. Run it by hand with a JSON object on standard "
        "input to see why.",
        slug="broken-tool",
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what it started, too."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


# -- the other side: a tool of the package, or a learned one


def main(argv: Sequence[str]) -> int:
    """Answer one request; 2 if there is no such tool or nothing to read."""
    tools = {tool.name: tool for tool in PACKAGE_TOOLS}
    if len(argv) != 1 or argv[0] not in tools:
        known = ", ".join(tools)
        sys.stderr.write(
            f"{' '.join(argv) or 'Nothing'} is no fix tool: expected one of {known}.\n"
        )
        return 2
    try:
        task = task_of(json.load(sys.stdin))
    except (ValueError, TypeError, KeyError) as error:
        sys.stderr.write(f"Standard input holds no request ({error}): see docs/fixes.md.\n")
        return 2
    propose = tools[argv[0]].propose
    assert propose is not None  # noqa: S101 - those of the package may always run
    write_answer(task, propose(task, Project((), lambda _: None)))
    return 0


def write_answer(task: Task, proposals: Iterable[Proposal]) -> None:
    """Write the first proposals to standard output, as a fix tool does."""
    made = [
        {"fixed": True, "success": True, "fixed_code": found.code, "message": found.message}
        for found in islice(proposals, MAX_PROPOSALS)
    ]
    none = {"fixed": False, "success": False, "fixed_code": task.code, "message": ""}
    first = made[0] if made else none
    json.dump({**first, "alternatives": made[1:]}, sys.stdout)


def task_of(read: Mapping[str, object]) -> Task:
    """Returns the task in a request, which needs ``code`` and ``filename``.

    Raises:
        KeyError: If one of them is missing.
    """
    return Task(
        code=str(read["code"]),
        filename=str(read["filename"]),
        error=str(read.get("error", "")),
        line=int(str(read.get("line", 0))),
        test=str(read.get("test", "")),
        test_file=str(read.get("test_file", "")),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
