"""A run from the fork server is what it is from a process of its own."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Project, Projects

FORGETFUL = True
TEST = """
    import json, os, sys

    FDS = os.listdir("/proc/self/fd")


    def test_says_how_it_was_started():
        state = {
            "path": sys.path,
            "argv": sys.argv,
            "orig_argv": sys.orig_argv,
            "flags": str(sys.flags),
            "main": sys.modules["__main__"].__spec__.name,
            "cwd": os.getcwd(),
            "environment": dict(os.environ),
            "input": sys.__stdin__.read(),
            "encodings": [stream.encoding for stream in (sys.__stdout__, sys.__stderr__)],
            # libffi, which ctypes loads, may keep its own file open.
            "descriptors": sum("libffi" not in os.path.realpath(f"/proc/self/fd/{n}") for n in FDS),
        }
        with open("state.json", "w") as stream:
            json.dump(state, stream)
    """


def test_run_begins_as_in_a_process_of_its_own(projects: Projects) -> None:
    project = projects.make({"test_state.py": TEST})
    args = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-s")

    own = subprocess.run(
        project.command(*args),
        cwd=project.root,
        env=project.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    expected = json.loads(project.read("state.json"))
    run = project.run(*args)

    assert json.loads(project.read("state.json")) == expected
    assert [run.ret, run.stderr] == [own.returncode, own.stderr.decode()]


@pytest.mark.parametrize("name", ["PYTHONPATH", "COVERAGE_CORE", "TZ"])
def test_what_python_reads_at_its_start_needs_a_process_of_its_own(
    shared_buggy_project: Project, name: str
) -> None:
    forks = shared_buggy_project.forks

    assert forks is not None
    assert not forks.can_start({name: "1"})
    assert forks.can_start({"TMPDIR": "/tmp"})


def test_run_that_ends_itself_leaves_the_server_as_it_was(projects: Projects) -> None:
    project = projects.make({"test_end.py": "import os\n\n\ndef test_end():\n    os._exit(7)\n"})

    assert project.run("-q").ret == 7
    assert project.run("--version").ret == 0
