"""The classes of the project, what the import of a file defines, and what its lines read."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.source import FunctionNode, ScopeNode, first_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap, Unit

    Lines = Mapping[Location, Mapping[int, int]]
    Reads = dict[int, set[str]]

T = TypeVar("T")


class Kinship:
    """The classes of some files, with their bases, all by their plain names."""

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
            self._families[name] = closure(name, self._bases) | self.heirs(name)
        return self._families[name]

    def heirs(self, name: str) -> frozenset[str]:
        """The class ``name`` and the classes that are derived from it."""
        if name not in self._heirs:
            self._heirs[name] = closure(name, self._derived)
        return self._heirs[name]


def closure(start: T, related: Mapping[T, Collection[T]]) -> frozenset[T]:
    """Return ``start`` with all that is ``related`` to it, directly or through others."""
    found, pending = {start}, [start]
    while pending:
        more = set(related.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return frozenset(found)


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name; empty for another expression."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


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

    @property
    def is_member(self) -> bool:
        """Whether its names are read as attributes of objects: it stands in a class."""
        return self.where.qualname != MODULE


class ImportedFile:
    """The definitions and the reads of one file.

    Attributes:
        executed: Per line, the tests that executed it after the import.
        reads: Per line, what it reads: names; attributes behind the name of their class or module
            and a dot, or behind a dot alone where that is not known.
        imported: The names that it imports from other modules.
        definitions: Statements that its import executes.
    """

    def __init__(self, source: SourceMap, lines: Lines, kinship: Kinship) -> None:
        self.source = source
        self._kinship = kinship
        self.executed: dict[int, int] = {}
        for unit in source.units:
            for line, tests in lines.get(unit.location, {}).items():
                self.executed[line] = self.executed.get(line, 0) | tests
        self.reads: Reads = {}
        self.imported: set[str] = set()
        self._origins: dict[str, str] = {}  # names that imports bind, and what they stand for
        nodes = list(ast.walk(source.module.node))
        for node in nodes:
            self._import(node)
        for node in nodes:
            self._read(node)
        self._inside = self._executed_inside()
        self.definitions = list(self._definitions())

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.imported.add(alias.name)
                self._origins[alias.asname or alias.name] = alias.name
                self.reads.setdefault(node.lineno, set()).add(alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first, last = alias.name.partition(".")[0], alias.name.rpartition(".")[2]
                self._origins[alias.asname or first] = last if alias.asname else first

    def _read(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.reads.setdefault(node.lineno, set()).add(node.id)
        elif isinstance(node, ast.arg):
            if self.source.is_test:  # a fixture
                self.reads.setdefault(node.lineno, set()).add(node.arg)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            line = node.end_lineno or node.lineno
            owners = self._owners(node.value)
            self.reads.setdefault(line, set()).update(f"{name}.{node.attr}" for name in owners)

    def _owners(self, value: ast.expr) -> tuple[str, ...]:
        """The class or module whose attribute is read, by its plain name; empty if not known."""
        name = last_name(value)
        if isinstance(value, ast.Name):
            if name in {"self", "cls"}:
                return (self._class_around(value.lineno),)
            name = self._origins.get(name, name if name in self._kinship else "")
        elif not self._is_dotted(value):
            name = ""
        # What is imported may be a class, a module, or an object of whatever type.
        return (name,) if name in self._kinship else tuple({name, ""})

    def _is_dotted(self, value: ast.expr) -> bool:
        """Whether it may be ``package.module``: a dotted name that begins with an import's."""
        while isinstance(value, ast.Attribute):
            value = value.value
        return isinstance(value, ast.Name) and (
            value.id in self._origins or value.id in self._kinship
        )

    def _class_around(self, line: int) -> str:
        unit: Unit | None = self.source.owner(line)
        while unit is not None and not isinstance(unit.node, ast.ClassDef):
            unit = unit.outer
        return "" if unit is None else unit.location.qualname.rpartition(".")[2]

    def _executed_inside(self) -> dict[int, int]:
        """Per ``id`` of a unit, the tests that execute anything in its body."""
        tests_in: dict[int, int] = {}
        for line, tests in self.executed.items():
            inner: Unit | None = self.source.owner(line)
            while inner is not None:
                tests_in[id(inner)] = tests_in.get(id(inner), 0) | tests
                inner = inner.outer
        return tests_in

    def inside(self, unit: Unit | None) -> int:
        """The tests that execute anything in the body of ``unit``."""
        return self._inside.get(id(unit), 0)

    def classes(self) -> Iterator[tuple[str, int]]:
        """Its classes by their plain names, with the tests that execute anything in them."""
        for unit in self.source.units:
            if isinstance(unit.node, ast.ClassDef):
                yield unit.node.name, self.inside(unit)

    def _definitions(self) -> Iterator[ImportedDefinition]:
        by_node = {id(unit.node): unit for unit in self.source.units}
        for body in self.source.units:
            if not body.is_function:
                for statement in _statements(getattr(body.node, "body", ())):
                    is_test = self.source.is_test
                    is_plain = _is_plain(statement) and not is_test
                    if is_plain and isinstance(statement, FunctionNode):
                        continue  # it calls nothing
                    unit = by_node.get(id(statement))
                    # Nobody traces tests: who uses a helper or a fixture is taken to run all of it.
                    header = None if is_test and isinstance(statement, FunctionNode) else unit
                    yield ImportedDefinition(
                        where=body.location,
                        lines=_span(statement, header),
                        names=frozenset(_bound(statement)),
                        owner=_owner_of(body),
                        unit=unit,
                        is_import=isinstance(statement, (ast.Import, ast.ImportFrom)),
                        is_plain=is_plain,
                    )


def _owner_of(body: Unit) -> str:
    """The plain name of the class or module whose attributes a body defines."""
    if isinstance(body.node, ast.ClassDef):
        return body.node.name
    return body.location.module.rpartition(".")[2]


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
        yield from _registries(statement)
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


def _registries(statement: ScopeNode) -> Iterator[str]:
    """Yield the objects whose methods decorate, as in ``@router.route("/")``."""
    for decorator in statement.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute):
            yield from _names(decorator.func.value)


def _names(node: ast.AST) -> Iterator[str]:
    """Names and attributes in ``node``, but not in functions written there."""
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            yield child.attr
