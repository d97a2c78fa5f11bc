"""Collects what child processes execute, if coverage.py measures them (``patch = subprocess``).

Each of them writes a data file as it ends, next to that of the run, which combines them at its own
end. One that appears while a test runs is that test's, since tests run one at a time. Only copies
are opened: coverage.py would write to a file that is not whole yet.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from array import array
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.spectrum.collectors.base import (
    CHILD_PROCESS,
    CollectorResult,
    Footprint,
)
from pytest_bayesloc.spectrum.collectors.coverage_py import BLOCK, texts

if TYPE_CHECKING:
    from collections.abc import Callable


def data_file() -> str:
    """The absolute start of the names of child processes' data files; empty: there are none.

    To be asked before a collector of ours starts, which may be a coverage.py, too.
    """
    if "coverage" not in sys.modules:
        return ""
    from coverage import Coverage

    outer = Coverage.current()
    if outer is None:
        return ""
    with suppress(Exception):  # before coverage.py 7.10 there is no such option
        if "subprocess" in texts(outer.get_option("run:patch")):
            return os.path.abspath(f"{outer.get_option('run:data_file')}.")  # noqa: PTH100 - it need not exist
    return ""


class ChildProcesses:
    """Notes the lines that child processes execute in each window.

    Args:
        begin: The absolute start of the names of their data files.
        traced: Whether a file is under test.
    """

    def __init__(self, begin: str, traced: Callable[[str], bool]) -> None:
        self._traced = traced
        self._window: int | None = None
        self._begin = Path(begin)
        self._known: set[str] | None = None  # data files; None: not looked yet
        self._rows: list[tuple[int, list[Footprint]]] = []

    def switch(self, window: int | None) -> None:
        """Credit what ended since to the window before, and open ``window``."""
        if window != self._window:
            self._look()
            self._window = window

    def result(self) -> CollectorResult:
        """Return what was executed since the last time."""
        rows, self._rows = self._rows, []
        numbers: dict[Footprint, int] = {}
        numbered = [
            (window, array("I", [numbers.setdefault(f, len(numbers)) for f in footprints]))
            for window, footprints in rows
        ]
        return CollectorResult(list(numbers), numbered)

    def _look(self) -> None:
        """Read the data files that are new."""
        folder, begin = self._begin.parent, self._begin.name
        with suppress(OSError):
            present = {name for name in os.listdir(folder) if name.startswith(begin)}  # noqa: PTH208
            before, self._known = self._known, present
            if self._window is not None and before is not None:  # a run that died left some
                for name in sorted(present - before):
                    self._rows.append((self._window, self._read(folder / name)))

    def _read(self, file: Path) -> list[Footprint]:
        """The lines of one data file; none where it is not whole."""
        from coverage import CoverageData

        with tempfile.TemporaryDirectory(prefix="bayesloc-") as folder, suppress(Exception):
            data = CoverageData(basename=shutil.copy(file, folder))
            data.read()
            return [
                Footprint(path, 0, CHILD_PROCESS, tuple(block))
                for name in sorted(data.measured_files())
                if self._traced(path := os.path.abspath(name))  # noqa: PTH100 - as coverage.py does
                for _, block in groupby(sorted(data.lines(name) or ()), lambda n: n // BLOCK)
            ]
        return []
