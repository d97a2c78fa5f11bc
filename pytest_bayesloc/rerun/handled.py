"""Notes the exceptions that code of the project catches while a test runs.

Python tells of exceptions by ``sys.monitoring`` from 3.12 on, and before that by ``sys.settrace``,
which is left alone where another tool uses it. No exception is kept alive, and no code of one is
run for its message.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.location import code_name
from pytest_bayesloc.rerun.calls import exits_normally

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, TracebackType

    from pytest_bayesloc.rerun.link import Message

SLOTS = (4, 3, 5, 2)  # of ``sys.monitoring``; the last ones are the optimizer's and profilers'
TEXT_LIMIT = 80
MAX_KINDS = 200  # places and types of a test
MAX_OPEN = 10_000  # exceptions that may still go on
MAX_STEPS = 100  # of a traceback
MAX_CHAIN = 5
DOUBLES = ("unittest/mock.py", "unittest\\mock.py")
#: How iteration and generators end: control flow, which Python itself catches.
ENDS = (StopIteration, StopAsyncIteration, GeneratorExit)
#: A code object and a line in it.
Place = tuple["CodeType", int]

_qualname = type.__dict__["__qualname__"].__get__  # asks no metaclass of the project's
_args = BaseException.__dict__["args"].__get__
_traceback = BaseException.__dict__["__traceback__"].__get__
_context = BaseException.__dict__["__context__"].__get__
_filename = OSError.__dict__["filename"].__get__


@dataclass(eq=False, slots=True)
class _Flight:
    """An exception from where it was raised, or entered the project, on.

    Attributes:
        raised: The first place of the project that it was seen at, or that of a test double.
        at: The latest one.
        contexts: The ids of the exceptions that were being handled when it was raised.
        handler: Where it was caught last; None while it goes on.
    """

    kind: str
    raised: Place
    at: Place
    contexts: tuple[int, ...]
    handler: Place | None = None


@dataclass(eq=False, slots=True)
class _Caught:
    """The exceptions of a type that one handler caught."""

    raised: Place
    text: str
    n: int = 0


@dataclass(slots=True)
class Journal:
    """Keeps for each exception whether it is still caught when the test ends.

    An exception is known by its id. Another one may get the same id, once the first is gone: its
    traceback does not lead through the latest place of the first.
    """

    _flights: dict[int, _Flight] = field(default_factory=dict)
    _caught: dict[tuple[Place, str], _Caught] = field(default_factory=dict)
    _texts: dict[tuple[Place, str], str] = field(default_factory=dict)

    def raise_at(self, place: Place, error: BaseException, trace: TracebackType | None) -> None:
        """Note that ``error`` is raised, or arrives, at ``place``, the outermost of ``trace``."""
        if isinstance(error, ENDS):
            return
        flight = self._flights.get(id(error))
        if flight is not None and not _leads_through(trace, flight.at):
            self._settle(flight)
            flight = None
        if flight is None:
            if len(self._flights) >= MAX_OPEN:
                self._settle_all()
            contexts: list[int] = []
            inner = _context(error)
            while inner is not None and len(contexts) < MAX_CHAIN:
                contexts.append(id(inner))
                inner = _context(inner)
            kind = _qualname(type(error))
            flight = _Flight(kind, _origin(place, trace), place, tuple(contexts))
            self._flights[id(error)] = flight
        flight.at, flight.handler = place, None

    def catch_at(self, place: Place, error: BaseException) -> None:
        """Note that a handler, a ``with`` or a ``finally`` at ``place`` gets ``error``."""
        flight = self._flights.get(id(error))
        if flight is not None:
            flight.handler = place
            key = place, flight.kind
            if key not in self._texts and len(self._texts) < MAX_KINDS:
                self._texts[key] = text_of(error)

    def leave(self, code: CodeType, number: int) -> None:
        """Note that the exception with the id ``number`` leaves a call of ``code``.

        So do those that it was raised for: it tells of them.
        """
        flight = self._flights.get(number)
        if flight is None:
            return
        flight.handler = None
        for inner in flight.contexts:
            cause = self._flights.get(inner)
            if cause is not None and cause.handler is not None and cause.handler[0] is code:
                cause.handler = None

    def take(self, frame_of: Callable[[Place], Message]) -> list[Message]:
        """Return what stayed caught, as fields of ``domain.recording.HandledError``, and forget."""
        self._settle_all()
        caught, self._caught = self._caught, {}
        self._texts = {}
        return [
            {
                "handler": frame_of(handler),
                "kind": kind,
                "raised": frame_of(seen.raised),
                "text": seen.text,
                "n": seen.n,
            }
            for (handler, kind), seen in caught.items()
        ]

    def _settle_all(self) -> None:
        for flight in self._flights.values():
            self._settle(flight)
        self._flights.clear()

    def _settle(self, flight: _Flight) -> None:
        if flight.handler is None:
            return
        key = flight.handler, flight.kind
        if key not in self._caught:
            if len(self._caught) >= MAX_KINDS:
                return
            self._caught[key] = _Caught(flight.raised, self._texts.get(key, ""))
        self._caught[key].n += 1


def _leads_through(trace: TracebackType | None, place: Place) -> bool:
    """Return whether ``trace`` leads through ``place``, below its outermost entry."""
    code, line = place
    trace = None if trace is None else trace.tb_next
    for _ in range(MAX_STEPS):
        if trace is None:
            return False
        if trace.tb_frame.f_code is code and trace.tb_lineno == line:
            return True
        trace = trace.tb_next
    return False


def _origin(place: Place, trace: TracebackType | None) -> Place:
    """Return ``place``, or where a test double below it raised."""
    for _ in range(MAX_STEPS):
        if trace is None or trace.tb_next is None:
            break
        trace = trace.tb_next
    code = place[0] if trace is None else trace.tb_frame.f_code
    return (code, 0) if code.co_filename.endswith(DOUBLES) else place


def text_of(error: BaseException) -> str:
    """Return what ``error`` says, in one line, from those of its arguments that are plain."""
    plain = [_cut(arg) for arg in _args(error) if type(arg) in {str, int, float, bool}]
    if isinstance(error, OSError) and len(plain) == 2:
        name = _filename(error)
        about = f": {_cut(name)!r}" if type(name) is str else ""
        text = f"[Errno {plain[0]}] {plain[1]}{about}"
    elif len(plain) == 1:
        text = repr(plain[0]) if isinstance(error, KeyError) else str(plain[0])
    else:
        text = ", ".join(map(repr, plain))
    return " ".join(text.split())[:TEXT_LIMIT]


def _cut(value: Any) -> Any:  # noqa: ANN401 - any plain value
    if type(value) is int and value.bit_length() > TEXT_LIMIT:
        return "..."  # Python may refuse to write its digits
    return value[:TEXT_LIMIT] if type(value) is str else value


class HandledErrors:
    """Records one test at a time; ``name`` names the files of the project, and no others."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name
        self._known: dict[int, tuple[CodeType, bool]] = {}
        self._journal = Journal()
        is_monitored = hasattr(sys, "monitoring")
        source = Monitored if is_monitored else Traced
        self._source = source(self._is_own, self._journal)

    def start(self) -> None:
        """Begin a test."""
        self._source.start()

    def stop(self) -> list[Message]:
        """End the test and return what it caught."""
        self._source.stop()
        return self._journal.take(self._frame)

    def _is_own(self, code: CodeType) -> bool:
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = code, bool(self._name(code.co_filename))
        return known[1]

    def _frame(self, place: Place) -> Message:
        """Return the fields of ``domain.failure.Frame``."""
        code, line = place
        return {
            "file": self._name(code.co_filename),
            "line": line,
            "name": code_name(code),
            "first_line": code.co_firstlineno,
            "in_app": True,
        }


