"""The project's files as they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.spectrum.source_filter import FileKind

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap, Unit
    from pytest_bayesloc.spectrum.failures import RawCode
    from pytest_bayesloc.spectrum.source_filter import SourceFilter


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
            from pytest_bayesloc.domain.source import SourceMap

            text = self.read(file)
            is_test = self.files.kind(self.files.absolute(file)) is FileKind.TEST
            self._maps[file] = None if text is None else SourceMap(text, file, is_test=is_test)
        return self._maps[file]

    def empty(self, file: str) -> SourceMap:
        """What there is of ``file`` where there is none any more."""
        from pytest_bayesloc.domain.source import SourceMap

        is_test = self.files.kind(self.files.absolute(file)) is FileKind.TEST
        return SourceMap("", file, is_test=is_test)

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
