"""A method without ``self``, or a method called without it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.edits import Edit, Text
from pytest_bayesloc.domain.fixing import Proposal
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.syntax import class_at, function_at, parameters, tree_of
from pytest_bayesloc.fixes.tool import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.domain.fixing import Project, Task

_TOO_MANY = re.compile(r"(?:(\w+)\.)?(\w+)\(\) takes (?:from )?\d+ .*positional arguments? but \d+")
_TWICE = re.compile(r"(?:(\w+)\.)?(\w+)\(\) got multiple values for argument")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def propose(task: Task, project: Project) -> Iterator[Proposal]:
    """The method with ``self``, in its head or before the name that is not defined."""
    del project
    tree = tree_of(task.code)
    if tree is None:
        return
    text = Text(task.code)
    undefined = _UNDEFINED.search(task.message)
    if undefined is not None:
        yield from _used(task, tree, text, undefined.group(1))
    found = _TOO_MANY.search(task.message) or _TWICE.search(task.message)
    if found is None:
        return
    for method, owner in _methods(tree):
        is_meant = method.name == found.group(2) and found.group(1) in {None, owner.name}
        if is_meant and not _has_first(method):
            yield _with_first(text, method)


def _methods(tree: ast.Module) -> Iterator[tuple[FunctionNode, ast.ClassDef]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from ((inner, node) for inner in node.body if isinstance(inner, FunctionNode))


def _has_first(method: FunctionNode) -> bool:
    decorators = {ast.unparse(decorator) for decorator in method.decorator_list}
    given = parameters(method)[:1]
    return "staticmethod" in decorators or given in (["self"], ["cls"], ["mcs"], ["mcls"], ["_"])


def _with_first(text: Text, method: FunctionNode) -> Proposal:
    is_of_class = method.name in _OF_CLASS or any(
        ast.unparse(decorator) == "classmethod" for decorator in method.decorator_list
    )
    name = "cls" if is_of_class else "self"
    start = text.start(method)
    at = start + text.between(start, text.end(method)).encode().index(b"(") + 1
    written = f"{name}, " if parameters(method) else name
    words = f"`{method.name}` takes `{name}`"
    edit = Edit(start=at, end=at, text=written, line=method.lineno, words=words)
    return Proposal(code=text.edited(edit), message=words)


def _used(task: Task, tree: ast.Module, text: Text, name: str) -> Iterator[Proposal]:
    function, owner = function_at(tree, task.line), class_at(tree, task.line)
    if function is None or owner is None:
        return
    if name in {"self", "cls"} and function in owner.body and not _has_first(function):
        yield _with_first(text, function)
        return
    if parameters(function)[:1] not in (["self"], ["cls"]) or name not in _attributes(owner):
        return
    first = parameters(function)[0]
    words = f"`{name}` is an attribute of `{first}`"
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
    edits = [text.replace(use, f"{first}.{name}", words) for use in uses]
    yield Proposal(code=text.edited(*edits), message=words)


def _attributes(owner: ast.ClassDef) -> set[str]:
    found = {node.name for node in owner.body if isinstance(node, FunctionNode)}
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"self", "cls"}:
            found.add(node.attr)
        elif isinstance(node, ast.Assign) and node in owner.body:
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


EXAMPLES = (
    Example(
        error="TypeError: Cart.total() takes 0 positional arguments but 1 was given",
        before="class Cart:\n    def total():  # of all\n        return 1\n",
        after="class Cart:\n    def total(self):  # of all\n        return 1\n",
        line=3,
    ),
    Example(
        error="TypeError: add() takes 1 positional argument but 2 were given",
        before="class Cart:\n    @property\n    def n(self):\n        return 1\n\n"
        "    def add(\n        item,\n    ):\n        return item\n",
        after="class Cart:\n    @property\n    def n(self):\n        return 1\n\n"
        "    def add(self, \n        item,\n    ):\n        return item\n",
        line=9,
    ),
    Example(
        error="TypeError: Cart.of() takes 1 positional argument but 2 were given",
        before="class Cart:\n    @classmethod\n    def of(items):\n        return items\n",
        after="class Cart:\n    @classmethod\n    def of(cls, items):\n        return items\n",
        line=4,
    ),
    Example(
        error="NameError: name 'rate' is not defined",
        before="class Cart:\n    def rate(self):\n        return 1\n\n    def total(self):\n"
        "        return rate() + rate()\n",
        after="class Cart:\n    def rate(self):\n        return 1\n\n    def total(self):\n"
        "        return self.rate() + self.rate()\n",
        line=6,
    ),
    Example(
        error="NameError: name 'self' is not defined",
        before="class Cart:\n    def total():\n        return self.n\n",
        after="class Cart:\n    def total(self):\n        return self.n\n",
        line=3,
    ),
    Example(
        error="TypeError: add() takes 1 positional argument but 2 were given",
        before="class Cart:\n    @staticmethod\n    def add(item):\n        return item\n",
        after=None,
        line=4,
    ),
    Example(
        error="TypeError: add() takes 1 positional argument but 2 were given",
        before="def add(item):\n    return item\n",
        after=None,
        line=2,
    ),
    Example(
        error="NameError: name 'rate' is not defined",
        before="class Cart:\n    def total(self):\n        return rate()\n",
        after=None,
        line=3,
    ),
)
