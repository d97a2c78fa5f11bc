"""Drives the collector, so that each line that is executed belongs to a window."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ContextDecorator

    from pytest_bayesloc.spectrum.coverage_py import ChildProcesses
    from pytest_bayesloc.spectrum.run_record import Collector, RunRecord

TRACED = (
    "Another tool traces this process (sys.settrace), such as a debugger: which code the tests "
    "execute is not recorded. (debugger)"
)
# Called only where an assertion has failed, by pytest's rewritten ``assert`` and by unittest.
EXPLAINERS = {
    "_pytest.assertion.rewrite": ("_saferepr", "_call_reprcompare", "_format_assertmsg"),
    "unittest.case": ("safe_repr", "_common_shorten_repr"),
}


class Tracer:
    """Runs the first of ``collectors`` that works here.

    Attributes:
        current: The number of the window that is recorded now.
        children: Sees what child processes execute; None where nobody measures them.
    """

    def __init__(
        self, recorded: RunRecord, collectors: Sequence[Collector], warn: Callable[[str], None]
    ) -> None:
        self._recorded = recorded
        self._candidates = list(collectors)
        self._collector: Collector | None = None
        self._stopped: Collector | None = None
        self._warn = warn
        self.current: int | None = None
        self.children: ChildProcesses | None = None

    @property
    def is_tracing(self) -> bool:
        """Whether a collector is at work."""
        return self._collector is not None

    @property
    def may_trace(self) -> bool:
        """Whether a collector is at work, or may start yet."""
        return self._collector is not None or bool(self._candidates)

    def begin(self, *, early: bool = False) -> bool:
        """Start the first collector that may start now; return whether one is at work."""
        while self._collector is None and self._candidates:
            if early and not self._candidates[0].early:
                break
            candidate = self._candidates.pop(0)
            if self.guard(candidate.start):
                self._collector = candidate
                self._recorded.collector = candidate.name
            elif not self._candidates and not self._recorded.partial:
                self._recorded.partial.append(TRACED)
        return self._collector is not None

    def give_up(self) -> None:
        """Stop for good: other processes run the tests."""
        self.end()
        self._candidates.clear()

    def end(self) -> None:
        """Stop the collector, which keeps what it saw."""
        self._credit_children(None)
        self.guard(self._stop)

    def _stop(self) -> None:
        collector, self._collector = self._collector, None
        if collector is not None:
            self._stopped = collector
            collector.stop()

    def take_result(self) -> None:
        """Move what the stopped collector saw to the record."""
        collector, self._stopped = self._stopped, None
        if collector is not None:
            self.guard(lambda: collector.hand_over(self._recorded))
            children = self.children
            if children is not None:
                self.guard(lambda: children.hand_over(self._recorded))

    def guard(self, action: Callable[[], Any]) -> Any:  # noqa: ANN401 - the result of any action
        """Run our own code such that a fault of ours costs one warning and the recording."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's run goes on
            with suppress(Exception):  # it failed before, so it may again
                self._stop()
            text = f"Coverage recording stopped ({type(error).__name__}: {error})"
            if not self._recorded.partial:
                with suppress(Warning):  # where warnings are errors, the report has to say it
                    self._warn(
                        f"{text}: the tests run on, the ranking will be partial. (recording)"
                    )
            self._recorded.partial.append(text)
            self._recorded.is_broken = True
            return None

    def switch(self, window: int | None) -> None:
        """Credit what is executed from now on to ``window``; None: to nothing."""
        self.current = window
        self._credit_children(window)
        collector = self._collector
        if collector is not None:
            self.guard(lambda: collector.switch(window))

    def rest(self) -> None:
        """Trace nothing until the next ``switch``."""
        self.current = None
        self._credit_children(None)
        collector = self._collector
        if collector is not None:
            self.guard(collector.rest)

    def _credit_children(self, window: int | None) -> None:
        children = self.children
        if children is not None and self._collector is not None:
            self.guard(lambda: children.switch(window))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Credit what is executed inside to nothing."""
        window = self.current
        self.switch(None)
        try:
            yield
        finally:
            self.switch(window)


class ExplanationMute:
    """Has the makers of assertion texts decorated by a context manager.

    They are called inside the test, and the ``__repr__`` that they call is no coverage.
    """

    def __init__(self, paused: Callable[[], ContextDecorator]) -> None:
        self._paused = paused
        self._originals: list[tuple[Any, str, Callable[..., Any]]] = []

    def mute(self) -> None:
        """Begin; modules that nobody has imported are left alone."""
        if self._originals:
            return
        for module_name, names in EXPLAINERS.items():
            module = sys.modules.get(module_name)
            for name in names:
                explain = getattr(module, name, None)
                if explain is not None:
                    self._originals.append((module, name, explain))
                    setattr(module, name, self._paused()(explain))

    def unmute(self) -> None:
        """End. May be called twice."""
        while self._originals:
            module, name, explain = self._originals.pop()
            setattr(module, name, explain)
