"""A function that is to be edited, and what the failing tests say of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from pytest_bayesloc.domain.recording import Sample
from pytest_bayesloc.domain.source import FunctionNode, tree_of
from pytest_bayesloc.syntax.nodes import (
    LOOPS,
    NodeT,
    bound_in,
    evaluated,
    functions_in,
    names_in,
    nodes_of,
    own_nodes,
    parameters,
    targets,
    visible,
)
from pytest_bayesloc.syntax.text import Text, TextEdit

OF_TYPES = frozenset({"AttributeError", "TypeError"})  # a value has the wrong type
#: How pytest shows both sides of a comparison that failed.
COMPARED = re.compile(r"^(?:AssertionError: )?assert (.+) == (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """The facts that failing tests tell of a function.

    Attributes:
        error: Name of the exception that was raised in it or passed through it; empty if none.
        line: Of the function, where that was.
        span: Likewise the expression, as ``domain.failure.Frame`` has it.
        sides: What was computed and what was expected, as values, where they differ.
        is_lenient: Whether a test expected an exception that nothing raised.
        failing: Values at points of the function in failing tests.
        passing: The same in passing tests.
    """

    error: str = ""
    line: int = 0
    span: tuple[int, int, int] | None = None
    sides: Sequence[tuple[object, object]] = ()
    is_lenient: bool = False
    failing: Sequence[Sample] = ()
    passing: Sequence[Sample] = ()


class Site(Text):
    """A file's text, the function in it that is edited, and what the failing tests say of it."""

    def __init__(
        self, text: str, tree: ast.AST, function: FunctionNode, hints: Hints | None = None
    ) -> None:
        super().__init__(text)
        self.tree = tree
        self.function = function
        self.hints = hints or Hints()
        self._by_kind: dict[type[ast.AST], list[Any]] = {}

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes in its body, but in no function or class nested there."""
        return list(own_nodes(self.function))

    def own(self, kind: type[NodeT]) -> Iterator[NodeT]:
        """The nodes of one kind among these."""
        if kind not in self._by_kind:
            self._by_kind[kind] = [node for node in self.nodes if isinstance(node, kind)]
        return iter(self._by_kind[kind])

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the function, header and what is nested in it included."""
        return frozenset(names_in(self.function))

    @cached_property
    def compared(self) -> dict[str, list[ast.Compare]]:
        """Its comparisons, by the text of what they begin with."""
        found: dict[str, list[ast.Compare]] = {}
        for node in self.own(ast.Compare):
            found.setdefault(ast.unparse(node.left), []).append(node)
        return found

    @cached_property
    def divisors(self) -> dict[str, set[int]]:
        """Whole numbers, by the text of what it takes the rest of a division by them of."""
        found: dict[str, set[int]] = {}
        for node in self.own(ast.BinOp):
            match node:
                case ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int(number))):
                    found.setdefault(ast.unparse(node.left), set()).add(number)
        return found

    @cached_property
    def own_names(self) -> list[str]:
        """The names that it binds itself: parameters first."""
        return [n for n in dict.fromkeys(bound_in(self.function)) if n not in {"self", "cls"}]

    def is_late(self, edit: TextEdit) -> bool:
        """Say whether the error is raised again before an edit of its expression matters.

        It may matter after all, where the same statement had been executed before.
        """
        if self._raised is None:
            return False
        raised, end_of_all = self._raised
        start, end = self.start(raised), self.end(raised)
        if edit.start >= end:
            return edit.end <= end_of_all
        if edit.start > start or edit.end < end:
            return False
        match tree_of(edit.text.strip()):
            case ast.Module(body=[ast.Expr(value=made)]):
                return ast.dump(raised) in map(ast.dump, evaluated(made))
        return False

    @cached_property
    def _raised(self) -> tuple[ast.expr, int] | None:
        """The expression that raised, and the end of the whole that it is a part of."""
        hints = self.hints
        if hints.span is None:
            return None
        there = (n for n in self.own(ast.stmt) if n.lineno <= hints.line <= (n.end_lineno or 0))
        plain = (n for n in there if not isinstance(n, LOOPS))
        parts = chain.from_iterable(map(ast.iter_child_nodes, plain))
        for part in (part for part in parts if isinstance(part, ast.expr)):
            for node in evaluated(part):
                span = node.col_offset, node.end_lineno, node.end_col_offset
                if node.lineno == hints.line and span == hints.span:
                    return node, self.end(part)
        return None

    def bound_before(self, line: int) -> list[str]:
        """Those of its names that may have a value where ``line`` begins."""
        return [name for name in self.own_names if self.first_stores.get(name, 0) < line]

    @cached_property
    def first_stores(self) -> dict[str, int]:
        """Per variable, the line that gives it a value first; 0 for parameters."""
        stored = [n for n in self.own(ast.Name) if isinstance(n.ctx, ast.Store)]
        first = {n.id: n.lineno for n in sorted(stored, key=lambda n: -n.lineno)}
        return first | dict.fromkeys(parameters(self.function.args), 0)

    @cached_property
    def visible(self) -> frozenset[str]:
        """All names that it may use, built-ins not among them."""
        return frozenset(visible(self.tree, self.function.lineno))

    @cached_property
    def types(self) -> dict[str, frozenset[str]]:
        """Per variable, the types that its values were seen to have; numbers are of one."""
        return _types_in((*self.hints.failing, *self.hints.passing))

    def is_alike(self, name: str, other: str, line: int) -> bool:
        """Say whether values of one expression may stand for those of another.

        Those of other types do not, where these were seen and no error in ``line`` is about them.
        """
        hints = self.hints
        if hints.error in OF_TYPES and hints.line == line:
            return True
        own, others = (self.types.get(each, frozenset()) for each in (name, other))
        return not own or not others or not own.isdisjoint(others)

    @cached_property
    def failing_types(self) -> dict[str, frozenset[str]]:
        """The same in failing tests alone."""
        return _types_in(self.hints.failing)

    @cached_property
    def others(self) -> list[FunctionNode]:
        """The other functions of the file, the nearest first."""
        line = self.function.lineno
        rest = [n for n in functions_in(self.tree) if n is not self.function]
        return sorted(rest, key=lambda n: abs(n.lineno - line))

    @cached_property
    def function_names(self) -> frozenset[str]:
        """The names of all functions of the file."""
        return frozenset((self.function.name, *(other.name for other in self.others)))

    @cached_property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method it is."""
        classes = nodes_of(self.tree, ast.ClassDef)
        return next((node for node in classes if self.function in node.body), None)

    @cached_property
    def class_methods(self) -> frozenset[str]:
        """The methods that its class defines, properties not among them."""
        body = [] if self.owner is None else self.owner.body
        plain = (n for n in body if isinstance(n, FunctionNode) and not n.decorator_list)
        return frozenset(node.name for node in plain)

    @cached_property
    def class_names(self) -> list[str]:
        """The attributes of ``self`` that its class sets, uses, declares or defines."""
        node = self.owner
        if node is None:
            return []
        found = [inner.name for inner in node.body if isinstance(inner, FunctionNode)]
        found += [name.id for inner in node.body for name in targets(inner)]
        uses = nodes_of(node, ast.Attribute)
        found += [use.attr for use in uses if ast.unparse(use.value) == "self"]
        return list(dict.fromkeys(found))

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


def _types_in(samples: Iterable[Sample]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for sample in samples:
        for name, value in sample.values.items():
            kind = "number" if value.number is not None else value.type_name
            found.setdefault(name, set()).add(kind)
    return {name: frozenset(kinds - {"NoneType"}) for name, kinds in found.items()}
