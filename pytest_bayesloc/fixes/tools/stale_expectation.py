"""The expectation of a test, for what the code computes: only a person can know which is right."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.fixes.syntax import statement_at, tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Task

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


EXAMPLES = (
    Example(
        error="AssertionError: assert 14065 == 10875\n +  where 14065 = total()",
        before="def test_total():\n    assert total() == 10875  # cents\n",
        after="def test_total():\n    assert total() == 14065  # cents\n",
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert ['a', 'b'] == ['a']",
        before="def test_it():\n    assert ['a', 'b'] == names()\n",
        after="def test_it():\n    assert ['a'] == names()\n",
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 3 == 4",
        before="def total():\n    assert count() == 4\n",
        after=None,
        line=2,
        filename="app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert <Money 3> == 4",
        before="def test_total():\n    assert total() == 4\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 3 == 4",
        before="def test_total():\n    assert total() == four()\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: of all\nassert 4 == 3\n +  where 4 = total()",
        before="class TestTotal:\n    def test_it(self):\n        assert total() == 3, 'of all'\n",
        after="class TestTotal:\n    def test_it(self):\n        assert total() == 4, 'of all'\n",
        line=3,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 'aaaa...bbbb' == 'a'",
        before="def test_it():\n    assert name() == 'a'\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
    Example(
        error="AssertionError: assert 3 == 4",
        before="def test_it():\n    assert 3 == 4\n",
        after=None,
        line=2,
        filename="test_app.py",
        test_file="test_app.py",
    ),
)
