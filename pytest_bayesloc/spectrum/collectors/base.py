"""The port of collectors, and the values that they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from array import array
    from types import CodeType


#: As the name of code: a child process executed it, so no patch in memory reaches it.
CHILD_PROCESS = "<child process>"


class Footprint(NamedTuple):
    """Lines of one code object that were executed together, in one window or more.

    Attributes:
        filename: Absolute path.
        first_line: ``co_firstlineno`` of the code, or 0 where only the lines are known.
        name: Name of the code; empty, or ``CHILD_PROCESS``, where only the lines are known.
        lines: The lines, ascending.
    """

    filename: str
    first_line: int
    name: str
    lines: tuple[int, ...]


class CollectorResult(NamedTuple):
    """The result of a collector; tests repeat most of what others did, so rows hold numbers.

    Attributes:
        footprints: By their numbers.
        rows: The number of a window with those of the footprints that it executed, in the order in
            which windows were closed; a window may have several rows.
        spoilt: Windows of which a part may be missing.
    """

    footprints: list[Footprint]
    rows: list[tuple[int, array[int]]]
    spoilt: frozenset[int] = frozenset()


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
        """Credit what is executed from now on to ``window``; None: to nothing."""

    def rest(self) -> None:
        """Credit nothing until the next window, as cheaply as possible."""

    def stop(self) -> None:
        """End, and give back what was taken. May be called twice."""

    def result(self) -> CollectorResult:
        """Return what was executed. After ``stop``."""


def code_name(code: CodeType) -> str:
    """The qualified name of ``code``; before Python 3.11 its plain one."""
    return str(getattr(code, "co_qualname", code.co_name))
