"""Mistakes about what runs when: guards, branches, clauses, order, indentation, loops."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.suites.edits import Edit, operator
from benchmarks.suites.spans import (
    instead,
    own,
    within_brackets,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suites.functions import Function


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
