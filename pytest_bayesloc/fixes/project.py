"""A task for a fix tool, its answer, and what it may ask about the rest of the project."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, tree_of
from pytest_bayesloc.syntax.imports import Import, import_of, loaded_by
from pytest_bayesloc.syntax.nodes import (
    bound_in,
    bound_name,
    function_at,
    nodes_at,
    nodes_of,
    targets,
    walk,
)
from pytest_bayesloc.syntax.text import Text, TextEdit

if TYPE_CHECKING:
    from pytest_bayesloc.ranking.graph import Graph

_UNDEFINED = re.compile(r"name '(\w+)' is not defined")


@dataclass(frozen=True, kw_only=True)  # no slots: some values are made when first asked for
class Task:
    """Holds an error, and one file that a tool may propose to change.

    Attributes:
        code: Text of the file; lines end in a line feed alone.
        filename: Its path relative to rootdir.
        error: ``Type: message``.
        line: Line of the file that was executing when the error was raised, from 1; of a syntax
            error, where Python says it is; 0 where there is none.
        lines: Lines of the file that failing tests executed, the most suspicious first.
        values: What names held in the target: name to what was seen in passing and in failing
            calls, as texts.
        test: Text of a failing test; empty if unknown.
        test_file: Path of its file, relative to rootdir.
    """

    code: str
    filename: str
    error: str
    line: int = 0
    lines: tuple[int, ...] = ()
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    test: str = ""
    test_file: str = ""

    @cached_property
    def tree(self) -> ast.Module:
        """Syntax tree of the file; without statements if it does not parse."""
        return tree_of(self.code) or ast.Module(body=[], type_ignores=[])

    @cached_property
    def text(self) -> Text:
        """The file's text, for edits."""
        return Text(self.code)

    @property
    def module(self) -> str:
        """Dotted name of the module that the file is; empty if it has no path."""
        return _module_of(self.filename) if self.filename else ""

    @cached_property
    def function(self) -> FunctionNode | None:
        """The innermost function around the line."""
        return function_at(self.tree, self.line)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes of the statement at the line, but for the bodies of blocks."""
        return list(nodes_at(self.tree, self.line))

    @cached_property
    def executed(self) -> list[int]:
        """The line that was executing, then the others that failing tests executed."""
        return list(dict.fromkeys((self.line, *self.lines)))

    @cached_property
    def functions(self) -> list[FunctionNode]:
        """The functions around these lines, in their order."""
        around = (function_at(self.tree, line) for line in self.executed)
        return list(dict.fromkeys(function for function in around if function is not None))

    @property
    def error_type(self) -> str:
        """Name of the exception, without its module."""
        return self.error.partition(":")[0].strip().rpartition(".")[2]

    @property
    def message(self) -> str:
        """Returns the text behind the type."""
        return self.error.partition(":")[2].strip()

    @property
    def undefined(self) -> str:
        """The name that is not defined, by the message; empty if it speaks of none."""
        found = _UNDEFINED.search(self.message)
        return found.group(1) if found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The whole text of the file as a tool would have it, with what it did in one sentence.

    A guess is never safe, whatever the tool is: it may change what the code means.
    """

    code: str
    message: str
    is_guess: bool = False


def _module_of(file: str) -> str:
    return Location(file=file, start_line=1, end_line=1, qualname=MODULE).module


#: An answer of a tool of the package: a text, one edit, or several with the words of the first.
Made: TypeAlias = Proposal | TextEdit | Sequence[TextEdit]


def proposal(text: Text, *edits: TextEdit, is_guess: bool = False) -> Proposal:
    """``text`` after ``edits``, with what the first one says."""
    message = next((edit.words for edit in edits), "")
    return Proposal(code=text.edited(*edits), message=message, is_guess=is_guess)


class Project:
    """Imports, definitions and calls of the project's files, which are parsed when first asked.

    It never raises.

    Args:
        files: Paths of the Python files, relative to rootdir.
        read: Text of a file, or None.
    """

    def __init__(self, files: Sequence[str], read: Callable[[str], str | None]) -> None:
        self._files = tuple(files)
        self._read = read

    def imports_of(self, name: str) -> Sequence[str]:
        """Import statements of the project that bind ``name``, the most frequent first."""
        counted = self._imports.get(name, Counter())
        return [said for said, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))]

    def defined_in(self, name: str) -> Sequence[str]:
        """Dotted names of the modules that define ``name`` at top level, in order."""
        return sorted(
            module
            for module, tree in self._trees.items()
            if any(
                statement.name == name
                if isinstance(statement, ScopeNode)
                else any(target.id == name for target in targets(statement))
                for statement in tree.body
            )
        )

    def names_in(self, module: str) -> Sequence[str]:
        """Returns the names that a module of the project defines or imports at top level."""
        tree = self._trees.get(module)
        return [] if tree is None else list(dict.fromkeys(bound_in(tree)))

    def tree(self, module: str) -> ast.Module | None:
        """Syntax tree of a module of the project; None if there is none that parses."""
        return self._trees.get(module)

    def circle(self, statement: Import, module: str) -> tuple[str, ...]:
        """Return the shortest circle of modules that ``statement`` of ``module`` is part of.

        It begins and ends with ``module``, and holds what runs while modules are loaded. Empty if
        the statement leads to no import of ``module``.
        """
        from pytest_bayesloc.ranking import graph

        loaded = loaded_by(statement, self._packages.get(module, ""))
        way = graph.shortest_path(self._import_graph, loaded, module)
        return (module, *way) if way else ()

    def text(self, file: str) -> str | None:
        """Text of a file, by its path relative to rootdir; None if it can't be read."""
        return self._read(file)

    def calls_of(self, name: str) -> Sequence[ast.Call]:
        """Calls in the project of what is named ``name``."""
        return self._calls.get(name, [])

    @cached_property
    def _trees(self) -> dict[str, ast.Module]:
        found = {}
        for file in self._files:
            text = self._read(file)
            tree = None if text is None else tree_of(text)
            if tree is not None:
                found[_module_of(file)] = tree
        return found

    @cached_property
    def _packages(self) -> dict[str, str]:
        """Per module, the package that its relative imports start from."""
        found = {}
        for file in self._files:
            module = _module_of(file)
            is_package = PurePosixPath(file).stem == "__init__"
            found[module] = module if is_package else module.rpartition(".")[0]
        return found

    @cached_property
    def _import_graph(self) -> Graph[str]:
        """The graph of modules: an edge from each to those that are loaded while it is loaded."""
        from pytest_bayesloc.ranking import graph

        edges = (
            (module, name)
            for module, tree in self._trees.items()
            for name in loaded_by(tree, self._packages[module])
            if name in self._trees
        )
        return graph.graph_of(edges, self._trees)

    @cached_property
    def _imports(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for tree in self._trees.values():
            for bound, said in _imports(tree):
                found.setdefault(bound, Counter())[said] += 1
        return found

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for tree in self._trees.values():
            for node in nodes_of(tree, ast.Call):
                called = ast.unparse(node.func).rpartition(".")[2]
                found.setdefault(called, []).append(node)
        return found


Propose: TypeAlias = Callable[[Task, Project], Iterator[Proposal]]


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each name that an absolute import binds, with a statement that binds it alone."""
    for node in walk(tree):
        is_absolute = isinstance(node, ast.ImportFrom) and node.module and not node.level
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and is_absolute):
            yield from ((bound_name(alias), import_of(node, [alias])) for alias in node.names)
