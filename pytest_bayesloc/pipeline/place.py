"""Where bugs are remembered, and whether there is a reason to look there."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.memory.glance import may_have_open_bugs
from pytest_bayesloc.report.files import FOLDER

if TYPE_CHECKING:
    from pytest_bayesloc.options import Settings

FILE = "memory.sqlite"


def has_work(rootdir: Path, settings: Settings, *, is_red: bool) -> bool:
    """Whether the memory has to be opened at all."""
    where = memory_of(rootdir, settings.memory)
    if where is None or is_red or settings.lesson:
        return where is not None
    return may_have_open_bugs(where) if isinstance(where, Path) else True


def memory_of(rootdir: Path, told: str) -> Path | str | None:
    """The memory's file or URL; None if nothing is to be remembered.

    Args:
        rootdir: Of the project.
        told: The setting: ``on``, ``off``, a path or a URL.
    """
    if told == "off":
        return None
    if "://" in told:
        return told
    return rootdir / (f"{FOLDER}/{FILE}" if told == "on" else told)


def project_of(rootdir: Path) -> str:
    """The project's name: as it calls itself, else that of its folder."""
    with suppress(OSError, UnicodeError):
        text = (rootdir / "pyproject.toml").read_text(encoding="utf-8")
        section = re.search(r"^\[project\]\s*$(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
        found = section and re.search(r"^name\s*=\s*[\"']([^\"']+)", section.group(1), re.MULTILINE)
        if found:
            return found.group(1)
    return rootdir.name
