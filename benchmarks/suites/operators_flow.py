"""Mistakes about what runs when: guards, branches, clauses, order, indentation, loops."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.suites.edits import Edit, operator
from benchmarks.suites.spans import (
    SIMPLE,
    blocks,
    exchanged,
    instead,
    own,
    removed,
    suites,
    whole_lines,
    within_brackets,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suites.functions import Function, SourceFile

LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)


@operator(
    "missing guard",
    (
        "def f(a):\n    '''Doc.'''\n    if not a:\n        return\n    g(a)\n",
        "def f(a):\n    '''Doc.'''\n    g(a)\n",
    ),
    (
        "def f(a=None):\n    if a is None:\n        a = []\n    g(a)\n",
        "def f(a=None):\n    g(a)\n",
    ),
    (
        "def f(a):\n    for b in a:\n        if b: raise C\n",
        "def f(a):\n    for b in a:\n        pass\n",
    ),
)
def missing_guard(function: Function) -> Iterator[Edit]:
    """A special case at the start is forgotten, or the default for None."""
    for suite in blocks(function):
        for node in suite:
            if not isinstance(node, ast.If) or node.orelse or _is_elif(function.file, node):
                continue
            guards = isinstance(node.body[-1], LEAVING)
            fills = ast.unparse(node.test).endswith("is None") and len(node.body) == 1
            edit = removed(function.file, suite, node) if guards or fills else None
            if edit is not None:
                yield edit


@operator(
    "missing branch",
    (
        "def f(a):\n    if a:\n        b()\n    elif c:\n        d()\n    else:\n        e()\n",
        "def f(a):\n    if a:\n        b()\n    else:\n        e()\n",
    ),
    (
        "def f(a):\n    if a:\n        b()\n    else:  # not\n        e()\n",
        "def f(a):\n    if a:\n        b()\n",
    ),
    (
        "def f():\n    try:\n        b()\n    except C:\n        d()\n    except E:\n        g()\n",
        "def f():\n    try:\n        b()\n    except E:\n        g()\n",
    ),
    (
        "def f(a):\n    try:\n        b()\n    except C:\n        d()\n    finally:\n        e()\n",
        "def f(a):\n    try:\n        b()\n    except C:\n        d()\n",
    ),
)
def missing_branch(function: Function) -> Iterator[Edit]:
    """A case that is told apart from others is forgotten."""
    file = function.file
    for node in function.own_nodes():
        if isinstance(node, ast.If) and _is_elif(file, node):
            yield from _without_lines(file, file.span(node)[0], node.body)
        handlers = getattr(node, "handlers", [])
        for handler in handlers if len(handlers) > 1 else ():
            yield from _without_lines(file, file.span(handler)[0], handler.body)
        for before, suite in pairwise(suites(node)):
            yield from _without_last(file, handlers[-1].body if handlers else before, suite)


@operator(
    "missing clause",
    ("def f(a, b):\n    g(a and b)\n", "def f(a, b):\n    g(a)\n"),
    ("def f(a, b):\n    g((a or c) and b)\n", "def f(a, b):\n    g(b)\n"),
    ("def f(a, b):\n    g((a or c) and (b < 1))\n", "def f(a, b):\n    g((a or c))\n"),
    ("def f(a):\n    g([b for b in a if b])\n", "def f(a):\n    g([b for b in a])\n"),
)
def missing_clause(function: Function) -> Iterator[Edit]:
    """A part of a condition, or the filter of a comprehension, is forgotten."""
    for node in own(function, ast.BoolOp):
        spans = [within_brackets(function.file, value) for value in node.values]
        for (_, start), (_, end) in pairwise(spans):
            yield Edit(start=start, end=end)
        yield Edit(start=spans[0][0], end=spans[1][0])
    for clauses in own(function, ast.comprehension):
        for test in clauses.ifs:
            start, end = function.file.span(test)
            word = re.search(rb"\s+if\s+$", function.file.data[:start])
            if word:
                yield Edit(start=word.start(), end=end)


@operator(
    "exchanged statements",
    (
        "def f(a):\n    b = a\n    a = g()\n    h(a, b)\n",
        "def f(a):\n    a = g()\n    b = a\n    h(a, b)\n",
    ),
    (
        "def f(a):\n    a.open()\n    # now\n    a.read()\n",
        "def f(a):\n    a.read()\n    # now\n    a.open()\n",
    ),
    (
        "def f(self, a):\n    self.b = a\n    self.c = self.b\n",
        "def f(self, a):\n    self.c = self.b\n    self.b = a\n",
    ),
)
def exchanged_statements(function: Function) -> Iterator[Edit]:
    """Two statements in the wrong order, where the order matters and nothing lacks its value."""
    kinds = (ast.Assign, ast.AugAssign, ast.Expr)
    for suite in blocks(function):
        for first, second in pairwise(suite):
            if not (isinstance(first, kinds) and isinstance(second, kinds)):
                continue
            if first.end_lineno != second.lineno and _order_matters(function, first, second):
                yield exchanged(function.file, first, second)


@operator(
    "other indentation",
    (
        "def f(a):\n    for b in a:\n        c(b)\n        d()\n    e()\n",
        "def f(a):\n    for b in a:\n        c(b)\n    d()\n    e()\n",
    ),
    (
        "def f(a):\n    for b in a:\n        c(b)\n        d()\n    e()\n",
        "def f(a):\n    for b in a:\n        c(b)\n        d()\n        e()\n",
    ),
    (
        "def f(a):\n    if a:\n        b()\n    c(\n        a,\n    )\n",
        "def f(a):\n    if a:\n        b()\n        c(\n            a,\n        )\n",
    ),
    (
        "def f(a):\n    if a:\n        b()\n    else:\n        c()\n        d()\n",
        "def f(a):\n    if a:\n        b()\n    else:\n        c()\n    d()\n",
    ),
)
def other_indentation(function: Function) -> Iterator[Edit]:
    """The last statement of a suite stands behind it, or the one behind it stands in it."""
    for block in blocks(function):
        for i, node in enumerate(block):
            if not isinstance(node, COMPOUND):
                continue
            inner = _last_suite(node)
            if len(inner) > 1 and isinstance(inner[-1], SIMPLE):
                yield from _moved(function.file, inner[-1], block[0])
            following = block[i + 1] if i + 1 < len(block) else None
            if isinstance(following, SIMPLE) and not isinstance(inner[-1], LEAVING):
                yield from _moved(function.file, following, inner[0])


@operator(
    "loop control",
    (
        "def f(a):\n    for b in a:\n        break\n",
        "def f(a):\n    for b in a:\n        continue\n",
    ),
    (
        "def f(a):\n    for b in a:\n        if b: continue\n        g()\n",
        "def f(a):\n    for b in a:\n        if b: break\n        g()\n",
    ),
    ("def f(a):\n    for b in a:\n        break\n", "def f(a):\n    for b in a:\n        return\n"),
)
def loop_control(function: Function) -> Iterator[Edit]:
    """``break``, ``continue`` and ``return`` in each other's place."""
    for node in function.own_nodes():
        if isinstance(node, ast.Break):
            yield instead(function.file, node, "continue")
            yield instead(function.file, node, "return")
        elif isinstance(node, ast.Continue):
            yield instead(function.file, node, "break")


