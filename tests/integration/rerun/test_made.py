from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
import os, sys
from pytest_bayesloc.rerun.conditions import Made
made = Made(sys.argv[1])
before = made.stop()
exec(sys.argv[2])
print(len(before), len(made.stop()))
"""


@pytest.mark.parametrize(
    ("does", "printed"),
    [
        ("open(sys.argv[1], 'w').close()", "0 1"),
        ("open(sys.argv[1], 'w').close(); os.remove(sys.argv[1])", "0 1"),
        ("os.mkdir(sys.argv[1])", "0 1"),
        ("os.path.exists(sys.argv[1])", "0 0"),
    ],
)
def test_path_that_comes_to_be_is_noted(tmp_path: Path, does: str, printed: str) -> None:
    path = str(tmp_path.resolve() / "left")  # in a process of its own: a hook stays for good

    run = subprocess.run(
        [sys.executable, "-c", CODE, path, does], capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == printed
