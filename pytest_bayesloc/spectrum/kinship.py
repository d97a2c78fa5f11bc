"""The classes of the project and what they inherit from, read off the text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pytest_bayesloc.domain.source import SourceMap


class Kinship:
    """The classes of some files, with their bases, all by their plain names.

    Args:
        sources: The files.
    """

    def __init__(self, sources: Iterable[SourceMap]) -> None:
        self._bases: dict[str, set[str]] = {}
        self._derived: dict[str, set[str]] = {}
        self._families: dict[str, frozenset[str]] = {}
        self._heirs: dict[str, frozenset[str]] = {}
        for source in sources:
            for unit in source.units:
                if isinstance(unit.node, ast.ClassDef):
                    self._add(unit.node)

    def _add(self, node: ast.ClassDef) -> None:
        bases = {name for base in node.bases if (name := last_name(base))}
        self._bases.setdefault(node.name, set()).update(bases)
        for base in bases:
            self._derived.setdefault(base, set()).add(node.name)

    def __contains__(self, name: str) -> bool:
        return name in self._bases

    def family(self, name: str) -> frozenset[str]:
        """The class ``name``, its bases and the classes that are derived from it."""
        if name not in self._families:
            self._families[name] = _closure(name, self._bases) | self.heirs(name)
        return self._families[name]

    def heirs(self, name: str) -> frozenset[str]:
        """The class ``name`` and the classes that are derived from it."""
        if name not in self._heirs:
            self._heirs[name] = _closure(name, self._derived)
        return self._heirs[name]


def _closure(name: str, related: Mapping[str, Collection[str]]) -> frozenset[str]:
    found, pending = {name}, [name]
    while pending:
        more = set(related.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return frozenset(found)


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name; empty for another expression."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
