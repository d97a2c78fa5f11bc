"""A list, dict or set as a default, which all calls share: made anew in each call instead."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Edit, Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.syntax import tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Task

MAKERS = frozenset({"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict"})
#: Methods that only look.
LOOKS = frozenset({"get", "items", "keys", "values", "index", "count", "copy", "join", "format"})


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The file with each mutable default of what was executed made in the function."""
    del project
    tree = tree_of(task.code)
    text = Text(task.code)
    lines = {task.line, *task.lines}
    for function in ast.walk(tree) if tree is not None else ():
        if not isinstance(function, FunctionNode) or not _is_executed(function, lines):
            continue
        for parameter, default in _defaults(function):
            if _is_mutable(default) and _is_shared(function, parameter.arg):
                yield _mended(text, function, parameter.arg, default)


def _is_executed(function: FunctionNode, lines: set[int]) -> bool:
    return any(function.lineno <= line <= (function.end_lineno or 0) for line in lines)


def _defaults(function: FunctionNode) -> list[tuple[ast.arg, ast.expr]]:
    given = function.args
    by_place = [*given.posonlyargs, *given.args]
    pairs = list(zip(reversed(by_place), reversed(given.defaults), strict=False))
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [*reversed(pairs), *((arg, value) for arg, value in named if value is not None)]


def _is_mutable(default: ast.expr) -> bool:
    if isinstance(default, ast.Call):
        return ast.unparse(default.func).rpartition(".")[2] in MAKERS
    return isinstance(default, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp))


def _is_shared(function: FunctionNode, name: str) -> bool:
    """Whether the body may change the value, or give it to somebody who may."""
    looked_at = {id(part) for node in ast.walk(function) for part in _looked_at(node)}
    uses = (n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name)
    return any(isinstance(use.ctx, ast.Load) and id(use) not in looked_at for use in uses)


def _looked_at(node: ast.AST) -> list[ast.expr]:
    """What ``node`` only looks at."""
    if isinstance(node, ast.Attribute):
        return [node.value] if node.attr in LOOKS else []
    if isinstance(node, ast.Subscript):
        return [node.value] if isinstance(node.ctx, ast.Load) else []
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.iter]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    is_call = isinstance(node, ast.Call) and ast.unparse(node.func) in {"len", "sum", "sorted"}
    return node.args if is_call and isinstance(node, ast.Call) else []


def _mended(text: Text, function: FunctionNode, name: str, default: ast.expr) -> Proposal:
    words = f"`{name}` of `{function.name}` is made anew in each call"
    first = function.body[0]
    if _is_docstring(first) and len(function.body) > 1:
        first = function.body[1]
    start = text.start(first)
    indent = text.between(start - first.col_offset, start)
    if indent.strip():  # behind the colon
        indent, lead = "", f"{name} = {text.of(default)} if {name} is None else {name}; "
    else:
        step = "\t" if indent.startswith("\t") else "    "
        lead = f"if {name} is None:\n{indent}{step}{name} = {text.of(default)}\n{indent}"
    if _is_docstring(first):  # nothing but a docstring: nothing is shared
        start = text.end(first)
        lead = f"\n{indent}" + lead.rstrip()
    made = Edit(start=start, end=start, text=lead, line=first.lineno, words=words)
    return Proposal(code=text.edited(text.replace(default, "None", words), made), message=words)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


_SHARED = "AssertionError: assert [1, 2] == [2]"
EXAMPLES = (
    Example(
        error=_SHARED,
        before="def f(x, seen=[]):\n    '''Seen.'''\n    seen.append(x)  # more\n    return seen\n",
        after="def f(x, seen=None):\n    '''Seen.'''\n    if seen is None:\n        seen = []\n"
        "    seen.append(x)  # more\n    return seen\n",
        line=3,
    ),
    Example(
        error=_SHARED,
        before="class C:\n    def __init__(self, *, names={}):\n        self.names = names\n",
        after="class C:\n    def __init__(self, *, names=None):\n        if names is None:\n"
        "            names = {}\n        self.names = names\n",
        line=3,
    ),
    Example(
        error=_SHARED,
        before="def f(\n    x,\n    seen=list(),  # so far\n):\n    seen += [x]\n    return seen\n",
        after="def f(\n    x,\n    seen=None,  # so far\n):\n    if seen is None:\n"
        "        seen = list()\n    seen += [x]\n    return seen\n",
        line=5,
    ),
    Example(
        error=_SHARED,
        before="def f(x, names=[]):\n    for name in names:\n        x += name\n    return x\n",
        after=None,
        line=3,
    ),
    Example(
        error=_SHARED,
        before="def f(x, n=0, names=()):\n    return [x, *names][n:]\n",
        after=None,
        line=2,
    ),
    Example(
        error=_SHARED,
        before="def f(x, seen=[]):\n    return seen\n\n\ndef g(x):\n    return x\n",
        after=None,
        line=6,
    ),
)
