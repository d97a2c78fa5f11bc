"""Small changes of a file's text, addressed as the syntax tree does."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pytest_bayesloc.domain.source import ScopeNode, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

NodeT = TypeVar("NodeT", bound=ast.AST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
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

    def start(self, node: ast.stmt | ast.expr) -> int:
        """Where ``node`` starts."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr) -> int:
        """Where ``node`` ends."""
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def between(self, start: int, end: int) -> str:
        """The text from ``start`` to before ``end``."""
        return self._data[start:end].decode()

    def of(self, node: ast.stmt | ast.expr) -> str:
        """The text of ``node``."""
        return self.between(self.start(node), self.end(node))

    def replace(self, node: ast.stmt | ast.expr, text: str, words: str) -> Edit:
        """``text`` instead of ``node``, apart from the words around it."""
        start, end = self.start(node), self.end(node)
        before = " " if self._is_word(start - 1) and _is_word(text[:1]) else ""
        behind = " " if self._is_word(end) and _is_word(text[-1:]) else ""
        written = f"{before}{text}{behind}"
        return Edit(start=start, end=end, text=written, line=node.lineno, words=words)

    def _is_word(self, at: int) -> bool:
        return _is_word(self._data[max(at, 0) : at + 1].decode("utf-8", "replace"))

    def edited(self, *edits: Edit) -> str:
        """The whole text after ``edits``, which don't overlap."""
        data = self._data
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return data.decode()


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What is in the body of ``function``, but in no function or class nested there.

    Assertions are left out, since a check that is silenced mends nothing; and what stands in an
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


def own(function: ast.AST, kind: type[NodeT]) -> Iterator[NodeT]:
    """The nodes of one kind among ``own_nodes``."""
    return (node for node in own_nodes(function) if isinstance(node, kind))
