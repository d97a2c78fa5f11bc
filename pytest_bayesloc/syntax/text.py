"""Edits of a file's text that keep its format, and the lines in which two texts differ."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.source import lines_of
from pytest_bayesloc.domain.texts import common_ends

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location

#: Nodes that have a place in the text.
Placed = ast.stmt | ast.expr | ast.arg | ast.keyword | ast.alias
#: Lines of a text, from 0, the end excluded, and those that another text has in their place.
LineSpan: TypeAlias = tuple[int, int, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit:
    """Text to put in the place of a node.

    Attributes:
        start: Byte at which the replaced text starts.
        end: Byte before which it ends.
        text: What stands there then.
        words: What is done, for a person.
        weight: How natural it is, against others of its kind.
    """

    start: int
    end: int
    text: str
    line: int
    words: str
    weight: float = 1.0


class Text:
    """A file's text; positions count UTF-8 bytes from its beginning."""

    def __init__(self, text: str) -> None:
        self._data = text.encode()
        self._starts = [0]
        for line in lines_of(text):
            self._starts.append(self._starts[-1] + len(line.encode()))

    def at(self, line: int, column: int = 0) -> int:
        """Position of the byte ``column`` of ``line``; the end of the text has a line too."""
        return self._starts[min(line - 1, len(self._starts) - 1)] + column

    def start(self, node: Placed) -> int:
        """Position at which ``node`` starts."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: Placed) -> int:
        """Position at which ``node`` ends."""
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def between(self, start: int, end: int) -> str:
        """The text from ``start`` to before ``end``."""
        return self._data[start:end].decode()

    def of(self, node: Placed) -> str:
        """The text of ``node``."""
        return self.between(self.start(node), self.end(node))

    def line_start(self, node: Placed) -> int:
        """Position at which the first line of ``node`` starts."""
        return self.start(node) - node.col_offset

    def lead(self, node: Placed) -> str:
        """The text before ``node`` on its first line: blanks, if it comes first there."""
        return self.between(self.line_start(node), self.start(node))

    def replace(self, node: Placed, text: str, words: str = "") -> TextEdit:
        """``text`` instead of ``node``, apart from the words around it."""
        start, end = self.start(node), self.end(node)
        before = " " if self._is_word(start - 1) and _is_word(text[:1]) else ""
        behind = " " if self._is_word(end) and _is_word(text[-1:]) else ""
        return self.cut(start, end, f"{before}{text}{behind}", words, node.lineno)

    def rename(self, node: Placed, old: str, new: str, words: str = "") -> TextEdit:
        """``new`` instead of ``old``, which ``node`` begins with."""
        return self.cut(self.start(node), self.start(node) + len(old.encode()), new, words)

    def insert(self, at: int, text: str, words: str = "", line: int = 1) -> TextEdit:
        """``text`` before the byte ``at``."""
        return self.cut(at, at, text, words, line)

    def guard(self, statement: ast.stmt, test: str, left: str, words: str) -> TextEdit | None:
        """``if test: left`` before a statement; None where that stands behind something else."""
        indent = self.lead(statement)
        step = "\t" if indent.startswith("\t") else "    "
        return self.before(statement, f"if {test}:\n{indent}{step}{left}", words)

    def below(self, statement: ast.stmt, head: str, words: str) -> TextEdit | None:
        """A statement as the block of ``head``; None where it can't be moved without a doubt."""
        indent, text = self.lead(statement), self.of(statement)
        if indent.strip() or any(quotes in text for quotes in ('"""', "'''", "\\\n")):
            return None
        step = "\t" if indent.startswith("\t") else "    "
        lines = text.replace("\n", f"\n{step}")
        return self.replace(statement, f"{head}\n{indent}{step}{lines}", words)

    def before(self, statement: ast.stmt, text: str, words: str) -> TextEdit | None:
        """``text`` on lines before a statement; None where that stands behind something else."""
        indent = self.lead(statement)
        if indent.strip():
            return None
        line = f"{indent}{text}\n"
        return self.insert(self.line_start(statement), line, words, statement.lineno)

    def one_more(self, call: ast.Call, text: str, words: str) -> TextEdit:
        """``text`` as one more argument of ``call``, the last one."""
        at = self.end(call) - 1
        before = self.between(self.start(call), at).rstrip()
        comma = "" if before.endswith((",", "(")) else ", "
        return self.insert(at, f"{comma}{text}", words, call.lineno)

    def cut(self, start: int, end: int, text: str = "", words: str = "", line: int = 1) -> TextEdit:
        """``text`` instead of the bytes from ``start`` to before ``end``."""
        return TextEdit(start=start, end=end, text=text, line=line, words=words)

    def edited(self, *edits: TextEdit) -> str:
        """The whole text after ``edits``, which don't overlap."""
        data = self._data
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return data.decode()

    def _is_word(self, at: int) -> bool:
        return _is_word(self._data[max(at, 0) : at + 1].decode("utf-8", "replace"))


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


@lru_cache(maxsize=64)  # one change is asked about several times
def differing_lines(before: str, after: str) -> tuple[LineSpan, ...]:
    """The runs of lines in which two texts differ, in their order."""
    old, new = lines_of(before), lines_of(after)
    head, tail = common_ends(old, new)
    # A change is in one place: what is equal around it needs no comparison, which is quadratic.
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    return tuple(
        (head + i, head + j, middle[1][k:n])
        for tag, i, j, k, n in matcher.get_opcodes()
        if tag != "equal"
    )


def indent_of(line: str) -> str:
    """The blanks that a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def brief(text: str, width: int = 40) -> str:
    """The first line of ``text``, shortened to ``width`` characters for a message."""
    line = text.partition("\n")[0].strip()
    return line if len(line) <= width else f"{line[: width - 3]}..."


def edited(before: str, after: str, location: Location) -> str:
    """The lines of ``location`` in ``after``, which differs from ``before`` in them alone.

    They parse by themselves, in a fraction of the time that the file takes: dedented, or below an
    ``if`` where a text over several lines begins at the margin.
    """
    lines = lines_of(after)
    end = location.end_line + len(lines) - len(lines_of(before))
    return by_themselves(lines[location.start_line - 1 : end])


def by_themselves(lines: Sequence[str]) -> str:
    """The text of ``lines``, whole statements of some block, as it parses without the block."""
    text = dedent("".join(lines))
    return f"if True:\n{text}" if text[:1] in {" ", "\t"} else text
