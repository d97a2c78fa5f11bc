"""Describes a live exception by plain values, without running code of the project."""

from __future__ import annotations

import re
import sys
from collections import deque
from itertools import islice, takewhile
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, TypedDict

import pytest

from pytest_bayesloc.domain.location import code_name
from pytest_bayesloc.spectrum.sources import FileKind, RawCode
from pytest_bayesloc.syntax.text import indent_of

if TYPE_CHECKING:
    from types import CodeType, TracebackType

    from pytest_bayesloc.spectrum.sources import SourceFilter

MESSAGE_LIMIT = 2000
TEXT_LIMIT = 100_000  # in which a traceback is looked for
_PLACE = re.compile(r'File "([^"\n]+)", line (\d+), in ([\w.<>]+)')
_BEGIN = "Traceback (most recent call last):\n"
_END = re.compile(r"[A-Za-z_][\w.]*(?::|$)")  # an exception
FRAME_LIMIT = 200
CHAIN_LIMIT = 5
TIMEOUT_PLUGIN = "pytest_timeout"
N_TIMEOUT_FRAMES = 3  # its handler of the signal, what that calls, and ``pytest.fail``


class RawFailure(TypedDict):
    """A failure by JSON values alone, since it travels from a worker to the controller.

    Attributes:
        phase: ``setup``, ``call``, ``teardown`` or ``collect``.
        error: A value of ``domain.failure.Raised``.
        frames: Fields of ``domain.failure.Frame``; so are those of ``cause_frames``. These hold a
            traceback that the message shows, too, where ``frames`` has tests alone.
        syntax_error: Its file and line, if it is one.
        test_code: That of the test, and of the fixtures that it uses.
    """

    node_id: str
    phase: str
    exc_type: str
    error: str
    message: str
    frames: list[dict[str, Any]]
    cause_frames: list[list[dict[str, Any]]]
    syntax_error: tuple[str, int] | None
    test_code: list[RawCode]


def describe(
    error: BaseException,
    files: SourceFilter,
    *,
    node_id: str,
    phase: str,
    trace: TracebackType | None = None,
) -> RawFailure:
    """Describe a failure by JSON values; an exception group by its first exception.

    The ``trace`` is where pytest caught it: a test framework may have taken its own away.
    """
    own = error.__traceback__ or trace
    chain: list[BaseException] = []
    current = _follower(error)
    # Compared by identity: ``__eq__`` and ``__bool__`` of the project may do anything.
    while current is not None and all(current is not known for known in (error, *chain)):
        chain.append(current)
        current = _follower(current) if len(chain) < CHAIN_LIMIT else None
    text = _text(error)
    frames = _frames(own, files)
    causes = [_frames(e.__traceback__, files) or _shown_frames(_text(e), files) for e in chain]
    is_of_tests = all(frame["is_test"] or not frame["in_app"] for frame in frames)
    if is_of_tests and (shown := _shown_frames(text, files)):
        causes.append(shown)
    place = None
    if isinstance(error, SyntaxError) and error.filename:
        place = files.relative(str(Path(error.filename))), error.lineno or 1
    return {
        **without_exception(node_id, phase, text),
        "exc_type": type(error).__name__,
        "error": _kind(error, own),
        "frames": frames,
        "cause_frames": causes,
        "syntax_error": place,
    }


def _kind(error: BaseException, trace: TracebackType | None) -> str:
    """The kind of an error as ``domain.failure.Raised`` has it, by types and not by names."""
    # pytest-timeout raises from a signal in whatever was running.
    last = deque(walk_tb(trace), maxlen=N_TIMEOUT_FRAMES)
    if any(Path(frame.f_code.co_filename).stem == TIMEOUT_PLUGIN for frame, _ in last):
        return "timeout"
    kind = type(error)  # ``isinstance`` would ask for the error's own ``__class__``
    if issubclass(kind, (AssertionError, pytest.fail.Exception)):
        return "assertion"
    return "system" if issubclass(kind, (OSError, ImportError)) else ""


def without_exception(node_id: str, phase: str, text: str) -> RawFailure:
    """A failure that has no exception: a strict xpass, or one that another plugin made up."""
    message = text[:MESSAGE_LIMIT]
    if len(text) > MESSAGE_LIMIT:
        # It ends at a blank: half a secret is hard to tell as one.
        words = re.match(r".*\s", message, re.DOTALL)
        if words and words.end() > MESSAGE_LIMIT / 2:
            message = words.group()
    return {
        "node_id": node_id,
        "phase": phase,
        "exc_type": "XPASS" if "XPASS" in text else "Failed",
        "error": "",
        "message": message,
        "frames": [],
        "cause_frames": [],
        "syntax_error": None,
        "test_code": [],
    }


