"""A last run that came with a project runs its tests, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.pipeline.run_files import LastRun

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument

ROOT = Path(os.path.realpath("/srv/shop"))


def failed(test: str) -> ResultDocument:
    """The part of a result that is read here."""
    return cast("ResultDocument", SimpleNamespace(faults=[SimpleNamespace(failing_tests=[test])]))


def last_run(**forged: Any) -> LastRun:  # noqa: ANN401 - of any field
    given: dict[str, Any] = {
        "schema": "bayesloc-last/1",
        "made_at": "2026-11-22T10:00:00+00:00",
        "rootdir": str(ROOT),
        "document": failed("tests/test_a.py::test_a"),
        "flags": ["-B", "-X", "dev", "-Werror::DeprecationWarning", "-OO"],
        "path": ["", str(ROOT / "src"), *sys.path, sys.prefix],
        "arguments": [
            "--no-bayesloc",
            f"--rootdir={ROOT}",
            "-p",
            "no:cov",
            "-n0",
            "-c",
            str(ROOT.parent / "tox.ini"),
            f"--confcutdir={ROOT}",
            "-o",
            "a=b",
        ],
        "cwd": str(ROOT / "tests"),
        "options": {"tbstyle": "auto", "strict": True},
        "passing": {"a.py f": ["tests/test_a.py::test_b"]},
        **forged,
    }
    return LastRun(**given)


def test_command_of_a_run_of_the_project_is_run_again() -> None:
    command = last_run().command

    assert command.cwd == ROOT / "tests"
    assert command.options["strict"] is True


@pytest.mark.parametrize(
    "forged",
    [
        {"flags": ["-c", "import evil"]},
        {"flags": ["-m"]},
        {"flags": ["-X", "presite=evil"]},
        {"path": ["/elsewhere/evil"]},
        {"path": [str(ROOT / ".." / "other")]},
        {"arguments": ["--basetemp=/home/me"]},
        {"arguments": ["-c", "/elsewhere/pytest.ini"]},
        {"arguments": [f"--rootdir={ROOT.parent / 'other'}"]},
        {"arguments": ["-p", "--basetemp=/home/me"]},
        {"arguments": ["/elsewhere/test_evil.py"]},
        {"passing": {"a.py f": ["../other/test_evil.py::test"]}},
        {"document": failed("/elsewhere/test_evil.py::test")},
    ],
    ids=str,
)
def test_command_of_anybody_else_is_refused(forged: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="is not run again"):
        _ = last_run(**forged).command


def test_options_and_folder_of_anybody_else_are_left_out() -> None:
    options = {"basetemp": "/home/me", "bayesloc_fix": "apply", "args": ["/x"], "xmlpath": "/x"}

    command = last_run(options=options, cwd="/elsewhere").command

    assert command.cwd == ROOT
    assert command.options.keys().isdisjoint({"basetemp", "bayesloc_fix", "args"})
    assert command.options["xmlpath"] is None
