"""Records the calls of chosen functions with their values, by ``sys.setprofile``.

Only built-in types are looked into, and no method of the project's objects is ever called.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections import deque
from contextlib import suppress
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.contents import parts_of
from pytest_bayesloc.rerun.swap import key_of, real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType, FrameType

    from pytest_bayesloc.rerun.swap import CodeKey

FIRST_CALLS = 120  # a function and test; then only the last ones are kept
LAST_CALLS = 40
SAMPLED_CALLS = 300  # a function, over all tests of a sample
TEXT_LIMIT = 40
DETAILED_PARTS = 5_000  # of a test
SORTED_LIMIT = 100
CO_SUSPENDS = 0x20 | 0x80 | 0x200  # generator, coroutine, asynchronous generator
_SIZED = (str, bytes, list, tuple, dict, set, frozenset)
_NORMAL_EXITS = frozenset(
    dis.opmap[name]
    for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR")
    if name in dis.opmap
)
# Where a suspended frame stands: before YIELD_FROM on Python 3.10, on RESUME on 3.13.
_AFTER = bytes([dis.opmap["YIELD_FROM"]]) if "YIELD_FROM" in dis.opmap else None
_RESUME = dis.opmap.get("RESUME", -1)
_qualname = type.__dict__["__qualname__"].__get__  # asks no metaclass of the project's

_SENT = attrgetter("entered", "left", "args", "result", "raised")  # of a call

# The fields of ``domain.recording.Value``, in their order.
RawValue = list[Any]


def note(value: object) -> RawValue:
    """Describe ``value`` by plain JSON values."""
    kind = type(value)
    number = length = ordered = text = None
    if kind in (int, float):
        number = float(value) if -1e300 < value < 1e300 else None  # type: ignore[operator,arg-type]
        text = repr(value) if number is not None else None
    elif value is None or kind is bool:
        text = repr(value)
    elif kind in _SIZED:
        length = len(value)  # type: ignore[arg-type]
        if kind is str and length <= TEXT_LIMIT:
            text = repr(value)
        elif kind in (list, tuple):
            ordered = _is_sorted(value)  # type: ignore[arg-type]
    return [_qualname(kind), number, length, ordered, text]


def _is_sorted(values: Sequence[Any]) -> bool | None:
    if not 1 < len(values) <= SORTED_LIMIT:
        return None
    kinds = {type(item) for item in values}
    if not (kinds <= {int, float} or kinds == {str}):
        return None
    return all(a <= b for a, b in pairwise(values))


def numbering(targets: Mapping[str, Mapping[CodeKey, int]]) -> Callable[[CodeType], int]:
    """Return a call for the number that a code object has in ``targets``; -1 if it has none."""
    known: dict[int, tuple[CodeType, int]] = {}  # which keeps the code: an id may be given again

    def number(code: CodeType) -> int:
        found = known.get(id(code))
        if found is None:
            own = targets.get(real_path(code.co_filename), {}).get(key_of(code), -1)
            found = known[id(code)] = code, own
        return found[1]

    return number


class _Open:
    """A call that was entered."""

    __slots__ = ("args", "caller", "entered", "left", "raised", "result", "target")

    def __init__(self, target: int, caller: _Open | None, entered: int, args: Any) -> None:  # noqa: ANN401
        self.target = target
        self.caller = caller
        self.entered = entered
        self.left = -1
        self.args = args
        self.result: RawValue | None = None
        self.raised = False


class CallTracer:
    """Records one test at a time.

    Args:
        targets: Per real path, per code key, the number of the function.
        sample: Note the first calls of each function over all tests and no more, which costs
            less where there are many; else the first and the last ones of each test.
        detailed: The number of the function whose values are noted with their parts; -1: of none.
    """

    def __init__(
        self,
        targets: Mapping[str, Mapping[CodeKey, int]],
        *,
        sample: bool = False,
        detailed: int = -1,
    ) -> None:
        self._number = numbering(targets)
        self._detailed = detailed
        self._n_parts = 0
        self._sampled: dict[int, int] | None = {} if sample else None
        self._first: dict[int, list[_Open]] = {}
        self._last: dict[int, deque[_Open]] = {}
        self._clock = 0
        self._stacks = threading.local()
        self.edges: dict[tuple[int, int], int] = {}

    def start(self) -> None:
        """Begin a test."""
        self._first, self._last, self._clock, self._n_parts = {}, {}, 0, 0
        self._stacks = threading.local()
        hook: Callable[[FrameType, str, Any], None] = self._event
        threading.setprofile(hook)
        sys.setprofile(hook)

    def stop(self) -> list[list[Any]]:
        """End the test.

        Returns:
            Its calls in the order of entry, each ``[target, caller's index or -1, entered, left,
            args, result or None, raised]``.
        """
        sys.setprofile(None)
        threading.setprofile(None)
        calls = [call for calls in self._first.values() for call in calls]
        calls += [call for calls in self._last.values() for call in calls]
        calls.sort(key=lambda call: call.entered)
        index = {id(call): i for i, call in enumerate(calls)}
        return [[call.target, index.get(id(call.caller), -1), *_SENT(call)] for call in calls]

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401
        if event == "call":
            number, n_sampled = self._number(frame.f_code), 0
            if number >= 0 and self._sampled is not None:
                n_sampled = self._sampled.get(number, 0)
                self._sampled[number] = n_sampled + 1
            if number >= 0 and n_sampled < SAMPLED_CALLS:
                self._enter(frame, number)
        elif event == "return" and self._number(frame.f_code) >= 0:
            self._leave(frame, arg)

    def _stack(self) -> list[tuple[FrameType, _Open]]:
        stack: list[tuple[FrameType, _Open]] | None = getattr(self._stacks, "calls", None)
        if stack is None:
            stack = self._stacks.calls = []
        return stack

    def _enter(self, frame: FrameType, number: int) -> None:
        stack = self._stack()
        caller = stack[-1][1] if stack else None
        if caller is not None:
            edge = (caller.target, number)
            self.edges[edge] = self.edges.get(edge, 0) + 1
        self._clock += 1
        first = self._first.setdefault(number, [])
        code, values = frame.f_code, frame.f_locals
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        args = {name: self._note(values[name], number) for name in names if name in values}
        call = _Open(number, caller, self._clock, args)
        if len(first) < FIRST_CALLS:
            first.append(call)
        else:
            self._last.setdefault(number, deque(maxlen=LAST_CALLS)).append(call)
        stack.append((frame, call))

    def _leave(self, frame: FrameType, arg: Any) -> None:  # noqa: ANN401
        stack = self._stack()
        depth = next((i for i in reversed(range(len(stack))) if stack[i][0] is frame), -1)
        if depth < 0:  # entered before the recording
            return
        call = stack[depth][1]
        del stack[depth:]
        self._clock += 1
        call.left = self._clock
        code = frame.f_code
        if arg is None and not exits_normally(code, frame.f_lasti):
            call.raised = True
        elif not code.co_flags & CO_SUSPENDS:
            call.result = self._note(arg, call.target)

    def _note(self, value: object, number: int) -> RawValue:
        noted = note(value)
        if number == self._detailed and self._n_parts < DETAILED_PARTS:
            with suppress(RuntimeError):  # another thread changes it
                noted.append(list(parts_of(value)))
                self._n_parts += len(noted[-1])
        return noted


def exits_normally(code: CodeType, at: int) -> bool:
    """Whether the instruction at ``at`` hands a value to the caller."""
    instructions = code.co_code
    if instructions[at] in _NORMAL_EXITS:
        return True
    suspended = instructions[at] == _RESUME or instructions[at + 2 : at + 3] == _AFTER
    return bool(code.co_flags & CO_SUSPENDS) and suspended
