from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.rerun.command import Command
from pytest_bayesloc.rerun.link import Workspaces
from pytest_bayesloc.rerun.transports.remote import opening
from tests.fakes.transport import FakeTransport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.rerun.link import Message

HERE = Path("/home/me/shop")
WORKSPACES = Workspaces(str(HERE), "/app")


def opened(tests: Sequence[str], **options: object) -> Message:
    command = Command(
        flags=("-X", "dev"),
        path=("", "/home/me/shop/src", sysconfig.get_path("purelib"), "/opt/python.zip"),
        arguments=("--rootdir=/home/me/shop",),
        rootdir=HERE,
        cwd=HERE / "tests",
        environment={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "TOKEN": "secret"},
        options=options,
    )
    return opening(command, WORKSPACES, tests, None, {})


def test_paths_of_the_project_are_those_there_and_the_interpreters_own_stay_behind() -> None:
    told = opened(
        ["tests/test_a.py::test_a"], ini="/home/me/shop/a.ini", many=["/home/me/shop", 1], n=3
    )

    assert told["path"] == ["/app/src"]
    assert told["cwd"] == "/app/tests"
    assert told["arguments"][-2:] == ["--rootdir=/app", "/app/tests/test_a.py"]
    assert told["spec"]["options"] == {"ini": "/app/a.ini", "many": ["/app", 1], "n": 3}


def test_file_of_the_project_has_its_path_there() -> None:
    transport = FakeTransport()
    transport.rootdir, transport.workspaces = HERE, WORKSPACES

    assert transport.path_of("src/a.py") == "/app/src/a.py"


def test_environment_of_the_run_stays_here() -> None:
    assert opened([])["environment"] == {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
