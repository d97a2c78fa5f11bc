"""Nodes and the text they take up."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeVar

from benchmarks.suites.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmarks.suites.edits import Site
    from benchmarks.suites.functions import SourceFile

NodeT = TypeVar("NodeT", bound=ast.AST)

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete)


def own(site: Site, kind: type[NodeT]) -> Iterator[NodeT]:
    """The nodes of one kind that ``site`` itself runs."""
    return (node for node in site.own_nodes() if isinstance(node, kind))


def blocks(site: Site) -> Iterator[list[ast.stmt]]:
    """The suites of ``site``: its body, and those of its compound statements."""
    yield site.node.body
    for node in site.own_nodes():
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from suites(node)


def suites(node: ast.AST) -> list[list[ast.stmt]]:
    """The suites of a compound statement, handler or case, in the order they stand."""
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [suite for suite in found if isinstance(suite, list) and suite]


def instead(file: SourceFile, node: ast.AST, text: str) -> Edit:
    """``text`` instead of ``node``."""
    start, end = file.span(node)
    return Edit(start=start, end=end, text=text)


def within_brackets(file: SourceFile, node: ast.AST) -> tuple[int, int]:
    """The span of an operand with the brackets around it; not for what stands alone in a call."""
    start, end = file.span(node)
    while True:
        before = re.search(rb"\(\s*$", file.data[:start])
        after = re.match(rb"\s*\)", file.data[end:])
        if before is None or after is None:
            return start, end
        start, end = before.start(), end + after.end()


def whole_lines(file: SourceFile, start: int, end: int) -> tuple[int, int] | None:
    """The lines of a span, with the comment behind it; None if they hold something else too."""
    first = file.data.rfind(b"\n", 0, start) + 1
    rest = re.compile(rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|$)").match(file.data, end)
    if file.data[first:start].strip() or rest is None:
        return None
    return first, rest.end()


def removed(file: SourceFile, suite: list[ast.stmt], node: ast.stmt) -> Edit | None:
    """Take a statement out of its suite; None if it shares its line."""
    if len(suite) == 1:
        return instead(file, node, "pass")
    span = whole_lines(file, *file.span(node))
    return Edit(start=span[0], end=span[1]) if span else None


def without_item(file: SourceFile, start: int, end: int) -> Edit:
    """Take an item out of a list with commas: an argument, an element, an entry."""
    comma = re.compile(rb"\s*,").match(file.data, end)
    if comma is not None:
        lines = whole_lines(file, start, comma.end())
        if lines:
            return Edit(start=lines[0], end=lines[1])
        blank = re.compile(rb"[ \t]*").match(file.data, comma.end())
        following = blank.end() if blank else comma.end()
        if file.data[following : following + 1] not in b")]}\n\r":
            return Edit(start=start, end=following)
    before = re.search(rb",\s*$", file.data[:start])
    if before is not None:
        return Edit(start=before.start(), end=end)
    return Edit(start=start, end=comma.end() if comma else end)


def exchanged(file: SourceFile, first: ast.AST, second: ast.AST) -> Edit:
    """The texts of two nodes in each other's place; ``first`` stands before ``second``."""
    (start, first_end), (second_start, end) = file.span(first), file.span(second)
    between = file.between(first_end, second_start)
    text = f"{file.segment(second)}{between}{file.segment(first)}"
    return Edit(start=start, end=end, text=text)


def nearest(mentions: Mapping[str, Iterable[int]], line: int, n: int) -> list[str]:
    """The ``n`` names that are mentioned nearest to ``line``."""
    distance = {name: min(abs(at - line) for at in lines) for name, lines in mentions.items()}
    return sorted(distance, key=lambda name: (distance[name], name))[:n]


def dotted(node: ast.AST) -> str:
    """``a.b`` for a name or an attribute of one; empty for all else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def called(node: ast.Call) -> str:
    """The last name of what is called: ``c`` in ``a.b.c()``."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return dotted(node.func)
