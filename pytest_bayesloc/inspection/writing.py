"""Adding lines to a function, such that all others stay as they are."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pytest_bayesloc.domain.source import FunctionNode, Unit, first_line, lines_of
from pytest_bayesloc.ranking.evidence.invariants import RESULT

STEP = "    "
#: Built-ins that see all local names: a function that uses them must get no new one.
SEE_LOCALS = frozenset({"dir", "eval", "exec", "locals", "vars"})


class LineWriter:
    """Edits text by lines, from the last to the first, so that positions stay true.

    Args:
        text: Of a file; positions of its syntax tree are what methods are given.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = lines_of(text)
        self._broken: dict[int, str] = {}
        if self.lines and not self.lines[-1].endswith(("\n", "\r")):
            self.lines[-1] += "\n"

    def enter(self, node: FunctionNode, added: Sequence[str]) -> None:
        """Put lines before the first statement that is no docstring."""
        has_docstring = ast.get_docstring(node, clean=False) is not None
        first = node.body[1] if has_docstring and len(node.body) > 1 else node.body[0]
        if has_docstring and len(node.body) == 1:  # nothing but a docstring: add behind it
            line = first_line(first) - 1
            indent = self.indent(line)
            if not self.starts_line(first):
                head, rest = _cut(self.lines[line], first.col_offset)
                indent += STEP
                self.lines[line] = f"{head.rstrip()}\n{indent}{rest}"
            self._insert(first.end_lineno or first.lineno, indent, added)
        elif not self.put_before(first, added):
            self._break_suite(first, added, behind=False)

    def put_before(self, node: ast.stmt, added: Sequence[str]) -> bool:
        """Put lines before a statement; False if it stands behind another one on its line."""
        line = first_line(node) - 1
        if self.starts_line(node):
            self._insert(line, self.indent(line), added)
        elif node.lineno - 1 in self._broken:
            self._insert(node.lineno, self._broken[node.lineno - 1], added)
        elif self.before(node).rstrip().endswith(":"):
            self._break_suite(node, added, behind=False)
        else:
            return False
        return True

    def put_behind(self, node: ast.stmt, added: Sequence[str]) -> None:
        """Put lines behind a statement that is first on its line."""
        if self.starts_line(node):
            indent = self.indent(first_line(node) - 1)
            self._insert(node.end_lineno or node.lineno, indent, added)

    def check_return(self, statement: ast.Return, checks: Sequence[str]) -> None:
        """Keep what is returned as ``RESULT``, and put lines before it is."""
        last = (statement.end_lineno or statement.lineno) - 1
        if _cut(self.lines[last], statement.end_col_offset or 0)[1].lstrip().startswith(";"):
            return  # what stands behind it would come alive
        value = "None" if statement.value is None else f"({self._text_of(statement.value)})"
        followers = [*checks, f"return {RESULT}"]
        if self.starts_line(statement):
            indent = self.indent(statement.lineno - 1)
            self._replace(statement, f"{RESULT} = {value}")
            self._insert(statement.lineno, indent, followers)
        elif self.before(statement).rstrip().endswith(":"):
            self._replace(statement, f"{RESULT} = {value}")
            self._break_suite(statement, followers, behind=True)

    def _break_suite(self, first: ast.stmt, added: Sequence[str], *, behind: bool) -> None:
        """Turn ``if x: statement`` into two lines, with ``added`` before or behind it."""
        at = first.lineno - 1
        head = self.before(first)
        rest = self.lines[at][len(head) :]
        indent = self._broken[at] = self.indent(at) + STEP
        extra = [f"{indent}{text}\n" for text in added]
        own = [f"{indent}{rest}"]
        self.lines[at : at + 1] = [f"{head.rstrip()}\n", *(own + extra if behind else extra + own)]

    def _insert(self, index: int, indent: str, added: Sequence[str]) -> None:
        self.lines[index:index] = [f"{indent}{text}\n" for text in added]

    def _replace(self, node: ast.stmt, text: str) -> None:
        """Put ``text`` in the place of ``node``, on its first line; comments behind it stay."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        behind = _cut(self.lines[end], node.end_col_offset or 0)[1]
        self.lines[start : end + 1] = [f"{self.before(node)}{text}{behind}"]

    def _text_of(self, node: ast.expr) -> str:
        """Return the text of an expression."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if start == end:
            line = self.lines[start].encode()
            return line[node.col_offset : node.end_col_offset].decode()
        first = _cut(self.lines[start], node.col_offset)[1]
        last = _cut(self.lines[end], node.end_col_offset or 0)[0]
        return "".join([first, *self.lines[start + 1 : end], last])

    def before(self, node: ast.stmt) -> str:
        """Return the text before it on its line."""
        return _cut(self.lines[node.lineno - 1], node.col_offset)[0]

    def starts_line(self, node: ast.stmt) -> bool:
        """Return whether it is first on its line, and no line above goes on with a backslash."""
        above = self.lines[node.lineno - 2] if node.lineno > 1 else ""
        return not self.before(node).strip() and not above.rstrip("\r\n").endswith("\\")

    def indent(self, index: int) -> str:
        """Return the space at the start of a line, by its index."""
        line = self.lines[index]
        return line[: len(line) - len(line.lstrip(" \t\f"))]


def _cut(line: str, column: int) -> tuple[str, str]:
    """Cut ``line`` at ``column``, which counts UTF-8 bytes as the syntax tree does."""
    data = line.encode()
    return data[:column].decode(), data[column:].decode()


def heartbeat(unit: Unit) -> str:
    """Return the statement that tells that ``unit`` runs."""
    return f"__bayesloc__.heartbeat({unit.location.fqn!r})"