class Monitored:
    """Tells ``journal`` of exceptions in code that ``is_own``, by ``sys.monitoring``."""

    def __init__(self, is_own: Callable[[CodeType], bool], journal: Journal) -> None:
        self._is_own = is_own
        self._journal = journal
        self._api: Any = getattr(sys, "monitoring", None)
        self._slot = -1
        self._lines: dict[tuple[int, int], int] = {}

    def start(self) -> None:
        """Take a free slot; without one, nothing is told."""
        free = (slot for slot in SLOTS if self._api.get_tool(slot) is None)
        self._slot = next(free, -1)
        if self._slot >= 0:
            self._api.use_tool_id(self._slot, "bayesloc-handled")
            told = self._told()
            for event, callback in told.items():
                self._api.register_callback(self._slot, event, callback)
            self._api.set_events(self._slot, sum(told))

    def stop(self) -> None:
        """Give the slot back."""
        if self._slot >= 0:
            self._api.set_events(self._slot, 0)
            for event in self._told():
                self._api.register_callback(self._slot, event, None)
            self._api.free_tool_id(self._slot)
        self._slot = -1

    def _told(self) -> dict[int, Callable[..., None]]:
        events = self._api.events
        return {
            events.RAISE: self._raised,
            events.EXCEPTION_HANDLED: self._handled,
            events.PY_UNWIND: self._left,
        }

    def _raised(self, code: CodeType, _offset: int, error: BaseException) -> None:
        if self._is_own(code):
            trace = _traceback(error)
            line = code.co_firstlineno if trace is None else trace.tb_lineno
            self._journal.raise_at((code, line), error, trace)

    def _handled(self, code: CodeType, offset: int, error: BaseException) -> None:
        if not self._is_own(code):
            return
        line = self._lines.get((id(code), offset))
        if line is None:  # that of the first instruction from there on that has one
            lines = (n for _, end, n in code.co_lines() if n and end > offset)
            line = self._lines[id(code), offset] = next(lines, code.co_firstlineno)
        self._journal.catch_at((code, line), error)

    def _left(self, code: CodeType, _offset: int, error: BaseException) -> None:
        if self._is_own(code):
            self._journal.leave(code, id(error))


