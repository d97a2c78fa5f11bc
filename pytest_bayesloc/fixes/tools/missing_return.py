"""A function that computes something and does not return it, or returns too soon."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Edit, Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.fixes.syntax import function_at, tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Task
    from pytest_bayesloc.domain.source import FunctionNode

#: Methods and functions that are called for what they do.
EFFECTS = frozenset(
    {"append", "extend", "insert", "add", "update", "remove", "discard", "clear", "sort", "reverse",
     "print", "write", "close", "setdefault", "setattr", "warn", "info", "debug", "error"}
)  # fmt: skip


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The functions that were executed, with what they compute returned."""
    del project
    tree = tree_of(task.code)
    if tree is None:
        return
    text = Text(task.code)
    functions = [f for line in (task.line, *task.lines) if (f := function_at(tree, line))]
    for function in dict.fromkeys(functions):
        if not _is_for_effect(function):
            if "None" in task.message:
                yield from _at_end(text, function, function.body)
            if task.error_type == "AssertionError":
                yield from _too_soon(text, function)


def _is_for_effect(function: FunctionNode) -> bool:
    if function.name == "__init__" or any(
        isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(function)
    ):
        return True
    return function.returns is not None and ast.unparse(function.returns) == "None"


def _at_end(text: Text, function: FunctionNode, block: list[ast.stmt]) -> Iterator[Proposal]:
    """Return what the last statement of a block computes."""
    last = block[-1]
    if isinstance(last, (ast.If, ast.Try)):
        yield from _common(text, last)
    if isinstance(last, (ast.If, ast.Try, ast.With)):
        for inner in (last.body, getattr(last, "orelse", [])):
            if inner:
                yield from _at_end(text, function, inner)
    if isinstance(last, (ast.For, ast.While, ast.With)):
        yield from (_after(text, last, name) for name in _gathered(function, last))
    elif isinstance(last, ast.Expr) and not _is_effect(last.value):
        edit = text.replace(
            last, f"return {text.of(last)}", f"`{_head(text.of(last))}` is returned"
        )
        yield Proposal(code=text.edited(edit), message=edit.words)
    yield from (_after(text, last, name) for name in _changed(last))


def _changed(last: ast.stmt) -> list[str]:
    """The name that a statement assigns, or calls a method of."""
    if isinstance(last, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        target = last.targets[0] if isinstance(last, ast.Assign) else last.target
        return [target.id] if isinstance(target, ast.Name) else []
    called = last.value if isinstance(last, ast.Expr) else None
    owner = ast.unparse(called.func).partition(".")[0] if isinstance(called, ast.Call) else ""
    is_method = isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute)
    return [owner] if is_method and owner.isidentifier() and owner not in {"self", "cls"} else []


def _common(text: Text, last: ast.If | ast.Try) -> Iterator[Proposal]:
    """The name that each branch assigns, returned behind them."""
    branches = [last.body, last.orelse]
    names = [{t.id for s in b for t in _targets(s)} for b in branches if b]
    if len(names) == 2:
        yield from (_after(text, last, name) for name in sorted(names[0] & names[1]))


def _targets(statement: ast.stmt) -> list[ast.Name]:
    if isinstance(statement, ast.If):
        return [t for s in (*statement.body, *statement.orelse) for t in _targets(s)]
    found = statement.targets if isinstance(statement, ast.Assign) else []
    return [target for target in found if isinstance(target, ast.Name)]


def _gathered(function: FunctionNode, loop: ast.stmt) -> list[str]:
    """Names that are set before the loop and changed in it."""
    before = {t.id for s in function.body if s.lineno < loop.lineno for t in _targets(s)}
    changed = []
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed.append(node.target.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed.append(ast.unparse(node.func.value))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            changed.append(ast.unparse(node.value))
        elif isinstance(node, ast.Assign):
            changed += [target.id for target in _targets(node)]
    return [name for name in dict.fromkeys(changed) if name in before]


def _too_soon(text: Text, function: FunctionNode) -> Iterator[Proposal]:
    """A ``return`` at the end of a loop's body, behind the loop."""
    for loop in function.body:
        if not isinstance(loop, (ast.For, ast.While)) or loop.orelse or len(loop.body) < 2:
            continue
        last = loop.body[-1]
        if (
            isinstance(last, ast.Return)
            and last.lineno == last.end_lineno
            and loop is function.body[-1]
        ):
            start = text.start(last) - last.col_offset
            said = f"{' ' * loop.col_offset}{text.of(last)}"
            words = f"`{text.of(last)}` behind the loop"
            edit = Edit(start=start, end=text.end(last), text=said, line=last.lineno, words=words)
            yield Proposal(code=text.edited(edit), message=words)


def _after(text: Text, statement: ast.stmt, name: str) -> Proposal:
    end = text.end(statement)
    indent = " " * statement.col_offset
    if text.between(text.start(statement) - statement.col_offset, text.start(statement)).strip(" "):
        indent = text.between(text.start(statement) - statement.col_offset, text.start(statement))
    line = f"\n{indent}return {name}"
    rest = text.between(end, end + 500).partition("\n")[0]
    at = end + len(rest.encode()) if rest.lstrip().startswith("#") else end
    words = f"`{name}` is returned"
    edit = Edit(start=at, end=at, text=line, line=statement.lineno, words=words)
    return Proposal(code=text.edited(edit), message=words)


def _is_effect(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in EFFECTS
    return isinstance(value, (ast.Constant, ast.Await, ast.Yield, ast.YieldFrom))


def _head(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 40 else f"{line[:37]}..."


_NONE = "AssertionError: assert None == 5\n +  where None = f(2)"
EXAMPLES = (
    Example(
        error=_NONE,
        before="def f(x):\n    '''Double.'''\n    y = 2 * x  # twice\n\n\nZ = 1\n",
        after="def f(x):\n    '''Double.'''\n    y = 2 * x  # twice\n    return y\n\n\nZ = 1\n",
        line=3,
    ),
    Example(
        error=_NONE,
        before="class C:\n    def f(self, x):\n        x + 1\n",
        after="class C:\n    def f(self, x):\n        return x + 1\n",
        line=3,
    ),
    Example(
        error="TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
        before="def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n",
        after="def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y\n",
        line=3,
    ),
    Example(
        error=_NONE,
        before="def f(xs):\n    found = []\n    for x in xs:\n        found.append(x)\n",
        after="def f(xs):\n    found = []\n    for x in xs:\n        found.append(x)\n"
        "    return found\n",
        line=4,
    ),
    Example(
        error="AssertionError: assert 1 == 6",
        before="def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n        return n\n",
        after="def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n",
        line=5,
    ),
    Example(
        error=_NONE,
        before="def f(x):\n    if x:\n        return 1\n    2 * x\n",
        after="def f(x):\n    if x:\n        return 1\n    return 2 * x\n",
        line=4,
    ),
    Example(error=_NONE, before="def f(x) -> None:\n    y = x\n", after=None, line=2),
    Example(
        error="AssertionError: assert 4 == 5",
        before="def f(x):\n    y = x\n",
        after=None,
        line=2,
    ),
    Example(error=_NONE, before="def f(x):\n    yield x\n    y = x\n", after=None, line=3),
)
