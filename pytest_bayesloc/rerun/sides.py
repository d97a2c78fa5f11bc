"""Notes the two sides of a comparison that failed, as far as they are plain values."""

from __future__ import annotations

import ast
import unittest
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import TracebackType

MAX_TEXT = 2000
MAX_PARTS = 500
OPERATORS = frozenset({"==", "is"})
_ATOMS = (type(None), bool, int, float, str, bytes)
_SEQUENCES = (list, tuple, set)
_mro = type.__dict__["__mro__"].__get__  # asks no metaclass of the project's
_EQUAL = unittest.TestCase.assertEqual.__code__


class Sides:
    """A plugin that keeps the sides of the last comparison of the running test that failed.

    Attributes:
        texts: As literals, the left or first one first; empty for one that is no plain value.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Note the sides of a comparison in an ``assert`` statement."""
        is_equality = op in OPERATORS
        self.texts = [literal_of(left), literal_of(right)] if is_equality else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Note the arguments of ``assertEqual``, if that raised the exception."""
        trace: TracebackType | None = call.excinfo.tb if call.excinfo is not None else None
        while trace is not None:
            if trace.tb_frame.f_code is _EQUAL:
                values = trace.tb_frame.f_locals
                self.texts = [literal_of(values["first"]), literal_of(values["second"])]
            trace = trace.tb_next


def literal_of(value: object) -> str:
    """Return the text that ``ast.literal_eval`` makes ``value`` of; empty if it is not plain.

    Nothing of an object of the project's is called: only exact built-in types are looked into. An
    object of a subclass of ``str`` (``markupsafe.Markup``) stands for its text.
    """
    if str in _mro(type(value)):
        value = str.__str__(value)  # makes a plain one
    if not _is_plain(value):
        return ""
    text = repr(value)
    try:
        is_same = len(text) <= MAX_TEXT and ast.literal_eval(text) == value
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # ``inf``, or nested too deep
        return ""
    return text if is_same else ""  # ``nan`` equals nothing


def _is_plain(value: object) -> bool:
    pending, n_parts = [value], 0
    while pending:
        part = pending.pop()
        n_parts += 1
        kind = type(part)
        if n_parts > MAX_PARTS:  # too much, or it holds itself
            return False
        if kind is dict:
            pending += [*part.keys(), *part.values()]  # type: ignore[attr-defined]
        elif kind in _SEQUENCES:
            pending += part  # type: ignore[arg-type]
        elif kind not in _ATOMS or (kind in (str, bytes) and len(part) > MAX_TEXT):  # type: ignore[arg-type]
            return False
    return True
