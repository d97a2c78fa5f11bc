"""The functions of a source tree, as text and as syntax."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Def = ast.FunctionDef | ast.AsyncFunctionDef

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*DEFS, ast.ClassDef)


class SourceFile:
    """The text of one file, addressed as ``ast`` does: lines from 1, columns in bytes."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.data = text.encode("utf-8")
        self.walked: dict[ast.AST, tuple[ast.AST, ...]] = {}  # each operator asks for them
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    @cached_property
    def syntax(self) -> ast.Module:
        """Its syntax tree."""
        return parsed(self.text)

    @cached_property
    def shape(self) -> str:
        """Its syntax without positions: two texts of one shape mean the same."""
        return ast.dump(self.syntax)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Its functions in the order they stand; overloads and stubs too."""
        return tuple(_functions(self, self.syntax, ""))

    @cached_property
    def _statements(self) -> tuple[tuple[int, int, int], ...]:
        """Start and end in bytes, and first line, of each statement; outer before inner."""
        found = []
        for node in ast.walk(self.syntax):
            if isinstance(node, (ast.stmt, ast.excepthandler)):
                line = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                found.append((self.offset(line, 0), self.span(node)[1], line))
        return tuple(sorted(found, key=lambda each: (each[0], -each[1])))

    @cached_property
    def names(self) -> dict[str, list[int]]:
        """The lines where each name is mentioned."""
        found: dict[str, list[int]] = {}
        for node in ast.walk(self.syntax):
            if isinstance(node, ast.Name):
                found.setdefault(node.id, []).append(node.lineno)
        return found

    def offset(self, line: int, column: int) -> int:
        """Byte position of a place."""
        return self._starts[line - 1] + column

    def touched(self, start: int, end: int) -> range:
        """Lines from byte ``start`` to ``end``, from where their first statement begins.

        What runs is recorded for the first line of a statement alone.
        """
        blank = re.match(rb"\s*", self.data[start:end])
        start += blank.end() if blank and blank.end() < end - start else 0
        around = [line for begin, stop, line in self._statements if begin <= start < stop]
        first = around[-1] if around else bisect_right(self._starts, start)
        last = bisect_right(self._starts, max(start, end - 1))
        return range(first, max(first, last) + 1)

    def between(self, start: int, end: int) -> str:
        """The text from byte ``start`` to before ``end``."""
        return self.data[start:end].decode("utf-8")

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Byte positions where ``node`` starts and ends."""
        line, column, end_line, end_column = (
            getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")
        )
        return self.offset(line, column), self.offset(end_line, end_column)

    def segment(self, node: ast.AST) -> str:
        """The text of ``node``."""
        return self.between(*self.span(node))

    def replaced(self, start: int, end: int, text: str) -> str:
        """The whole text with another one from byte ``start`` to before ``end``."""
        return (self.data[:start] + text.encode("utf-8") + self.data[end:]).decode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One ``def`` of a file.

    Attributes:
        file: The file.
        qualname: As ``__qualname__``.
        node: Its syntax.
    """

    file: SourceFile
    qualname: str
    node: Def

    @property
    def start_line(self) -> int:
        """Line of the ``def``, below decorators."""
        return self.node.lineno

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements without the docstring."""
        return self.node.body[1:] if ast.get_docstring(self.node) is not None else self.node.body

    @property
    def stands_alone(self) -> bool:
        """Whether its body is on lines of its own, below the ``def``."""
        return bool(self.body) and self.body[0].lineno > self.node.lineno

    def own_nodes(self) -> tuple[ast.AST, ...]:
        """What is in its body but in no function or class nested there, in its order."""
        if self.node not in self.file.walked:
            self.file.walked[self.node] = tuple(self._walk())
        return self.file.walked[self.node]

    def _walk(self) -> Iterator[ast.AST]:
        pending: list[ast.AST] = list(reversed(self.body))
        while pending:
            node = pending.pop()
            if isinstance(node, SCOPES):
                continue
            yield node
            pending.extend(reversed(list(parts(node))))


def parts(node: ast.AST) -> Iterator[ast.AST]:
    """What ``node`` consists of, without what can't be changed or does nothing.

    Columns inside f-strings are wrong before Python 3.12; annotations of variables don't run.
    """
    if isinstance(node, ast.JoinedStr):
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
            yield child


def parsed(text: str) -> ast.Module:
    """The syntax of ``text``; what the parser warns of is the subject's affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def source_files(folder: Path, root: Path) -> Iterator[SourceFile]:
    """The package's files that can be parsed, tests left out, named relative to ``root``."""
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        if {"tests", "test", "testing", "_vendor"} & set(parts) or parts[-1].startswith("test_"):
            continue
        source = read(path, root)
        if source is not None:
            yield source


def read(path: Path, root: Path) -> SourceFile | None:
    """The file at ``path``, named relative to ``root``; None if it can't be parsed."""
    try:
        source = SourceFile(path.relative_to(root).as_posix(), path.read_bytes().decode("utf-8"))
        source.functions  # noqa: B018 - parses
    except (SyntaxError, UnicodeDecodeError):
        return None
    return source


def _functions(file: SourceFile, parent: ast.AST, prefix: str) -> Iterator[Function]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, DEFS):
            qualname = f"{prefix}{node.name}"
            yield Function(file=file, qualname=qualname, node=node)
            yield from _functions(file, node, f"{qualname}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(file, node, f"{prefix}{node.name}.")
        else:
            yield from _functions(file, node, prefix)
