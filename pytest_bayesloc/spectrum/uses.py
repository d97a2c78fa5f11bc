"""Credits definitions that an import executed to the tests that use them.

The body of a module or class runs once, while it is imported: all tests have run it alike. But a
line that binds a name matters to those that execute a line which reads that name. Names are
compared as text. An attribute speaks for a class only if the test is seen to deal with that class:
it executes code of the class, or a line that names it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, SourceMap, Unit, first_line
from pytest_bayesloc.syntax.nodes import RECEIVERS, bound_name, children, last_name, walk

Lines = Mapping[Location, Mapping[int, int]]
Reads = Mapping[int, set[str]]

T = TypeVar("T")

MAX_HOPS = 3  # from a definition to another one that reads it


class Kinship:
    """The classes of some files, with their bases, all by their plain names.

    Attributes:
        heirs: Returns a class and the classes that are derived from it.
        family: Returns a class, its bases and the classes that are derived from it.
    """

    def __init__(self, sources: Iterable[SourceMap]) -> None:
        self._bases: dict[str, set[str]] = {}
        derived: dict[str, set[str]] = defaultdict(set)
        units = (unit for source in sources for unit in source.units)
        for node in (unit.node for unit in units if isinstance(unit.node, ast.ClassDef)):
            bases = {name for base in node.bases if (name := last_name(base))}
            self._bases.setdefault(node.name, set()).update(bases)
            for base in bases:
                derived[base].add(node.name)
        self.heirs = cache(lambda name: closure(name, derived))
        self.family = cache(lambda name: closure(name, self._bases) | self.heirs(name))

    def __contains__(self, name: str) -> bool:
        return name in self._bases


def closure(start: T, related: Mapping[T, Collection[T]]) -> frozenset[T]:
    """Return ``start`` with all that is ``related`` to it, directly or through others."""
    found, pending = {start}, [start]
    while pending:
        more = set(related.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDefinition:
    """A statement that an import executes.

    Attributes:
        where: The body of the module or class that it stands in.
        lines: Its lines; of a ``def`` or ``class`` only those of its header.
        names: The names that it binds or changes.
        owner: The plain name of the class or module that it stands in.
        unit: The function or class that it makes; None if it makes none.
        is_import: Whether its names are defined elsewhere.
        is_plain: Whether nothing is evaluated in it that could be wrong: the header of a class.
    """

    where: Location
    lines: range
    names: frozenset[str]
    owner: str
    unit: Unit | None = None
    is_import: bool = False
    is_plain: bool = False


class ImportedFile:
    """The definitions and the reads of one file.

    Attributes:
        executed: Per line, the tests that executed it after the import.
        inside: Per ``id`` of a unit, the tests that execute anything in its body.
        reads: Per line, what it reads: names; attributes behind the name of their class or module
            and a dot, or behind a dot alone where that is not known.
        imported: The names that it imports from other modules.
        definitions: Statements that its import executes.
    """

    def __init__(self, source: SourceMap, lines: Lines, kinship: Kinship) -> None:
        self.source = source
        self._kinship = kinship
        self.executed: dict[int, int] = defaultdict(int)
        self.inside: dict[int, int] = defaultdict(int)
        for unit in source.units:
            for line, tests in lines.get(unit.location, {}).items():
                self.executed[line] |= tests
        for line, tests in self.executed.items():
            for unit in source.owner(line).enclosing:
                self.inside[id(unit)] |= tests
        self.reads: dict[int, set[str]] = defaultdict(set)
        self.imported: set[str] = set()
        self._origins: dict[str, str] = {}  # names that imports bind, and what they stand for
        nodes = walk(source.module.node)
        for note in (self._import, self._read):
            for node in nodes:
                note(node)
        self.definitions = list(self._definitions())

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.imported.add(alias.name)
                self._origins[alias.asname or alias.name] = alias.name
                self.reads[node.lineno].add(alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first, last = alias.name.partition(".")[0], alias.name.rpartition(".")[2]
                self._origins[alias.asname or first] = last if alias.asname else first

    def _read(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.reads[node.lineno].add(node.id)
        elif isinstance(node, ast.arg) and self.source.is_test:  # a fixture
            self.reads[node.lineno].add(node.arg)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            names = (f"{name}.{node.attr}" for name in self._owners(node.value))
            self.reads[node.end_lineno or node.lineno].update(names)

    def _owners(self, value: ast.expr) -> tuple[str, ...]:
        """The class or module whose attribute is read, by its plain name; empty if not known."""
        name = last_name(value)
        if isinstance(value, ast.Name):
            if name in RECEIVERS:
                around = (unit.node for unit in reversed(self.source.owner(value.lineno).enclosing))
                return (next((node.name for node in around if isinstance(node, ast.ClassDef)), ""),)
            name = self._origins.get(name, name if name in self._kinship else "")
        else:
            first = value
            while isinstance(first, ast.Attribute):
                first = first.value
            # It may be ``package.module`` if it is a dotted name that begins with an import's.
            begin = first.id if isinstance(first, ast.Name) else ""
            name = name if begin in self._origins or begin in self._kinship else ""
        # What is imported may be a class, a module, or an object of whatever type.
        return (name,) if name in self._kinship else tuple({name, ""})

    def _definitions(self) -> Iterator[ImportedDefinition]:
        by_node = {id(unit.node): unit for unit in self.source.units}
        is_test = self.source.is_test
        for body in self.source.units:
            if body.is_function:
                continue
            module = body.location.module.rpartition(".")[2]
            for statement in _statements(getattr(body.node, "body", ())):
                is_plain = _is_plain(statement) and not is_test
                if is_plain and isinstance(statement, FunctionNode):
                    continue  # it calls nothing
                unit = by_node.get(id(statement))
                # Nobody traces tests: who uses a helper or a fixture is taken to run all of it.
                header = None if is_test and isinstance(statement, FunctionNode) else unit
                end = statement.end_lineno or statement.lineno
                if header is not None:
                    # A body that shares the line with its header belongs to the function.
                    end = max(statement.lineno, header.body_line - 1)
                yield ImportedDefinition(
                    where=body.location,
                    lines=range(first_line(statement), end + 1),
                    names=frozenset(_bound(statement)),
                    owner=body.node.name if isinstance(body.node, ast.ClassDef) else module,
                    unit=unit,
                    is_import=isinstance(statement, (ast.Import, ast.ImportFrom)),
                    is_plain=is_plain,
                )


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that a body executes itself, those inside ``if``, ``try``, ... as well."""
    for statement in body:
        if isinstance(statement, ScopeNode):
            yield statement
            continue
        inner = [child for child in children(statement) if isinstance(child, ast.stmt)]
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


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that ``statement`` binds, and those that it writes for a change in place."""
    if isinstance(statement, ScopeNode):
        yield statement.name
        yield from _registries(statement)
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from map(bound_name, statement.names)
    elif isinstance(statement, (ast.Assign, ast.Delete)):
        for target in statement.targets:
            yield from _names(target)
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        yield from _names(statement.target)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _names(statement.value)


def _registries(statement: ScopeNode) -> Iterator[str]:
    """Yield the objects whose methods decorate, as in ``@router.route("/")``."""
    for decorator in statement.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute):
            yield from _names(decorator.func.value)


def _names(node: ast.AST) -> Iterator[str]:
    """Names and attributes in ``node``, but not in functions written there."""
    for child in walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            yield child.attr


class ImportUses:
    """Finds the tests that use what imports define.

    Args:
        sources: The files that are looked at for uses and for definitions.
        lines: Per location, per line, the tests that executed it after the import. Of tests, which
            nobody traces, all lines count.
    """

    def __init__(self, sources: Iterable[SourceMap], lines: Lines) -> None:
        listed = list(sources)
        self._kinship = Kinship(listed)
        self._files = [ImportedFile(source, lines, self._kinship) for source in listed]
        self._users: dict[tuple[str, int], int] = defaultdict(int)  # by file and first line
        # The tests that execute a line which reads a name, in a file, or anywhere one that was
        # imported or is an attribute; and those that execute code of a class.
        self._in_file: dict[tuple[str, str], int] = defaultdict(int)
        self._anywhere: dict[str, int] = defaultdict(int)
        self._inside: dict[str, int] = defaultdict(int)
        for file in self._files:
            for unit in file.source.units:
                if isinstance(unit.node, ast.ClassDef):
                    self._inside[unit.node.name] |= file.inside[id(unit)]
            for line, tests in file.executed.items():
                self._add(file, line, tests)
        for _ in range(MAX_HOPS):
            if not self._follow():
                break

    def _add(self, file: ImportedFile, line: int, tests: int) -> None:
        """Let ``line`` count as executed by ``tests``."""
        for name in file.reads.get(line, ()):
            self._in_file[file.source.file, name] |= tests
            if name in file.imported or "." in name:
                self._anywhere[name] |= tests

    def _follow(self) -> bool:
        """Let the users of each definition use what it was made of; say if any is new."""
        has_news = False
        for file in self._files:
            for definition in file.definitions:
                tests = self._tests_using(definition, file)
                key = file.source.file, definition.lines.start
                if tests & ~self._users[key]:
                    has_news = True
                    self._users[key] |= tests
                    for line in definition.lines:
                        self._add(file, line, tests)
        return has_news

    def _tests_using(self, definition: ImportedDefinition, file: ImportedFile) -> int:
        """The tests that use what ``definition`` defines."""
        unit, here = definition.unit, file.source.file
        tests = file.inside[id(unit)]
        if definition.where.qualname == MODULE:
            for name in definition.names:
                tests |= self._anywhere.get(f"{definition.owner}.{name}", 0)
                tests |= self._in_file.get((here, name), 0)
                tests |= self._anywhere.get(name, 0)
            return tests
        # Names in a class are read as attributes: of it, or of objects that may be its own.
        is_method = unit is not None and unit.is_function
        unknown = 0
        for name in definition.names:
            for owner in self._kinship.family(definition.owner):
                tests |= self._anywhere.get(f"{owner}.{name}", 0)
            # The body of the class itself reads it as a plain name.
            unknown |= self._in_file.get((here, name), 0)
            unknown |= 0 if is_method else self._anywhere.get(f".{name}", 0)
        if not unknown:
            return tests
        dealing = 0  # tests that run code of the class, or name it
        for name in self._kinship.heirs(definition.owner):
            dealing |= self._inside.get(name, 0) | self._anywhere.get(name, 0)
            dealing |= self._in_file.get((here, name), 0)
        return tests | unknown & dealing

    def of_lines(self) -> dict[Location, dict[int, int]]:
        """Return per body and line of a definition in code the tests that use what it defines.

        Lines that nobody is seen to use are not in it, nor are those that import a name: they
        define nothing themselves.
        """
        credit: dict[Location, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for file, definition, tests in self._used():
            if not file.source.is_test and not definition.is_plain:
                for line in definition.lines:
                    credit[definition.where][line] |= tests
        return credit

    def of_called(self, functions: Collection[Unit]) -> dict[Location, int]:
        """Return per function that an import called the tests that use what it helped to make.

        A statement that names a function is taken to call it, and so is a function that does.
        """
        named: dict[str, list[Location]] = defaultdict(list)
        for unit in functions:
            outer, _, name = unit.location.qualname.rpartition(".")
            is_special = name.startswith("__") and name.endswith("__")
            # A special method is called by the name of its class.
            called_by = outer.rpartition(".")[2] if is_special and outer else name
            named[called_by].append(unit.location)

        def called(reads: Reads, lines: range) -> set[Location]:
            names = {name.rpartition(".")[2] for line in lines for name in reads.get(line, ())}
            return {where for name in names for where in named.get(name, ())}

        reads_of = {file.source.file: file.reads for file in self._files}
        calls = {
            where: called(reads_of.get(where.file, {}), range(where.start_line, where.end_line + 1))
            for where in (unit.location for unit in functions)
        }
        reached = cache(lambda where: closure(where, calls))
        found: dict[Location, int] = defaultdict(int)
        for file, definition, tests in self._used():
            starts = called(file.reads, definition.lines)
            for location in starts.union(*map(reached, starts)):
                found[location] |= tests
        return found

    def _used(self) -> Iterator[tuple[ImportedFile, ImportedDefinition, int]]:
        """Yield definitions with their users; not the imports of names, which make nothing."""
        for file in self._files:
            for definition in file.definitions:
                tests = self._users[file.source.file, definition.lines.start]
                if tests and not definition.is_import:
                    yield file, definition, tests
