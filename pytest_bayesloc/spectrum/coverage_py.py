"""Collection by coverage.py: one instance for the session, a context a window.

For Python 3.10 and 3.11, and where no ``sys.monitoring`` slot is free. Where pytest-cov or
``coverage run`` is measuring already, its tracer rests while ours works, so what ours saw is
pushed back into its data: lines in line mode, arcs alone in branch mode.

What child processes execute is collected too, if coverage.py measures them (``patch =
subprocess``).
Each of them writes a data file as it ends, next to that of the run, which combines them at its own
end. One that appears while a test runs is that test's, since tests run one at a time. Only copies
are opened: coverage.py would write to a file that is not whole yet.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from array import array
from collections import defaultdict
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.spectrum.run_record import CHILD_PROCESS, Footprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coverage import Coverage

    from pytest_bayesloc.spectrum.run_record import RunRecord


NEVER = ("site-packages", ".*")
BLOCK = 32  # lines, about those of a function: tests differ in few of them, so most are shared


class CoverageCollector:
    """One coverage.py instance in memory.

    Folders below ``directories`` that have a name of ``omit`` need not be traced. The
    ``context_name`` of a window is that of an outer coverage which measures contexts, if one does.
    """

    name = "coverage.py"
    early = False

    def __init__(
        self,
        traced: Callable[[str], bool],
        directories: Sequence[str],
        omit: Sequence[str],
        context_name: Callable[[int], str] | None,
    ) -> None:
        self._traced = traced
        self._directories = directories
        self._omit = omit
        self._context_name = context_name
        self._cov: Coverage | None = None
        self._outer: Coverage | None = None
        self._window: int | None = None
        self._rests = False
        self._tracer: Any = None
        self._spoilt: set[int] = set()
        self._data: Any = None

    def start(self) -> bool:
        """Start measuring on top of an outer coverage; False where a debugger traces instead."""
        from coverage import Coverage

        self._outer = Coverage.current()
        if self._outer is None and sys.gettrace() is not None:
            return False  # ours would take the place of its trace function, and its breakpoints
        self._cov = Coverage(data_file=None, config_file=False, messages=False)
        with suppress(Exception):  # before coverage.py 7.7 there is no such option
            # sys.monitoring, its default from 3.14 on, can't tell the tests apart, and warns.
            self._cov.set_option("run:core", "ctrace")
        if self._outer is None:
            self._cov.set_option("run:include", [f"{path}/*" for path in self._directories])
            folders = (*NEVER, *self._omit)
            omit = [f"{path}/**/{name}/*" for path in self._directories for name in folders]
            self._cov.set_option("run:omit", omit)
        else:
            # What the outer one would measure must be seen, for it sees nothing meanwhile.
            self._cov.set_option("run:branch", bool(self._outer.get_option("run:branch")))
            self._cov.set_option("run:concurrency", self._outer.get_option("run:concurrency"))
            outside = texts(self._outer.get_option("run:source"))
            packages = texts(self._outer.get_option("run:source_pkgs"))
            if outside or packages:
                self._cov.set_option("run:source", [*outside, *self._directories])
                self._cov.set_option("run:source_pkgs", packages)
        self._start(self._cov)
        return True

    def _start(self, cov: Coverage) -> None:
        cov.start()
        self._tracer = sys.gettrace()

    def switch(self, window: int | None) -> None:
        """Label what follows with ``window``."""
        if self._cov is None or window == self._window:
            return
        current = sys.gettrace()
        if not self._rests and current is not self._tracer:
            # A test took the trace function: what was executed since is lost.
            if self._window is not None:
                self._spoilt.add(self._window)
            if current is None:
                sys.settrace(self._tracer)
        self._window = window
        if self._rests and window is not None:
            self._rests = False
            self._start(self._cov)
        if not self._rests:
            self._cov.switch_context("" if window is None else str(window))

    def rest(self) -> None:
        """Take the tracer away, unless threads have it: threads cannot be re-armed."""
        self.switch(None)
        if self._cov is not None and not self._rests and threading.active_count() == 1:
            self._rests = True
            self._cov.stop()

    def stop(self) -> None:
        """Stop measuring, keep what was seen, and push it back into the outer coverage."""
        if self._cov is None:
            return
        cov, self._cov = self._cov, None
        cov.stop()
        cov.set_option("run:source", [])
        self._data = cov.get_data()
        if self._outer is not None:
            # The outer one is to have what it would measure; there is no public question for it.
            judge = getattr(self._outer, "_inorout", None)
            files = self._data.measured_files()
            wanted = [f for f in files if judge is None or judge.should_trace(f).trace]
            target = self._outer.get_data()
            windows = sorted(self._data.measured_contexts()) if self._context_name else [None]
            for context in windows:
                if context is not None and self._context_name is not None:
                    self._data.set_query_contexts([f"^{context}$"])
                    target.set_context(self._context_name(int(context)) if context else "")
                if self._data.has_arcs():
                    target.add_arcs({name: self._data.arcs(name) or [] for name in wanted})
                else:
                    target.add_lines({name: self._data.lines(name) or [] for name in wanted})
            self._data.set_query_contexts(None)

    def hand_over(self, recorded: RunRecord) -> None:
        """Add the executed lines to ``recorded``; their code objects are not known."""
        rows: dict[int, array[int]] = defaultdict(lambda: array("I"))
        numbers: dict[Footprint, int] = {}
        for filename in sorted(self._data.measured_files()) if self._data is not None else ():
            if self._traced(filename):
                blocks: dict[tuple[int, int], list[int]] = defaultdict(list)
                for line, contexts in sorted(self._data.contexts_by_lineno(filename).items()):
                    for context in contexts:
                        if context and line > 0:
                            blocks[int(context), line // BLOCK].append(line)
                for (window, _), lines in blocks.items():
                    footprint = Footprint(filename, 0, "", tuple(lines))
                    rows[window].append(numbers.setdefault(footprint, len(numbers)))
        recorded.add(numbers, rows.items())
        for window in self._spoilt:
            recorded.windows[window].is_spoilt = True


def texts(option: object) -> list[str]:
    """A list-valued option of coverage.py as texts; empty if it is not set."""
    return [str(item) for item in option] if isinstance(option, (list, tuple)) else []


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

    The names of their data files ``begin`` with an absolute path.
    """

    def __init__(self, begin: str, traced: Callable[[str], bool]) -> None:
        self._traced = traced
        self._window: int | None = None
        self._begin = Path(begin)
        self._known: set[str] | None = None  # data files; None: not looked yet
        self._numbers: dict[Footprint, int] = {}
        self._rows: list[tuple[int, list[int]]] = []

    def switch(self, window: int | None) -> None:
        """Credit what ended since to the window before, and open ``window``."""
        if window != self._window:
            folder, begin = self._begin.parent, self._begin.name
            with suppress(OSError):
                present = {name for name in os.listdir(folder) if name.startswith(begin)}  # noqa: PTH208
                before, self._known = self._known, present
                if self._window is not None and before is not None:  # a run that died left some
                    numbers = self._numbers
                    for name in sorted(present - before):
                        seen = self._read(folder / name)
                        row = [numbers.setdefault(footprint, len(numbers)) for footprint in seen]
                        self._rows.append((self._window, row))
            self._window = window

    def hand_over(self, recorded: RunRecord) -> None:
        """Add what was executed since the last time to ``recorded``."""
        recorded.add(self._numbers, self._rows)
        self._numbers, self._rows = {}, []

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
