"""Mistakes in tests: wrong expectations, data, fixtures, calls."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.suites.bodies import Body
from benchmarks.suites.edits import Edit, operator
from benchmarks.suites.literals import constant_edits, entry_edits
from benchmarks.suites.operators_names import (
    lost_keyword,
    similar_function,
    wrong_attribute,
    wrong_name,
)
from benchmarks.suites.operators_values import other_exceptions
from benchmarks.suites.spans import blocks, called, dotted, exchanged, instead, own, removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.suites.edits import Site
    from benchmarks.suites.functions import Function, SourceFile

RAISING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns"})
SETTING_UP = frozenset(
    {
        "setUp",
        "setUpClass",
        "setup_method",
        "setup_class",
        "setup_module",
        "setup_function",
        "setup",
        "setUpModule",
        "asyncSetUp",
    }
)
OPPOSITES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ASSERTIONS = (
    "assertTrue assertFalse",
    "assertEqual assertNotEqual",
    "assertIn assertNotIn",
    "assertIs assertIsNot",
    "assertIsNone assertIsNotNone",
    "assertIsInstance assertNotIsInstance",
    "assertRegex assertNotRegex",
    "assertGreater assertLess",
)


@operator(
    "wrong expectation",
    ("def test_a():\n    assert f(3) == 9\n", "def test_a():\n    assert f(3) == 10\n"),
    (
        "def test_a():\n    assert f(3) == [1, 'ab']\n",
        "def test_a():\n    assert f(3) == [1, 'a']\n",
    ),
    ("def test_a():\n    assert f(3) == [1, 2]\n", "def test_a():\n    assert f(3) == [1]\n"),
    (
        "def test_a(self):\n    self.assertEqual(f(3), (12, 0))\n",
        "def test_a(self):\n    self.assertEqual(f(3), (21, 0))\n",
    ),
)
def wrong_expectation(site: Site) -> Iterator[Edit]:
    """What is asserted is mistyped."""
    for node in _expected(site):
        yield from _altered(site.file, _plain(node))


@operator(
    "wrong comparison",
    ("def test_a():\n    assert f() == 9\n", "def test_a():\n    assert f() != 9\n"),
    ("def test_a():\n    assert a in f()\n", "def test_a():\n    assert a not in f()\n"),
    ("def test_a():\n    assert f()\n", "def test_a():\n    assert not f()\n"),
    ("def test_a(self):\n    self.assertTrue(a)\n", "def test_a(self):\n    self.assertFalse(a)\n"),
)
def wrong_comparison(site: Site) -> Iterator[Edit]:
    """The opposite is asserted."""
    for node in own(site, ast.Assert):
        yield from _opposite(site.file, node.test)
    for call in own(site, ast.Call):
        name, end = called(call), site.file.span(call.func)[1]
        for pair in ASSERTIONS:
            for other in pair.split() if name in pair.split() else ():
                if other != name:
                    yield Edit(start=end - len(name), end=end, text=other)


@operator(
    "wrong exception expected",
    (
        "def test_a():\n    with raises(KeyError):\n        f()\n",
        "def test_a():\n    with raises(IndexError):\n        f()\n",
    ),
    (
        "def test_a():\n    with raises(KeyError, match='no a'):\n        f()\n",
        "def test_a():\n    with raises(KeyError, match='noa'):\n        f()\n",
    ),
)
def wrong_exception_expected(site: Site) -> Iterator[Edit]:
    """Another exception or another message is awaited."""
    for node in own(site, ast.Call):
        if called(node) not in RAISING or not node.args:
            continue
        if isinstance(node.args[0], ast.Name):
            for other in other_exceptions(site, node.args[0]):
                yield instead(site.file, node.args[0], other)
        messages = [word.value for word in node.keywords if word.arg == "match"]
        messages += node.args[1:2] if called(node) == "assertRaisesRegex" else []
        for message in messages:
            yield from _altered(site.file, ast.walk(message))


@operator(
    "bad data",
    ("def test_a():\n    x = 1\n    assert f(x)\n", "def test_a():\n    x = 2\n    assert f(x)\n"),
    ("def test_a():\n    assert f('ab') == 9\n", "def test_a():\n    assert f('a') == 9\n"),
    ("DATA = [1, 2]\n", "DATA = [1]\n"),
)
def bad_data(site: Site) -> Iterator[Edit]:
    """What a test starts from, or gives to what it tests, is mistyped."""
    if not _sets_up(site):
        yield from _altered(site.file, _data(site))


@operator(
    "wrong fixture",
    (
        "@pytest.fixture\ndef a():\n    return [1, 2]\n",
        "@pytest.fixture\ndef a():\n    return [1]\n",
    ),
    ("def setUp(self):\n    self.a = 'A'\n", "def setUp(self):\n    self.a = 'a'\n"),
)
def wrong_fixture(site: Site) -> Iterator[Edit]:
    """What a fixture or set-up makes is mistyped."""
    if _sets_up(site):
        yield from _altered(site.file, _data(site))


@operator(
    "wrong row",
    (
        "@pytest.mark.parametrize('a', [1, 'x'])\ndef test_a(a):\n    pass\n",
        "@pytest.mark.parametrize('a', [2, 'x'])\ndef test_a(a):\n    pass\n",
    ),
)
def wrong_row(site: Site) -> Iterator[Edit]:
    """A value in a row of parameters is mistyped.

    Readers take the decorator for a part of the test, so the test is at fault and not its module.
    """
    if isinstance(site, Body):
        return
    for decorator in site.node.decorator_list:
        if isinstance(decorator, ast.Call) and called(decorator) == "parametrize":
            for rows in decorator.args[1:2]:
                named = [each for each in ast.walk(rows) if isinstance(each, ast.keyword)]
                names = {id(each) for word in named for each in ast.walk(word)}  # ids and marks
                values = (each for each in ast.walk(rows) if id(each) not in names)
                leaves = (each for each in values if isinstance(each, ast.Constant))
                yield from _altered(site.file, leaves)


@operator(
    "wrong call",
    ("def test_a():\n    f(1, b=2)\n", "def test_a():\n    f(1)\n"),
    ("def test_a():\n    x = f(1, 2)\n", "def test_a():\n    x = f(2, 1)\n"),
    ("def test_a(b):\n    b.append(1)\n", "def test_a(b):\n    b.extend(1)\n"),
)
def wrong_call(site: Site) -> Iterator[Edit]:
    """What is tested is called otherwise: without a keyword, in another order, another method."""
    if isinstance(site, Body):
        return
    yield from lost_keyword.edits(site)
    yield from similar_function.edits(site)
    for node in own(site, ast.Call):
        pairs = () if is_assertion(node) or called(node) in RAISING else pairwise(node.args)
        for first, second in pairs:
            starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
            if not starred and ast.dump(first) != ast.dump(second):
                yield exchanged(site.file, first, second)


@operator(
    "wrong use",
    ("def test_a(b, c):\n    f(b)\n    c()\n", "def test_a(b, c):\n    f(c)\n    c()\n"),
    ("def test_a(b):\n    f(b.x, b.y)\n", "def test_a(b):\n    f(b.y, b.y)\n"),
)
def wrong_use(site: Site) -> Iterator[Edit]:
    """Another variable or attribute of the test is looked at."""
    if not isinstance(site, Body):
        yield from wrong_name.edits(site)
        for edit in wrong_attribute.edits(site):
            if not any(word.startswith("assert") for word in (edit.text, _old(site, edit))):
                yield edit


@operator(
    "missing set-up",
    ("def test_a(b):\n    b.add(1)\n    assert b\n", "def test_a(b):\n    assert b\n"),
    ("def setUp(self):\n    self.a = 1\n    self.b = 1\n", "def setUp(self):\n    self.b = 1\n"),
)
def missing_set_up(site: Site) -> Iterator[Edit]:
    """A statement that prepares something is forgotten."""
    if isinstance(site, Body):
        return
    for suite in blocks(site):
        for node in suite:
            prepares = _prepares(node) and len(suite) > 1  # alone, it is what is tested
            edit = removed(site.file, suite, node) if prepares else None
            if edit is not None:
                yield edit


def is_assertion(node: ast.AST) -> bool:
    """Whether a call is one of the assert methods."""
    return isinstance(node, ast.Call) and called(node).lower().startswith("assert")


def _expected(site: Site) -> Iterator[ast.expr]:
    """What is asserted of something: operands of comparisons, arguments of assert methods."""
    for node in own(site, ast.Assert):
        for test in ast.walk(node.test):
            if isinstance(test, ast.Compare):
                yield from (test.left, *test.comparators)
    for call in own(site, ast.Call):
        if is_assertion(call) and called(call) not in RAISING:
            yield from call.args


def _plain(node: ast.AST) -> Iterator[ast.AST]:
    """``node`` and what it is written out of; nothing of what it calls or looks up."""
    yield node
    if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp)):
        for child in ast.iter_child_nodes(node):
            yield from _plain(child)


def _data(site: Site) -> Iterator[ast.AST]:
    """What is written out in ``site`` and is no expectation, message or docstring."""
    besides = [each for node in _expected(site) for each in _plain(node)]
    for node in site.own_nodes():
        if isinstance(node, ast.Assert) and node.msg is not None:
            besides.extend(ast.walk(node.msg))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            besides.append(node.value)
        elif isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and called(node) in {*RAISING, "parametrize", "skipif"}
        ):
            besides.extend(ast.walk(node))
    known = set(map(id, besides))
    return (node for node in site.own_nodes() if id(node) not in known)


def _altered(file: SourceFile, nodes: Iterable[ast.AST]) -> Iterator[Edit]:
    for node in nodes:
        if isinstance(node, ast.Constant):
            yield from constant_edits(file, node)
        else:
            yield from entry_edits(file, node)


def _opposite(file: SourceFile, test: ast.expr) -> Iterator[Edit]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        old, new = OPPOSITES.get(type(test.ops[0]), ("", ""))
        start, end = file.span(test.left)[1], file.span(test.comparators[0])[0]
        between = file.between(start, end)
        if old and old in between:
            yield Edit(start=start, end=end, text=between.replace(old, new, 1))
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield instead(file, test, file.segment(test.operand))
    elif isinstance(test, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)):
        yield instead(file, test, f"not {file.segment(test)}")


def _old(site: Site, edit: Edit) -> str:
    return site.file.between(edit.start, edit.end)


def _sets_up(site: Site) -> bool:
    if isinstance(site, Body):
        return False
    return site.node.name in SETTING_UP or is_fixture(site)


def is_fixture(function: Function) -> bool:
    """Whether a function is a fixture of pytest's."""
    decorators = (
        each.func if isinstance(each, ast.Call) else each for each in function.node.decorator_list
    )
    return any(dotted(each).rpartition(".")[2].endswith("fixture") for each in decorators)


def _prepares(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and not is_assertion(node.value)
    if isinstance(node, ast.Assign):
        return all(isinstance(each, (ast.Attribute, ast.Subscript)) for each in node.targets)
    return isinstance(node, (ast.AugAssign, ast.Delete))
