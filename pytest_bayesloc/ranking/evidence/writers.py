"""Finds where a function changes a variable of a module or a class, as far as its text shows."""

from __future__ import annotations

import ast
from collections.abc import Callable

#: Methods of built-in containers that change them, and of cached functions.
MUTATING = frozenset(
    {
        *("add", "append", "appendleft", "cache_clear", "clear", "discard", "extend", "extendleft"),
        *("insert", "intersection_update", "difference_update", "symmetric_difference_update"),
        *("pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort", "update"),
    }
)
_SETTERS = frozenset({"setattr", "delattr"})


def line_that_writes(node: ast.AST, name: str) -> int:
    """Return the first line in which ``node`` changes the variable ``name``; 0 if none does.

    The variable is known by the last part of its name. A local variable of that name is another
    one.

    Args:
        node: A function.
        name: Dotted, of the variable.
    """
    last = name.rpartition(".")[2]
    inside = list(ast.walk(node))
    is_local = _is_local(inside, last)

    def is_it(part: ast.AST) -> bool:
        while isinstance(part, ast.Subscript):
            part = part.value
        return _name_of(part) == last and not (is_local and isinstance(part, ast.Name))

    lines = [n.lineno for n in inside if isinstance(n, ast.expr) and _writes(n, last, is_it)]
    return min(lines, default=0)


def mentions(node: ast.AST, name: str) -> bool:
    """Return whether ``node`` names the variable ``name``, by its last part."""
    last = name.rpartition(".")[2]
    return any(_name_of(inner) == last for inner in ast.walk(node))


def _is_local(inside: list[ast.AST], last: str) -> bool:
    if any(isinstance(n, ast.Global) and last in n.names for n in inside):
        return False
    return any(
        (isinstance(n, ast.arg) and n.arg == last)
        or (isinstance(n, ast.Name) and n.id == last and not isinstance(n.ctx, ast.Load))
        for n in inside
    )


def _writes(node: ast.expr, last: str, is_it: Callable[[ast.AST], bool]) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return not isinstance(node.ctx, ast.Load) and is_it(node)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATING:
        return is_it(node.func.value)
    texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return _name_of(node.func) in _SETTERS and last in texts


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
