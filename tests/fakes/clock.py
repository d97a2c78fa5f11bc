"""A clock that a test sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """Seconds that go on by ``step`` each time somebody looks."""

    now: float = 0.0
    step: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now
