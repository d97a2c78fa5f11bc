"""The project's files: which of them are under test, and what they hold."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.texts import text_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_bayesloc.domain.failure import Frame
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap, Unit

# Bound now: tests patch these (mock, pyfakefs), and count their calls.
_exists, _isabs, _join = os.path.exists, os.path.isabs, os.path.join
_normpath, _realpath, _relpath = os.path.normpath, os.path.realpath, os.path.relpath
_open = open

RawCode = tuple[str, int, str]  # file, first line and name of a code object

TEST_DIRECTORIES = frozenset({"tests", "test"})
FOREIGN_DIRECTORIES = frozenset(
    {"site-packages", "dist-packages", "node_modules", "__pypackages__"}
)
# Code of others that a project holds a copy of.
VENDORED_DIRECTORIES = frozenset(
    {
        "_vendor",
        "_vendored",
        "extern",
        "externals",
        "third_party",
        "thirdparty",
        "vendor",
        "vendored",
    }
)
# Files of these names are test files even where their text shows no test: it may be made there.
TEST_NAMES = ("test_*.py", "*_test.py", "tests.py")
STANDARD_LIBRARY = str(Path(os.__file__).parent)
_DEFINED = re.compile(rb"^(class|(?:async +)?def) +(\w+)([^#\n]*)", re.MULTILINE)


class FileKind(Enum):
    """The part that a file has in the run."""

    CODE = "code"
    TEST = "test"
    FOREIGN = "foreign"


class SourceFilter:
    """Tells code under test from tests and from everything else; answers are remembered.

    Args:
        rootdir: The root of the project.
        directories: Where code under test lies; empty: anywhere below rootdir.
        test_patterns: pytest's ``python_files``.
        omit: File patterns that coverage.py is told to leave out. A report may do without them,
            but what they name can be at fault, unless it is a copy of somebody else's code.
        test_names: pytest's ``python_functions`` and ``python_classes``.
    """

    def __init__(
        self,
        rootdir: Path,
        directories: Sequence[Path] = (),
        test_patterns: Sequence[str] = ("test_*.py", "*_test.py"),
        omit: Sequence[str] = (),
        test_names: tuple[Sequence[str], Sequence[str]] = (("test",), ("Test",)),
    ) -> None:
        self.rootdir = _realpath(rootdir)
        self._explicit = [_realpath(path) for path in directories]
        self._patterns = tuple(test_patterns)
        self._omit = tuple(omit)
        self._functions, self._classes = map(tuple, test_names)
        # If the code under test is not installed itself, a look at the path is enough for the
        # hundreds of files that are.
        bases = [self.rootdir, *self._explicit]
        self._may_be_installed = any(self.is_installed(_join(base, "x")) for base in bases)
        self._kinds: dict[str, FileKind] = {}
        self._relatives: dict[str, str] = {}
        self._environments: dict[str, bool] = {}

    @property
    def directories(self) -> list[str]:
        """The absolute folders of code under test."""
        return self._explicit or [self.rootdir]

    def is_code(self, filename: str) -> bool:
        """Whether ``filename`` is under test."""
        return self.kind(filename) is FileKind.CODE

    def kind(self, filename: str) -> FileKind:
        """Classify ``filename``, an absolute path or a pseudo name."""
        known = self._kinds.get(filename)
        if known is None:
            known = self._kinds[filename] = self._classify(filename)
        return known

    def relative(self, filename: str) -> str:
        """``filename`` relative to rootdir, POSIX style; as it is, if it can't be."""
        known = self._relatives.get(filename)
        if known is None:  # asking the disk is slow, and each frame of each failure asks
            known = filename
            if _isabs(filename):  # else a pseudo name, or a name that code was compiled under
                with suppress(ValueError):  # another drive
                    known = _relpath(_real(filename), self.rootdir)
                known = known.replace(os.sep, "/")
            self._relatives[filename] = known
        return known

    def absolute(self, file: str) -> str:
        """The absolute path of ``file``, which is relative to rootdir."""
        return _normpath(_join(self.rootdir, file))

    def is_installed(self, filename: str) -> bool:
        """Whether ``filename`` belongs to Python or to a package that is installed."""
        if not _isabs(filename) or _below(filename, STANDARD_LIBRARY):
            return True
        return not FOREIGN_DIRECTORIES.isdisjoint(filename.replace(os.sep, "/").split("/"))

    def _classify(self, filename: str) -> FileKind:
        if not _isabs(filename) or not filename.endswith(".py"):
            return FileKind.FOREIGN
        if not self._may_be_installed and self.is_installed(filename):
            return FileKind.FOREIGN
        path = _real(filename)
        base = next((d for d in self._explicit if _below(path, d)), None)
        in_root = _below(path, self.rootdir)
        if base is None and (not in_root or self._is_foreign(path)):
            return FileKind.FOREIGN
        if in_root and self._is_test(path):
            return FileKind.TEST
        if (base is None and self._explicit) or self._is_vendored(path):
            return FileKind.FOREIGN
        return FileKind.CODE

    def _parts(self, path: str) -> tuple[str, ...]:
        return tuple(_relpath(path, self.rootdir).replace(os.sep, "/").split("/"))

    def _is_test(self, path: str) -> bool:
        *folders, name = self._parts(path)
        if name == "conftest.py" or TEST_DIRECTORIES.intersection(folders):
            return True
        if not any(fnmatch(name, pattern) for pattern in self._patterns):
            return False
        if any(fnmatch(name, usual) for usual in TEST_NAMES):
            return True
        # ``python_files = *.py __init__.py`` matches code under test as well: the text decides, if
        # pytest would collect a test from it.
        try:
            with _open(path, "rb") as stream:
                text = stream.read()
        except Exception:  # noqa: BLE001 - see ``_real``
            return False
        return any(
            _has_prefix(defined.decode(), self._classes) or b"TestCase" in rest
            if keyword == b"class"
            else _has_prefix(defined.decode(), self._functions)
            for keyword, defined, rest in _DEFINED.findall(text)
        )

    def _is_foreign(self, path: str) -> bool:
        folders = self._parts(path)[:-1]
        if any(f.startswith(".") or f in FOREIGN_DIRECTORIES for f in folders):
            return True
        parents = ("/".join(folders[: n + 1]) for n in range(len(folders)))
        return any(self._is_environment(parent) for parent in parents)

    def _is_environment(self, folder: str) -> bool:
        known = self._environments.get(folder)
        if known is None:
            path = _join(self.rootdir, folder)
            try:
                known = path == sys.prefix or _exists(_join(path, "pyvenv.cfg"))
            except Exception:  # noqa: BLE001 - see ``_real``
                return False
            self._environments[folder] = known
        return known

    def _is_vendored(self, path: str) -> bool:
        """Whether ``path`` is foreign code that lies in the project, and coverage.py leaves out."""
        if VENDORED_DIRECTORIES.isdisjoint(self._parts(path)):
            return False
        return any(
            fnmatch(path, p if p.startswith(("*", "/")) else f"{self.rootdir}/{p}")
            for p in self._omit
        )


