"""The functions of a source tree, as text and as syntax."""

from __future__ import annotations

import ast
import warnings
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
        self._data = text.encode("utf-8")
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    @cached_property
    def syntax(self) -> ast.Module:
        """Its syntax tree."""
        return parsed(self.text)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Its functions in the order they stand; overloads and stubs too."""
        return tuple(_functions(self, self.syntax, ""))

    def offset(self, line: int, column: int) -> int:
        """Byte position of a place."""
        return self._starts[line - 1] + column

    def between(self, start: int, end: int) -> str:
        """The text from byte ``start`` to before ``end``."""
        return self._data[start:end].decode("utf-8")

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
        return (self._data[:start] + text.encode("utf-8") + self._data[end:]).decode("utf-8")


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

    def own_nodes(self) -> Iterator[ast.AST]:
        """What is in its body but in no function or class nested there."""
        pending: list[ast.AST] = list(reversed(self.body))
        while pending:
            node = pending.pop()
            if isinstance(node, SCOPES):
                continue
            yield node
            if not isinstance(node, ast.JoinedStr):  # columns inside are wrong before 3.12
                pending.extend(reversed(list(ast.iter_child_nodes(node))))


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
        try:
            source = SourceFile(
                path.relative_to(root).as_posix(), path.read_bytes().decode("utf-8")
            )
            source.functions  # noqa: B018 - parses
        except (SyntaxError, UnicodeDecodeError):
            continue
        yield source


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
