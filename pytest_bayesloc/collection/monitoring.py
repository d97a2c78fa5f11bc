"""Collection by ``sys.monitoring`` (Python 3.12 and newer): lines cost one event a test."""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.collection.collector import Hit, code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

# 1 is coverage.py's, 3 Hypothesis', 2 the profiler's: peers that share 4 move down, as we do.
SLOTS = (4, 3)


class MonitoringCollector:
    """LINE events, local to the code under test, each disabled at its first hit.

    Between windows our own local events are set off and on again, which re-arms them;
    ``restart_events()`` would re-arm those of every other tool as well.

    Args:
        traced: Whether a file is under test; asked once a code object.
    """

    name = "sys.monitoring"
    early = True

    def __init__(self, traced: Callable[[str], bool]) -> None:
        self._traced = traced
        self._api: Any = getattr(sys, "monitoring", None)
        self._slot = -1
        self._window: int | None = None
        self._fresh: list[tuple[CodeType, int]] = []
        self._line_ids: dict[tuple[int, int], int] = {}
        self._lines: list[tuple[CodeType, int]] = []
        self._rows: list[tuple[int, array[int]]] = []

    def start(self) -> bool:
        """Take a free slot; False where there is none, or the Python is older than 3.12."""
        self._slot = next((slot for slot in SLOTS if self._take(slot)), -1)
        if self._slot < 0:
            return False
        events = self._api.events
        self._api.register_callback(self._slot, events.PY_START, self._on_start())
        self._api.register_callback(self._slot, events.LINE, self._on_line())
        self._api.set_events(self._slot, events.PY_START)
        return True

    def _take(self, slot: int) -> bool:
        try:
            self._api.use_tool_id(slot, "bayesloc")
        except (AttributeError, ValueError):
            return False
        return True

    def _on_start(self) -> Callable[[CodeType, int], object]:
        """A callback that arms code at its first start ever, and is disabled for it then."""
        api, slot, traced = self._api, self._slot, self._traced
        line_event, disable = api.events.LINE, api.DISABLE

        def on_start(code: CodeType, _offset: int) -> object:
            if traced(code.co_filename):
                api.set_local_events(slot, code, line_event)
            return disable

        return on_start

    def _on_line(self) -> Callable[[CodeType, int], object]:
        append, disable = self._fresh.append, self._api.DISABLE

        def on_line(code: CodeType, line: int) -> object:
            append((code, line))
            return disable

        return on_line

    def switch(self, window: int | None) -> None:
        """Close the window before, re-arm what it hit, and open ``window``."""
        if window == self._window and window is not None:
            return
        n_fresh = len(self._fresh)
        if n_fresh:
            hits = self._fresh[:n_fresh]
            del self._fresh[:n_fresh]
            if self._window is not None:
                self._rows.append((self._window, self._row(hits)))
            self._rearm({id(code): code for code, _ in hits})
        self._window = window

    def _row(self, hits: list[tuple[CodeType, int]]) -> array[int]:
        ids, lines = self._line_ids, self._lines
        row = array("I")
        for code, line in hits:
            key = (id(code), line)
            number = ids.get(key)
            if number is None:
                number = ids[key] = len(lines)
                lines.append((code, line))  # keeps the code alive, so that its id stays its own
            row.append(number)
        return row

    def _rearm(self, codes: dict[int, CodeType]) -> None:
        set_local, slot, line_event = (
            self._api.set_local_events,
            self._slot,
            self._api.events.LINE,
        )
        for code in codes.values():
            set_local(slot, code, 0)
            set_local(slot, code, line_event)

    def stop(self) -> None:
        """Give the slot back."""
        if self._slot < 0:
            return
        self.switch(None)
        api, slot, self._slot = self._api, self._slot, -1
        api.set_events(slot, 0)
        for code in {id(code): code for code, _ in self._lines}.values():
            api.set_local_events(slot, code, 0)
        api.register_callback(slot, api.events.PY_START, None)
        api.register_callback(slot, api.events.LINE, None)
        api.free_tool_id(slot)

    def hits(self) -> Iterator[Hit]:
        """Every executed line, once a code object."""
        windows = [0] * len(self._lines)
        for window, row in self._rows:
            bit = 1 << window
            for number in row:
                windows[number] |= bit
        for (code, line), bitset in zip(self._lines, windows, strict=True):
            if line < 1:  # the start of a module, above its first line
                continue
            yield Hit(code.co_filename, code.co_firstlineno, code_name(code), line, bitset)
