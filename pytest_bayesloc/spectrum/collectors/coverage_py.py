"""Collection by coverage.py: one instance for the session, a context a window.

For Python 3.10 and 3.11, and where no ``sys.monitoring`` slot is free. Where pytest-cov or
``coverage run`` is measuring already, its tracer rests while ours works, so what ours saw is
pushed back into its data: lines in line mode, arcs alone in branch mode.
"""

from __future__ import annotations

import sys
import threading
from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.spectrum.collectors.base import CollectorResult, Footprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coverage import Coverage


NEVER = ("site-packages", ".*")
BLOCK = 32  # lines, about those of a function: tests differ in few of them, so most are shared


class CoverageCollector:
    """One coverage.py instance in memory.

    Args:
        traced: Whether a file is under test.
        directories: Where files under test lie.
        omit: Names of folders below them that need not be traced, such as those of tests.
        context_name: The name that an outer, context-measuring coverage gives a window, or None
            to push back without contexts.
    """

    name = "coverage.py"
    early = False

    def __init__(
        self,
        traced: Callable[[str], bool],
        directories: Sequence[str],
        omit: Sequence[str] = (),
        context_name: Callable[[int], str] | None = None,
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
        self._configure(self._cov, self._outer)
        self._start(self._cov)
        return True

    def _start(self, cov: Coverage) -> None:
        cov.start()
        self._tracer = sys.gettrace()

    def _check(self) -> None:
        """Take the trace function back where a test took it; what it executed since is lost."""
        current = sys.gettrace()
        if self._rests or current is self._tracer:
            return
        if self._window is not None:
            self._spoilt.add(self._window)
        if current is None:
            sys.settrace(self._tracer)

    def _configure(self, cov: Coverage, outer: Coverage | None) -> None:
        if outer is None:
            cov.set_option("run:include", [f"{path}/*" for path in self._directories])
            folders = (*NEVER, *self._omit)
            omit = [f"{path}/**/{name}/*" for path in self._directories for name in folders]
            cov.set_option("run:omit", omit)
            return
        # What the outer one would measure must be seen, for it sees nothing meanwhile.
        cov.set_option("run:branch", bool(outer.get_option("run:branch")))
        cov.set_option("run:concurrency", outer.get_option("run:concurrency"))
        outside = outer.get_option("run:source") or []
        if outside:
            cov.set_option("run:source", [*texts(outside), *self._directories])
        packages = outer.get_option("run:source_pkgs")
        if packages:
            cov.set_option("run:source_pkgs", texts(packages))
            if not outside:
                cov.set_option("run:source", list(self._directories))

    def switch(self, window: int | None) -> None:
        """Label what follows with ``window``."""
        if self._cov is None or window == self._window:
            return
        self._check()
        self._window = window
        if self._rests and window is not None:
            self._rests = False
            self._start(self._cov)
        if not self._rests:
            self._cov.switch_context("" if window is None else str(window))

    def rest(self) -> None:
        """Take the tracer away, unless threads have it: none would get it back."""
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
            self._push_back(self._data, self._outer)

    def _push_back(self, data: Any, outer: Coverage) -> None:  # noqa: ANN401 - CoverageData
        wanted = [name for name in data.measured_files() if _would_measure(outer, name)]
        target = outer.get_data()
        windows = sorted(data.measured_contexts()) if self._context_name else [None]
        for context in windows:
            if context is not None and self._context_name is not None:
                data.set_query_contexts([f"^{context}$"])
                target.set_context(self._context_name(int(context)) if context else "")
            if data.has_arcs():
                target.add_arcs({name: data.arcs(name) or [] for name in wanted})
            else:
                target.add_lines({name: data.lines(name) or [] for name in wanted})
        data.set_query_contexts(None)

    def result(self) -> CollectorResult:
        """Return the executed lines; their code objects are not known."""
        rows: dict[int, array[int]] = defaultdict(lambda: array("I"))
        numbers: dict[Footprint, int] = {}
        for filename in sorted(self._data.measured_files()) if self._data is not None else ():
            if self._traced(filename):
                for (window, _), lines in _blocks(self._data, filename).items():
                    footprint = Footprint(filename, 0, "", tuple(lines))
                    rows[window].append(numbers.setdefault(footprint, len(numbers)))
        return CollectorResult(list(numbers), list(rows.items()), frozenset(self._spoilt))


def _blocks(data: Any, filename: str) -> dict[tuple[int, int], list[int]]:  # noqa: ANN401 - CoverageData
    """Per window and block of lines, those that were executed, ascending."""
    blocks: dict[tuple[int, int], list[int]] = defaultdict(list)
    for line, contexts in sorted(data.contexts_by_lineno(filename).items()):
        for context in contexts:
            if context and line > 0:
                blocks[int(context), line // BLOCK].append(line)
    return blocks


def _would_measure(outer: Coverage, filename: str) -> bool:
    """Whether ``outer`` measures ``filename``; coverage.py has no public question for it."""
    judge = getattr(outer, "_inorout", None)
    if judge is None:
        return True
    return bool(judge.should_trace(filename).trace)


def texts(option: object) -> list[str]:
    """A list-valued option of coverage.py as texts; empty if it is not set."""
    return [str(item) for item in option] if isinstance(option, (list, tuple)) else []
