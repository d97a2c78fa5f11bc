"""Files of the plugin's own: one that is damaged makes room for a new one, and one keeps trust.

A passing run imports this module.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path

from pytest_bayesloc.domain.errors import ToolError

FOLDER = ".bayesloc"  # in rootdir
SLUG = "damaged-file"  # of what is said of one
#: SQLite's words for a file that no retry makes better.
_BROKEN = ("malformed", "not a database", "file is encrypted", "unsupported file format")
#: The same for tables that are not ours, or of another version.
_STRANGE = ("no such table", "no such column", "has no column", "already exists", "of version")
_MAGIC = b"SQLite format 3\0"
#: What SQLite keeps beside a file.
_BESIDE = ("-wal", "-shm", "-journal")
#: What has to be a file, and a folder, in the plugin's folder.
_FILES = (
    ".gitignore", "*.sqlite", "workspace", "last-run.json", "bayesloc-report.*", "llm/*.json",
    "llm/told.txt", "fixes/*.patch",
)  # fmt: skip
_FOLDERS = ("llm", "fixes", "fixes/learned", "fixes/journal")


def damage(error: BaseException, path: Path) -> str:
    """Return what is wrong with the file itself; empty if it may be a good one.

    A file that is locked, or can't be read or written now, may be a good one. So may any outside
    of the plugin's folder, which the user named, unless SQLite says that its own file is broken.
    """
    said = str(error).strip().partition("\n")[0]
    if isinstance(error, sqlite3.Error):
        is_broken = any(words in said for words in _BROKEN)
    else:
        is_broken = isinstance(error, (zlib.error, UnicodeError, json.JSONDecodeError))
    if FOLDER in path.parts:
        is_strange = isinstance(error, (ValueError, TypeError)) or any(w in said for w in _STRANGE)
        return said or type(error).__name__ if is_broken or is_strange else ""
    return said if is_broken and _is_database(path) else ""


def identity(path: Path) -> tuple[int, int]:
    """Return what tells the file from one that took its place; zeros if there is none."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_dev, stat.st_ino


def set_aside(path: Path, why: str, seen: tuple[int, int] | None = None) -> str:
    """Rename a damaged file, with what SQLite keeps beside it, and say so in a sentence.

    ``seen`` is its ``identity`` when that was found; another run may have been faster since, and
    the sentence is empty then.

    Raises:
        OSError: If it can't be renamed.
    """
    if seen is not None and identity(path) != seen:
        return ""
    mark = f".damaged-{time.strftime('%Y%m%dT%H%M%S')}"
    aside = path.with_name(path.name + mark)
    if aside.exists():
        aside = path.with_name(f"{path.name}{mark}-{time.time_ns() % 10**9}")
    for suffix in _BESIDE:  # first: beside a new file it would be taken for a part of that
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(aside.with_name(aside.name + suffix))
    path.replace(aside)
    return f"{path} is damaged ({why}) and was set aside as {aside.name}: a new one is begun."


def misplaced(folder: Path) -> list[str]:
    """Set aside what has a name of ours and is of the wrong kind; sentences for the user."""
    told = []
    for patterns, is_right, why in (
        (_FOLDERS, Path.is_dir, "it is no folder"),
        (_FILES, Path.is_file, "it is no file"),
    ):
        for path in (path for pattern in patterns for path in folder.glob(pattern)):
            if ".damaged-" not in path.name and not is_right(path):
                with suppress(OSError):
                    told.append(f"{set_aside(path, why)} (damaged-file)")
    return told


def without_folder(path: Path) -> str:
    """Return why nothing can be kept in ``path``, if a file has the name of the plugin's folder."""
    for parent in path.parents:
        if parent.name == FOLDER and parent.exists() and not parent.is_dir():
            return (
                f"{parent} is a file, and pytest-bayesloc has a folder of that name: nothing is "
                "kept from run to run. Move the file away."
            )
    return ""


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


APP = "pytest-bayesloc"
FILE = "trusted.json"


def user_folder() -> Path:
    """Return the folder of the user's own configuration.

    It is where platformdirs has it. That package is no dependency, since from 4.14 on it brings a
    plugin of pytest, which every run of the environment would load.
    """
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - it gives an answer where there is no home
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / APP / APP
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / APP
    return Path(os.environ.get("XDG_CONFIG_HOME", "").strip() or home / ".config") / APP


def is_trusted(path: Path, digest: str, folder: Path) -> bool:
    """Return whether a person trusted what lies at ``path`` as it is now.

    Args:
        path: Real, absolute.
        digest: Of what it holds, and is trusted for.
        folder: Of the user's own configuration, where trust is kept.
    """
    return _trusted(folder).get(str(path)) == digest


def setting_key(ini: Path, name: str) -> Path:
    """Return the key of a setting of an ini file, whose other lines may change."""
    return ini.with_name(f"{ini.name}::{name}")


def trust(path: Path, digest: str, folder: Path) -> None:
    """Trust what lies at ``path`` as it is; the arguments are those of ``is_trusted``.

    Raises:
        ToolError: If that can't be written.
    """
    known = {**_trusted(folder), str(path): digest}
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{FILE}.")
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            json.dump({"trusted": known}, stream, indent=1, sort_keys=True)
        Path(name).replace(folder / FILE)
    except OSError as error:
        raise ToolError(
            f"Trust in {path.name} can't be written to {folder / FILE} ({error}): it does not "
            "count. See that the folder can be written.",
            slug="not-trusted",
        ) from error


def _trusted(folder: Path) -> dict[str, str]:
    try:
        read = json.loads((folder / FILE).read_text(encoding="ascii"))
        return {str(path): str(digest) for path, digest in read["trusted"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
