"""What a person at a terminal sees while inspections run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.ports import Clock


class Progress:
    """One line that is rewritten while inspections run, on a terminal only.

    Args:
        config: pytest's.
        clock: Monotonic seconds.
    """

    def __init__(self, config: pytest.Config, clock: Clock) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        shown = reporter is not None and reporter.isatty and config.getoption("verbose") >= 0
        self._reporter = reporter if shown else None
        self._clock = clock
        self._started = clock()

    def show(self, number: int, target: Location | None, belief: float) -> None:
        """What is done now, for how long it has been going on, and what is believed so far."""
        if self._reporter is None:
            return
        what = "running the failing tests again"
        if target is not None:
            what = f"inspection {number}, {target}, P = {belief:.0%}"
        self._reporter.ensure_newline()  # the dots stay
        width = self._reporter._tw.fullwidth  # noqa: SLF001 - no public way leads to the width
        spent_s = self._clock() - self._started
        self._reporter.rewrite(f"bayesloc {spent_s:.0f} s: {what}"[: width - 1], erase=True)

    def clear(self) -> None:
        """Leave an empty line."""
        if self._reporter is not None:
            self._reporter.rewrite("", erase=True)
