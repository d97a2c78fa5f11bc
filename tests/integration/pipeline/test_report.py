"""What is added to is read with care."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.pipeline import report

if TYPE_CHECKING:
    from pathlib import Path


def test_file_that_is_huge_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MAX_BEFORE", 1 << 20)
    (tmp_path / "junit.xml").write_bytes(b" " * ((1 << 20) + 1))

    with pytest.raises(ValueError, match="larger than 1 MiB"):
        report._text(tmp_path / "junit.xml")


def test_bytes_that_are_no_text_come_back_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_bytes(b"<a>\xff</a>")

    assert report._text(tmp_path / "junit.xml").encode("utf-8", "surrogateescape") == (
        b"<a>\xff</a>"
    )
