"""What a tool of the shelf is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_bayesloc.domain.fixing import Project, Proposal, Task

Propose: TypeAlias = Callable[[Task, Project], Iterator[Proposal]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What a tool does, or must not do: run by one parametrised test.

    Attributes:
        error: ``Type: message``.
        before: Text of the file.
        after: What one of the first three proposals makes of it, the same if it only says what to
            do; None: nothing is proposed.
        says: Part of what the proposal says.
        line: Where the error was raised.
        files: More files of the project, by path.
        values: As in ``Task``.
        test: As in ``Task``.
        filename: As in ``Task``.
        test_file: As in ``Task``.
    """

    error: str
    before: str
    after: str | None
    says: str = ""
    line: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    test: str = ""
    filename: str = "app.py"
    test_file: str = ""

    def task(self) -> Task:
        """What the tool is given."""
        return Task(
            code=self.before,
            filename=self.filename,
            error=self.error,
            line=self.line,
            lines=(self.line,) if self.line else (),
            values=self.values,
            test=self.test,
            test_file=self.test_file,
        )
