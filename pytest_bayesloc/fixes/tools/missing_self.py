"""A method without ``self``, or an attribute used or set without it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.calls import (
    attributes,
    family,
    is_placed,
    methods,
    takes_owner,
    with_owner,
)
from pytest_bayesloc.fixes.library import on_syntax, package_tool
from pytest_bayesloc.fixes.project import Project, Proposal, Task, proposal
from pytest_bayesloc.fixes.syntax import Text, own_nodes, parameters

_TOO_MANY = re.compile(
    r"(?:(\w+)\.)?(\w+)\(\) takes (?:from \d+ to )?(\d+) (?:required )?positional arguments?"
    r" but (\d+) "
)
_TWICE = re.compile(r"(?:(\w+)\.)?(\w+)\(\) got multiple values for argument")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


@package_tool(
    "A method is defined without self or cls, or a name is used or set without it. Adds it to the "
    "head of the method, or before the name.",
    error_pattern=r"positional arguments? but|multiple values for argument"
    r"|name '\w+' is not defined|object has no attribute|^AssertionError",
    level=Level.SAFE,
    auto_apply=True,
)
@on_syntax
def missing_self(task: Task, tree: ast.Module, text: Text, _project: Project) -> Iterator[Proposal]:
    """The method with ``self``, in its head or before the name that is not defined."""
    undefined = _UNDEFINED.search(task.message)
    if undefined is not None:
        yield from _used(task, tree, text, undefined.group(1))
    if task.error_type in {"AttributeError", "AssertionError"}:
        yield from _set(task, tree, text)
        return
    found = _TOO_MANY.search(task.message)
    if found is not None and int(found.group(4)) != int(found.group(3)) + 1:
        return
    found = found or _TWICE.search(task.message)
    if found is None:
        return
    for method, owner in methods(tree):
        is_meant = method.name == found.group(2) and found.group(1) in {None, owner.name}
        if is_meant and not takes_owner(method, owner):
            yield _with_first(text, method)


def _set(task: Task, tree: ast.Module, text: Text) -> Iterator[Proposal]:
    """The attribute where a method sets a name of its own that nothing uses."""
    lines = [task.line, *task.lines] if task.error_type == "AssertionError" else None
    for method, owner in methods(tree):
        own = parameters(method.args)[:1]
        if own not in (["self"], ["cls"]):
            continue
        names = [n for n in ast.walk(method) if isinstance(n, ast.Name)]
        used = {
            n.attr
            for part in family(tree, owner.name)
            for n in ast.walk(part)
            if isinstance(n, ast.Attribute) and ast.unparse(n.value) == own[0]
        }
        for node in own_nodes(method):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            name = node.targets[0].id
            within = {id(n) for n in ast.walk(node)}
            is_read = any(n.id == name and id(n) not in within for n in names)
            if is_read or name not in used or (lines is not None and node.lineno not in lines):
                continue
            words = f"`{own[0]}.{name}` is set, not a name that nothing uses"
            yield proposal(text, text.replace(node.targets[0], f"{own[0]}.{name}", words))


def _with_first(text: Text, method: FunctionNode) -> Proposal:
    is_of_class = method.name in _OF_CLASS or any(
        ast.unparse(decorator) == "classmethod" for decorator in method.decorator_list
    )
    name = "cls" if is_of_class else "self"
    words = f"`{method.name}` takes `{name}`"
    return proposal(text, with_owner(text, method, name, words))


def _used(task: Task, tree: ast.Module, text: Text, name: str) -> Iterator[Proposal]:
    around = [m for m in methods(tree) if m[0].lineno <= task.line <= (m[0].end_lineno or 0)]
    if not around:
        return
    method, owner = max(around, key=lambda pair: pair[0].lineno)
    if name in {"self", "cls"}:
        if not takes_owner(method, owner):
            yield _with_first(text, method)
        return
    first = parameters(method.args)[:1]
    if first not in (["self"], ["cls"]) or name not in attributes(
        family(tree, owner.name), {"self", "cls"}
    ):
        return
    words = f"`{name}` is an attribute of `{first[0]}`"
    uses = [n for n in ast.walk(method) if isinstance(n, ast.Name) and n.id == name]
    if all(isinstance(use.ctx, ast.Load) and is_placed(text, use) for use in uses):
        edits = [text.replace(use, f"{first[0]}.{name}", words) for use in uses]
        yield proposal(text, *edits)
