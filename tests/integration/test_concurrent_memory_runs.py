"""The memory in a file, under many writers and kills."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.traced

COMMAND = (sys.executable, "-m", "benchmarks.memory.load", "write")


def kept(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {str(row[0]) for row in db.execute("SELECT id FROM bug")}


def test_nothing_is_lost_where_many_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bugs.sqlite"
    command = [*COMMAND, str(path), "20"]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]

    said = [writer.communicate(timeout=120)[0].split() for writer in writers]

    assert [writer.returncode for writer in writers] == [0] * 4
    assert kept(path) == {bug for ids in said for bug in ids}
    assert len(kept(path)) == 80


@pytest.mark.thorough
def test_what_was_said_to_be_kept_outlives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "bugs.sqlite"
    said: set[str] = set()
    for n in range(5):
        command = [*COMMAND, str(path), "9999"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            said.add(writer.stdout.readline().strip())
            time.sleep(0.01 * n)
            writer.send_signal(signal.SIGKILL)
            said.update(line.strip() for line in writer.stdout if line.endswith("\n"))

    assert said <= kept(path)
    assert len(said) >= 5
