"""From executed lines to a spectrum over locations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.collection.failures import failure_from
from pytest_bayesloc.collection.source_filter import FileKind
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.domain.spectrum import Spectrum, bits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_bayesloc.collection.collector import Hit
    from pytest_bayesloc.collection.failures import RawCode
    from pytest_bayesloc.collection.recorder import Recorded
    from pytest_bayesloc.collection.source_filter import SourceFilter
    from pytest_bayesloc.domain.failure import Failure
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import Unit


class Sources:
    """The project's files, read once and for reading only.

    Args:
        files: Tells what each file is and where it lies.
    """

    def __init__(self, files: SourceFilter) -> None:
        self.files = files
        self._maps: dict[str, SourceMap | None] = {}
        self._texts: dict[str, str | None] = {}

    def map(self, file: str) -> SourceMap | None:
        """The locations of ``file`` (relative to rootdir), or None if it can't be read."""
        if file not in self._maps:
            text = self.read(file)
            is_test = self.files.kind(self.files.absolute(file)) is FileKind.TEST
            self._maps[file] = None if text is None else SourceMap(text, file, is_test=is_test)
        return self._maps[file]

    def read(self, file: str) -> str | None:
        """The text of ``file`` in the encoding that it declares, or None."""
        if file not in self._texts:
            self._texts[file] = self._read(file)
        return self._texts[file]

    def _read(self, file: str) -> str | None:
        import tokenize

        path = Path(self.files.absolute(file))
        try:
            with tokenize.open(path) as stream:
                return stream.read()
        except (OSError, SyntaxError, UnicodeDecodeError):
            pass
        try:
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def module(self, name: str) -> Location | None:
        """The module body of the module ``name``, if its file is in the project."""
        stem = name.replace(".", "/")
        for folder in (*self.files.directories, f"{self.files.rootdir}/src"):
            for file in (f"{stem}.py", f"{stem}/__init__.py"):
                path = Path(folder, file)
                if path.is_file() and self.files.kind(str(path)) is not FileKind.FOREIGN:
                    source = self.map(self.files.relative(str(path)))
                    return None if source is None else source.module.location
        return None

    def unit(self, location: Location) -> tuple[SourceMap, Unit] | None:
        """The file of ``location`` and its place in it, or None if the file no longer has it."""
        source = self.map(location.file)
        unit = None if source is None else source.unit(location)
        return None if source is None or unit is None else (source, unit)

    def locate(self, code: RawCode) -> Location | None:
        """The location of a code object given as (file, first line, name)."""
        file, first_line, name = code
        source = self.map(file)
        return None if source is None else source.unit_of_code(first_line, name).location


def build_spectrum(recorded: Recorded, sources: Sources) -> Spectrum:
    """The spectrum of code under test: tests x locations with their lines, and verdicts.

    Where no test ran because files could not be collected, the test files that could be stand
    for passing tests: what their import executed did not fail.
    """
    tests = list(recorded.verdicts)
    windows_of = {node_id: recorded.windows_of.get(node_id, []) for node_id in tests}
    verdicts = dict(recorded.verdicts)
    if not any(verdicts.get(node_id) for node_id in tests):
        for node_id, window in recorded.imported.items():
            tests.append(node_id)
            windows_of[node_id], verdicts[node_id] = [window], True
    tests_of = _tests_of_windows(tests, windows_of)
    failing = sum(1 << i for i, node_id in enumerate(tests) if not verdicts[node_id])
    return Spectrum(
        tests=tuple(tests),
        failing=failing,
        passing=((1 << len(tests)) - 1) & ~failing,
        lines=_lines(
            recorded.hits, tests_of, sum(1 << window for window in recorded.imports), sources
        ),
    )


def build_failures(recorded: Recorded, sources: Sources) -> tuple[Failure, ...]:
    """The failures in the order that they happened."""
    return tuple(failure_from(raw, sources.locate) for raw in recorded.failures.values())


def _tests_of_windows(tests: Sequence[str], windows_of: dict[str, list[int]]) -> dict[int, int]:
    """Per window, the bitset of the tests that it belongs to."""
    tests_of: dict[int, int] = {}
    for i, node_id in enumerate(tests):
        for window in windows_of[node_id]:
            tests_of[window] = tests_of.get(window, 0) | 1 << i
    return tests_of


def _lines(
    hits: Sequence[Hit], tests_of: dict[int, int], imports: int, sources: Sources
) -> dict[Location, dict[int, int]]:
    """Per location, per line, the tests that executed it.

    What a file executes while it is imported, once for all tests, is credited to every test that
    executes code of that file afterwards, not to the tests of the first importer alone.
    """
    translate = _translation(tests_of)
    users: dict[str, int] = {}
    for hit in hits:
        in_tests = hit.windows & ~imports
        if in_tests:
            users[hit.filename] = users.get(hit.filename, 0) | translate(in_tests)
    lines: dict[Location, dict[int, int]] = {}
    for hit in hits:
        executed = translate(hit.windows)
        if hit.windows & imports:
            executed |= users.get(hit.filename, 0)
        location = _location(hit, sources) if executed else None
        if location is not None:
            rows = lines.setdefault(location, {})
            rows[hit.line] = rows.get(hit.line, 0) | executed
    return lines


def _translation(tests_of: dict[int, int]) -> Callable[[int], int]:
    """From a bitset of windows to the bitset of the tests that they belong to."""
    known: dict[int, int] = {}

    def translate(windows: int) -> int:
        if windows not in known:
            executed = 0
            for window in bits(windows):
                executed |= tests_of.get(window, 0)
            known[windows] = executed
        return known[windows]

    return translate


def _location(hit: Hit, sources: Sources) -> Location | None:
    source = sources.map(sources.files.relative(hit.filename))
    if source is None or not source.text or source.text.isspace():  # some Pythons run line 1 of it
        return None
    if hit.first_line:
        return source.unit_of_code(hit.first_line, hit.name).location
    return source.owner(hit.line).location
