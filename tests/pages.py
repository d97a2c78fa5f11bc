"""The pages that people read, and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
_FENCED = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n|\n(?= {4}))+")
_FILE = re.compile(r"# (\S+\.\w+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block of code.

    Attributes:
        page: Name of the page's file.
        line: Where it begins.
        language: What is said behind the fence; empty if nothing is, or there is no fence.
        text: What it holds.
    """

    page: str
    line: int
    language: str
    text: str

    @property
    def file(self) -> str:
        """The file that its first line names in a comment; empty if it names none."""
        named = _FILE.match(self.text.partition("\n")[0])
        return named.group(1) if named else ""

    @property
    def where(self) -> str:
        """``index.md:12``."""
        return f"{self.page}:{self.line}"


def blocks(path: Path) -> Iterator[Block]:
    """The blocks of a page, those between fences first."""
    text = path.read_text(encoding="utf-8")
    for found in _FENCED.finditer(text):
        yield _block(path, text, found.start(), found.group(2), found.group(3))
    bare = _FENCED.sub(lambda found: "\n" * found.group().count("\n"), text)
    for found in _INDENTED.finditer(bare):
        yield _block(path, bare, found.start(), "", found.group())


def _block(path: Path, text: str, start: int, language: str, body: str) -> Block:
    line = text.count("\n", 0, start) + 1
    return Block(page=path.name, line=line, language=language, text=dedent(body))


BLOCKS = tuple(block for path in PAGES for block in blocks(path))


def files_of(page: str) -> dict[str, str]:
    """The files that a page shows, by the names in their first lines."""
    return {block.file: block.text for block in BLOCKS if block.page == page and block.file}
