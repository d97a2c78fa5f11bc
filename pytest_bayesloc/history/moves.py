"""Files that were moved, made or removed since a run, and edits that only rename."""

from __future__ import annotations

import ast
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pytest_bayesloc.domain.source import SourceMap
    from pytest_bayesloc.history.changes import Changes

LIKE = 0.5  # share of lines
#: Fields of syntax nodes that hold a name.
NAMES = frozenset({"id", "attr", "name", "arg", "asname", "rest", "module"})
SAYS_NOTHING = frozenset({"ctx", "kind", "type_comment"})
# Modules and functions that show values.
LOOKING = frozenset(
    {"print", "pprint", "pp", "breakpoint", "pdb", "ic", "log", "logger", "logging"}
)


def followed(
    texts: Mapping[str, str],
    read: Callable[[str], str | None],
    in_use: Collection[str],
    is_new: Callable[[str], bool],
) -> tuple[dict[str, str], frozenset[str]]:
    """Return old ``texts`` of files under their present paths, and names of modules that moved.

    A file that is gone has become the one, of those in use that are not in ``texts``, with which it
    shares most lines, half of them at least.

    Args:
        texts: By path, as the files were.
        read: The text of a file as it is; None if there is none.
        in_use: The files of the project that are imported.
        is_new: Whether a file of those was made since; else it was not imported then.

    Returns:
        Per file its old text: one that was moved has its new path, one that was made since is
        empty. Then the dotted names that the modules had which were moved.
    """
    gone = sorted(file for file in texts if read(file) is None)
    others = sorted(file for file in in_use if file not in texts)
    moved: dict[str, str] = {}

    @cache
    def lines_of_now(file: str) -> frozenset[str]:
        return _lines(read(file) or "")

    for old in gone if others else ():
        lines = _lines(texts[old])
        shares = [(_share(lines, lines_of_now(file)), file) for file in others]
        share, best = max(shares, default=(0.0, ""))
        if share >= LIKE:
            moved[old] = best
            others.remove(best)
    made = {file: "" for file in others if is_new(file)}
    present = {moved.get(file, file): text for file, text in texts.items()} | made
    return present, frozenset(name for old in moved for name in _module_names(old))


def _lines(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.splitlines()) - {""}


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / max(len(a), len(b), 1)


def _module_names(file: str) -> list[str]:
    """Return ``shop.cart`` and ``cart`` of ``shop/cart.py``: the import root is unknown."""
    parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
    return [".".join(parts[i:]) for i in range(len(parts))]


# -- renaming


class BoundName(NamedTuple):
    """A name in a program; the name of an imported module is not that of a variable."""

    text: str
    is_module: bool = False


def is_renaming(changes: Changes) -> bool:
    """Whether the files differ only in some of their names.

    Each old name has to be bound in them, or to be that of a module whose file was moved; to be
    gone, and to have become one new name everywhere. Other files may still use the old one: the
    caller should know that the tests fail as they did.
    """
    names: dict[BoundName, BoundName] = {}
    bound = {BoundName(text, is_module) for text in changes.moved for is_module in (False, True)}
    left: set[BoundName] = set()
    for change in changes.files.values():
        before, now = change.before.module.node, change.now.module.node
        if change.before.is_broken or change.now.is_broken:
            return False
        for old, new in zip_longest(_tokens(before), _tokens(now)):
            if isinstance(old, BoundName) and isinstance(new, BoundName):
                left.add(new)
                if names.setdefault(old, new) != new:
                    return False
            elif old != new:
                return False
        bound |= {BoundName(text) for text in _bound(before)}
    renamed = {old for old, new in names.items() if old != new}
    return (
        bool(renamed)
        and renamed <= bound
        and renamed.isdisjoint(left)
        and len(set(names.values())) == len(names)
    )


def is_looking(changes: Changes) -> bool:
    """Return whether prints, log messages and break points came or went, and nothing else did."""
    return bool(changes.files) and all(
        not change.before.is_broken
        and not change.now.is_broken
        and _without_looks(change.before) == _without_looks(change.now)
        for change in changes.files.values()
    )


def _without_looks(source: SourceMap) -> str:
    tree = ast.parse(source.text)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [part for part in block if not _is_look(part)])
    return ast.dump(tree)


def _is_look(node: ast.stmt) -> bool:
    """Whether a statement only shows something, or makes that possible."""
    if isinstance(node, ast.Import):
        return all(alias.name in LOOKING for alias in node.names)
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    while isinstance(called, (ast.Attribute, ast.Call)):
        called = called.value if isinstance(called, ast.Attribute) else called.func
    return isinstance(called, ast.Name) and called.id in LOOKING


def _tokens(tree: ast.AST) -> Iterator[object]:
    """Yield a program flat: its names, and the rest as types and values."""
    pending: list[object] = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.AST):
            yield type(part)
            fields = [item for item in ast.iter_fields(part) if item[0] not in SAYS_NOTHING]
            pending.extend(_part(name, value) for name, value in reversed(fields))
        elif isinstance(part, list):
            yield len(part)
            pending.extend(BoundName(x) if isinstance(x, str) else x for x in reversed(part))
        elif isinstance(part, BoundName):
            yield part
        else:
            yield type(part), part  # 1, 1.0 and True are equal


def _part(name: str, value: object) -> object:
    if name in NAMES and isinstance(value, str):
        return BoundName(value, name == "module")
    return value


def _bound(tree: ast.AST) -> set[str]:
    """Return the names that ``tree`` defines."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found
