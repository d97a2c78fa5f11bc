"""The files beside the project's code that are no code, but decide what it does.

Standard library only: a green run looks at them, and must not pay for imports.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: Configuration, tables and templates, by the ends of their names.
SUFFIXES = frozenset(
    """.cfg .csv .graphql .htm .html .ini .j2 .jinja .jinja2 .json .mako .po .proto .sql .tmpl .toml
    .tpl .tsv .txt .xml .yaml .yml""".split()  # noqa: SIM905 - names to be read
)
_FOREIGN = frozenset({"__pycache__", "build", "dist", "htmlcov", "node_modules", "site-packages"})
# Choices that keep a run quick where a folder of data lies beside the code.
DEPTH = 2  # folders below one that holds code
MAX_ENTRIES = 5_000
MAX_FILES = 300
MAX_SIZE = 200_000  # bytes of a file


def is_data(name: str) -> bool:
    """Return whether a file of this name holds data of a known form."""
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def beside(code: Mapping[str, Path], before_ns: int) -> dict[str, Path]:
    """Find the data files in the folders of ``code``, and in the folders below them.

    Args:
        code: Per path relative to rootdir, where the file is.
        before_ns: What was written later, as ``time.time_ns``, is left out: tests may write data.

    Returns:
        Likewise, of the data files.
    """
    folders = {str(PurePosixPath(name).parent): path.parent for name, path in code.items()}
    found: dict[str, Path] = {}
    for name, entry in _entries(folders):
        if len(found) == MAX_FILES:
            break
        with suppress(OSError):
            status = entry.stat()
            if status.st_size <= MAX_SIZE and status.st_mtime_ns <= before_ns:
                found[name] = Path(entry.path)
    return found


def _entries(folders: Mapping[str, Path]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield data files with their names, outer folders first, until enough was looked at."""
    pending = [(name, str(path), 0) for name, path in sorted(folders.items())]
    seen: set[str] = set()
    n_seen = 0
    while pending and n_seen < MAX_ENTRIES:
        folder, path, depth = pending.pop(0)
        if path in seen:
            continue
        seen.add(path)
        for entry in _listed(path):
            n_seen += 1
            name = str(PurePosixPath(folder, entry.name))
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH and entry.name not in _FOREIGN:
                    pending.append((name, entry.path, depth + 1))
            elif is_data(entry.name):
                yield name, entry


def _listed(path: str) -> list[os.DirEntry[str]]:
    """List a folder by name, hidden entries left out; nothing of an environment."""
    try:
        with os.scandir(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
    if any(entry.name == "pyvenv.cfg" for entry in listed):
        return []
    return [entry for entry in listed if not entry.name.startswith(".")]


def named_first(files: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Sort ``files``: those whose name stands in one of ``texts`` come first."""
    listed, together = sorted(files), "\n".join(texts)
    named = [file for file in listed if PurePosixPath(file).name in together]
    return (*named, *(file for file in listed if file not in named))
