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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap
    from pytest_bayesloc.inspection.changes import Changes

DIGEST = 16
LIKE = 0.5


def name_of(where: Location) -> str:
    """How the memory calls a location: it has no line, which moves."""
    return f"{where.file} {where.qualname}"


def edit_of(changes: Changes) -> Edit:
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
        in_tests=all(where.is_test for where in changes.every),
    )


def followed(
    texts: Mapping[str, str], read: Callable[[str], str | None], in_use: Callable[[], Iterable[str]]
) -> tuple[dict[str, str], frozenset[str]]:
    """``texts`` of files with those that were moved under their new paths.

    A file that is gone has become the one, of those in use that are not in ``texts``, with which it
    shares most lines, half of them at least.

    Args:
        texts: By path, as the files were.
        read: The text of a file as it is; None if there is none.
        in_use: The files of the project that are imported.

    Returns:
        The texts, and the dotted names that the modules had which were moved.
    """
    gone = sorted(file for file in texts if read(file) is None)
    new = sorted(file for file in in_use() if file not in texts) if gone else []
    moved: dict[str, str] = {}
    for old in gone:
        likeness = {file: _likeness(texts[old], read(file) or "") for file in new}
        best = max(new, key=lambda file: likeness[file], default="")
        if best and likeness[best] >= LIKE:
            moved[old] = best
            new.remove(best)
    names = frozenset(name for old in moved for name in _module_names(old))
    return {moved.get(file, file): text for file, text in texts.items()}, names


def _likeness(a: str, b: str) -> float:
    """Share of lines that two texts have in common, in [0, 1]."""
    one, other = ({line.strip() for line in text.splitlines()} - {""} for text in (a, b))
    return len(one & other) / max(len(one), len(other), 1)


def _module_names(file: str) -> list[str]:
    """``shop.cart`` and ``cart`` of ``shop/cart.py``: nobody knows where imports begin."""
    parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
    return [".".join(parts[i:]) for i in range(len(parts))]


def is_renaming(changes: Changes) -> bool:
    """Whether the files differ only in what some names of theirs are called.

    Each old name has to be bound in them, or to be that of a module whose file was moved; to be
    gone, and to have become one new name everywhere.
    """
    names: dict[str, str] = {}
    bound: set[str] = {*changes.moved, *(f"{_FROM}{name}" for name in changes.moved)}
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
        f"{_FROM}{value}" if field == "module" else value
        for field, value in ast.iter_fields(node)
        if isinstance(value, str) and field in _NAMES
    ]


_NAMES = frozenset({"id", "attr", "name", "arg", "asname", "module"})
_FROM = "from "  # a module's name is not that of a variable


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