def _has_prefix(name: str, wanted: Iterable[str]) -> bool:
    """Whether pytest takes ``name`` for that of a test: ``wanted`` are prefixes or patterns."""
    return any(
        name.startswith(part) or ("*" in part and fnmatch(name, part)) for part in wanted if part
    )


def _real(path: str) -> str:
    """``path`` without links, as far as the running test lets anyone ask."""
    try:
        return _realpath(path)
    except Exception:  # noqa: BLE001 - what a test put in place of ``os.lstat`` may do anything
        return _normpath(path)


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


class Sources:
    """The project's files, read once and for reading only."""

    def __init__(self, files: SourceFilter) -> None:
        self.files = files
        self._maps: dict[str, SourceMap | None] = {}
        self._texts: dict[str, str | None] = {}

    def map(self, file: str) -> SourceMap | None:
        """The locations of ``file`` (relative to rootdir), or None if it can't be read."""
        if file not in self._maps:
            text = self.read(file)
            self._maps[file] = None if text is None else self.of_text(file, text)
        return self._maps[file]

    def of_text(self, file: str, text: str = "") -> SourceMap:
        """The locations of ``file`` with another text: of a file that is gone, none."""
        from pytest_bayesloc.domain.source import SourceMap

        is_test = self.files.kind(self.files.absolute(file)) is FileKind.TEST
        return SourceMap(text, file, is_test=is_test)

    def read(self, file: str) -> str | None:
        """The text of ``file`` in the encoding that it declares, or None."""
        if file not in self._texts:
            import tokenize

            path, text = Path(self.files.absolute(file)), None
            try:
                if path.is_file():  # to open a pipe waits for who writes to it
                    with tokenize.open(path) as stream:
                        text = stream.read()
            except (OSError, SyntaxError, UnicodeDecodeError):
                with suppress(OSError):
                    text = path.read_text(encoding="utf-8", errors="replace")
            self._texts[file] = text
        return self._texts[file]

    def digest(self, files: Iterable[str]) -> str:
        """Return a digest of the texts of files; what can't be read counts as empty."""
        return text_digest("\0".join(self.read(file) or "" for file in sorted(set(files))), 32)

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

    def own_text(self, location: Location) -> str:
        """The lines of ``location`` itself; empty if its file can't be read."""
        source = self.map(location.file)
        return "" if source is None else source.own_text(location)

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

    def locate_frame(self, frame: Frame) -> Location | None:
        """The location that a frame was executing."""
        return self.locate((frame.file, frame.first_line, frame.name))
