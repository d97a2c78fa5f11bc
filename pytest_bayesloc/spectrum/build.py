"""Builds the spectrum over locations from the recorded windows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from operator import or_

from msgspec import convert

from pytest_bayesloc.domain.failure import Failure, Frame, Raised
from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.source import SourceMap, Unit, first_line
from pytest_bayesloc.domain.spectrum import Spectrum, bits, bitset_of
from pytest_bayesloc.domain.texts import file_of_test
from pytest_bayesloc.spectrum.run_record import CHILD_PROCESS, Footprint, RunRecord, Window
from pytest_bayesloc.spectrum.sources import Sources
from pytest_bayesloc.spectrum.uses import ImportUses

#: Files of which failing tests execute nothing, but that they have imported: each is parsed.
MAX_IMPORTED = 200


def build_spectrum(recorded: RunRecord, sources: Sources) -> Spectrum:
    """Build the spectrum of code under test: tests x locations with their lines, and verdicts.

    It holds the files that failing tests have to do with: they run code of them, have imported
    them, or no test runs code of them. Other files explain no failure, and a large suite has a
    hundred times as many.

    Tests of the cache that would pass are in it, too: if a few selected tests ran, there might be
    no other test to compare the failing ones with.

    If no test ran because files could not be collected, the test files that could be stand for
    passing tests: what their import executed did not fail.
    """
    tests = [*recorded.verdicts, *recorded.remembered]
    windows_of = {node_id: recorded.windows_of.get(node_id, []) for node_id in tests}
    verdicts = {**dict.fromkeys(tests, True), **recorded.verdicts}
    if not any(verdicts.get(node_id) for node_id in tests):
        for node_id, window in recorded.imported.items():
            tests.append(node_id)
            windows_of[node_id], verdicts[node_id] = [window], True
    failing = bitset_of(i for i, node_id in enumerate(tests) if not verdicts[node_id])
    # Of a test that was not traced nobody knows what it executed: it is no evidence.
    is_traced = any(windows_of.values())
    passing = bitset_of(
        i for i, n in enumerate(tests) if verdicts[n] and (windows_of[n] or not is_traced)
    )
    windows = [windows_of[node_id] for node_id in tests]
    executions = _executions(recorded, windows, failing, sources)
    # A file that stands for its tests has no window of its own.
    own = [any(not recorded.windows[number].is_import for number in each) for each in windows]
    ran = bitset_of(i for i, has_run in enumerate(own) if has_run)
    lines = _Lines(executions, failing, passing & ran, sources)
    return Spectrum(
        tests=tuple(tests),
        failing=failing,
        passing=passing,
        lines=lines.by_location(tests),
        remote=lines.remote,
    )


def build_failures(recorded: RunRecord, sources: Sources) -> tuple[Failure, ...]:
    """The failures in the order that they happened."""
    return tuple(
        Failure(
            node_id=raw["node_id"],
            phase=raw["phase"],
            exc_type=raw["exc_type"],
            message=raw["message"],
            frames=convert(raw["frames"], tuple[Frame, ...]),
            cause_frames=convert(raw["cause_frames"], tuple[tuple[Frame, ...], ...]),
            test_locations=tuple(filter(None, map(sources.locate, raw["test_code"]))),
            syntax_error=None if (at := raw["syntax_error"]) is None else (at[0], at[1]),
            raised=Raised(raw["error"]),
        )
        for raw in recorded.failures.values()
    )


def executed_by_imports(recorded: RunRecord, file: str, sources: Sources) -> frozenset[Location]:
    """Return the places of a file that imports executed; none if no import of it was recorded."""
    filename = str(sources.files.absolute(file))
    rows = (row for _, window in recorded.imports() for row in window.rows)
    own = [recorded.footprints[number] for number in set[int]().union(*rows)]
    return frozenset(
        unit.location
        for footprint in own
        if footprint.filename == filename
        for unit, _ in _located(footprint, sources)
    )


class _Lines:
    """Per location, per line, the tests that executed it.

    A line that is executed while its file is imported, once for all tests, is credited to the tests
    that use what it defines; a function that the import called, to those that use what it helped to
    make. If no user is found, and for the import as such, every test that executes code of that
    file afterwards is credited, and those of the first importer. If none of these passes, all tests
    that pass are: which of them imports a body first is chance, and says nothing. Only tests that
    were run count as passing.
    """

    def __init__(
        self,
        executions: Iterable[tuple[Footprint, int, int | None]],
        failing: int,
        passing: int,
        sources: Sources,
    ) -> None:
        self._sources = sources
        self._failing = failing
        self._passing = passing
        self._own: dict[Location, dict[int, int]] = {}
        self._imported: dict[Location, dict[int, int]] = {}
        self._called: dict[Location, Unit] = {}  # functions that imports called
        self._users_of_file: dict[str, int] = {}
        here: set[Location] = set()
        remote: set[Location] = set()
        for footprint, tests, importers in executions:
            seen = remote if footprint.name == CHILD_PROCESS else here
            for unit, line in _located(footprint, sources):
                location = unit.location
                seen.add(location)
                if tests:
                    _add(self._own, location, line, tests)
                if importers is not None:
                    _add(self._imported, location, line, importers)
                    if unit.is_function:
                        self._called[location] = unit
                users = self._users_of_file.get(location.file, 0)
                self._users_of_file[location.file] = users | tests
        self.remote = frozenset(remote - here)
        self._add_unseen_imports()

    def _add_unseen_imports(self) -> None:
        """The bodies of modules and classes whose import was over before recording began.

        pytest imports them when a filter of warnings names a class of theirs, or they are a plugin.
        What such an import executed is taken from the text: every statement right in a body.
        """
        seen = {where.file for where in (*self._own, *self._imported) if where.qualname == MODULE}
        for file in sorted(self._users_of_file.keys() - seen):
            source = self._sources.map(file)
            for unit in source.units if source is not None else ():
                if not unit.is_function and ".<locals>." not in unit.location.qualname:
                    for statement in getattr(unit.node, "body", ()):
                        _add(self._imported, unit.location, first_line(statement), 0)

    def by_location(self, tests: Sequence[str]) -> dict[Location, dict[int, int]]:
        """Return all lines; ``tests`` has the node id of each bit."""
        written, test_files = self._written(tests)
        # No test can be seen to execute a file that only defines: it counts as related to the
        # failing tests, as a file does of which they run code.
        users = {where.file: self._users_of_file[where.file] for where in self._imported}
        related = [file for file, own in users.items() if own & self._failing or not own]
        files = [*filter(None, map(self._sources.map, related)), *test_files]
        uses = ImportUses(files, {**self._own, **written})
        of_lines, of_called = uses.of_lines(), uses.of_called(self._called.values())
        looked_at = {source.file for source in test_files}
        unread = bitset_of(i for i, n in enumerate(tests) if file_of_test(n) not in looked_at)
        lines = self._own
        for location, rows in self._imported.items():
            called = of_called.get(location, 0)
            if called:
                known = {line: called | importer & unread for line, importer in rows.items()}
                # No name may have been seen where it is called: it stays a candidate.
                anchor = 0 if called & self._failing else min(rows)
            else:
                known = of_lines.get(location, {})
                # The import as such stands on lines that nobody uses, or else on the first.
                anchor = min(rows) if rows.keys() <= known.keys() else 0
            for line, importer in rows.items():
                used = known.get(line, 0) if line != anchor else 0
                if not used:  # by any test that may depend on the import, for all that is known
                    used = self._users_of_file[location.file] | importer
                    if not (used & self._passing or location in self._called):
                        used |= self._passing
                if used:
                    _add(lines, location, line, used)
        return lines

    def _written(
        self, tests: Sequence[str]
    ) -> tuple[dict[Location, dict[int, int]], list[SourceMap]]:
        """The lines of tests, which nobody traces, in the files of those that fail."""
        files = {file_of_test(tests[i]) for i in bits(self._failing)}
        maps = {file: found for file in files if (found := self._sources.map(file)) is not None}
        units = {(f, u.location.qualname): u.location for f in maps for u in maps[f].units}
        lines: dict[Location, dict[int, int]] = {}
        for i, node_id in enumerate(tests):
            file, _, name = node_id.partition("::")
            where = units.get((file, name.partition("[")[0].replace("::", ".")))
            if where is not None:
                for line in range(where.start_line, where.end_line + 1):
                    _add(lines, where, line, 1 << i)
        return lines, list(maps.values())


def _add(lines: dict[Location, dict[int, int]], where: Location, line: int, tests: int) -> None:
    rows = lines.setdefault(where, {})
    # Lines that run together share one bitset, which may have 100,000 bits.
    rows[line] = rows[line] | tests if line in rows else tests


def _located(footprint: Footprint, sources: Sources) -> Iterator[tuple[Unit, int]]:
    source = sources.map(sources.files.relative(footprint.filename))
    if source is None or not source.text or source.text.isspace():  # some Pythons run line 1 of it
        return
    first_line, name = footprint.first_line, footprint.name
    whole = source.unit_of_code(first_line, name) if first_line else None
    for line in footprint.lines:
        yield whole or source.owner(line), line


# -- from windows to tests


def _executions(
    recorded: RunRecord, windows_of: Sequence[Sequence[int]], failing: int, sources: Sources
) -> Iterator[tuple[Footprint, int, int | None]]:
    """Yield the footprints of wanted files, in the order in which they were first seen.

    The time grows linearly with the length of all rows.

    Yields:
        A footprint, the bitset of the tests that executed it, and that of the tests whose modules
        executed it as they were imported; None if no import did.
    """
    test_of, tests_of = _owners(windows_of)
    failing_windows = {window for i in bits(failing) for window in windows_of[i]}
    wanted = _wanted(recorded, [recorded.windows[n] for n in failing_windows], sources)
    tests: dict[int, list[int]] = defaultdict(list)
    together: dict[int, list[int]] = defaultdict(list)
    importers: dict[int, list[int]] = defaultdict(list)
    for number, window in enumerate(recorded.windows):
        test = test_of.get(number)
        if window.is_import:
            kind, value = importers, number
        elif test is not None:
            kind, value = tests, test
        else:
            kind, value = together, number
        for row in window.rows:
            for footprint in wanted.intersection(row):
                kind[footprint].append(value)

    @cache
    def union(*numbers: int) -> int:
        single = (1 << test_of[number] for number in numbers if number in test_of)
        return reduce(or_, single, reduce(or_, (tests_of.get(n, 0) for n in numbers), 0))

    for footprint in sorted(wanted):
        imported = importers.get(footprint)
        yield (
            recorded.footprints[footprint],
            bitset_of(tests.get(footprint, ())) | union(*together.get(footprint, ())),
            None if imported is None else union(*imported),
        )


def _wanted(recorded: RunRecord, failing: Sequence[Window], sources: Sources) -> frozenset[int]:
    """Number the footprints in files that failing tests, of windows ``failing``, deal with."""
    relative = sources.files.relative
    file_of = [relative(footprint.filename) for footprint in recorded.footprints]

    def files(windows: Iterable[Window]) -> set[str]:
        rows = (row for window in windows for row in window.rows)
        return {file_of[number] for number in set[int]().union(*rows)}

    imported = files(window for window in recorded.windows if window.is_import)
    by_nobody = imported - files(w for w in recorded.windows if not w.is_import)
    by_failing = files(window for window in failing if window.is_import)
    others = [*sorted(by_nobody), *sorted(by_failing - by_nobody)]
    executed = files(window for window in failing if not window.is_import)
    wanted = executed.union(others[:MAX_IMPORTED])
    return frozenset(i for i, file in enumerate(file_of) if file in wanted)


def _owners(windows_of: Sequence[Sequence[int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Per window of one test that test, and per window of several their bitset."""
    members: dict[int, list[int]] = defaultdict(list)
    for test, windows in enumerate(windows_of):
        for window in windows:
            members[window].append(test)
    single = {window: tests[0] for window, tests in members.items() if len(tests) == 1}
    return single, {w: bitset_of(tests) for w, tests in members.items() if len(tests) > 1}
