"""What a person at a terminal sees while inspections run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import Clock

if TYPE_CHECKING:
    import pytest


class Progress:
    """One line that is rewritten while inspections run, on a terminal only.

    Args:
        config: pytest's.
        clock: Monotonic seconds.
        budget_s: Seconds until it ends by itself, from now.
    """

    def __init__(self, config: pytest.Config, clock: Clock, budget_s: float) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        shown = reporter is not None and reporter.isatty and config.getoption("verbose") >= 0
        self._reporter = reporter if shown else None
        self._clock = clock
        self._ends = clock() + budget_s

    def show(self, number: int, target: Location | None, belief: float) -> None:
        """What is done now, how much is believed so far, and how long it may go on."""
        if self._reporter is None:
            return
        what = "running the failing tests again"
        if target is not None:
            what = f"inspection {number}, {target}, P = {belief:.0%}"
        self._reporter.ensure_newline()  # the dots stay
        width = self._reporter._tw.fullwidth  # noqa: SLF001 - no public way leads to the width
        left_s = max(0.0, self._ends - self._clock())
        self._reporter.rewrite(f"bayesloc, {left_s:.0f} s left: {what}"[: width - 1], erase=True)

    def clear(self) -> None:
        """Leave an empty line."""
        if self._reporter is not None:
            self._reporter.rewrite("", erase=True)
