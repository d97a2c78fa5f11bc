"""Patched text to code whose line numbers stay those of the file on disk."""

from __future__ import annotations

import ast
import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

# First line (of a decorator, if any) and plain name: what a code object can be found by.
CodeKey = tuple[int, str]


def line_map(original: str, patched: str) -> list[int]:
    """Per line of ``patched`` (index 0 unused), the line of ``original`` that it stands for.

    An inserted line stands for the line that it was inserted before, a changed one for the one
    that it replaced. Never descends.
    """
    before, after = original.splitlines(), patched.splitlines()
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    mapped, last = [0], max(1, len(before))
    for _tag, i1, i2, j1, j2 in matcher.get_opcodes():
        mapped.extend(min(max(i1 + 1, min(i1 + 1 + (j - j1), i2)), last) for j in range(j1, j2))
    return mapped


def compile_patched(original: str, patched: str, filename: str) -> CodeType:
    """The module code of ``patched``, numbered like ``original``.

    Raises:
        SyntaxError: If the patched text does not compile.
        ValueError: Likewise.
    """
    tree = ast.parse(patched, filename)
    _renumber(tree, line_map(original, patched))
    return compile(tree, filename, "exec", dont_inherit=True)


def _renumber(tree: ast.AST, lines: Sequence[int]) -> None:
    last = len(lines) - 1
    for node in ast.walk(tree):
        if not hasattr(node, "lineno"):
            continue
        located: Any = node
        start, end = located.lineno, located.end_lineno or located.lineno
        located.lineno, located.end_lineno = lines[min(start, last)], lines[min(end, last)]
        if located.end_lineno == located.lineno:  # columns of one line must not descend
            located.end_col_offset = max(located.end_col_offset or 0, located.col_offset)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """``code`` and all code objects in its constants, outer ones first."""
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield from codes_in(constant)


def key_of(code: CodeType) -> CodeKey:
    """What ``code`` can be found by in another compilation of the same file."""
    return code.co_firstlineno, code.co_name
