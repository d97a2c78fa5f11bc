"""What code demands of its callers, learned from how it failed."""

from __future__ import annotations

import ast
import builtins
import os
import re
import tokenize
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from pytest_bayesloc.domain.bug import LESSON_LENGTH, clipped
from pytest_bayesloc.domain.conditions import demanded
from pytest_bayesloc.domain.failure import Failure
from pytest_bayesloc.domain.source import SourceMap

ReadMap = Callable[[str], SourceMap | None]

DEEP = 2  # calls from where a value comes in to a guard of the same project
MAX_BYTES = 1_000_000  # of a library's file
# What fails there is what a test expects, not what it hands over.
CHECKERS = frozenset({"unittest", "_pytest", "pytest", "hypothesis", "testing", "_testing"})
RECEIVERS = frozenset({"self", "cls"})
BUILTINS = frozenset(dir(builtins))

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


class Guards:
    """Reads what guards demand from the text of the code that raised.

    Args:
        read: The locations of a file of the project.
        rootdir: Absolute path of the project, from which other files are named too.
    """

    def __init__(self, read: ReadMap, rootdir: str) -> None:
        self._read = read
        self._rootdir = rootdir

    def constraint(self, failure: Failure) -> str:
        """What would have had to hold; empty if nothing says so.

        The condition of a guard that fired, read from its source, or what Python's own message says
        about a call or a name.
        """
        guard = self._demand(failure)
        if guard:
            return clipped(guard, LESSON_LENGTH)
        for pattern, lesson in _RULES:
            match = pattern.search(failure.message)
            if match:
                return clipped(match.expand(lesson), LESSON_LENGTH)
        return ""

    def first_check(self, failure: Failure) -> str:
        """Where code of the project could check what a guard deep below refused.

        ``shop/cart.py:12 in Cart.add``; empty if no guard fired, or its caller is that place.
        """
        frames = failure.frames
        entry = next((i for i, f in enumerate(frames) if f.in_app and not f.is_test), None)
        if entry is None or not self._demand(failure):
            return ""
        frame, deepest = frames[entry], frames[-1]
        if len(frames) - 1 - entry < (DEEP if deepest.in_app else 1):
            return ""
        if (frame.file, frame.name) == (deepest.file, deepest.name):  # it calls itself
            return ""
        return f"{frame.file}:{frame.line} in {frame.name}"

    def _demand(self, failure: Failure) -> str:
        """``Curve.insert needs len(knots) >= 2 * degree + 2``; empty if no guard of code fired."""
        frame = failure.frames[-1] if failure.frames else None
        if frame is None or frame.is_test:
            return ""
        source = self._read(frame.file) if frame.in_app else self._library(frame.file)
        if source is None:
            return ""
        unit = source.unit_of_code(frame.first_line, frame.name)
        condition = demanded(unit.node, frame.line) if unit.is_function else ""
        if not condition or not (frame.in_app or _is_of_arguments(condition, unit.node)):
            return ""
        return f"{unit.location.qualname} needs {condition}"

    def _library(self, file: str) -> SourceMap | None:
        """The locations of a file outside the project, unless it checks what tests expect."""
        path = Path(os.path.normpath(Path(self._rootdir, file)))
        if not CHECKERS.isdisjoint(path.parts):
            return None
        return _parsed(path)


@lru_cache(maxsize=64)
def _parsed(path: Path) -> SourceMap | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        with tokenize.open(path) as lines:
            source = SourceMap(lines.read(), str(path))
    except (OSError, SyntaxError, ValueError):
        return None
    return None if source.is_broken else source


def _is_of_arguments(condition: str, function: ast.AST) -> bool:
    """Whether it speaks of what the function is given: a library's inner affairs say nothing."""
    names = {n.id for n in ast.walk(ast.parse(condition)) if isinstance(n, ast.Name)}
    given = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)} - RECEIVERS
    return bool(names & given) and names <= given | BUILTINS
