"""Whether a changed function speaks of what is there: a NameError is no regression that ships."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from benchmarks.suites.functions import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.suites.change import Change
    from benchmarks.suites.functions import Function


def speaks_of_what_is_gone(change: Change) -> bool:
    """Whether a function that ``change`` wrote uses a name that nothing around it binds."""
    for file, text in change.texts.items():
        source = SourceFile(file, text)
        written = {place.qualname for place in change.places if place.file == file}
        at_module = set(_bound(source.syntax)) | set(dir(builtins))
        if "*" in at_module:
            continue
        known = at_module | {"__file__", "__name__", "__doc__", "__class__", "__path__"}
        for function in source.functions:
            if function.qualname in written and not _names(function) <= known | _around(
                function, source
            ):
                return True
    return False


def _names(function: Function) -> set[str]:
    """The names that a function uses and does not bind itself."""
    used = {n.id for n in ast.walk(function.node) if isinstance(n, ast.Name)}
    return used - set(_bound(function.node))


def _around(function: Function, source: SourceFile) -> set[str]:
    """What the functions around it bind."""
    outer = (f for f in source.functions if function.qualname.startswith(f"{f.qualname}.<locals>."))
    return {name for around in outer for name in _bound(around.node)}


def _bound(scope: ast.AST) -> Iterator[str]:
    """Every name that is bound anywhere in ``scope``, or below it."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Name):
            yield from () if isinstance(node.ctx, ast.Load) else (node.id,)
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        else:  # functions, classes, handlers of exceptions, and patterns
            names = (getattr(node, field, None) for field in ("name", "rest"))
            yield from (name for name in names if isinstance(name, str))
