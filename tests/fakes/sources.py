"""The project's files as a few texts."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.spectrum.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.location import Location


class TextSources(Sources):
    """Answers from texts, by their paths; what begins with ``test_`` is a test file."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = {file: dedent(text) for file, text in files.items()}

    def map(self, file: str) -> SourceMap | None:
        text = self._files.get(file)
        is_test = file.rpartition("/")[2].startswith("test_")
        return None if text is None else SourceMap(text, file, is_test=is_test)

    def read(self, file: str) -> str | None:
        return self._files.get(file)

    def module(self, name: str) -> Location | None:
        source = self.map(f"{name.replace('.', '/')}.py")
        return None if source is None else source.module.location

    def place(self, file: str, qualname: str) -> Location:
        """The location of that name."""
        source = self.map(file)
        assert source is not None
        return next(u.location for u in source.units if u.location.qualname == qualname)

    def frame(self, file: str, part: str) -> Frame:
        """A frame that executes the first line of ``file`` that holds ``part``."""
        source = self.map(file)
        assert source is not None
        lines = self._files[file].splitlines()
        line = next(n for n, text in enumerate(lines, 1) if part in text)
        unit = source.owner(line)
        return Frame(
            file=file,
            line=line,
            name=unit.location.qualname,
            first_line=unit.first_line,
            in_app=True,
            is_test=unit.location.is_test,
        )


def failure_at(
    *frames: Frame, kind: str, message: str, tests: tuple[Location, ...] = ()
) -> Failure:
    """A test that failed with an exception of that ``kind``."""
    return Failure(
        node_id="test_app.py::test_one",
        phase="call",
        exc_type=kind,
        message=message,
        frames=frames,
        test_locations=tests,
    )