def start_tracing(hook: Callable[[FrameType, str, Any], Any]) -> bool:
    """Trace all threads by ``hook``; return False where a debugger or another tool traces."""
    if sys.gettrace() is not None:
        return False
    threading.settrace(hook)
    sys.settrace(hook)
    return True


def stop_tracing() -> None:
    """Trace no more."""
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type,unused-ignore]


class Traced:
    """Tells ``journal`` of exceptions in code that ``is_own``, by ``sys.settrace``.

    There is no event for a handler: the next line of the call is its first one, if there is any.
    """

    def __init__(self, is_own: Callable[[CodeType], bool], journal: Journal) -> None:
        self._is_own = is_own
        self._journal = journal
        self._is_on = False
        self._last: dict[int, int] = {}  # the id of the latest exception, by that of its frame
        self._fresh: dict[int, BaseException] = {}  # until the next line of the frame

    def start(self) -> None:
        """Begin, unless a debugger or another tool traces."""
        self._is_on = start_tracing(self._called)

    def stop(self) -> None:
        """End."""
        if self._is_on:
            stop_tracing()
        self._last.clear()
        self._fresh.clear()

    def _called(self, frame: FrameType, _event: str, _arg: Any) -> Any:  # noqa: ANN401 - as typed there
        if not self._is_own(frame.f_code):
            return None
        frame.f_trace_lines = False
        return self._happened

    def _happened(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401 - likewise
        if event == "exception":
            _, error, trace = arg
            if isinstance(error, BaseException):
                self._raised(frame, error, trace)
        elif event == "line":
            frame.f_trace_lines = False
            error = self._fresh.pop(id(frame), None)
            if error is not None:
                self._journal.catch_at((frame.f_code, frame.f_lineno or 0), error)
        elif event == "return":
            self._fresh.pop(id(frame), None)
            number = self._last.pop(id(frame), None)
            is_left = arg is None and not exits_normally(frame.f_code, frame.f_lasti)
            if number is not None and is_left:
                self._journal.leave(frame.f_code, number)
        return self._happened

    def _raised(self, frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
        self._journal.raise_at((frame.f_code, frame.f_lineno or 0), error, trace)
        self._last[id(frame)] = id(error)
        self._fresh[id(frame)] = error
        frame.f_trace_lines = True