def test_code(item: pytest.Item, files: SourceFilter) -> list[RawCode]:
    """The code of the test function, then of the project's fixtures that it uses."""
    functions = [getattr(item, "function", None)]
    functions += [getattr(definition, "func", None) for definition in named_fixtures(item)]
    codes = [code for function in functions if (code := _code_of(function)) is not None]
    return [
        (files.relative(code.co_filename), code.co_firstlineno, code_name(code))
        for code in codes
        if files.kind(code.co_filename) is not FileKind.FOREIGN
    ]


def named_fixtures(item: pytest.Item) -> list[pytest.FixtureDef[Any]]:
    """The fixtures that ``item`` names; no public way leads there."""
    info = getattr(item, "_fixtureinfo", None)
    known = getattr(info, "name2fixturedefs", {}).values()
    return [definitions[-1] for definitions in known if definitions]


def files_of(raw: RawFailure) -> set[str]:
    """The files that a failure speaks of, relative to rootdir."""
    chain = [raw["frames"], *raw["cause_frames"]]
    named = {str(frame["file"]) for frames in chain for frame in frames if frame["in_app"]}
    syntax = raw["syntax_error"]
    return named if syntax is None else {*named, str(syntax[0])}


def _follower(error: BaseException) -> BaseException | None:
    """The next exception of the chain: the first of a group, the cause or the context."""
    try:
        inner = getattr(error, "exceptions", None)
    except Exception:  # noqa: BLE001 - ``__getattr__`` of the project may do anything
        inner = None
    if isinstance(inner, tuple) and inner and isinstance(inner[0], BaseException):
        return inner[0]
    if error.__cause__ is not None or error.__suppress_context__:
        return error.__cause__
    return error.__context__


def _text(error: BaseException) -> str:
    try:
        return str(error)[:TEXT_LIMIT]
    except BaseException:  # noqa: BLE001 - ``__str__`` of the project may do anything
        return ""


def _frames(trace: TracebackType | None, files: SourceFilter) -> list[dict[str, Any]]:
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        first = code.co_firstlineno
        found = _frame(files, code.co_filename, trace.tb_lineno or first, code_name(code), first)
        if found["in_app"] and not found["is_test"]:
            found["span"] = _span(code, trace.tb_lasti)
        frames.append(found)
        trace = trace.tb_next
    return frames[-FRAME_LIMIT:]


def _span(code: CodeType, at: int) -> tuple[int, int, int] | None:
    """The place of the expression of an instruction, as ``domain.failure.Frame`` has it."""
    if sys.version_info >= (3, 11):
        _, last, begin, end = next(islice(code.co_positions(), at // 2, None), (None,) * 4)
        if last is not None and begin is not None and end is not None:
            return begin, last, end
    return None


def _frame(
    files: SourceFilter, filename: str, line: int, name: str, first_line: int
) -> dict[str, Any]:
    kind = files.kind(filename)
    return {
        "file": files.relative(filename),
        "line": line,
        "name": name,
        "first_line": first_line,
        "in_app": kind is not FileKind.FOREIGN,
        "is_test": kind is FileKind.TEST,
    }


def _shown_frames(text: str, files: SourceFilter) -> list[dict[str, Any]]:
    """The frames of the last traceback in a text, as that of a child process.

    None are found unless it is whole, down to its exception, and leads through the code under test.
    Where a function begins is not known: its first line is that of the frame.
    """
    before, *rest = text.replace("\\n", "\n").split(_BEGIN)
    found = ""
    for after in rest:  # a text may quote a traceback
        sign = before.rpartition("\n")[2]  # of a difference, before each of its lines
        lines = [line.removeprefix(sign) for line in after.split("\n")]
        indent = indent_of(lines[0])[2:]  # of a message
        lines = [line.removeprefix(indent) for line in lines]
        inside = list(takewhile(lambda line: line.startswith("  "), lines))
        if len(inside) < len(lines) and _END.match(lines[len(inside)]):
            found = "\n".join(inside)
        before = after
    places = _PLACE.findall(found)
    frames = [_frame(files, file, int(line), name, int(line)) for file, line, name in places]
    is_of_code = any(frame["in_app"] and not frame["is_test"] for frame in frames)
    return frames[-FRAME_LIMIT:] if is_of_code else []


def _code_of(function: object) -> CodeType | None:
    for _ in range(20):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    function = getattr(function, "__func__", function)
    return getattr(function, "__code__", None)
