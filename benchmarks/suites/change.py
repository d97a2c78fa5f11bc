"""A change that may become a planted fault."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is at fault: a function, a class body or a module body.

    Attributes:
        file: Relative to the tree.
        qualname: As ``__qualname__``; ``<module>`` for a module body.
        start_line: Line of its ``def`` or ``class`` in the published file; 1 for a module body.
    """

    file: str
    qualname: str
    start_line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.start_line} {self.qualname}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """New texts of some files of a tree.

    Attributes:
        kind: ``regression``, ``edit``, ``import`` or ``test``.
        how: What it does, in words: the older release, or the operator.
        places: What is at fault then, the most changed first.
        texts: Per changed file, relative to the tree, its new text.
        originals: Per changed file, its published text.
        lines: Per changed file, the published lines that it touches.
        parts: The changes that it is made of, one a place; none if it is a single one.
    """

    kind: str
    how: str
    places: tuple[Place, ...]
    texts: Mapping[str, str]
    originals: Mapping[str, str]
    lines: Mapping[str, range]
    parts: tuple[Change, ...] = ()

    @property
    def digest(self) -> str:
        """Tells it from every other change of the same tree."""
        return digest_of(self.texts)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return "".join(
            line
            for file, text in sorted(self.texts.items())
            for line in difflib.unified_diff(
                self.originals[file].splitlines(keepends=True),
                text.splitlines(keepends=True),
                f"a/{file}",
                f"b/{file}",
            )
        )


def digest_of(texts: Mapping[str, str]) -> str:
    """Tells these texts from others, whatever the order of files."""
    state: Any = hashlib.sha256()
    for file, text in sorted(texts.items()):
        state.update(f"{file}\0{text}\0".encode())
    return str(state.hexdigest())[:16]
