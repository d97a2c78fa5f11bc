"""Ways to run, and kinds of code, that need more than one look."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.company.test_plugins import ALONE, OURS
from tests.integration.conftest import BUGGY, Projects, asserting

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def test_testmon_runs_again_what_changed_and_no_more(projects: Projects) -> None:
    pytest.importorskip("testmon")
    project = projects.buggy({"other.py": "def one():\n    return 1\n"})
    project.write(
        {"test_other.py": "import other\n\n\ndef test_one():\n    assert other.one() == 1\n"}
    )
    options = (*OURS, "-p", "testmon.pytest_testmon", "--testmon")
    first = project.localize(
        *options, "--bayesloc", "--bayesloc-threshold=0.999", lean=False, env=ALONE
    )
    again = project.run("-q", *options, lean=False, env=ALONE)
    project.write({"calc.py": project.read("calc.py").replace("a - b", "a + b")})

    second = project.run("-q", *options, lean=False, env=ALONE)

    assert first.names()[0] == "calc.py add"
    assert first.inspections, "a patch must have made failing tests pass"
    assert again.outcomes == {"failed": 2}, again.output
    assert "own-fault" not in first.output + again.output + second.output
    assert second.ret == 0, second.output
    passed = first.outcomes["passed"] + first.outcomes["failed"]
    assert second.outcomes["passed"] < passed, second.output


def test_debugger_that_pytest_opens_ends_as_usual(projects: Projects) -> None:
    project = projects.buggy()

    run = project.run("-q", *OURS, "--tb=no", "--pdb", "-x", env=ALONE)

    assert run.ret != pytest.ExitCode.INTERNAL_ERROR
    assert "own-fault" not in run.output
    assert "(Pdb)" in run.stdout


def test_zipped_package_is_no_trouble(projects: Projects) -> None:
    project = projects.buggy()
    with zipfile.ZipFile(project.root / "parts.zip", "w") as archive:
        archive.writestr("zipped.py", "def give(x):\n    return x\n")
    head = "from zipped import give\nfrom calc import add\n\n\n"
    test = f"{head}def test_zip():\n    assert add(give(1), 1) == 2\n"
    project.write(
        {"test_zip.py": test, "conftest.py": "import sys\nsys.path.insert(0, 'parts.zip')\n"}
    )

    run = project.localize(*OURS, "--bayesloc", env=ALONE)

    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output


def test_extension_module_is_no_trouble(projects: Projects) -> None:
    found = find_spec("_bisect")
    if found is None or not found.origin or not found.origin.endswith(SUFFIX):
        pytest.skip("this Python has no extension module to copy")
    project = projects.buggy({"shop/__init__.py": "", "test_shop.py": USES_EXTENSION})
    shutil.copy(found.origin, project.root / "shop" / Path(found.origin).name)

    run = project.localize(*OURS, "--bayesloc", env=ALONE)

    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output


USES_EXTENSION = asserting(
    "from calc import add\nfrom shop._bisect import bisect_left",
    place="add(bisect_left([1, 2, 3], 2), 1) == 2",
    first="bisect_left([1, 2], 0) == 0",
)
CHILD = """
    import subprocess
    import sys


    def test_add():
        code = "from calc import add; assert add(1, 2) == 3"
        subprocess.run([sys.executable, "-c", code], check=True)


    def test_mul():
        code = "from calc import mul; assert mul(1, 2) == 2"
        subprocess.run([sys.executable, "-c", code], check=True)
    """


def test_code_that_only_a_child_process_runs_is_said_to_be_unseen(projects: Projects) -> None:
    project = projects.make({"calc.py": BUGGY["calc.py"], "test_calc.py": CHILD})

    run = project.localize(*OURS, "--bayesloc", env=ALONE)

    assert run.outcomes == {"failed": 1, "passed": 1}
    assert "(empty-spectrum)" in run.output
    assert "own-fault" not in run.output


def test_run_of_a_test_inside_a_test_is_left_alone(projects: Projects) -> None:
    test = """
        def test_outer(pytester):
            pytester.makepyfile("def test_inner(): assert 0")
            result = pytester.runpytest_inprocess("--bayesloc")
            result.assert_outcomes(failed=1)
            result.stdout.no_fnmatch_line("*bayesloc:*")
        """
    project = projects.make({"test_plugin.py": test})

    run = project.run("-q", "-p", "pytester")

    assert run.outcomes == {"passed": 1}


def test_loop_on_failures_goes_on_until_they_are_mended(projects: Projects) -> None:
    project = projects.buggy()
    plugins = ("-p", "xdist.plugin", "-p", "xdist.looponfail", *OURS)
    log = project.root.parent / f"{project.root.name}.log"
    with log.open("wb") as stream, _heard(signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "pytest", "-q", "--tb=no", "-f", *plugins],
            cwd=project.root,
            env={**project.environment(), **ALONE, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    try:
        _wait_for(log, "waiting for changes")
        project.write({"calc.py": project.read("calc.py").replace("a - b", "a + b")})
        _wait_for(log, "6 passed")
    finally:
        _interrupt(process)
    said = log.read_text(encoding="utf-8")
    assert "add (calc.py:1)" in said
    assert "is fixed: calc.py add" in said
    assert "INTERNALERROR" not in said


def _wait_for(log: Path, text: str) -> None:
    deadline = time.monotonic() + 30
    while text not in log.read_text(encoding="utf-8", errors="replace"):
        assert time.monotonic() < deadline, log.read_text(encoding="utf-8", errors="replace")
        time.sleep(0.1)


@contextmanager
def _heard(number: signal.Signals) -> Iterator[None]:
    """What is started here hears a signal, also where a shell's background job would not."""
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C until it is heard: what another process is waited for in may swallow one."""
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return
    process.kill()
    pytest.fail("three interruptions did not end it")


def test_file_in_a_syntax_that_is_not_known_yet_is_no_trouble(projects: Projects) -> None:
    project = projects.buggy({"newer.py": 'def greet(x) => t"{x}"\n'})
    project.write(
        {
            "calc.py": "try:\n    import newer\nexcept SyntaxError:\n    newer = None\n\n\n"
            + project.read("calc.py")
        }
    )

    run = project.localize(*OURS, "--bayesloc", "--bayesloc-budget=20", env=ALONE)

    assert run.names()[0] == "calc.py add"
    assert "own-fault" not in run.output


def test_without_fork_each_inspection_has_a_process_of_its_own(projects: Projects) -> None:
    project = projects.buggy({"lib/sitecustomize.py": "import os\n\ndel os.fork\n"})

    run = project.localize(
        *OURS,
        "--bayesloc",
        "--bayesloc-threshold=0.999",
        "--bayesloc-inspections=3",
        env={**ALONE, "PYTHONPATH": str(project.root / "lib")},
    )

    assert run.names()[0] == "calc.py add"
    assert run.inspections
    assert run.stdout.count("(no-fork)") == 1
    assert "own-fault" not in run.output
