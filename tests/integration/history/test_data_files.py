"""Data files are found beside code, and not beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.history.runs import MAX_SIZE, beside

if TYPE_CHECKING:
    from pathlib import Path

LATER = 2**63


def test_data_lies_beside_code_or_a_little_below(tmp_path: Path) -> None:
    for name in (
        "top.json",
        "pkg/a.json",
        "pkg/notes.md",
        "pkg/templates/mail/b.j2",
        "pkg/deep/er/still/c.json",
        "pkg/.hidden/d.json",
        "pkg/env/pyvenv.cfg",
        "pkg/env/e.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "pkg/big.csv").write_bytes(b"," * (MAX_SIZE + 1))

    found = beside({"pkg/code.py": tmp_path / "pkg/code.py"}, LATER)

    assert found == {
        "pkg/a.json": tmp_path / "pkg/a.json",
        "pkg/templates/mail/b.j2": tmp_path / "pkg/templates/mail/b.j2",
    }


def test_data_that_was_written_meanwhile_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "out.json").touch()

    assert beside({"code.py": tmp_path / "code.py"}, 1) == {}
