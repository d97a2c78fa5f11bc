"""A tool's program is run apart, and within limits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.fixes import run
from pytest_bayesloc.fixes.definition import Tool
from pytest_bayesloc.fixes.project import Task
from pytest_bayesloc.fixes.run import run_program
from tests.fakes.project import TextProject

TASK = Task(code="x = 1\n", filename="a.py", error="NameError: y", line=1)
ADD = "def add(a, b):\n    return a + b\n"
READ = "import json, os, sys\nasked = json.load(sys.stdin)\n"
ANSWER = 'print(json.dumps({"fixed": True, "fixed_code": %s, "message": "m"}))\n'


def answer(program: str) -> list[str]:
    """The texts that a tool with this program proposes."""
    files = {"fix.py": program.encode()}
    tool = Tool(name="own", description="d", command="python", args=("fix.py",), files=files)
    return [found.code for found in run_program(tool, TASK, TextProject({}))]


def test_it_is_given_the_error_and_the_code() -> None:
    found = answer(READ + ANSWER % 'asked["code"] + asked["filename"] + asked["error"]')

    assert found == ["x = 1\na.pyNameError: y"]


def test_it_may_give_alternatives() -> None:
    program = READ + (
        'one = {"fixed": True, "fixed_code": "1", "message": ""}\n'
        'print(json.dumps({**one, "alternatives": [{**one, "fixed_code": "2"}]}))\n'
    )

    assert answer(program) == ["1", "2"]


def test_it_may_have_nothing_to_say() -> None:
    assert answer(READ + 'print(json.dumps({"fixed": False}))\n') == []


def test_it_may_answer_in_the_first_format() -> None:
    assert answer(READ + 'print(json.dumps({"success": True, "fixed_code": "1"}))\n') == ["1"]
    assert answer(READ + 'print(json.dumps({"success": False, "error": "no"}))\n') == []


MISSPELT = {
    "code": "total = 1\nx = totl\n",
    "line": 2,
    "error": "NameError: name 'totl' is not defined",
}
#: Tools, requests in the first format and in that of now, and what is made of the code.
REQUESTS = [
    ("circular-import", {"code": f"from main import add\n\n\n{ADD}", "filename": "main.py"}, ADD),
    ("misspelt-name", {**MISSPELT, "filename": "a.py"}, "total = 1\nx = total\n"),
]


def asked(tool: str, request: dict[str, object]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest_bayesloc.fixes.run", tool]
    told = json.dumps(request)
    return subprocess.run(command, check=False, input=told, capture_output=True, text=True)


@pytest.mark.parametrize(("tool", "request_", "expected"), REQUESTS)
def test_a_tool_of_the_package_is_a_program_too(
    tool: str, request_: dict[str, object], expected: str
) -> None:
    answered = json.loads(asked(tool, request_).stdout)

    assert answered["success"] is True
    assert answered["fixed_code"] == expected


def test_a_tool_that_there_is_not_is_no_program() -> None:
    done = asked("x", {})

    assert done.returncode == 2
    assert "x is no fix tool: expected one of" in done.stderr


def test_it_sees_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret-value")
    (seen,) = answer(READ + ANSWER % "os.getcwd() + ' '.join(map(repr, os.environ.items()))")

    assert "secret-value" not in seen
    assert not seen.startswith(str(Path.cwd()))


BROKEN = {
    "it wrote no JSON": "print('hello')",
    "it wrote no JSON object": "print('[1]')",
    "it ended with 3 (it said nothing)": "raise SystemExit(3)",
    "it ended with 1 (ValueError: no)": "raise ValueError('no')",
    "MemoryError": "x = bytearray(3 << 30)",
    "Too many open files": "x = [open('/dev/null') for _ in range(100)]",
    "File too large": "open('big', 'wb').write(b'x' * (20 << 20))",
}


@pytest.mark.parametrize("why", BROKEN)
def test_a_program_that_fails_is_one_line(why: str) -> None:
    with pytest.raises(ToolError, match=re.escape(why)) as raised:
        answer(BROKEN[why])

    assert "\n" not in str(raised.value)


def test_what_does_not_end_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LIMIT_S", 0.5)
    mark = tmp_path / "mark"
    program = (
        "import os, time\nfor _ in range(3):\n    os.fork()\n"
        f"time.sleep(1.5)\nopen({str(mark)!r}, 'w')\n"
    )

    with pytest.raises(ToolError, match=r"did not end within 0\.5 s"):
        answer(program)

    time.sleep(1.5)
    assert not mark.exists()


def test_a_command_that_does_not_exist_is_said() -> None:
    tool = Tool(name="own", description="d", command="no-such-program")

    with pytest.raises(ToolError, match="there is no no-such-program"):
        list(run_program(tool, TASK, TextProject({})))
