"""Empty or None where something is needed: the function leaves early, or a default stands in."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Edit, Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.fixes.syntax import function_at, nodes_at, statement_at, tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Task
    from pytest_bayesloc.domain.source import FunctionNode

MAX_VALUES = 5
_NONE = re.compile(
    r"'NoneType' object (?:has no attribute|is not (?:iterable|subscriptable|callable))"
    r"|'NoneType'|NoneType"
)
_EMPTY = re.compile(
    r"index out of range|from (?:an )?empty|arg is an empty sequence|iterable argument is empty"
    r"|requires at least one data point|empty range|division by zero|modulo by zero|by zero"
)
_EXPECTED = frozenset({"None", "0", "0.0", "[]", "{}", "()", "''", '""', "False", "True"})
_PLAIN = {"int": "0", "float": "0", "str": "''", "list": "[]", "dict": "{}", "bool": "False"}


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The function with a guard before the line, for each thing that may be missing there."""
    del project
    tree = tree_of(task.code)
    function = function_at(tree, task.line) if tree is not None else None
    statement = statement_at(tree, task.line) if tree is not None else None
    if tree is None or function is None or statement is None or statement is function:
        return
    text = Text(task.code)
    yield from _with_default(task, tree, text)
    is_none = task.error_type in {"TypeError", "AttributeError"} and _NONE.search(task.message)
    is_empty = task.error_type in {
        "IndexError",
        "ValueError",
        "ZeroDivisionError",
    } and _EMPTY.search(task.message)
    if not (is_none or is_empty or task.error_type == "StopIteration"):
        return
    for name in _needed(tree, task):
        test = f"{name} is None" if is_none else f"not {name}"
        for value in _values(function, task.test, name):
            yield from _guarded(text, statement, test, value)


def _guarded(text: Text, statement: ast.stmt, test: str, value: str) -> Iterator[Proposal]:
    start = text.start(statement) - statement.col_offset
    indent = text.between(start, text.start(statement))
    if indent.strip():
        return  # behind a colon or a semicolon
    returned = f"return {value}" if value else "return"
    step = "\t" if indent.startswith("\t") else "    "
    words = f"`{returned}` if `{test}`"
    guard = f"{indent}if {test}:\n{indent}{step}{returned}\n"
    edit = Edit(start=start, end=start, text=guard, line=statement.lineno, words=words)
    yield Proposal(code=text.edited(edit), message=words)


def _needed(tree: ast.Module, task: Task) -> list[str]:
    """Names and attributes that are indexed, divided by, looped over or asked on the line."""
    found: list[str] = []
    for node in nodes_at(tree, task.line):
        parts: list[ast.expr] = []
        if isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            parts = [node.value]
        elif isinstance(node, (ast.For, ast.comprehension)):
            parts = [node.iter]
        elif isinstance(node, ast.BinOp):
            parts = [node.right, node.left]
        elif isinstance(node, ast.Call):
            parts = node.args[:1]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            parts = [node.value]
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        found += [ast.unparse(part) for part in map(_inside, parts) if _is_plain(part)]
    return [name for name in dict.fromkeys(found) if name not in {"self", "cls"}]


