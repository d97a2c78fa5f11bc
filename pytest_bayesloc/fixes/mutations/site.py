"""A function that is mutated, and what mutations ask about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.syntax import Text, bound_in, own_nodes, visible

NodeT = TypeVar("NodeT", bound=ast.AST)


class Site:
    """A function with its surroundings."""

    def __init__(self, tree: ast.AST, function: FunctionNode, text: Text) -> None:
        self.tree = tree
        self.function = function
        self.text = text

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes in its body, but in no function or class nested there."""
        return list(own_nodes(self.function))

    def own(self, kind: type[NodeT]) -> Iterator[NodeT]:
        """The nodes of one kind among these."""
        return (node for node in self.nodes if isinstance(node, kind))

    @cached_property
    def own_names(self) -> list[str]:
        """The names that it binds itself: parameters first."""
        return [n for n in dict.fromkeys(bound_in(self.function)) if n not in {"self", "cls"}]

    @cached_property
    def visible(self) -> frozenset[str]:
        """All names that it may use, built-ins not among them."""
        return frozenset(visible(self.tree, self.function.lineno))

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
    used = (inner for inner in ast.walk(node) if isinstance(inner, ast.Attribute))
    found += [use.attr for use in used if ast.unparse(use.value) == "self"]
    return list(dict.fromkeys(found))
