"""Keeps the rows of tests from run to run, as long as they hold."""

from __future__ import annotations

import json
import os
from array import array
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_bayesloc.domain.standard_library import time_ns
from pytest_bayesloc.domain.texts import digest_of, file_of_test
from pytest_bayesloc.spectrum.cache_store import (
    UNREADABLE,
    KnownFile,
    discard,
    read_tables,
    write_tables,
)
from pytest_bayesloc.spectrum.run_record import CONFTESTS, Footprint, modules_in, select_traced
from pytest_bayesloc.spectrum.sources import FileKind
from pytest_bayesloc.spectrum.validity import (
    changed_files,
    match_lines,
    match_tests,
    move_footprint,
    stamp_of,
    with_dependents,
    written_ns,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_bayesloc.spectrum.cache_store import Tables
    from pytest_bayesloc.spectrum.run_record import RunRecord
    from pytest_bayesloc.spectrum.sources import Sources

CODE, MODULE, HELPER = "code", "module", "helper"
OUTCOMES = {True: "passed", False: "failed", None: ""}


class ValidRows(NamedTuple):
    """The part of a cache that is still valid.

    Attributes:
        run: The run that wrote it last; empty: there is none.
        files: The files that the rows depend on, as they were.
        changed: Those whose content is another one now.
        stale: Test files without a valid row.
        moved: Footprints in edited files, with their lines now; None if a line changed.
        imports: The names of the imports that were recorded.
        order: The variant of the run that recorded them, then the imports in their order: the first
            test module that imports a module executes its body, whichever that is.
        begun_ns: No row is older.
    """

    run: str = ""
    files: Mapping[str, KnownFile] = {}
    changed: Collection[str] = ()
    stale: Collection[str] = ()
    moved: Mapping[int, Footprint | None] = {}
    imports: Collection[str] = ()
    order: Sequence[str] = ()
    begun_ns: int = 0


EMPTY = ValidRows()


class SpectrumCache:
    """The rows of earlier runs. If anything is in doubt, it has none.

    A row is valid as long as these are the same: the test's own file, and all functions that it
    ran; the bodies of all modules and classes, and all functions that an import executed; and the
    files that help tests, such as conftest files. Without a ``path``, nothing is kept.
    """

    def __init__(self, path: Path | None, sources: Sources) -> None:
        self._path = path
        self._sources = sources
        self._started_ns = time_ns()
        self._last_run = ""  # the run that wrote it last
        self._outside: set[str] = set()
        #: Names the options that tests run with; given once, before tests are collected.
        self.variant = ""
        self._n_imports = 0

    @cached_property
    def _now(self) -> ValidRows:
        with self._tables() as tables:
            if tables is not None:
                return self._validate(tables)
        return EMPTY

    @contextmanager
    def _tables(self) -> Iterator[Tables | None]:
        """The tables, if there are any; what a damaged file does not tell is not known."""
        if self._path is None or not self._path.is_file():
            yield None
            return
        is_open = False
        try:
            with read_tables(self._path) as tables:
                is_open = True
                yield tables
        except UNREADABLE as error:
            discard(self._path, error)
            if not is_open:
                yield None

    def _validate(self, tables: Tables) -> ValidRows:
        self._last_run = tables.meta("run")
        files = tables.files()
        edited = changed_files(files, self._sources.files.absolute)
        kinds = {kind: [f for f in edited if files[f].kind == kind] for kind in (CODE, MODULE)}
        tests = [f for f, known in files.items() if known.kind != CODE and f.endswith(".py")]
        stale = with_dependents(kinds[MODULE], tests, self._sources.read)
        moved = self._locate_footprints(tables, kinds[CODE])
        is_helped = any(files[f].kind == HELPER for f in (*edited, *stale))
        if is_helped or moved is None:
            return EMPTY
        gone = frozenset(number for number, now in moved.items() if now is None)
        imports = tables.imports()
        if not all(gone.isdisjoint(row) for row in imports.values()):
            return EMPTY  # any test may have used the result of a function that ran at import
        return ValidRows(
            run=self._last_run,
            files=files,
            changed=edited,
            stale=stale.union(kinds[CODE]),  # of which the tests are doctests
            moved=moved,
            imports=imports.keys(),
            order=json.loads(tables.meta("order") or "[]"),
            begun_ns=int(tables.meta("begun_ns")),
        )

    def _locate_footprints(
        self, tables: Tables, edited: Collection[str]
    ) -> Mapping[int, Footprint | None] | None:
        """Locate the footprints of ``edited`` files now; None if a module or class body changed."""
        moved: dict[int, Footprint | None] = {}
        for file in edited:
            footprints, text = dict(tables.footprints(file)), self._sources.read(file)
            executed = {line for footprint in footprints.values() for line in footprint.lines}
            lines = None if text is None else match_lines(tables.text(file), text, executed)
            if lines is None:
                return None
            for number, footprint in footprints.items():
                moved[number] = move_footprint(footprint, lines)
        return moved

    # -- before and while tests are collected

    def is_complete(self) -> bool:
        """Whether nothing changed, so that importing need not be traced again."""
        return CONFTESTS in self._now.imports and not self._now.changed

    def knows_import(self, path: str) -> bool:
        """Whether importing the test module ``path`` need not be traced.

        Call it in the order of the imports, for each until one has to be traced.
        """
        self._n_imports += 1
        n, order = self._n_imports, self._now.order
        is_next = order[:1] == [self.variant] and order[n : n + 1] == [path]
        return is_next and self.is_complete() and path in self._now.imports

    def settle(self, imported: Iterable[str], node_ids: Collection[str]) -> dict[str, str]:
        """Return the tests that need not be traced, once all are collected, with their known names.

        There are none if one of the ``imported`` files of all modules, absolute, was created since,
        such as a new conftest file.
        """
        if self._path is None:
            return {}
        files = self._sources.files
        own = {files.relative(name) for name in imported if not files.is_installed(name)}
        self._outside = {n for n in own if files.kind(files.absolute(n)) is FileKind.FOREIGN}
        collected = {file_of_test(node_id) for node_id in node_ids}
        unknown = own.difference(self._now.files, collected) if self._now.run else ()
        began = self._now.begun_ns
        if any(written_ns(Path(files.absolute(file))) > began for file in unknown):
            self._now = EMPTY
        return match_tests(node_ids, self.outcomes())

    def outcomes(self) -> dict[str, str]:
        """Return the tests with valid rows, each with ``passed``, ``failed``, or neither."""
        with self._tables() as tables:
            if tables is not None and self._is_of_now(tables):
                stale = self._stale_tests(tables, self.variant)
                return {n: how for n, how in tables.tests(self.variant) if n not in stale}
        return {}

    def _is_of_now(self, tables: Tables) -> bool:
        """Whether nobody has written to ``tables`` since they were read."""
        return bool(self._now.run) and tables.meta("run") == self._now.run

    def _stale_tests(self, tables: Tables, variant: str) -> set[str]:
        """The tests of stale files, and those that executed a function that changed."""
        now = self._now
        gone = frozenset(number for number, moved in now.moved.items() if moved is None)
        rows = tables.test_rows(variant) if gone else ()
        stale = {node_id for node_id, row in rows if not gone.isdisjoint(row)}
        if now.stale:
            names = (node_id for node_id, _ in tables.tests(variant))
            stale.update(n for n in names if file_of_test(n) in now.stale)
        return stale

    # -- when the run is over

    def recall(self, recorded: RunRecord) -> None:
        """Add the rows of tests and imports that were not traced in this run."""
        if all(window.cached_name is None for window in recorded.windows):
            return
        with self._tables() as tables:
            if tables is None or not self._is_of_now(tables):
                return
            recorded.collector = recorded.collector or tables.meta("collector")
            imports = tables.imports()
            windows = {
                window.cached_name: number
                for number, window in enumerate(recorded.windows)
                if window.cached_name is not None and not window.is_import
            }
            rows = {
                number: imports.get(name, array("I"))
                for number, name in self._known_imports(recorded).items()
            }
            for node_id, row in tables.test_rows(self.variant):
                if node_id in windows:
                    rows[windows[node_id]] = row
            needed = frozenset[int]().union(*rows.values())
            absolute = cache(self._sources.files.absolute)
            numbers: dict[int, int] = {}
            footprints: list[Footprint] = []
            for number, before in tables.footprints():
                footprint = self._now.moved.get(number, before)
                if number in needed and footprint is not None:
                    numbers[number] = len(footprints)
                    footprints.append(footprint._replace(filename=absolute(footprint.filename)))
            recalled = [
                (number, [numbers[n] for n in row if n in numbers]) for number, row in rows.items()
            ]
            recorded.add(footprints, recalled)

    def _known_imports(self, recorded: RunRecord) -> dict[int, str]:
        """Find the imports without rows that execute the same as in the cache, with their names.

        If none was watched, these are as many as were imported in the same order.
        """
        imports = dict(recorded.imports())
        known = {n: w.cached_name for n, w in imports.items() if w.cached_name is not None}
        variant, *order = self._now.order or ("",)
        present = iter(modules_in(imports.values()))
        if variant == self.variant and all(name in present for name in order):
            names = {CONFTESTS, *order}.intersection(self._now.imports)
            for number, window in imports.items():
                is_unwatched = not window.is_ordered and not window.rows
                if is_unwatched and window.node_id in names:
                    known[number] = window.node_id
        return known

    def has_news(self, recorded: RunRecord) -> bool:
        """Whether this run traced anything that may be kept."""
        n_ordered = sum(window.is_ordered for _, window in recorded.imports())
        n_windows = len(recorded.windows_of) + n_ordered
        n_known = sum(window.cached_name is not None for window in recorded.windows)
        has_run = bool(recorded.verdicts or recorded.excused) and bool(recorded.collector)
        has_news = has_run and n_windows > n_known and not recorded.is_broken
        return self._path is not None and has_news

    def keep(self, recorded: RunRecord, in_use: Mapping[str, Path]) -> None:
        """Keep what was traced in this run; nothing if files were written meanwhile.

        The files ``in_use`` are those that were imported, helpers of tests among them.

        Raises:
            sqlite3.Error: If the file can't be written.
        """
        if self._path is None:
            return
        tests, imports = select_traced(recorded)
        relative = self._sources.files.relative
        used = set[int]().union(*chain(*tests.values(), *imports.values()))
        seen = {number: recorded.footprints[number] for number in sorted(used)}
        footprints = {n: f._replace(filename=relative(f.filename)) for n, f in seen.items()}
        collected = {file_of_test(name) for name in (*tests, *imports)} - {CONFTESTS}
        executed = {footprint.filename for footprint in footprints.values()}
        files = self._current_files(collected, executed, in_use)
        if files is None:
            return
        with write_tables(self._path) as tables:
            if tables.meta("run") != self._last_run:
                return  # another run was faster
            if not self._now.run:
                tables.clear()
                tables.set_meta("begun_ns", str(self._started_ns))
            self._update(tables)
            for path, known in files.items():
                text = self._sources.read(path) if known.kind == CODE else None
                tables.set_file(path, known, text)
            row_of = _renumber(tables, footprints)
            tables.set_tests(
                (node_id, self.variant, OUTCOMES[recorded.verdicts.get(node_id)], row_of(rows))
                for node_id, rows in tests.items()
            )
            if imports:
                tables.set_imports({path: row_of(rows) for path, rows in imports.items()})
                ordered = [window for _, window in recorded.imports() if window.is_ordered]
                tables.set_meta("order", json.dumps([self.variant, *modules_in(ordered)]))
            tables.set_meta("collector", recorded.collector)
            tables.set_meta("run", os.urandom(8).hex())

    def _current_files(
        self, collected: Collection[str], executed: Collection[str], in_use: Mapping[str, Path]
    ) -> dict[str, KnownFile] | None:
        """Describe the files to keep; None if one of them was written during the run."""
        files, now = self._sources.files, self._now
        names = {*collected, *executed, *now.changed, *self._outside}
        paths = {name: Path(files.absolute(name)) for name in names} | dict(in_use)
        current = {}
        for name, path in paths.items():
            if written_ns(path) > self._started_ns:
                return None
            known = now.files.get(name)
            if known is None:
                is_code = files.is_code(str(path))
                kind = CODE if is_code else MODULE if name in collected else HELPER
            else:
                kind = MODULE if known.kind == HELPER and name in collected else known.kind
                if name not in now.changed and kind == known.kind and known.stamp:
                    continue
            current[name] = KnownFile(kind, digest_of(path), stamp_of(path))
        return current

    def _update(self, tables: Tables) -> None:
        """Update the cache file to the project as it is."""
        if self._now.changed:
            tables.move_footprints(self._now.moved)
            for variant in tables.variants():
                tables.remove_tests(variant, self._stale_tests(tables, variant))
            tables.remove_imports(self._now.stale)


def _renumber(
    tables: Tables, footprints: Mapping[int, Footprint]
) -> Callable[[Iterable[Iterable[int]]], array[int]]:
    """Add ``footprints`` to ``tables``; return what makes one row there of the rows of a record.

    They are given by their numbers in the record, with paths relative to rootdir.
    """
    known = {
        footprint: number
        for path in {footprint.filename for footprint in footprints.values()}
        for number, footprint in tables.footprints(path)
    }
    new = [f for f in dict.fromkeys(footprints.values()) if f not in known]
    known.update(zip(new, tables.add_footprints(new), strict=True))
    numbers = {number: known[footprint] for number, footprint in footprints.items()}
    return lambda rows: array("I", sorted({numbers[i] for i in chain.from_iterable(rows)}))
