"""Notes which objects go into calls of the project and come out of them, by ``sys.setprofile``.

Arguments, results, and what they hold are kept alive, so that an object is known by its identity.
Containers are noted again where they changed. No code of the objects is run.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.calls import exits_normally
from pytest_bayesloc.rerun.contents import Contents, contents_of, is_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType


MAX_EVENTS = 20_000  # entries and exits: a longer test is not followed to its end
MAX_HELD = 60  # containers that are looked into at one entry or exit
MAX_RAISED = 1_000
_HAS_MORE = (0x04, 0x08)  # *args, **kwargs
#: Frames of their own before Python 3.12; since then they are part of the function around them.
_INLINED = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})


@dataclass(eq=False, slots=True)
class Activation:
    """One call of a function of the project or its tests.

    Attributes:
        caller: The nearest one around it that was noted.
        entered: Position of the entry among all entries and exits.
        called_at: Line of the caller.
        left: Position of the exit; 0 while it runs.
        left_at: Its own line at the exit.
        args: Parameter name to value at entry.
        result: What it returned or yielded.
        has_result: Whether it did.
    """

    code: CodeType
    caller: Activation | None
    entered: int
    called_at: int
    left: int = 0
    left_at: int = 0
    args: dict[str, Any] = field(default_factory=dict)
    result: object = None
    has_result: bool = False


@dataclass(eq=False, slots=True)
class Occurrence:
    """An object as it was first seen, or as it was put into another one.

    Attributes:
        value: Kept alive.
        clock: When.
        maker: Who is answerable: the call that was left then, or the caller of the one entered.
        line: Line of the maker.
        key: The parameter, attribute, index or key that had it; ``return`` for a result.
        is_held: Whether it was in a container or an attribute.
    """

    value: object
    clock: int
    maker: Activation
    line: int
    key: object
    is_held: bool = False


class FlowTracer:
    """Follows one test at a time.

    Args:
        is_ours: Whether a file belongs to the project or its tests.

    Attributes:
        activations: The calls, in the order of entry.
        clock: Number of entries and exits so far.
        is_cut: Whether the test was too long to be followed.
    """

    def __init__(self, is_ours: Callable[[str], bool]) -> None:
        self._is_ours = is_ours
        self._known: dict[int, tuple[CodeType, bool]] = {}
        self._reset()

    def _reset(self) -> None:
        self.activations: list[Activation] = []
        self.clock = 0
        self.is_cut = False
        self._stack: list[tuple[FrameType, Activation]] = []
        self._raised: deque[tuple[FrameType, Activation]] = deque(maxlen=MAX_RAISED)
        self._first: dict[int, Occurrence] = {}
        self._held: dict[int, Contents] = {}
        self._changes: dict[int, list[Occurrence]] = {}

    def start(self) -> None:
        """Begin a test."""
        self._reset()
        sys.setprofile(self._event)

    def resume(self) -> None:
        """Go on after ``stop``."""
        if not self.is_cut:
            sys.setprofile(self._event)

    def stop(self) -> None:
        """Note no more."""
        sys.setprofile(None)

    # -- what was seen

    def activation(self, frame: FrameType) -> Activation | None:
        """Return the call that ``frame``, of a traceback, was left with."""
        while frame.f_code.co_name in _INLINED and frame.f_back is not None:
            frame = frame.f_back
        known = (a for f, a in (*reversed(self._raised), *reversed(self._stack)) if f is frame)
        return next(known, None)

    def first(self, value: object) -> Occurrence | None:
        """Return where ``value`` was seen first."""
        return self._first.get(id(value))

    def changes(self, value: object) -> list[Occurrence]:
        """Return what was put into ``value``, in order; what was taken out is told as itself."""
        return self._changes.get(id(value), [])

    # -- the hook

    def _is_noted(self, code: CodeType) -> bool:
        known = self._known.get(id(code))
        if known is None:
            is_noted = code.co_name not in _INLINED and self._is_ours(code.co_filename)
            known = self._known[id(code)] = (code, is_noted)
        return known[1]

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401
        if event == "call":
            if self._is_noted(frame.f_code):
                self._enter(frame)
        elif event == "return" and self._is_noted(frame.f_code):
            self._leave(frame, arg)

    def _enter(self, frame: FrameType) -> None:
        caller, line = None, 0
        if self._stack:
            around, caller = self._stack[-1]
            line = around.f_lineno or 0
        self._tick()
        activation = Activation(frame.f_code, caller, self.clock, line)
        activation.args = _arguments(frame)
        self.activations.append(activation)
        self._stack.append((frame, activation))
        # What the outermost call is given comes from pytest: parameters, and what fixtures made.
        maker = caller or activation
        for name, value in activation.args.items():
            self._see(value, maker, line, name)
        self._look_into(activation.args.values(), maker, line)

    def _leave(self, frame: FrameType, arg: Any) -> None:  # noqa: ANN401
        depths = range(len(self._stack) - 1, -1, -1)
        depth = next((i for i in depths if self._stack[i][0] is frame), -1)
        if depth < 0:  # entered before
            return
        activation = self._stack[depth][1]
        del self._stack[depth:]
        self._tick()
        activation.left, activation.left_at = self.clock, frame.f_lineno or 0
        if arg is None and not exits_normally(frame.f_code, frame.f_lasti):
            self._raised.append((frame, activation))
        else:
            activation.result, activation.has_result = arg, True
            self._see(arg, activation, activation.left_at, "return")
        self._look_into((*activation.args.values(), arg), activation, activation.left_at)

    def _tick(self) -> None:
        self.clock += 1
        if self.clock > MAX_EVENTS:
            self.stop()
            self._reset()
            self.is_cut = True

    def _see(
        self, value: object, maker: Activation, line: int, key: object, *, held: bool = False
    ) -> None:
        if id(value) not in self._first and not is_shared(value):
            self._first[id(value)] = Occurrence(value, self.clock, maker, line, key, held)

    def _look_into(self, values: Iterable[object], maker: Activation, line: int) -> None:
        """Note what ``values`` hold, and what that holds, where it changed."""
        seen: set[int] = set()
        below: list[object] = []
        for value in values:
            held = self._noted(value, seen, maker, line)
            below += held.values() if held else ()
        for value in below:
            self._noted(value, seen, maker, line)

    def _noted(
        self, value: object, seen: set[int], maker: Activation, line: int
    ) -> Contents | None:
        if id(value) in seen or len(seen) >= MAX_HELD:
            return None
        held = contents_of(value)
        if held is not None:
            seen.add(id(value))
            before = self._held.get(id(value))
            if before is None or not _are_same(before, held):
                self._note(value, before, held, maker, line)
        return held

    def _note(
        self, value: object, before: Contents | None, held: Contents, maker: Activation, line: int
    ) -> None:
        self._see(value, maker, line, "", held=True)
        self._held[id(value)] = held
        changes = self._changes.setdefault(id(value), [])
        known = {id(child) for child in (before or {}).values()}
        n_before = len(changes)
        for key, child in held.items():
            # An element may have moved; an attribute that has another value was set.
            if before is None or id(child) not in known or _is_other(before, key, child):
                self._see(child, maker, line, key, held=True)
                changes.append(Occurrence(child, self.clock, maker, line, key, is_held=True))
        if len(changes) == n_before:
            changes.append(Occurrence(value, self.clock, maker, line, "", is_held=True))


def _is_other(before: Contents, key: object, child: object) -> bool:
    return type(key) is str and (key not in before or before[key] is not child)


def _are_same(before: Contents, after: Contents) -> bool:
    if len(before) != len(after):
        return False
    pairs = zip(before.items(), after.items(), strict=True)
    return all(a is b and k == m for (k, a), (m, b) in pairs)  # keys are texts and numbers


def _arguments(frame: FrameType) -> dict[str, Any]:
    code, values = frame.f_code, frame.f_locals
    n_named = code.co_argcount + code.co_kwonlyargcount
    n_named += sum(bool(code.co_flags & flag) for flag in _HAS_MORE)
    return {name: values[name] for name in code.co_varnames[:n_named] if name in values}
