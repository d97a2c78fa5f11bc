"""Credits definitions that an import executed to the tests that use them.

The body of a module or class runs once, while it is imported: all tests have run it alike. But a
line that binds a name matters to those that execute a line which reads that name. Names are
compared as text. An attribute speaks for a class only if the test is seen to deal with that class:
it executes code of the class, or a line that names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.spectrum.definitions import ImportedDefinition, ImportedFile, Kinship

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap, Unit
    from pytest_bayesloc.spectrum.definitions import Lines, Reads

#: A definition may be read by another one: how many such steps are followed.
MAX_HOPS = 3


class ImportUses:
    """Finds the tests that use what imports define.

    Args:
        sources: The files that are looked at for uses and for definitions.
        lines: Per location, per line, the tests that executed it after the import. Of tests, which
            nobody traces, all lines count.
    """

    def __init__(self, sources: Iterable[SourceMap], lines: Lines) -> None:
        listed = list(sources)
        kinship = Kinship(listed)
        self._files = [ImportedFile(source, lines, kinship) for source in listed]
        self._users: dict[tuple[str, int], int] = {}  # by file and first line of a statement
        readers = _Readers(self._files, kinship)
        for _ in range(MAX_HOPS):
            if not self._follow(readers):
                break

    def _follow(self, readers: _Readers) -> bool:
        """Let the users of each definition use what it was made of; say if any is new."""
        has_news = False
        for file in self._files:
            for definition in file.definitions:
                tests = readers.tests_using(definition, file)
                key = file.source.file, definition.lines.start
                if tests & ~self._users.get(key, 0):
                    has_news = True
                    self._users[key] = self._users.get(key, 0) | tests
                    for line in definition.lines:
                        readers.add(file, line, tests)
        return has_news

    def of_lines(self) -> dict[Location, dict[int, int]]:
        """Return per body and line of a definition in code the tests that use what it defines.

        Lines that nobody is seen to use are not in it, nor are those that import a name: they
        define nothing themselves.
        """
        credit: dict[Location, dict[int, int]] = {}
        for file, definition, tests in self._used():
            if not file.source.is_test and not definition.is_plain:
                rows = credit.setdefault(definition.where, {})
                for line in definition.lines:
                    rows[line] = rows.get(line, 0) | tests
        return credit

    def of_called(self, functions: Iterable[Unit]) -> dict[Location, int]:
        """Return per function that an import called the tests that use what it helped to make.

        A statement that names a function is taken to call it, and so is a function that does.
        """
        named = _by_name(functions)
        lines_of = {file.source.file: file.reads for file in self._files}
        found: dict[Location, int] = {}
        for file, definition, tests in self._used():
            names = _plain_names(file.reads, definition.lines)
            for location in _reached(names, named, lines_of):
                found[location] = found.get(location, 0) | tests
        return found

    def _used(self) -> Iterator[tuple[ImportedFile, ImportedDefinition, int]]:
        """Yield definitions with their users; not the imports of names, which make nothing."""
        for file in self._files:
            for definition in file.definitions:
                tests = self._users.get((file.source.file, definition.lines.start), 0)
                if tests and not definition.is_import:
                    yield file, definition, tests


def _plain_names(reads: Reads, lines: Iterable[int]) -> set[str]:
    return {name.rpartition(".")[2] for line in lines for name in reads.get(line, ())}


def _by_name(functions: Iterable[Unit]) -> dict[str, list[Unit]]:
    """Functions by the names that a caller writes: that of its class for a special method."""
    named: dict[str, list[Unit]] = {}
    for unit in functions:
        outer, _, name = unit.location.qualname.rpartition(".")
        is_special = name.startswith("__") and name.endswith("__")
        names = {outer.rpartition(".")[2]} if is_special and outer else {name}
        for each in names:
            named.setdefault(each, []).append(unit)
    return named


def _reached(
    names: set[str], named: Mapping[str, Sequence[Unit]], reads_of: Mapping[str, Reads]
) -> set[Location]:
    """The functions that ``names`` call, and those that they call in turn."""
    found: set[Location] = set()
    pending = [unit for name in names for unit in named.get(name, ())]
    while pending:
        unit = pending.pop()
        if unit.location not in found:
            found.add(unit.location)
            where = unit.location
            inside = range(where.start_line, where.end_line + 1)
            more = _plain_names(reads_of.get(where.file, {}), inside)
            pending += [inner for name in more for inner in named.get(name, ())]
    return found


class _Readers:
    """Finds the tests that execute a line which reads a name."""

    def __init__(self, files: Sequence[ImportedFile], kinship: Kinship) -> None:
        self._kinship = kinship
        self._in_file: dict[tuple[str, str], int] = {}
        self._anywhere: dict[str, int] = {}  # names that were imported, and attributes
        self._inside: dict[str, int] = {}  # by the plain names of classes
        for file in files:
            for name, tests in file.classes():
                self._inside[name] = self._inside.get(name, 0) | tests
            for line, tests in file.executed.items():
                self.add(file, line, tests)

    def add(self, file: ImportedFile, line: int, tests: int) -> None:
        """Let ``line`` count as executed by ``tests``."""
        for name in file.reads.get(line, ()):
            key = (file.source.file, name)
            self._in_file[key] = self._in_file.get(key, 0) | tests
            if name in file.imported or "." in name:
                self._anywhere[name] = self._anywhere.get(name, 0) | tests

    def tests_using(self, definition: ImportedDefinition, file: ImportedFile) -> int:
        """The tests that use what ``definition`` defines."""
        tests = file.inside(definition.unit)
        if definition.is_member:
            return tests | self._using_member(definition, file)
        for name in definition.names:
            tests |= self._anywhere.get(f"{definition.owner}.{name}", 0)
            tests |= self._in_file.get((file.source.file, name), 0)
            tests |= self._anywhere.get(name, 0)
        return tests

    def _using_member(self, definition: ImportedDefinition, file: ImportedFile) -> int:
        """The tests that read an attribute of its class, or of what they may have of the class."""
        is_method = definition.unit is not None and definition.unit.is_function
        known = unknown = 0
        for name in definition.names:
            for owner in self._kinship.family(definition.owner):
                known |= self._anywhere.get(f"{owner}.{name}", 0)
            # The body of the class itself reads it as a plain name.
            unknown |= self._in_file.get((file.source.file, name), 0)
            unknown |= 0 if is_method else self._anywhere.get(f".{name}", 0)
        return known | (unknown & self._dealing(definition, file) if unknown else 0)

    def _dealing(self, definition: ImportedDefinition, file: ImportedFile) -> int:
        """The tests that deal with the class of a member: they run code of it, or name it."""
        tests = 0
        for name in self._kinship.heirs(definition.owner):
            tests |= self._inside.get(name, 0) | self._anywhere.get(name, 0)
            tests |= self._in_file.get((file.source.file, name), 0)
        return tests
