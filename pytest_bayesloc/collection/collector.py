"""What a collector does, whatever it stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType


class Hit(NamedTuple):
    """One executed line.

    Attributes:
        filename: Absolute path.
        first_line: ``co_firstlineno`` of its code, or 0 where only the line is known.
        name: Name of its code, or empty where only the line is known.
        line: The line.
        windows: Bitset of the windows that it was executed in.
    """

    filename: str
    first_line: int
    name: str
    line: int
    windows: int


class Collector(Protocol):
    """Notes the lines that are executed in each window.

    A window is a span of the run: a test from setup to teardown, or the import of a test module.

    Attributes:
        name: For the result and the reports.
        early: Whether it may start before conftest files are loaded.
    """

    name: str
    early: bool

    def start(self) -> bool:
        """Begin; False where it can't work here, so that the next collector is tried."""

    def switch(self, window: int | None) -> None:
        """What is executed from now on belongs to ``window``; None: to nothing."""

    def stop(self) -> None:
        """End, and give back what was taken. May be called twice."""

    def hits(self) -> Iterator[Hit]:
        """Every executed line, once a code object. After ``stop``."""


def code_name(code: CodeType) -> str:
    """The qualified name of ``code``; before Python 3.11 its plain one."""
    return str(getattr(code, "co_qualname", code.co_name))
