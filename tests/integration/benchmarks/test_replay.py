"""The replay of stories: a part of it, by the command that replays all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]

pytestmark = [pytest.mark.one_python, pytest.mark.thorough]


@pytest.mark.parametrize("words", [("breaks",), ("same", "command")])
def test_stories_are_told_as_they_should_be(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "benchmarks.memory", "replay", *words]

    done = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, timeout=300, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "| fixed |" in done.stdout
