"""What was edited between two runs, and what state the code was in."""

from __future__ import annotations

import ast
import difflib
import hashlib
from itertools import chain
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.bug import DIFF_LENGTH, Edit
from pytest_bayesloc.domain.source import lines_of
from pytest_bayesloc.inspection.changes import shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap
    from pytest_bayesloc.inspection.changes import Changes

DIGEST = 16


def name_of(where: Location) -> str:
    """How the memory calls a location: it has no line, which moves."""
    return f"{where.file} {where.qualname}"


def edit_of(changes: Changes, plan: str = "") -> Edit:
    """``changes`` as the memory keeps them; empty if all that was done is renaming."""
    if not changes.every or is_renaming(changes):
        return Edit()
    diff: list[str] = []
    for file in sorted(changes.files):
        before, now = changes.files[file].green.text, changes.files[file].now.text
        diff += difflib.unified_diff(lines_of(before), lines_of(now), f"a/{file}", f"b/{file}", n=2)
    changed = [line for line in diff if not line.startswith(("+++", "---"))]
    ended = (line if line.endswith("\n") else f"{line}\n" for line in diff)
    return Edit(
        functions=tuple(dict.fromkeys(name_of(where) for where in changes.every)),
        diff="".join(ended)[:DIFF_LENGTH],
        n_added=sum(line.startswith("+") for line in changed),
        n_removed=sum(line.startswith("-") for line in changed),
        plan=plan,
        in_tests=all(where.is_test for where in changes.every),
    )


def is_renaming(changes: Changes) -> bool:
    """Whether the files differ only in what some names of theirs are called.

    Each old name has to be bound in them, to be gone, and to have become one new name everywhere.
    """
    names: dict[str, str] = {}
    bound: set[str] = set()
    left: set[str] = set()
    for change in changes.files.values():
        before, now = change.green.module.node, change.now.module.node
        if not _same_but_for_names(before, now, names):
            return False
        bound |= _bound(before)
        left |= {text for node in ast.walk(now) for text in _named(node)}
    renamed = {old: new for old, new in names.items() if old != new}
    return (
        bool(renamed)
        and renamed.keys() <= bound
        and renamed.keys().isdisjoint(left)
        and len(set(names.values())) == len(names)
    )


def _same_but_for_names(before: ast.AST, now: ast.AST, names: dict[str, str]) -> bool:
    """Whether two trees are alike up to a mapping of names, which is added to ``names``."""
    for old, new in zip(
        chain(ast.walk(before), (None,)), chain(ast.walk(now), (None,)), strict=False
    ):
        if old is None or new is None:
            return old is new
        if type(old) is not type(new) or _rest(old) != _rest(new):
            return False
        pairs = list(zip(_named(old), _named(new), strict=False))
        if any(names.setdefault(a, b) != b for a, b in pairs):
            return False
    return True


def _named(node: ast.AST) -> list[str]:
    """The names that ``node`` itself spells."""
    return [
        value
        for field, value in ast.iter_fields(node)
        if isinstance(value, str) and field in _NAMES
    ]


_NAMES = frozenset({"id", "attr", "name", "arg", "asname"})


def _rest(node: ast.AST) -> list[object]:
    """What ``node`` itself says besides names and children."""
    return [
        len(value) if isinstance(value, list) else value
        for field, value in ast.iter_fields(node)
        if not isinstance(value, ast.AST)
        and not (isinstance(value, str) and field in _NAMES)
        and field not in {"kind", "type_comment"}
    ]


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


def state_of(locations: Iterable[Location], read: Callable[[str], SourceMap | None]) -> str:
    """A digest of the code of ``locations``, wherever it stands: no path, no line is in it."""
    said: list[str] = []
    for where in set(locations):
        source = read(where.file)
        unit = source.unit(where) if source is not None else None
        if unit is not None:
            said.append(f"{where.qualname}\0{_text(shape(unit.node))}")
    digest = hashlib.sha256("\n".join(sorted(said)).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:DIGEST]


def _text(parts: Sequence[object]) -> str:
    return "\0".join(part.__name__ if isinstance(part, type) else repr(part) for part in parts)
