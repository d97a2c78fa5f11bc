"""What each tool of the package does, and what it must leave alone: texts before and after."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from pytest_bayesloc.fixes.project import Task

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Example:
    """One task for a tool, and the answer that is expected.

    Attributes:
        error: ``Type: message``.
        before: Text of the file.
        after: Text that one of the first three proposals gives, the same as before if it is a
            hint; None: nothing is proposed.
        says: Part of the proposal's message.
        line: Where the error was raised; in code, the first line that is to change by default.
        files: More files of the project, by path.
        values: As in ``Task``.
        test: As in ``Task``.
        filename: As in ``Task``.
        test_file: As in ``Task``.
    """

    error: str
    before: str
    after: str | None = None
    _: KW_ONLY
    says: str = ""
    line: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    test: str = ""
    filename: str = "app.py"
    test_file: str = ""

    def task(self) -> Task:
        """The task that the tool is given."""
        line = self.line or self._first_change()
        return Task(
            code=self.before,
            filename=self.filename,
            error=self.error,
            line=line,
            lines=(line,) if line else (),
            values=self.values,
            test=self.test,
            test_file=self.test_file,
        )

    def _first_change(self) -> int:
        """The first line that differs in ``after``; 0 in data, and if nothing is proposed."""
        if self.after is None or not self.filename.endswith(".py"):
            return 0
        lines = zip_longest(self.before.splitlines(), self.after.splitlines())
        return next((n for n, (old, new) in enumerate(lines, 1) if old != new), 0)


def in_f(given: str, error: str, before: str, after: str | None = None, **more: object) -> Example:
    """A task in the body of ``def f(given):``, which is given before and after."""
    head = f"def f({given}):\n    "
    made = None if after is None else f"{head}{after}\n"
    return Example(error, f"{head}{before}\n", made, **more)  # type: ignore[arg-type]
