"""Collection by ``sys.monitoring`` (Python 3.12 and newer): lines cost one event a test."""

from __future__ import annotations

import sys
from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.location import code_name
from pytest_bayesloc.spectrum.run_record import Footprint

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from pytest_bayesloc.spectrum.run_record import RunRecord

# 1 is coverage.py's, 3 Hypothesis', 2 the profiler's: peers that share 4 move down, as we do.
SLOTS = (4, 3)


class MonitoringCollector:
    """LINE events, local to the code under test, each disabled at its first hit.

    When a window opens, our own local events are set off and on again, which re-arms them;
    ``restart_events()`` would re-arm those of every other tool as well. What runs between windows
    is not re-armed, and costs nothing after its first run. Whether a file is ``traced`` is asked
    once a code object.
    """

    name = "sys.monitoring"
    early = True

    def __init__(self, traced: Callable[[str], bool]) -> None:
        self._traced = traced
        self._api: Any = getattr(sys, "monitoring", None)
        self._slot = -1
        self._window: int | None = None
        self._fresh: list[Any] = []  # code, line, code, line, ...
        # Code that is armed, by its id: kept alive, so that the id stays its own.
        self._codes: dict[int, CodeType] = {}
        self._spent: set[int] = set()  # ids of code of which lines are disabled
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        self._rows: list[tuple[int, array[int]]] = []

    def start(self) -> bool:
        """Take a free slot; False where there is none, or the Python is older than 3.12."""
        self._slot = next((slot for slot in SLOTS if self._take(slot)), -1)
        if self._slot < 0:
            return False
        api, slot, traced, codes = self._api, self._slot, self._traced, self._codes
        begin_event, line_event, disable = api.events.PY_START, api.events.LINE, api.DISABLE
        extend = self._fresh.extend

        # It arms code at its first start ever, and is disabled for it then.
        def on_start(code: CodeType, _offset: int) -> object:
            if traced(code.co_filename):
                codes[id(code)] = code
                api.set_local_events(slot, code, line_event)
            return disable

        # Of all ways to note two values in one step, so that threads can't mix them up, the
        # cheapest; kept tuples would also set off the garbage collector.
        def on_line(*hit: object) -> object:
            extend(hit)
            return disable

        api.register_callback(slot, begin_event, on_start)
        api.register_callback(slot, line_event, on_line)
        api.set_events(slot, begin_event)
        return True

    def _take(self, slot: int) -> bool:
        try:
            self._api.use_tool_id(slot, "bayesloc")
        except (AttributeError, ValueError):
            return False
        return True

    def switch(self, window: int | None) -> None:
        """Close the window before, and open ``window`` with all lines armed."""
        if window == self._window:
            return
        self._close()
        if window is not None and self._spent:
            set_local, line_event = self._api.set_local_events, self._api.events.LINE
            slot = self._slot
            for code in map(self._codes.__getitem__, self._spent):
                set_local(slot, code, 0)
                set_local(slot, code, line_event)
            self._spent.clear()
        self._window = window

    def rest(self) -> None:
        """Close the window: disabled lines cost nothing."""
        self.switch(None)

    def _close(self) -> None:
        n_fresh = len(self._fresh)
        if not n_fresh:
            return
        codes, lines = self._fresh[0:n_fresh:2], self._fresh[1:n_fresh:2]
        del self._fresh[:n_fresh]
        lines_of: dict[int, list[int]] = defaultdict(list)
        last = None
        for code, line in zip(codes, lines, strict=True):
            if code is not last:  # nearly always the same for some lines
                last, add = code, lines_of[id(code)].append
            add(line)
        self._spent.update(lines_of)
        if self._window is not None:
            numbers = self._numbers
            # Lines in the order of execution, which is the same nearly always: sorting waits.
            seen = [(key, tuple(lines)) for key, lines in lines_of.items()]
            row = array("I", [numbers.setdefault(each, len(numbers)) for each in seen])
            self._rows.append((self._window, row))

    def stop(self) -> None:
        """Give the slot back."""
        if self._slot < 0:
            return
        self.switch(None)
        api, slot, self._slot = self._api, self._slot, -1
        api.set_events(slot, 0)
        for code in list(self._codes.values()):  # a thread without the GIL may add one
            api.set_local_events(slot, code, 0)
        api.register_callback(slot, api.events.PY_START, None)
        api.register_callback(slot, api.events.LINE, None)
        api.free_tool_id(slot)

    def hand_over(self, recorded: RunRecord) -> None:
        """Add what was executed to ``recorded``."""
        footprints = []
        for key, lines in self._numbers:
            code = self._codes[key]
            # Line 0 is the start of a module, above its first line.
            executed = tuple(sorted(line for line in lines if line > 0))
            name = code_name(code)
            footprints.append(Footprint(code.co_filename, code.co_firstlineno, name, executed))
        recorded.add(footprints, self._rows)
