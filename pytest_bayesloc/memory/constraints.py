"""What code demands of its callers, learned from how it failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.bug import LESSON_LENGTH, clipped
from pytest_bayesloc.domain.conditions import demanded

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.domain.failure import Failure
    from pytest_bayesloc.domain.source import SourceMap

_NAME = r"[\w.<>]+"
# What Python says when a call or a name does not fit, and what follows from it.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), lesson)
    for pattern, lesson in (
        (rf"({_NAME})\(\) got an unexpected keyword argument ('\w+')", r"\1() takes no keyword \2"),
        (rf"({_NAME})\(\) got multiple values for argument ('\w+')", r"\1() is given \2 twice"),
        (
            rf"({_NAME})\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)",
            r"\1() requires \2",
        ),
        (rf"({_NAME})\(\) takes (.+?) positional arguments? but", r"\1() takes \2 positional"),
        (r"('\w+') object has no attribute ('\w+')", r"\1 objects have no attribute \2"),
        (r"type object ('\w+') has no attribute ('\w+')", r"class \1 has no attribute \2"),
        (rf"module ('{_NAME}') has no attribute ('\w+')", r"module \1 has no \2"),
        (rf"cannot import name ('\w+') from (?:partially initialized module )?('{_NAME}')",
         r"module \2 has no \1"),
        (rf"No module named ('{_NAME}')", r"there is no module \1"),
        (r"can't instantiate abstract class (\w+) .*?(?:methods?) (.+)", r"\1 must implement \2"),
    )
)  # fmt: skip


def learned_constraint(failure: Failure, read: Callable[[str], SourceMap | None]) -> str:
    """What would have had to hold; empty if nothing says so.

    The condition of a guard that fired, read from its source, or what Python's own message says
    about a call or a name.

    Args:
        failure: The failure.
        read: The locations of a file.
    """
    guard = _of_guard(failure, read)
    if guard:
        return clipped(guard, LESSON_LENGTH)
    for pattern, lesson in _RULES:
        match = pattern.search(failure.message)
        if match:
            return clipped(match.expand(lesson), LESSON_LENGTH)
    return ""


def _of_guard(failure: Failure, read: Callable[[str], SourceMap | None]) -> str:
    """``Curve.insert needs len(knots) >= 2 * degree + 2``; empty if no guard of code fired."""
    frame = failure.frames[-1] if failure.frames else None
    if frame is None or not frame.in_app or frame.is_test:
        return ""
    source = read(frame.file)
    if source is None:
        return ""
    unit = source.unit_of_code(frame.first_line, frame.name)
    condition = demanded(unit.node, frame.line) if unit.is_function else ""
    return f"{unit.location.qualname} needs {condition}" if condition else ""
