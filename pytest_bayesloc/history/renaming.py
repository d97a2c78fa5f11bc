"""Whether all that an edit did was to call something else."""

from __future__ import annotations

import ast
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_bayesloc.history.changes import Changes

#: Fields of syntax nodes that hold a name.
NAMES = frozenset({"id", "attr", "name", "arg", "asname", "rest", "module"})
SAYS_NOTHING = frozenset({"ctx", "kind", "type_comment"})


class Name(NamedTuple):
    """A name in a program; that of a module which is imported from is no variable's."""

    text: str
    is_module: bool = False


def is_renaming(changes: Changes) -> bool:
    """Whether the files differ only in what some names of theirs are called.

    Each old name has to be bound in them, or to be that of a module whose file was moved; to be
    gone, and to have become one new name everywhere. Other files may speak of it all the same: who
    asks should know that the tests fail as they did.
    """
    names: dict[Name, Name] = {}
    bound = {Name(text, is_module) for text in changes.moved for is_module in (False, True)}
    left: set[Name] = set()
    for change in changes.files.values():
        before, now = change.green.module.node, change.now.module.node
        if change.green.is_broken or change.now.is_broken:
            return False
        for old, new in zip_longest(_tokens(before), _tokens(now)):
            if isinstance(old, Name) and isinstance(new, Name):
                left.add(new)
                if names.setdefault(old, new) != new:
                    return False
            elif old != new:
                return False
        bound |= {Name(text) for text in _bound(before)}
    renamed = {old for old, new in names.items() if old != new}
    return (
        bool(renamed)
        and renamed <= bound
        and renamed.isdisjoint(left)
        and len(set(names.values())) == len(names)
    )


def _tokens(tree: ast.AST) -> Iterator[object]:
    """All that a program says, flat: names, and the rest as types and values."""
    pending: list[object] = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.AST):
            yield type(part)
            fields = [item for item in ast.iter_fields(part) if item[0] not in SAYS_NOTHING]
            pending.extend(_part(name, value) for name, value in reversed(fields))
        elif isinstance(part, list):
            yield len(part)
            pending.extend(Name(x) if isinstance(x, str) else x for x in reversed(part))
        elif isinstance(part, Name):
            yield part
        else:
            yield type(part), part  # 1, 1.0 and True are equal


def _part(name: str, value: object) -> object:
    if name in NAMES and isinstance(value, str):
        return Name(value, name == "module")
    return value


def _bound(tree: ast.AST) -> set[str]:
    """The names that ``tree`` defines."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found
