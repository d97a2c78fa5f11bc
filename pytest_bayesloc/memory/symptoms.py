"""Symptoms: descriptions of failing tests with their fingerprints and demands, by rules.

Fingerprints are the same on every machine and after every move. Precision comes first: two failures
with one fingerprint are taken for the same bug, so whatever is only similar gets another one.

Files are named from ``rootdir``, an absolute path; ``read`` returns the locations of one.

Reference:
    docs/memory.md, section "Fingerprint".
"""

from __future__ import annotations

import os
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pytest_bayesloc.domain.bug import (
    CODE_LENGTH,
    ERROR_LENGTH,
    HYPOTHESIS_LENGTH,
    LESSON_LENGTH,
    SIGNATURE_LENGTH,
    Category,
    Symptom,
    clipped,
    is_contradicted,
)
from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.redaction import redacted
from pytest_bayesloc.domain.source import ReadMap, SourceMap, Unit, lines_of, unit_of_frame
from pytest_bayesloc.domain.texts import MASKING_VERSION, file_of_test, masked, text_digest
from pytest_bayesloc.history.changes import name_of
from pytest_bayesloc.syntax.expressions import demanded, names_of
from pytest_bayesloc.syntax.nodes import BUILT_IN, RECEIVERS, argument_names, spans, statements_in

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
    """
    where = ""
    if failure.syntax_error is not None:
        file, line = failure.syntax_error
        source = read(file)
        where = "" if source is None else _squeezed(lines_of(source.text)[line - 1 : line])
    elif (frame := _own_frame(failure)) is not None:
        where = _called(frame, read)
    elif own := [frame for frame in failure.frames if frame.in_app]:
        # A helper of the tests that checks for many of them says nothing about one: the test's own
        # statement has to agree as well.
        ends = dict.fromkeys((own[0], own[-1]))
        statements = (_called(end, read).partition(": ")[2] for end in ends)
        where = _LITERAL.sub("<literal>", " > ".join(statements))
    where = where or masked(failure.message, rootdir)
    digest = text_digest(f"{failure.exc_type}\n{where}", 16)
    return f"{MASKING_VERSION}:{digest}"


def _own_frame(failure: Failure) -> Frame | None:
    """Return the innermost frame of the code under test."""
    own = (frame for frame in reversed(failure.frames) if frame.in_app and not frame.is_test)
    return next(own, None)


def _called(frame: Frame, read: ReadMap) -> str:
    """Return ``Curve.insert: self.knots[i]=t`` of a frame."""
    source = read(frame.file)
    if source is None:
        return f"{frame.name}: ?"
    unit = source.unit_of_code(frame.first_line, frame.name)
    return f"{unit.location.qualname}: {statement_at(source, unit, frame.line)}"


@lru_cache(maxsize=4096)  # tests that fail alike fail at the same statement
def statement_at(source: SourceMap, scope: Unit, line: int) -> str:
    """Return the innermost statement of ``scope`` at ``line``, of a compound one its head."""
    around = (statement for statement in statements_in(scope.node) if spans(statement, line))
    # An inner one begins later than those around it.
    found = max(around, key=lambda node: (node.lineno, node.col_offset), default=None)
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


N_SUSPECTS = 5
MIN_P = 0.01  # below it, a suspect is no place to look at, unless it is the first
MIN_HYPOTHESIS = 0.05  # below it, a suspect is no hypothesis
_MISUSES = (
    "unexpected keyword argument",
    "required keyword-only argument",
    "positional argument",
    "got multiple values for argument",
    "abstract class",
)
_CATEGORIES = {
    name: category
    for category, names in (
        (Category.TYPE_ERROR, "TypeError"),
        (Category.VALUE_ERROR, "ValueError"),
        (Category.ATTRIBUTE_ERROR, "AttributeError NameError UnboundLocalError"),
        (Category.IMPORT_ERROR, "ImportError ModuleNotFoundError"),
        (Category.LOGIC_ERROR, "AssertionError Failed XPASS ZeroDivisionError RecursionError"),
        (Category.DATA_ERROR, "KeyError IndexError UnicodeDecodeError UnicodeEncodeError"),
        (Category.DATA_ERROR, "JSONDecodeError"),
        (Category.API_MISUSE, "NotImplementedError"),
    )
    for name in names.split()
}

DEEP = 2  # calls from where a value comes in to a guard of the same project
MAX_BYTES = 1_000_000  # of a library's file
# A failure there is about what a test expects, not about what it hands over.
CHECKERS = frozenset({"unittest", "_pytest", "pytest", "hypothesis", "testing", "_testing"})

_NAME = r"[\w.<>]+"
# Messages of Python on a call or a name that does not fit, and the demands that follow.
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


def symptom_of(
    failures: Sequence[Failure],
    suspects: Sequence[tuple[Location, float]],
    read: ReadMap,
    rootdir: str,
    *,
    in_test: bool = False,
) -> Symptom:
    """Describe failing tests that probably share a fault.

    The ``suspects`` are the likeliest locations with their probabilities, best first; ``in_test``
    is whether the tests or their data cause the error.
    """
    first = failures[0]
    constraints = (constraint_of(failure, read, rootdir) for failure in failures)
    checks = (first_check(failure, read, rootdir) for failure in failures)
    raised_at = _place(first)
    error = f"{first.exc_type}: {first.message}\n{raised_at}".strip()
    prints = [fingerprint(failure, read, rootdir) for failure in failures]
    masks = [_signature(failure, rootdir) for failure in failures]
    places = [_function(failure, read) for failure in failures]
    signatures: dict[str, str] = {}
    for found, mask in zip(prints, masks, strict=True):
        signatures.setdefault(found, mask)
    symptom = Symptom(
        failing={failure.node_id: found for failure, found in zip(failures, prints, strict=True)},
        signatures=signatures,
        errors=frozenset(f"{mask}\0{place}" for mask, place in zip(masks, places, strict=True)),
        # The most frequent one; of equally many, the first.
        signature=Counter(masks).most_common(1)[0][0],
        category=_category(first, in_test=in_test),
        hypothesis="",
        tags=frozenset(_tags(failures, suspects, read)),
        # A secret that is cut, or masked in part, is none to be found: it goes before.
        error=redacted(error)[:ERROR_LENGTH],
        code=redacted(_code(first, read))[:CODE_LENGTH],
        constraint=next(filter(None, constraints), ""),
        suspects=tuple(
            name_of(where)
            for rank, (where, p) in enumerate(suspects[:N_SUSPECTS])
            if p >= MIN_P or not rank
        ),
        in_test=in_test,
        first_check=next(filter(None, checks), ""),
        p_first=suspects[0][1] if suspects else 0.0,
    )
    symptom = without_contradicted(symptom)
    return replace(symptom, hypothesis=hypothesis_of(symptom, raised_at))


def without_contradicted(symptom: Symptom) -> Symptom:
    """Return ``symptom`` without a constraint that the likeliest suspect itself states."""
    if is_contradicted(symptom.constraint, symptom.believed):
        return replace(symptom, constraint="", first_check="")
    return symptom


def hypothesis_of(symptom: Symptom, raised_at: str) -> str:
    """Return the likeliest place, where the error was raised, and what was demanded there.

    Where it was ``raised_at`` is in words, empty if nobody knows.
    """
    parts = []
    if symptom.suspects and symptom.p_first >= MIN_HYPOTHESIS:
        parts.append(f"most likely: {short_name(symptom.suspects[0])} ({symptom.p_first:.0%})")
    if symptom.in_test:
        parts.append("likely cause: the test or its data")
    if raised_at:
        parts.append(f"raised {raised_at}")
    if symptom.constraint:
        parts.append(symptom.constraint)
    return clipped("; ".join(parts) or symptom.signature, HYPOTHESIS_LENGTH)


def short_name(function: str) -> str:
    """Return ``shop/cart.py Cart.total`` without the folders."""
    file, _, qualname = function.partition(" ")
    return f"{file.rpartition('/')[2]} {qualname}"


def _signature(failure: Failure, rootdir: str) -> str:
    """Return type and message of one failure, masked."""
    # What is below repeats it with values.
    message = redacted(failure.message).partition("\n  ")[0]
    text = f"{failure.exc_type}: {masked(message, rootdir)}"
    return clipped(text, SIGNATURE_LENGTH)


def _function(failure: Failure, read: ReadMap) -> str:
    """Return the function that the exception was raised in or left last, of the project's own."""
    if failure.syntax_error is not None:
        return failure.syntax_error[0]
    frame = _own_frame(failure) or failure.raise_frame
    if frame is None:
        return file_of_test(failure.node_id)
    unit = unit_of_frame(frame, read)
    return frame.name if unit is None else unit.location.qualname


