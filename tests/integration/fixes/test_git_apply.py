"""git applies the patches that fixes write."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.fixes.apply import changed_bytes, unified
from tests.unit.fixes.test_changed_bytes import FILES, as_read

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("file", ["a.py", "with blanks/an a.py", "ünder.py"])
def test_git_applies_the_patch(tmp_path: Path, name: str, file: str) -> None:
    data = FILES[name]
    text = as_read(data)
    after = changed_bytes(data, text, text.replace("b = 2", "b = 22\nd = 4"), file)
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    (tmp_path / "fix.patch").write_bytes(unified(data, after, file))

    apply = ["git", "-c", "core.autocrlf=false", "apply", "fix.patch"]
    subprocess.run(apply, cwd=tmp_path, check=True)

    assert path.read_bytes() == after
