"""What inspection patches speak to: a side channel that no test can capture."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Bound to builtins as this name, which Python does not mangle inside classes.
NAME = "__bayesloc__"


class Probe:
    """Collects heartbeats and violations of the running test.

    Args:
        on_first_heartbeat: Told at once, since the test may crash right after.

    Attributes:
        builtins: For checks in files that hide a built-in name.
    """

    builtins = builtins

    def __init__(self, on_first_heartbeat: Callable[[], None]) -> None:
        self._tell = on_first_heartbeat
        self.covered = False
        self.violations: list[int] = []

    def reset(self) -> None:
        """Begin the next test."""
        self.covered = False
        self.violations = []

    def heartbeat(self, fqn: str) -> None:  # noqa: ARG002 - shown in the patch's text
        """The target is executed: ``--- INSPECTION_START: {fqn} ---``."""
        if not self.covered:
            self.covered = True
            self._tell()

    def violated(self, number: int, text: str) -> str:
        """Note that check ``number`` failed, even if the program swallows the assertion."""
        if number not in self.violations:
            self.violations.append(number)
        return text