def _tags(
    failures: Sequence[Failure], suspects: Sequence[tuple[Location, float]], read: ReadMap
) -> set[str]:
    tags = {f"error:{failure.exc_type}" for failure in failures}
    for frame in (frame for failure in failures for frame in failure.frames):
        if frame.in_app and not frame.is_test and (unit := unit_of_frame(frame, read)) is not None:
            tags |= {f"api:{unit.location.qualname}", f"module:{unit.location.module}"}
    for where, _ in suspects[:1]:
        tags |= {f"cause:{where.qualname}", f"module:{where.module}"}
    return tags


def _code(failure: Failure, read: ReadMap) -> str:
    """Return the text of the function that raised, or of the test."""
    frame = failure.raise_frame
    where = failure.test_locations[0] if failure.test_locations else None
    if frame is not None and (unit := unit_of_frame(frame, read)) is not None:
        where = unit.location
    source = read(where.file) if where is not None else None
    return source.text_of(where) if source is not None and where is not None else ""


def _place(failure: Failure) -> str:
    if failure.syntax_error is not None:
        return "at {}:{}".format(*failure.syntax_error)
    frame = failure.raise_frame
    return "" if frame is None else f"at {frame.file}:{frame.line} in {frame.name}"


def _category(failure: Failure, *, in_test: bool) -> Category:
    name = failure.exc_type
    if name == "TypeError" and any(words in failure.message for words in _MISUSES):
        return Category.API_MISUSE
    known = max((k for k in _CATEGORIES if name.endswith(k)), key=len, default="")
    found = _CATEGORIES.get(known, Category.OTHER)
    if found is Category.VALUE_ERROR and in_test:
        return Category.DATA_ERROR
    return found


