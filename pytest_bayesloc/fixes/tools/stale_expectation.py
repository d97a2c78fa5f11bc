"""The expectation of a test, for what the code computes: only a person can know which is right."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.fixes.edits import Text
from pytest_bayesloc.fixes.project import Project, Proposal, Task
from pytest_bayesloc.fixes.syntax import statement_at, tree_of

_SIDES = re.compile(r"^assert (?P<left>.+) == (?P<right>.+)$", re.MULTILINE)
_CUT = "..."  # pytest shortens what is long


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The test with the value that was computed in the place of the one that was expected."""
    del project
    tree = tree_of(task.code)
    found = _SIDES.search(task.message)  # behind the words of the assertion, if it has some
    if tree is None or found is None or task.filename != task.test_file:
        return
    statement = statement_at(tree, task.line)
    if not isinstance(statement, ast.Assert) or not isinstance(statement.test, ast.Compare):
        return
    sides = [statement.test.left, statement.test.comparators[0]]
    values = [found["left"], found["right"]]
    if len(statement.test.ops) != 1 or not all(map(_is_literal, values)):
        return
    text = Text(task.code)
    written = [_is_literal(text.of(side)) for side in sides]
    for i, side in enumerate(sides):
        own, other = values[i], values[1 - i]
        if not written[i] or written[1 - i] or not _same(text.of(side), own) or _CUT in other:
            continue
        words = f"the test expects {own}, the code computes {other}: only you know which is right"
        yield Proposal(code=text.edited(text.replace(side, other, words)), message=words)


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _same(written: str, shown: str) -> bool:
    a, b = ast.literal_eval(written), ast.literal_eval(shown)
    return type(a) is type(b) and bool(a == b)
