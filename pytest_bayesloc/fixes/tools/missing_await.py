"""A coroutine that was made and not awaited, or something else that is awaited."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.fixes.syntax import function_at, nodes_at, tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Task

_NAMED = re.compile(r"coroutine (?:object |method )?'?(?:\w+\.)*(\w+)'?")
_NOT_AWAITABLE = re.compile(r"can't be used in 'await' expression|object is not awaitable")


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The line with ``await`` before a call that gives a coroutine, or without one too many."""
    del project
    tree = tree_of(task.code)
    if tree is None:
        return
    text = Text(task.code)
    if _NOT_AWAITABLE.search(task.message):
        for node in nodes_at(tree, task.line):
            if isinstance(node, ast.Await):
                words = f"`{_head(text.of(node.value))}` is not awaited"
                edit = text.replace(node, text.of(node.value), words)
                yield Proposal(code=text.edited(edit), message=words)
        return
    named = {found.group(1) for found in _NAMED.finditer(task.message)} - {"object", "was"}
    own = {n.name for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)}
    for line in dict.fromkeys((task.line, *task.lines)):
        if isinstance(function_at(tree, line), ast.AsyncFunctionDef):
            yield from _awaited(text, tree, line, named or own)


def _awaited(text: Text, tree: ast.Module, line: int, names: set[str]) -> Iterator[Proposal]:
    nodes = list(nodes_at(tree, line))
    around = {id(part): node for node in nodes for part in ast.iter_child_nodes(node)}
    for node in nodes:
        if not isinstance(node, ast.Call) or isinstance(around.get(id(node)), ast.Await):
            continue
        called = ast.unparse(node.func).rpartition(".")[2]
        if called in names:
            said = f"await {text.of(node)}"
            above = around.get(id(node))
            is_whole = isinstance(above, (ast.stmt, ast.keyword)) or (
                isinstance(above, ast.Call) and node in above.args
            )
            words = f"`{called}()` is awaited"
            edit = text.replace(node, said if is_whole else f"({said})", words)
            yield Proposal(code=text.edited(edit), message=words)


def _head(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 40 else f"{line[:37]}..."


EXAMPLES = (
    Example(
        error="TypeError: 'coroutine' object is not subscriptable",
        before="async def load():\n    return [1]\n\n\nasync def f():\n    x = load()[0]\n",
        after="async def load():\n    return [1]\n\n\nasync def f():\n    x = (await load())[0]\n",
        line=6,
    ),
    Example(
        error="AttributeError: 'coroutine' object has no attribute 'name'",
        before="class C:\n    async def user(self):\n        return 1\n\n    async def f(self):\n"
        "        user = self.user()  # of the session\n        return user.name\n",
        after="class C:\n    async def user(self):\n        return 1\n\n    async def f(self):\n"
        "        user = await self.user()  # of the session\n        return user.name\n",
        line=6,
    ),
    Example(
        error="RuntimeWarning: coroutine 'C.save' was never awaited",
        before="async def f(c):\n    c.save()\n",
        after="async def f(c):\n    await c.save()\n",
        line=2,
    ),
    Example(
        error="TypeError: object int can't be used in 'await' expression",
        before="async def f(x):\n    return await len(x)\n",
        after="async def f(x):\n    return len(x)\n",
        line=2,
    ),
    Example(
        error="RuntimeWarning: coroutine 'save' was never awaited",
        before="def f(c):\n    c.save()\n",
        after=None,
        line=2,
    ),
    Example(
        error="TypeError: 'coroutine' object is not iterable",
        before="async def load():\n    return [1]\n\n\nasync def f():\n    return await load()\n",
        after=None,
        line=6,
    ),
)
