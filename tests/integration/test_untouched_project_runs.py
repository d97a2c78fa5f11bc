"""Nothing of the user's is changed, however the run ends, and no process is left."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import asserting

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects

pytestmark = pytest.mark.traced

FORGETFUL = True


ALLOWED = {".bayesloc", ".pytest_cache", "__pycache__"}
MODULE_LEVEL = {
    "table.py": "RATES = {'a': 1, 'b': 3}\n\n\ndef rate(name):\n    return RATES[name]\n",
    "test_table.py": asserting("from table import rate", rate='rate("b") == 2'),
}
# Each inspected test takes a while, so that the run can be ended in the middle.
SLOW = {
    "conftest.py": """
        import os
        import pathlib
        import time

        import pytest


        @pytest.fixture(autouse=True)
        def slow():
            if os.environ.get("PYTEST_CURRENT_TEST") and pathlib.Path("slow").exists():
                with open("beats", "a") as stream:
                    stream.write(".")
                time.sleep(0.1)


        def pytest_sessionfinish(session):
            pathlib.Path("slow").touch()
        """,
    ".gitignore": "",
}


def state(root: Path) -> dict[str, tuple[str, int, int]]:
    """Digest, time of change and mode of every file."""
    return {
        path.relative_to(root).as_posix(): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
            path.stat().st_mode,
        )
        for path in root.rglob("*")
        if path.is_file() and ALLOWED.isdisjoint(path.relative_to(root).parts)
    }


@pytest.mark.thorough
def test_inspections_add_no_byte_code_but_that_of_the_run_itself(
    projects: Projects,
) -> None:
    project = projects.buggy(MODULE_LEVEL)

    project.run("-q", "--no-bayesloc")
    before = {p: p.read_bytes() for p in project.root.rglob("*.pyc")}
    project.run("-q", "--bayesloc", "--bayesloc-threshold=0.999")

    assert before
    assert {p: p.read_bytes() for p in project.root.rglob("*.pyc")} == before


@pytest.mark.thorough
@pytest.mark.one_python
def test_modules_of_servers_are_compiled_once_unless_python_is_told_to_keep_nothing(
    buggy_project: Project, tmp_path: Path
) -> None:
    def compiled(**env: str) -> list[Path]:
        env |= {"PYTHONPYCACHEPREFIX": str(tmp_path)}
        buggy_project.run("-q", "--bayesloc", "--bayesloc-inspections=1", env=env)
        return list(tmp_path.rglob("rerun/child.*.pyc"))

    (kept,) = compiled()
    kept.unlink()

    assert compiled(PYTHONDONTWRITEBYTECODE="1") == []


def test_temporary_files_are_removed(buggy_project: Project, tmp_path: Path) -> None:
    buggy_project.run(
        "-q", "--bayesloc", "--bayesloc-threshold=0.999", env={"TMPDIR": str(tmp_path)}
    )

    assert [p.name for p in tmp_path.iterdir() if not p.name.startswith("pytest-of-")] == []


@pytest.mark.thorough
def test_run_on_a_read_only_tree_is_complete(
    projects: Projects, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = projects.buggy()
    scratch = tmp_path_factory.mktemp("scratch")
    result = scratch / "result.json"
    before = sorted(project.root.rglob("*"))
    for path in (*before, project.root):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        done = subprocess.run(
            [
                *_bound_by_modes(),
                *project.command("-q", "--bayesloc", "--bayesloc-threshold=0.999"),
                f"--bayesloc-report=json:{result}",
                "--bayesloc-report=html",
            ],
            cwd=project.root,
            env={**project.environment(), "TMPDIR": str(scratch), "HOME": str(scratch)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        project.root.chmod(0o755)

    assert done.returncode == 1, done.stdout + done.stderr
    assert '"step": 1' in result.read_text(encoding="utf-8")
    assert "own-fault" not in done.stdout
    assert f"report: html {scratch}" in done.stdout
    assert sorted(project.root.rglob("*")) == before


def _bound_by_modes() -> list[str]:
    """What to put before a command so that the modes of files hold for it."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root may write anywhere: needs setpriv (apt-get install util-linux)")
    prefix = [setpriv, "--bounding-set=-dac_override,-dac_read_search,-fowner"]
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("root may write anywhere, and may not give that up here")
    return prefix


# -- ended from outside


# A shell starts what it runs in the background deaf to Ctrl-C, and that is inherited.
INTERRUPTIBLE = (
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.argv[1], sys.argv[1:])",
)


def _started(project: Project, temporary: Path) -> subprocess.Popen[str]:
    """A run that is in the middle of its inspections, in a process group of its own."""
    run = subprocess.Popen(
        [*INTERRUPTIBLE, *project.command("-q", "--bayesloc", "--bayesloc-threshold=0.999")],
        cwd=project.root,
        env={**project.environment(), "TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    beats, deadline = project.root / "beats", time.monotonic() + 60
    while _size(beats) < 3:
        assert time.monotonic() < deadline
        assert run.poll() is None, run.communicate()[0]
        time.sleep(0.02)
    return run


def _size(path: Path) -> int:
    """Bytes of a file, 0 where it is not there: each re-run puts away what it wrote."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def _processes(project: Project) -> list[str]:
    """Command lines of the processes that work in the project."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cwd").resolve() == project.root and int(folder.name) != os.getpid():
                found.append((folder / "cmdline").read_text(encoding="utf-8").replace("\0", " "))
        except OSError:  # noqa: PERF203 - any of them may end meanwhile
            continue
    return [command for command in found if command]


@pytest.mark.thorough
@pytest.mark.one_python
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc, which Linux has")
def test_killed_run_leaves_neither_changes_nor_processes(
    projects: Projects, tmp_path: Path
) -> None:
    project = projects.buggy(SLOW)
    before = state(project.root)
    run = _started(project, tmp_path)
    assert len(_processes(project)) > 1

    run.kill()
    run.communicate()

    deadline = time.monotonic() + 10
    while _processes(project) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _processes(project) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("bayesloc")] == []
    after = state(project.root)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"beats", "slow"}


@pytest.mark.thorough
@pytest.mark.one_python
def test_interrupted_run_prints_the_section_and_no_traceback(
    projects: Projects, tmp_path: Path
) -> None:
    project = projects.buggy(SLOW)
    run = _started(project, tmp_path)

    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    output = run.communicate(timeout=60)[0]

    assert "add (calc.py:1)" in output
    assert "Inspections were interrupted" in output
    assert "Traceback" not in output
    assert run.returncode == 1


def test_run_that_was_interrupted_while_testing_is_not_inspected(
    projects: Projects,
) -> None:
    project = projects.buggy()
    project.write({"test_stop.py": "def test_stop():\n    raise KeyboardInterrupt\n"})

    run = project.localize("--bayesloc", "--bayesloc-threshold=0.999")

    assert run.ret == 2
    assert run.inspections == []
    assert run.names()[0] == "calc.py add"