def _is_elif(file: SourceFile, node: ast.If) -> bool:
    start, _ = file.span(node)
    return file.data[start : start + 4] == b"elif"


def _without_lines(file: SourceFile, start: int, body: list[ast.stmt]) -> Iterator[Edit]:
    """Take out a suite with its header, which begins at byte ``start``."""
    end = file.span(body[-1])[1]
    span = whole_lines(file, start, end)
    if span is not None:
        lines = range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1)
        yield Edit(start=span[0], end=span[1], lines=lines)


def _without_last(
    file: SourceFile, before: list[ast.stmt], suite: list[ast.stmt]
) -> Iterator[Edit]:
    """Take out an ``else`` or ``finally``, which follows the suite ``before``."""
    start = file.span(before[-1])[1]
    header = re.search(
        rb"^[ \t]*(else|finally)[ \t]*:", file.data[start : file.span(suite[0])[0]], re.M
    )
    if header is not None:
        yield from _without_lines(file, start + header.start(1), suite)


def _last_suite(node: ast.stmt) -> list[ast.stmt]:
    """The suite that ends where the statement does."""
    last = suites(node)[-1]
    while isinstance(node, ast.If) and len(last) == 1 and isinstance(last[0], ast.If):
        node = last[0]
        last = suites(node)[-1]
    return last


