"""Credits definitions that an import executed to the tests that use them.

The body of a module or class runs once, while it is imported: all tests have run it alike. But a
line that binds a name matters to those that execute a line which reads that name. Names are
compared as text: an attribute stands for every one of its name.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.source import ScopeNode, first_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap, Unit

    Lines = Mapping[Location, Mapping[int, int]]

#: A definition may be read by another one: how many such steps are followed.
MAX_HOPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDefinition:
    """A statement that an import executes.

    Attributes:
        where: The body of the module or class that it stands in.
        lines: Its lines; of a ``def`` or ``class`` only those of its header.
        names: The names that it binds or changes.
        is_member: Whether they are read as attributes: it stands in a class.
        unit: The function or class that it makes; None if it makes none.
    """

    where: Location
    lines: range
    names: frozenset[str]
    is_member: bool
    unit: Unit | None = None


def find_users(sources: Iterable[SourceMap], lines: Lines) -> dict[Location, dict[int, int]]:
    """Find, per body and line of a definition in it, the tests that use what it defines.

    Lines that nobody is seen to use are not in the result.

    Args:
        sources: The files that are looked at for uses and, unless they are tests, for definitions.
        lines: Per location, per line, the tests that executed it after the import.
    """
    files = [_File(source, lines) for source in sources]
    readers = _Readers(files)
    credit: dict[Location, dict[int, int]] = {}
    for _ in range(MAX_HOPS):
        changed = False
        for file in files:
            for definition in file.definitions:
                tests = readers.tests_using(definition, file)
                rows = credit.setdefault(definition.where, {})
                if tests & ~rows.get(definition.lines.start, 0):
                    changed = True
                    for line in definition.lines:
                        rows[line] = rows.get(line, 0) | tests
                        readers.add(file, line, tests)
        if not changed:
            break
    return {where: rows for where, rows in credit.items() if rows}


class _File:
    """The definitions and the reads of one file.

    Attributes:
        source: The file.
        executed: Per line, the tests that executed it after the import.
        reads: Per line, what it reads: names, and attributes with a dot before them.
        imported: The names that it imports from other modules.
        definitions: Statements that its import executes.
    """

    def __init__(self, source: SourceMap, lines: Lines) -> None:
        self.source = source
        self.executed: dict[int, int] = {}
        for unit in source.units:
            for line, tests in lines.get(unit.location, {}).items():
                self.executed[line] = self.executed.get(line, 0) | tests
        self.reads: dict[int, set[str]] = {}
        self.imported: set[str] = set()
        for node in ast.walk(source.module.node):
            self._read(node)
        self._inside = self._executed_inside()
        self.definitions = [] if source.is_test else list(self._definitions())

    def _read(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.reads.setdefault(node.lineno, set()).add(node.id)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                line = node.end_lineno or node.lineno
                self.reads.setdefault(line, set()).add(f".{node.attr}")
        elif isinstance(node, ast.ImportFrom):
            self.imported.update(alias.name for alias in node.names)

    def _executed_inside(self) -> dict[int, int]:
        """Per ``id`` of a unit, the tests that execute anything in its body."""
        around = {id(unit): outer for unit, outer in self.source.nested()}
        tests_in: dict[int, int] = {}
        for line, tests in self.executed.items():
            inner: Unit | None = self.source.owner(line)
            while inner is not None:
                tests_in[id(inner)] = tests_in.get(id(inner), 0) | tests
                inner = around[id(inner)]
        return tests_in

    def inside(self, unit: Unit | None) -> int:
        """The tests that execute anything in the body of ``unit``."""
        return self._inside.get(id(unit), 0)

    def _definitions(self) -> Iterator[ImportedDefinition]:
        by_node = {id(unit.node): unit for unit in self.source.units}
        for body in self.source.units:
            if not body.is_function:
                for statement in _statements(getattr(body.node, "body", ())):
                    if _is_plain(statement):
                        continue
                    unit = by_node.get(id(statement))
                    yield ImportedDefinition(
                        where=body.location,
                        lines=_span(statement, unit),
                        names=frozenset(_bound(statement)),
                        is_member=body is not self.source.module,
                        unit=unit,
                    )


class _Readers:
    """Finds the tests that execute a line which reads a name."""

    def __init__(self, files: Iterable[_File]) -> None:
        self._in_file: dict[tuple[str, str], int] = {}
        self._anywhere: dict[str, int] = {}  # names that were imported, and attributes
        for file in files:
            for line, tests in file.executed.items():
                self.add(file, line, tests)

    def add(self, file: _File, line: int, tests: int) -> None:
        """Let ``line`` count as executed by ``tests``."""
        for name in file.reads.get(line, ()):
            key = (file.source.file, name)
            self._in_file[key] = self._in_file.get(key, 0) | tests
            if name in file.imported or name.startswith("."):
                self._anywhere[name] = self._anywhere.get(name, 0) | tests

    def tests_using(self, definition: ImportedDefinition, file: _File) -> int:
        """The tests that use what ``definition`` defines."""
        tests = file.inside(definition.unit)
        for name in definition.names:
            tests |= self._anywhere.get(f".{name}", 0)
            tests |= self._in_file.get((file.source.file, name), 0)
            if not definition.is_member:
                tests |= self._anywhere.get(name, 0)
        return tests


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that a body executes itself, those inside ``if``, ``try``, ... as well."""
    for statement in body:
        if isinstance(statement, ScopeNode):
            yield statement
            continue
        inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
        handlers = getattr(statement, "handlers", ()) or getattr(statement, "cases", ())
        inner += [child for handler in handlers for child in handler.body]
        if inner:
            yield from _statements(inner)
        else:
            yield statement


def _is_plain(statement: ast.stmt) -> bool:
    """Whether it is a header in which nothing is evaluated that could be wrong."""
    if not isinstance(statement, ScopeNode) or statement.decorator_list:
        return False
    if isinstance(statement, ast.ClassDef):
        return not statement.keywords
    return not statement.args.defaults and not any(statement.args.kw_defaults)


def _span(statement: ast.stmt, unit: Unit | None) -> range:
    end = statement.end_lineno or statement.lineno
    if unit is not None:
        # A body that shares the line with its header belongs to the function.
        end = max(statement.lineno, unit.body_line - 1)
    return range(first_line(statement), end + 1)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that ``statement`` binds, and those that it writes for a change in place."""
    if isinstance(statement, ScopeNode):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield (alias.asname or alias.name).partition(".")[0]
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete)):
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        for target in targets:
            if target is not None:
                yield from _names(target)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _names(statement.value)


def _names(node: ast.AST) -> Iterator[str]:
    """Names and attributes in ``node``, but not in functions written there."""
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            yield child.attr