def _inside(node: ast.expr) -> ast.expr:
    """``x`` of ``len(x)`` and ``sum(x)``: what is empty where that is 0."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if is_call and isinstance(node, ast.Call) and node.args:
        return node.args[0]
    return node


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _values(function: FunctionNode, test: str, name: str) -> list[str]:
    """What may be returned instead, the likeliest first."""
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return)]
    kept = [n.value for n in returns if n.value is not None]
    expected = _expected(function.name, test)
    constants = [ast.unparse(v) for v in kept if isinstance(v, (ast.Constant, ast.List, ast.Dict))]
    kinds = [_PLAIN[said] for said in _kinds(function, kept) if said in _PLAIN]
    last = ["None", "0", "[]", "''", name] if kept else [""]
    return list(dict.fromkeys((*expected, *constants, *kinds, *last)))[:MAX_VALUES]


def _expected(name: str, test: str) -> list[str]:
    """The plain values that a test compares calls of the function with."""
    calls = rf"\b{re.escape(name)}\(.*\) (?:==|is) (\S+)\s*$"
    found = re.findall(calls, test, re.MULTILINE)
    return [value for value in dict.fromkeys(found) if value in _EXPECTED]


def _kinds(function: FunctionNode, kept: list[ast.expr]) -> Iterator[str]:
    if function.returns is not None:
        yield ast.unparse(function.returns).partition("[")[0]
    for value in kept:
        if isinstance(value, (ast.BinOp, ast.UnaryOp)):
            yield "int"
        elif isinstance(value, (ast.ListComp, ast.List)):
            yield "list"
        elif isinstance(value, ast.JoinedStr):
            yield "str"
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            yield value.func.id
        elif isinstance(value, (ast.Compare, ast.BoolOp)):
            yield "bool"


def _with_default(task: Task, tree: ast.Module, text: Text) -> Iterator[Proposal]:
    """A default in the expression itself: ``.get``, ``or ()``, ``default=``."""
    is_loop = "'NoneType' object is not iterable" in task.message
    for node in nodes_at(tree, task.line):
        if task.error_type == "KeyError" and isinstance(node, ast.Subscript):
            yield from _got(text, node)
        elif is_loop and isinstance(node, (ast.For, ast.comprehension)) and _is_plain(node.iter):
            yield _replaced(text, node.iter, f"{text.of(node.iter)} or ()")
        elif isinstance(node, ast.Call) and _EMPTY.search(task.message):
            yield from _extreme(text, node)


def _got(text: Text, node: ast.Subscript) -> Iterator[Proposal]:
    if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
        base, key = text.of(node.value), text.of(node.slice)
        for more in ("", ", 0", ", ''"):
            yield _replaced(text, node, f"{base}.get({key}{more})")


def _extreme(text: Text, node: ast.Call) -> Iterator[Proposal]:
    if ast.unparse(node.func) in {"max", "min"} and len(node.args) == 1 and not node.keywords:
        said = text.of(node)[:-1]
        for value in ("0", "None"):
            yield _replaced(text, node, f"{said}, default={value})")


def _replaced(text: Text, node: ast.expr, made: str) -> Proposal:
    words = f"`{text.of(node)}` becomes `{made}`"
    return Proposal(code=text.edited(text.replace(node, made, words)), message=words)


EXAMPLES = (
    Example(
        error="ZeroDivisionError: division by zero",
        before="def mean(values):\n    '''Mean.'''\n    return sum(values) / len(values)\n",
        after="def mean(values):\n    '''Mean.'''\n    if not values:\n        return 0\n"
        "    return sum(values) / len(values)\n",
        line=3,
    ),
    Example(
        error="IndexError: list index out of range",
        before="class C:\n    def first(self):\n        return self.items[0]\n",
        after="class C:\n    def first(self):\n        if not self.items:\n"
        "            return None\n        return self.items[0]\n",
        line=3,
    ),
    Example(
        error="AttributeError: 'NoneType' object has no attribute 'strip'",
        before="def f(name):\n    return name.strip()\n",
        after="def f(name):\n    if name is None:\n        return ''\n    return name.strip()\n",
        line=2,
        test="def test_f():\n    assert f(None) == ''\n",
    ),
    Example(
        error="TypeError: 'NoneType' object is not iterable",
        before="def f(xs):\n    for x in xs:\n        print(x)\n",
        after="def f(xs):\n    for x in xs or ():\n        print(x)\n",
        line=2,
    ),
    Example(
        error="KeyError: 'b'",
        before="def f(x):\n    return x['b']\n",
        after="def f(x):\n    return x.get('b')\n",
        line=2,
    ),
    Example(
        error="ValueError: max() arg is an empty sequence",
        before="def f(x):\n    return max(x)\n",
        after="def f(x):\n    return max(x, default=0)\n",
        line=2,
    ),
    Example(
        error="AttributeError: 'int' object has no attribute 'strip'",
        before="def f(name):\n    return name.strip()\n",
        after=None,
        line=2,
    ),
    Example(
        error="IndexError: list index out of range", before="x = []\nx[0]\n", after=None, line=2
    ),
    Example(
        error="KeyError: 'b'",
        before="def f(x):\n    x['b'] = 1\n    return x\n",
        after=None,
        line=2,
    ),
)
