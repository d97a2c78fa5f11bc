"""Patched text to code whose line numbers stay those of the file on disk."""

from __future__ import annotations

import ast
import difflib
import re
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.source import compiled, lines_of, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType

# First line (of a decorator, if any) and plain name: what a code object can be found by.
CodeKey = tuple[int, str]


def line_map(original: str, patched: str) -> list[int]:
    """Per line of ``patched`` (index 0 unused), the line of ``original`` that it stands for.

    An inserted line stands for the line that it was inserted before, at the end of a suite for the
    line above; a changed one for the one that it replaced. Never descends.
    """
    before, after = _texts(original), _texts(patched)
    last, shortest = max(1, len(before)), min(len(before), len(after))
    # A patch changes one function: what is equal around it needs no comparison, which is quadratic.
    head = _n_equal(zip(before, after, strict=False))
    tail = min(_n_equal(zip(reversed(before), reversed(after), strict=False)), shortest - head)
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    mapped = list(range(head + 1))
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        first, end, new = head + i1 + 1, head + i2, middle[1][j1:j2]
        if tag == "equal":
            mapped.extend(range(first, end + 1))
        elif tag == "insert":
            below = before[end] if end < len(before) else ""
            added = [end + (_depth(text) <= _depth(below)) for text in new]
            mapped.extend(min(max(1, n), last) for n in accumulate(added, max))
        else:
            mapped.extend(first + n for n in _replaced(middle[0][i1:i2], new))
    mapped.extend(range(len(before) - tail + 1, len(before) + 1))
    return mapped


def _texts(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in lines_of(text)]


def _replaced(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """Per line of ``after``, the index of the line in ``before`` that it came from.

    They are counted off, except that what follows ``if x:`` belongs to ``if x: return y``.
    """
    found: list[int] = []
    at = -1
    for n, text in enumerate(after):
        heads = (i for i in range(at + 1, len(before)) if before[i].startswith(text))
        at = next(heads, at) if text.endswith(":") else at
        found.append(at if at >= 0 else min(n, len(before) - 1))
    return [*accumulate(reversed(found), min)][::-1]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _n_equal(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def excerpt(original: str, patched: str, first: int, last: int) -> tuple[str, str] | None:
    """Both texts with all but one statement of the module left out, each line in its place.

    Compiling it takes a fraction of the time that the module takes.

    Args:
        original: The file.
        patched: The file with the change.
        first: First line of a statement of the module, of its decorators if it has any.
        last: Its last line in ``original``.

    Returns:
        None if the texts differ outside of the statement, or it is not safe to cut it out.
    """
    before, after = _texts(original), _texts(patched)
    head, tail = before[: first - 1], before[last:]
    end = len(after) - len(tail)
    if after[: first - 1] != head or after[end:] != tail or not before[first - 1][:1].strip():
        return None
    futures = [line for line in head if "__future__" in line]
    if len(futures) > 1 or any(not _FUTURE.fullmatch(line) for line in futures):
        return None
    blank = [*futures, *[""] * (first - 1 - len(futures))]
    cut_before, cut_after = before[first - 1 : last], after[first - 1 : end]
    return "\n".join([*blank, *cut_before, ""]), "\n".join([*blank, *cut_after, ""])


_FUTURE = re.compile(r"from __future__ import [\w, ]+")


def compile_patched(original: str, patched: str, filename: str) -> CodeType:
    """The module code of ``patched``, numbered like ``original``.

    Raises:
        SyntaxError: If the patched text does not compile.
        ValueError: Likewise.
    """
    tree = parse(patched, filename)
    _renumber(tree, line_map(original, patched))
    return compiled(tree, filename)


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
