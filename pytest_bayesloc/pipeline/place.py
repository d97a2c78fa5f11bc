"""The plugin's own folder in a project, and the memory: its place, and whether it has to be opened.

Every run imports this module, so it imports little.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pytest_bayesloc.domain import own_files
from pytest_bayesloc.domain.standard_library import time_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_bayesloc.memory.ledger import Ledger
    from pytest_bayesloc.options import Settings

FOLDER = own_files.FOLDER
FILE = "memory.sqlite"
BUSY_S = 1.0
PARTIAL_S = 3_600  # after which nobody writes that file any more


def own_folder(rootdir: Path) -> Path:
    """Return the folder of the plugin's own files, made with a mark that git leaves it alone.

    Raises:
        OSError: If it can't be made.
    """
    folder = rootdir / FOLDER
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        replace_text(ignore, "# Made by pytest-bayesloc.\n*\n")
    return folder


def mend_folder(rootdir: Path, note: Callable[[str], None]) -> None:
    """Set aside what stands in the place of our own files and folders, and tell the user.

    What a kill left half written is removed.
    """
    folder = rootdir / FOLDER
    for path in folder.glob(".*.*"):
        with suppress(OSError):
            if time_ns() - path.stat().st_mtime_ns > PARTIAL_S * 1e9:
                path.unlink()
    for text in own_files.misplaced(folder) if folder.is_dir() else ():
        note(text)


def replace_text(path: Path, text: str) -> Path:
    """Write a file in one step.

    Raises:
        OSError: If it can't be written.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


# -- the memory


def has_work(rootdir: Path, settings: Settings, *, is_red: bool) -> bool:
    """Whether the memory has to be opened at all."""
    where = memory_of(rootdir, settings.memory)
    if where is None or is_red or settings.lesson:
        return where is not None
    return may_have_open_bugs(where) if isinstance(where, Path) else True


def may_have_open_bugs(path: Path) -> bool:
    """Whether a bug is open; also true where the file can't be read: the store will say why."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=BUSY_S)) as db:
            found = db.execute("SELECT 1 FROM bug WHERE state = 'open' LIMIT 1").fetchone()
    except sqlite3.Error:
        return True
    return found is not None


def memory_of(rootdir: Path, setting: str) -> Path | str | None:
    """Return the memory's file or URL; None if nothing is to be remembered.

    Args:
        rootdir: Of the project.
        setting: ``on``, ``off``, a path or a URL.
    """
    if setting == "off":
        return None
    if "://" in setting:
        return setting
    return rootdir / (f"{FOLDER}/{FILE}" if setting == "on" else setting)


def is_there(where: Path | str | None) -> bool:
    """Return whether there is a memory; one at a URL is asked."""
    return where is not None and (isinstance(where, str) or where.exists())


@contextmanager
def open_memory(
    rootdir: Path,
    setting: str,
    note: Callable[[str], None],
    *,
    write: bool,
    may_begin: bool = False,
) -> Iterator[Ledger | None]:
    """Open the project's records in a transaction; None where there is no memory.

    Args:
        rootdir: Of the project.
        setting: As of ``memory_of``.
        note: Tells the user.
        write: Whether anything is written.
        may_begin: Whether a new memory is made where there is none.

    Raises:
        StoreError: If the memory can't be used.
    """
    where = memory_of(rootdir, setting)
    if where is None or not (may_begin or is_there(where)):
        yield None
        return
    from pytest_bayesloc.memory.ledger import ledger_at

    if may_begin and isinstance(where, Path):
        own_folder(rootdir)
        where.parent.mkdir(parents=True, exist_ok=True)
    with ledger_at(where, project_of(rootdir), note, write=write) as ledger:
        yield ledger


# -- names


def project_of(rootdir: Path) -> str:
    """Return the project's name: that of its pyproject.toml, else that of its folder."""
    with suppress(OSError, UnicodeError):
        text = (rootdir / "pyproject.toml").read_text(encoding="utf-8")
        section = re.search(r"^\[project\]\s*$(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
        found = section and re.search(r"^name\s*=\s*[\"']([^\"']+)", section.group(1), re.MULTILINE)
        if found:
            return found.group(1)
    return rootdir.name


def workspace_of(rootdir: Path) -> str:
    """Return the name of this checkout, made at its first run; empty if it can't be kept."""
    try:
        path = own_folder(rootdir) / "workspace"
        with suppress(FileNotFoundError):
            known = path.read_text(encoding="ascii", errors="replace").strip()
            if re.fullmatch(r"\w{1,12}", known, re.ASCII):
                return known
        return replace_text(path, uuid4().hex[:12]).read_text(encoding="ascii")
    except OSError:
        return ""
