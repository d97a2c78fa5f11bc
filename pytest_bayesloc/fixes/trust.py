"""Which tools of a project may run: those whose path and content a person has trusted.

Reference:
    docs/fixes.md, section "Trust".
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.fixes.definition import Definition, parsed

SUFFIXES = (".yaml", ".yml")
MAX_FILE = 1 << 20
MAX_TOOLS = 200
FILE = "trusted.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A definition with all that it would run.

    Attributes:
        path: Of the definition, resolved.
        definition: What it says.
        files: Bytes of the files beside it that its command names.
        digest: Of its path and of all these bytes.
    """

    path: Path
    definition: Definition
    files: Mapping[str, bytes]
    digest: str


def definitions_in(folder: Path) -> list[Path]:
    """The definitions in a folder, in the order of their names."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)[:MAX_TOOLS]


def found_at(path: Path, inside: Path | None = None) -> Found:
    """The tool that a definition stands for, read once: what is hashed is what is run.

    Args:
        path: Of the definition.
        inside: The folder that neither it nor what it names may leave; None: that it lies in.

    Raises:
        ToolError: If it can't be read, or is not what a definition must be.
    """
    root = Path(os.path.realpath(inside or path.parent))
    text = _read(path, root)
    definition = parsed(text, path.name)
    named = (definition.command, *definition.args)
    files = {
        word: _read(path.parent / word, root) for word in named if _is_beside(path, word, root)
    }
    whole = hashlib.sha256()
    for part in (os.path.realpath(path).encode("utf-8", "surrogateescape"), text):
        whole.update(b"%d:" % len(part) + part)
    for word, data in sorted(files.items()):
        whole.update(b"%d:" % len(word) + word.encode() + b"%d:" % len(data) + data)
    return Found(
        path=Path(os.path.realpath(path)),
        definition=definition,
        files=files,
        digest=whole.hexdigest(),
    )


class Trust:
    """What a person trusted, kept in the user's own configuration.

    Args:
        folder: Of the configuration.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def holds(self, found: Found) -> bool:
        """Whether it was trusted as it is now, where it is now."""
        return self._known().get(str(found.path)) == found.digest

    def add(self, found: Found) -> None:
        """Trust it as it is.

        Raises:
            ToolError: If that can't be written.
        """
        known = {**self._known(), str(found.path): found.digest}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{FILE}.")
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                json.dump({"trusted": known}, stream, indent=1, sort_keys=True)
            Path(name).replace(self._path)
        except OSError as error:
            raise ToolError(
                f"Trust in {found.path.name} can't be written to {self._path} ({error}): the tool "
                "is not run. See that the folder can be written.",
                slug="not-trusted",
            ) from error

    def _known(self) -> dict[str, str]:
        try:
            read = json.loads(self._path.read_text(encoding="ascii"))
            return {str(path): str(digest) for path, digest in read["trusted"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}


def tools_at(path: Path) -> Iterator[Path]:
    """The definitions that a path means: a definition, or all of a folder."""
    yield from definitions_in(path) if path.is_dir() else [path]


def _is_beside(path: Path, word: str, root: Path) -> bool:
    """Whether a word of a command is the name of a file in the definition's folder.

    A file elsewhere in the project would be run as it is then, not as it was when it was trusted.
    """
    if os.sep in word or "/" in word:
        named = path.parent / word
        is_ours = not Path(word).is_absolute() or Path(os.path.realpath(named)).is_relative_to(root)
        if is_ours and named.exists():
            raise _refused(path, f"{word} is not beside it")
        return False
    beside = path.parent / word
    return bool(word) and not word.startswith("-") and beside.is_file()


def _read(path: Path, root: Path) -> bytes:
    """The bytes of a plain file that lies where it seems to."""
    if path.name.startswith("-"):
        raise _refused(path, "its name starts with `-`")
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise _refused(path, f"it leads out of {root}")
    try:
        if not stat.S_ISREG(real.stat().st_mode):  # opening a pipe would wait for ever
            raise _refused(path, "it is no file")
        with real.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise _refused(path, str(error)) from error
    if len(data) > MAX_FILE:
        raise _refused(path, f"it has more than {MAX_FILE:,} bytes")
    return data


def _refused(path: Path, why: str) -> ToolError:
    return ToolError(
        f"The fix tool {path.name} is refused: {why}. Expected plain files beside its definition, "
        "in the project.",
        slug="refused-tool",
    )
