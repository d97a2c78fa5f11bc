"""Fingerprints of failures, the same on every machine and after every move.

Precision comes first: two failures with one fingerprint are taken for the same bug, so whatever
is only similar gets another one.

Reference:
    docs/memory.md, section "Fingerprint".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.masking import VERSION, masked
from pytest_bayesloc.domain.source import ReadMap, SourceMap, lines_of
from pytest_bayesloc.domain.texts import text_digest

# Strings and numbers in a statement from which blanks were taken out.
_LITERAL = re.compile(
    r"""[rbfu]{0,2}(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<![\w.])\d[\w.]*""", re.IGNORECASE
)


def fingerprint(failure: Failure, read: ReadMap, rootdir: str = "") -> str:
    """Return the identity of a failure: a version, and 16 hexadecimal digits.

    It is made of the exception's type and of the innermost statement, with its function's name,
    that the exception passed in the code under test; if it passed none, of the statement in the
    test code, without its function's name and its literals: tests that differ in their data alone
    are alike.
    No path, no line number and no message is part of it. Where there is no frame, the masked
    message has to do.

    Args:
        failure: The failure.
        read: The locations of a file.
        rootdir: Absolute path of the project.
    """
    where = _innermost(failure, read) or masked(failure.message, rootdir)
    digest = text_digest(f"{failure.exc_type}\n{where}", 16)
    return f"{VERSION}:{digest}"


def _innermost(failure: Failure, read: ReadMap) -> str:
    """Return the statement that identifies the failure; empty if there is none."""
    if failure.syntax_error is not None:
        file, line = failure.syntax_error
        source = read(file)
        return "" if source is None else _squeezed(lines_of(source.text)[line - 1 : line])
    own = [frame for frame in failure.frames if frame.in_app]
    frame = next((frame for frame in reversed(own) if not frame.is_test), None)
    if frame is not None:
        return _called(frame, read)
    if not own:
        return ""
    # A helper of the tests that checks for many of them says nothing about one: the test's own
    # statement has to agree as well.
    ends = dict.fromkeys((own[0], own[-1]))
    statements = (_called(end, read).partition(": ")[2] for end in ends)
    return _LITERAL.sub("<literal>", " > ".join(statements))


def _called(frame: Frame, read: ReadMap) -> str:
    """Return ``Curve.insert: self.knots[i]=t`` of a frame."""
    source = read(frame.file)
    if source is None:
        return f"{frame.name}: ?"
    unit = source.unit_of_code(frame.first_line, frame.name)
    return f"{unit.location.qualname}: {statement_at(source, unit.node, frame.line)}"


@lru_cache(maxsize=4096)  # tests that fail alike fail at the same statement
def statement_at(source: SourceMap, scope: ast.AST, line: int) -> str:
    """Return the innermost statement of ``scope`` at ``line``, of a compound one its head."""
    found: ast.stmt | None = None
    for node in ast.walk(scope):  # outer statements come before inner ones
        is_at = isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
        if is_at and node is not scope:
            found = node  # type: ignore[assignment]
    lines = lines_of(source.text)
    if found is None:
        return _squeezed(lines[line - 1 : line])
    body = getattr(found, "body", None)
    end = body[0].lineno - 1 if body else found.end_lineno
    return _squeezed(lines[found.lineno - 1 : max(end or 0, found.lineno)])


def _squeezed(lines: Iterable[str]) -> str:
    """Return ``lines`` without blanks, comments and commas that only a formatter cares about."""
    text = "".join("".join(line.split("  #")[0].split()) for line in lines)
    return text.replace(",)", ")").replace(",]", "]").replace(",}", "}")
