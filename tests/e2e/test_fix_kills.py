"""A kill at any moment of applying or undoing leaves old bytes or new ones, and a way back."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.fixes.apply import Journal

if TYPE_CHECKING:
    from pathlib import Path

OLD = b"old " * 5_000
NEW = b"new " * 7_000
N_KILLS = 100
# Applies and undoes for ever, once it has said that it is ready.
PROGRAM = """
import sys
from pathlib import Path
from pytest_bayesloc.fixes.apply import Journal

root = Path(sys.argv[1])
journal = Journal(root, root / ".bayesloc" / "journal")
old, new = b"old " * 5_000, b"new " * 7_000
print("ready", flush=True)
while True:
    journal.undo()
    journal.apply("a.py", old, new, "tool")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_bytes(OLD)
    (tmp_path / "loop.py").write_text(PROGRAM)
    return tmp_path


def test_every_kill_leaves_the_old_or_the_new(root: Path) -> None:
    chance = random.Random(7)
    seen = set()
    for _ in range(N_KILLS):
        process = subprocess.Popen(
            [sys.executable, "loop.py", str(root)], cwd=root, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.03))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()

        found = (root / "a.py").read_bytes()
        assert found in {OLD, NEW}
        seen.add(found)

        if chance.random() < 0.5:
            left = Journal(root, root / ".bayesloc" / "journal").undo()
            assert all(why == "" for _, why in left)
            assert (root / "a.py").read_bytes() == OLD
        assert sorted(path.name for path in root.iterdir()) == [".bayesloc", "a.py", "loop.py"]
    assert seen == {OLD, NEW}