def _moved(file: SourceFile, node: ast.stmt, beside: ast.stmt) -> Iterator[Edit]:
    """``node`` with the indentation of ``beside``."""
    first, (start, end) = file.offset(node.lineno, 0), file.span(node)
    if file.data[first:start].strip():
        return
    text = file.between(first, end)
    shift = beside.col_offset - node.col_offset
    texts = [each for each in ast.walk(node) if isinstance(each, (ast.Constant, ast.JoinedStr))]
    if any(each.lineno != each.end_lineno for each in texts):
        moved = " " * beside.col_offset + text.lstrip()  # what is inside a text has to stay
    else:
        lines = text.split("\n")
        moved = "\n".join(" " * (_indent(line) + shift) + line.lstrip() for line in lines)
    lines_of_node = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    yield Edit(start=first, end=end, text=moved, lines=lines_of_node)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _order_matters(function: Function, first: ast.stmt, second: ast.stmt) -> bool:
    writes, reads = _effects(first)
    later_writes, later_reads = _effects(second)
    if not (_meet(writes, later_reads | later_writes) or _meet(reads, later_writes)):
        return False
    made = {name for name in writes & later_reads if name.isidentifier()}
    return made <= _earlier(function, first)


def _meet(some: set[str], others: set[str]) -> bool:
    """Whether two paths are the same, or one leads to the other: ``a.b`` and ``a.b[0]``."""
    return any(
        f"{one}.".replace("[", ".").startswith(f"{other}.".replace("[", "."))
        or f"{other}.".replace("[", ".").startswith(f"{one}.".replace("[", "."))
        for one in some
        for other in others
    )


def _effects(node: ast.stmt) -> tuple[set[str], set[str]]:
    """The paths that a simple statement writes, and those that it reads."""
    writes, reads = set[str](), set[str]()
    pending: list[ast.AST] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            pending += [each.func.value, *each.args, *each.keywords]
        elif path := _path(each):
            (writes if isinstance(getattr(each, "ctx", None), ast.Store) else reads).add(path)
        else:
            pending += ast.iter_child_nodes(each)
    if isinstance(node, ast.AugAssign):
        reads |= writes
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        writes |= {_path(getattr(node.value.func, "value", node.value))} - {""}
    return writes, reads


def _path(node: ast.AST) -> str:
    """A name with the attributes and constant keys behind it: ``a.b[0]``; empty for all else."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = _path(node.value)
        return f"{base}[{node.slice.value!r}]" if base else ""
    if isinstance(node, ast.Attribute):
        base = _path(node.value)
        return f"{base}.{node.attr}" if base else ""
    return node.id if isinstance(node, ast.Name) else ""


def _earlier(function: Function, node: ast.stmt) -> set[str]:
    """The names that have a value before ``node``."""
    given = {each.arg for each in ast.walk(function.node.args) if isinstance(each, ast.arg)}
    names = (each for each in own(function, ast.Name) if each.lineno < node.lineno)
    inside = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    stored = {each.id for each in own(function, ast.Name) if isinstance(each.ctx, ast.Store)}
    return given | {each.id for each in names} | (inside - stored)
