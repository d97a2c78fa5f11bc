"""Where a template is tried, and what templates are made of."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pytest_bayesloc.domain.edits import Edit, Text, own_nodes
from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.syntax import bound_in, visible

Operate = Callable[["Site"], Iterator[Edit]]


@dataclass(frozen=True)
class Site:
    """A function to be repaired.

    Attributes:
        tree: Of its file.
        function: Its syntax.
        text: Of its file.
    """

    tree: ast.AST
    function: FunctionNode
    text: Text

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """What is in its body, but in no function or class nested there."""
        return list(own_nodes(self.function))

    @cached_property
    def own_names(self) -> list[str]:
        """The names that it binds itself: parameters first."""
        return [n for n in dict.fromkeys(bound_in(self.function)) if n not in {"self", "cls"}]

    @cached_property
    def visible(self) -> frozenset[str]:
        """All names that it may use, built-ins not among them."""
        tree = self.tree if isinstance(self.tree, ast.Module) else ast.Module([], [])
        return frozenset(visible(tree, self.function.lineno))

    @cached_property
    def others(self) -> list[FunctionNode]:
        """The other functions of the file, the nearest first."""
        every = [n for n in ast.walk(self.tree) if isinstance(n, FunctionNode)]
        line = self.function.lineno
        rest = [n for n in every if n is not self.function]
        return sorted(rest, key=lambda n: abs(n.lineno - line))

    @cached_property
    def class_names(self) -> list[str]:
        """The attributes of ``self`` that its class sets, uses or defines."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef) and self.function in node.body:
                return _attributes(node)
        return []

    @cached_property
    def blocks(self) -> list[list[ast.stmt]]:
        """The lists of statements in its body, outer ones first."""
        found: list[list[ast.stmt]] = [self.function.body]
        for node in self.nodes:
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and not isinstance(node, ast.ClassDef):
                    found.append(block)
        return found


def _attributes(node: ast.ClassDef) -> list[str]:
    found = [inner.name for inner in node.body if isinstance(inner, FunctionNode)]
    for inner in ast.walk(node):
        is_own = isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name)
        if is_own and isinstance(inner, ast.Attribute) and ast.unparse(inner.value) == "self":
            found.append(inner.attr)
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One kind of repair.

    Attributes:
        name: Words, joined by hyphens.
        operate: Gives its edits, the likeliest first.
        examples: Bodies of ``def f(self, first, second):`` before and after, for each thing that
            it does.
    """

    name: str
    operate: Operate
    examples: tuple[tuple[str, str], ...]


def replacing(site: Site, node: ast.expr | ast.stmt, text: str, words: str) -> Edit:
    """``text`` in the place of ``node``."""
    return site.text.replace(node, text, words)


def inserting(at: int, line: int, text: str, words: str) -> Edit:
    """``text`` before the byte ``at``."""
    return Edit(start=at, end=at, text=text, line=line, words=words)
