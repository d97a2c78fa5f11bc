"""Writes files in one step: to the path that was asked for, else to a folder that git ignores."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

FOLDER = ".bayesloc"


def write(text: str, name: str, path: Path | None, rootdir: Path) -> Path:
    """Write a report in one step, so that no half of it is ever seen.

    Args:
        text: The report.
        name: Of its file, where no path was asked for.
        path: Where it was asked for; None: ``.bayesloc/NAME`` below ``rootdir``, or a temporary
            folder if that can't be written.
        rootdir: The root of the project.

    Returns:
        Where it is.

    Raises:
        OSError: If ``path`` can't be written.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        return replace_text(path, text)
    try:
        return replace_text(own_folder(rootdir) / name, text)
    except OSError:
        return replace_text(Path(tempfile.mkdtemp(prefix="bayesloc-report-")) / name, text)


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
