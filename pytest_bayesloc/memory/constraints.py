"""What code demands of its callers, learned from how it failed."""

from __future__ import annotations

import ast
import builtins
import re
import tokenize
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.bug import LESSON_LENGTH, clipped
from pytest_bayesloc.domain.conditions import demanded
from pytest_bayesloc.domain.source import SourceMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_bayesloc.domain.failure import Failure

    ReadMap = Callable[[str], SourceMap | None]

DEEP = 2  # frames between where a value comes in and the guard that refuses it
MAX_BYTES = 1_000_000  # of a library's file
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


def learned_constraint(failure: Failure, read: ReadMap) -> str:
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


def first_check(failure: Failure, read: ReadMap) -> str:
    """Where code of the project could check what a guard deep below refused.

    ``shop/cart.py:12 in Cart.add``; empty if no guard fired, or its caller is that place.

    Args:
        failure: The failure.
        read: The locations of a file.
    """
    frames = failure.frames
    entry = next((i for i, f in enumerate(frames) if f.in_app and not f.is_test), None)
    if entry is None or len(frames) - 1 - entry < DEEP or not _of_guard(failure, read):
        return ""
    frame = frames[entry]
    return f"{frame.file}:{frame.line} in {frame.name}"


def _of_guard(failure: Failure, read: ReadMap) -> str:
    """``Curve.insert needs len(knots) >= 2 * degree + 2``; empty if no guard of code fired."""
    frame = failure.frames[-1] if failure.frames else None
    if frame is None or frame.is_test:
        return ""
    source = read(frame.file) if frame.in_app else _library(frame.file)
    if source is None:
        return ""
    unit = source.unit_of_code(frame.first_line, frame.name)
    condition = demanded(unit.node, frame.line) if unit.is_function else ""
    if not condition or not (frame.in_app or _is_of_arguments(condition, unit.node)):
        return ""
    return f"{unit.location.qualname} needs {condition}"


def _is_of_arguments(condition: str, function: ast.AST) -> bool:
    """Whether it speaks of what the function is given: a library's inner affairs say nothing."""
    names = {n.id for n in ast.walk(ast.parse(condition)) if isinstance(n, ast.Name)}
    given = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    return bool(names & given) and names <= given | BUILTINS


@lru_cache(maxsize=64)
def _library(file: str) -> SourceMap | None:
    """The locations of a file outside the project; None if it can't be read."""
    path = Path(file)
    try:
        if not path.is_absolute() or path.stat().st_size > MAX_BYTES:
            return None
        with tokenize.open(path) as lines:
            return SourceMap(lines.read(), file)
    except (OSError, SyntaxError, ValueError):
        return None