# -- demands on callers


def constraint_of(failure: Failure, read: ReadMap, rootdir: str) -> str:
    """Return the broken demand; empty if none is known.

    It is the condition of a guard that fired, read from its source, or what Python's own
    message says about a call or a name.
    """
    if guard := _demand(failure, read, rootdir):
        return clipped(guard, LESSON_LENGTH)
    for pattern, lesson in _RULES:
        if match := pattern.search(failure.message):
            return clipped(match.expand(lesson), LESSON_LENGTH)
    return ""


def first_check(failure: Failure, read: ReadMap, rootdir: str) -> str:
    """Return where code of the project could check what a guard deep below refused.

    As ``shop/cart.py:12 in Cart.add``; empty if no guard fired, or its caller is that place.
    """
    frames = failure.frames
    entry = next((i for i, f in enumerate(frames) if f.in_app and not f.is_test), None)
    if entry is None or not _demand(failure, read, rootdir):
        return ""
    frame, deepest = frames[entry], frames[-1]
    if len(frames) - 1 - entry < (DEEP if deepest.in_app else 1):
        return ""
    if (frame.file, frame.name) == (deepest.file, deepest.name):  # it calls itself
        return ""
    return f"{frame.file}:{frame.line} in {frame.name}"


def _demand(failure: Failure, read: ReadMap, rootdir: str) -> str:
    """Return ``Curve.insert needs len(knots) >= 2``; empty if no guard of code fired."""
    frame = failure.frames[-1] if failure.frames else None
    if frame is None or frame.is_test:
        return ""
    source = read(frame.file) if frame.in_app else _library(frame.file, rootdir)
    if source is None:
        return ""
    unit = source.unit_of_code(frame.first_line, frame.name)
    condition = demanded(unit.node, frame.line) if unit.is_function else ""
    if condition and not frame.in_app:
        # A library's own state says nothing to its caller: it has to be about arguments.
        names, given = names_of(condition), argument_names(unit.node) - RECEIVERS
        if not names & given or not names <= given | BUILT_IN:
            return ""
    return f"{unit.location.qualname} needs {condition}" if condition else ""


@lru_cache(maxsize=64)
def _library(file: str, rootdir: str) -> SourceMap | None:
    """Parse a file outside the project, unless it checks what tests expect."""
    path = Path(os.path.normpath(Path(rootdir, file)))
    try:
        if not CHECKERS.isdisjoint(path.parts) or path.stat().st_size > MAX_BYTES:
            return None
        with tokenize.open(path) as lines:
            source = SourceMap(lines.read(), str(path))
    except (OSError, SyntaxError, ValueError):
        return None
    return None if source.is_broken else source
