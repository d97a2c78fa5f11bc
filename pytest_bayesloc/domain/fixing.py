"""A change that may mend a bug: who proposes it, what was checked, what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_bayesloc.domain.location import Location

#: What restores code as it was when the tests passed.
TAKE_BACK = "take-back"


class Level(str, Enum):
    """How far a tool may go.

    ``SAFE`` does what the code plainly was to do, ``UNSAFE`` may change what it means, and what is
    ``DISPLAY`` is only ever shown.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a tool is given: an error, and one file that it may propose to change.

    Attributes:
        code: Text of the file; lines end in a line feed alone.
        filename: Its path relative to rootdir.
        error: ``Type: message``.
        line: Line of the file that was executing when the error was raised, from 1; of a syntax
            error, where Python says it is; 0 where there is none.
        lines: Lines of the file that failing tests executed, the most suspicious first.
        values: What names held in the target: name to what was seen in passing and in failing
            calls, as texts.
        test: Text of a failing test; empty if unknown.
        test_file: Path of its file, relative to rootdir.
    """

    code: str
    filename: str
    error: str
    line: int = 0
    lines: tuple[int, ...] = ()
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    test: str = ""
    test_file: str = ""

    @property
    def error_type(self) -> str:
        """Name of the exception, without its module."""
        return self.error.partition(":")[0].strip().rpartition(".")[2]

    @property
    def message(self) -> str:
        """What it says."""
        return self.error.partition(":")[2].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The whole text of the file as a tool would have it, with what it did in one sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A change that is shown.

    Attributes:
        fault: Number of the fault that it is for, from 1.
        tool: Who made it; of a composition, all of them.
        stage: ``tool``, ``pair``, ``edit``, ``change`` or ``generated``.
        level: How far it goes.
        target: What it changes.
        words: What was done.
        diff: As a unified diff.
        failing: The failing tests that pass with it, each in two processes; empty if it was not
            checked, because it would change a test.
        passing: The tests that passed before and still do.
        seconds: Wall seconds that checking it took.
        worth: Mean of its maker's success rate, in [0, 1].
        patch_file: Where it lies as a patch, relative to rootdir; empty if it was not written.
        is_applied: Whether it was written to the file.
    """

    fault: int
    tool: str
    stage: str
    level: Level
    target: Location
    words: str
    diff: str
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    seconds: float = 0.0
    worth: float = 0.5
    patch_file: str = ""
    is_applied: bool = False

    @property
    def is_verified(self) -> bool:
        """Whether tests were run with it, and all was well."""
        return bool(self.failing)


class Project(Protocol):
    """What a tool may ask about the rest of the project. It never raises."""

    def imports_of(self, name: str) -> Sequence[str]:
        """Import statements of the project that bind ``name``, the most frequent first."""

    def defined_in(self, name: str) -> Sequence[str]:
        """Dotted names of the modules that define ``name`` at top level, in order."""

    def names_in(self, module: str) -> Sequence[str]:
        """What the module ``module`` of the project defines or imports at top level."""

    def text(self, file: str) -> str | None:
        """Text of a file, by its path relative to rootdir; None if it can't be read."""

    def calls_of(self, name: str) -> Sequence[str]:
        """Calls in the project of what is named ``name``, as they are written."""
