"""The table of faults: whatever happens, the run is what it is without the plugin.

The same outcome of each test, the same exit status, the same files but for ours, no traceback, at
most 30 s more; where the plugin lost something, a line that says so.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.company.fault_rows import ROWS, Row
from tests.company.test_plugins import ALONE, OURS
from tests.integration.conftest import BUGGY, Project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

INSPECTED = ("--bayesloc", "--bayesloc-inspections=1", "--bayesloc-budget=5")
MORE_S = 30.0
UNBOUND = (".bayesloc", "__pycache__", "bayesloc-report-", "pytest-of-")
NAMESPACE = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-rm")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """Runs of one command: how they ended, what they printed, and the files that they changed."""

    rets: list[int]
    output: str
    files: dict[str, str]
    seconds: float
    is_kept: bool

    @property
    def outcomes(self) -> list[str]:
        """Each test with its outcome, of all runs."""
        found = re.findall(r"^(\S+::\S+) (\w+)|^(\w+ .* in) [\d.]+s", self.output, re.MULTILINE)
        return sorted(" ".join(parts) for parts in found)


@cache
def may_mount() -> bool:
    mount = [*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


def made(folder: Path, row: Row) -> Path:
    """Make the project below ``folder``, with a home and a place for temporary files beside it."""
    project = Project(folder / "project")
    for path in (project.root, folder / "home", folder / "tmp"):
        path.mkdir(parents=True)
    files = {"pytest.ini": "[pytest]\n", **BUGGY, **row.files}
    if row.test:
        body = textwrap.indent(textwrap.dedent(row.test).strip(), "    ")
        files["test_a_fault.py"] = f"def test_fault():\n{body}\n"
    project.write(files)
    subprocess.run(["bash", "-ec", row.make], cwd=project.root, check=True)
    return project.root


def ran(folder: Path, row: Row, *args: str) -> Ran:
    """Run pytest under the fault, in a project of its own."""
    root = made(folder, row)
    before, started = left(folder), time.monotonic()
    own = {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "COLUMNS": "200"}
    env = {**Project.environment(), **ALONE, **own, **row.env}
    command = [shutil.which("bash") or "", "-c", f'{row.shell}\nexec "$@" {row.streams}', "-"]
    pytest_ = [sys.executable, "-m", "pytest", "-v", "--tb=no", "-p", "no:faulthandler"]
    runs = [
        subprocess.Popen(
            [*(NAMESPACE if row.mounts else ()), *command, *pytest_, *row.args, *args],
            cwd=root,
            env={name: value for name, value in env.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for _ in range(row.n)
    ]
    output = "".join(run.communicate(timeout=90)[0].decode("utf-8", "replace") for run in runs)
    after, kept = left(folder), {path.name for path in root.rglob(".bayesloc/*")}
    return Ran(
        rets=[run.returncode for run in runs],
        output=output,
        files={name: after.get(name, "gone") for name, _ in before.items() ^ after.items()},
        seconds=time.monotonic() - started,
        is_kept=kept >= {"memory.sqlite", "green.sqlite", "last-run.json"},
    )


def left(folder: Path) -> dict[str, str]:
    """Digest of each file below ``folder`` that the plugin has no right to; no path is followed."""
    found = {}
    for path in folder.rglob("*"):
        name = os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace")
        if not any(part.startswith(UNBOUND) for part in path.relative_to(folder).parts):
            found[name] = (
                "link" if path.is_symlink() else "" if not path.is_file() else digest(path)
            )
    return found


def digest(path: Path) -> str:
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return "unreadable"


def differences(row: Row, plain: Ran, ours: Ran) -> Sequence[str]:
    """Returns what is not as it is without the plugin, or not said."""
    found = []
    for name in ("rets", "outcomes", "files"):
        before, after = getattr(plain, name), getattr(ours, name)
        if before != after:
            found.append(f"{name} without and with the plugin:\n{before}\n{after}")
    marks = ("Traceback", "own-fault", "INTERNALERROR", "Exception ignored")
    more = (mark for mark in marks if ours.output.count(mark) > plain.output.count(mark))
    found += [f"{mark} in its output" for mark in more]
    if ours.seconds > plain.seconds + MORE_S:
        found.append(f"{ours.seconds - plain.seconds:.0f} s more")
    wanted = row.lost or r"\badd \(.*calc\.py:1\)"
    if not row.is_silent and not re.search(wanted, ours.output):
        found.append(f"nothing like {wanted!r} is said")
    if not (ours.is_kept or row.is_silent or re.search("^bayesloc: ", ours.output, re.MULTILINE)):
        found.append("nothing is kept for the next run, and nothing says so")
    return found


@pytest.mark.parametrize("name", ROWS)
def test_fault_changes_nothing_of_the_run(tmp_path: Path, name: str) -> None:
    row = ROWS[name]
    for module in row.needs:
        pytest.importorskip(module, reason=f"pip install {module}")
    if row.mounts and not may_mount():
        pytest.skip("needs a mount of its own: unshare -m, as root")

    plain = ran(tmp_path / "plain", row)
    ours = ran(tmp_path / "ours", row, *OURS, *INSPECTED)

    found = differences(row, plain, ours)
    assert not found, "\n".join([*found, ours.output[-6000:]])
