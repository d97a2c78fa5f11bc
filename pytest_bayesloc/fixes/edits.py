"""Small changes of a file's text, addressed as the syntax tree does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_bayesloc.domain.source import ScopeNode, lines_of

#: Nodes that have a place in the text.
Placed = ast.stmt | ast.expr | ast.arg | ast.keyword


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit:
    """Text to put in the place of a node.

    Attributes:
        start: Byte at which the replaced text starts.
        end: Byte before which it ends.
        text: What stands there then.
        line: Line of the node.
        words: What is done, for a person.
    """

    start: int
    end: int
    text: str
    line: int
    words: str


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

    def insert(self, at: int, text: str, words: str = "", line: int = 1) -> TextEdit:
        """``text`` before the byte ``at``."""
        return self.cut(at, at, text, words, line)

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


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes in the body of ``function``, but in no function or class nested there.

    Assertions are left out, since a check that is silenced fixes nothing; and what stands in an
    f-string: its positions are wrong before Python 3.12.
    """
    pending: list[ast.AST] = list(reversed(getattr(function, "body", [])))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assert):
            continue
        yield node
        if not isinstance(node, (ScopeNode, ast.Lambda, ast.JoinedStr)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
