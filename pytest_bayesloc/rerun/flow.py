"""Notes which objects go into calls of the project and come out of them, by ``sys.setprofile``.

Arguments, results, and what they hold are kept alive, so that an object is known by its identity.
Containers are noted again where they changed. No code of the objects is run. From a wrong value
it goes back to who made it, of what, and through whose hands it went.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.calls import exits_normally
from pytest_bayesloc.rerun.contents import Contents, contents_of, is_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType


MAX_EVENTS = 20_000  # entries and exits: a longer test is not followed to its end
MAX_HELD = 60  # containers that are looked into at one entry or exit
MAX_RAISED = 1_000
MAX_STEPS = 6  # of an object that may be the same elsewhere by chance
MAX_ENDS = 8
ARGUMENT_LEVELS = 3
HELD_LEVELS = 3  # of an argument: itself, what it holds, and what that holds
MISSING: Any = object()
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
        args: Parameter name to value at entry.
        left: Position of the exit; 0 while it runs.
        left_at: Its own line at the exit.
        result: What it returned or yielded; ``MISSING`` if it did not.
    """

    code: CodeType
    caller: Activation | None
    entered: int
    called_at: int
    args: dict[str, Any]
    left: int = 0
    left_at: int = 0
    result: object = MISSING


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

    Attributes:
        is_ours: Whether a file belongs to the project or its tests.
        activations: The calls, in the order of entry.
        clock: Number of entries and exits so far.
        is_cut: Whether the test was too long to be followed.
    """

    def __init__(self, is_ours: Callable[[str], bool]) -> None:
        self.is_ours = is_ours
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
            is_noted = code.co_name not in _INLINED and self.is_ours(code.co_filename)
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
        code, values = frame.f_code, frame.f_locals
        n_named = code.co_argcount + code.co_kwonlyargcount
        n_named += sum(bool(code.co_flags & flag) for flag in _HAS_MORE)
        args = {name: values[name] for name in code.co_varnames[:n_named] if name in values}
        activation = Activation(code, caller, self.clock, line, args)
        self.activations.append(activation)
        self._stack.append((frame, activation))
        # What the outermost call is given comes from pytest: parameters, and what fixtures made.
        maker = caller or activation
        for name, value in args.items():
            self._see(Occurrence(value, self.clock, maker, line, name))
        self._look_into(args.values(), maker, line)

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
            activation.result = arg
            self._see(Occurrence(arg, self.clock, activation, activation.left_at, "return"))
        self._look_into((*activation.args.values(), arg), activation, activation.left_at)

    def _tick(self) -> None:
        self.clock += 1
        if self.clock > MAX_EVENTS:
            self.stop()
            self._reset()
            self.is_cut = True

    def _see(self, seen: Occurrence) -> None:
        if not is_shared(seen.value):
            self._first.setdefault(id(seen.value), seen)

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
        if held is None:
            return None
        seen.add(id(value))
        before = self._held.get(id(value))
        if before is not None and _are_same(before, held):
            return held
        whole = Occurrence(value, self.clock, maker, line, "", is_held=True)
        self._see(whole)
        self._held[id(value)] = held
        known = {id(child) for child in (before or {}).values()}
        # An element may have moved; an attribute that has another value was set.
        changes = [
            Occurrence(child, self.clock, maker, line, key, is_held=True)
            for key, child in held.items()
            if before is None
            or id(child) not in known
            or (type(key) is str and (key not in before or before[key] is not child))
        ]
        for change in changes:
            self._see(change)
        self._changes.setdefault(id(value), []).extend(changes or [whole])
        return held


def _are_same(before: Contents, after: Contents) -> bool:
    pairs = zip(before.items(), after.items(), strict=False)
    same = (a is b and k == m for (k, a), (m, b) in pairs)  # keys are texts and numbers
    return len(before) == len(after) and all(same)


# -- back from a wrong value


@dataclass(frozen=True, slots=True)
class Root:
    """A value that was wrong when the test failed.

    Attributes:
        label: Its name in the source.
        value: The object.
        user: The call that used it.
        holder: The object that had it as ``key``, if it was taken from one.
        key: The attribute.
        is_part: Whether it is a part of what the source speaks of there.
    """

    label: str
    value: object
    user: Activation
    holder: object = MISSING
    key: str = ""
    is_part: bool = False


class Origins:
    """Answers questions about what ``tracer`` noted, after it was stopped."""

    def __init__(self, tracer: FlowTracer) -> None:
        self._tracer = tracer
        self._callees: dict[int, list[Activation]] = {}
        for activation in tracer.activations:
            self._callees.setdefault(id(activation.caller), []).append(activation)

    # -- who made a value

    def of_root(self, root: Root) -> list[Occurrence]:
        """Return who made ``root``, and who changed it before it was used."""
        at = root.user.left or self._tracer.clock
        if root.key and is_shared(root.value):
            written = [c for c in self._tracer.changes(root.holder) if c.key == root.key]
            if written and written[-1].value is root.value:
                last = written[-1]
                return self._steps(root.value, last.maker, last.clock, root.key, last.line)
        return self.makers(root.value, root.user, at, root.label)

    def giver(self, root: Root) -> tuple[Activation | None, int]:
        """Return the call nearest to the use of ``root`` that had it from no argument; its line."""
        user, line = root.user, root.user.left_at
        while user.caller is not None and self._was_given(user, root):
            user, line = user.caller, user.called_at
        return (None, 0) if self._was_given(user, root) else (user, line)

    def _was_given(self, user: Activation, root: Root) -> bool:
        level = list(user.args.values())
        for _ in range(HELD_LEVELS):
            if any(value is root.value or value is root.holder for value in level):
                return True
            held = [contents_of(value) for value in level]
            level = [child for children in held if children for child in children.values()]
        return False

    def makers(
        self, value: object, user: Activation, at: int, name: str, *, hops: int = 0
    ) -> list[Occurrence]:
        """Return who made ``value``, which ``user`` had at ``at``, and who changed it before."""
        if is_shared(value):
            return self._steps(value, user, at, name, user.left_at)
        first = self._tracer.first(value)
        if first is None or first.clock > at:
            first = Occurrence(value, at, user, user.left_at, name)
        source = self._copied(value, first.maker) if hops < MAX_STEPS else MISSING
        if source is not MISSING:
            found = self.makers(source, first.maker, first.maker.entered, name, hops=hops + 1)
        else:
            found = [first]
        for change in self._tracer.changes(value):
            known = any(change.maker is other.maker for other in found)
            if first.clock < change.clock <= at and not known and change.maker is not first.maker:
                found.append(change)
        return found[:MAX_ENDS]

    def _steps(
        self, value: object, user: Activation | None, at: int, name: object, line: int
    ) -> list[Occurrence]:
        """Follow an object that is the same elsewhere by chance: by the latest event before."""
        for _ in range(MAX_STEPS):
            if user is None:
                return []
            names = [n for n, given in user.args.items() if given is value]
            if names:
                name = name if name in names else names[0]
                if user.caller is None:
                    return [Occurrence(value, user.entered, user, user.called_at, name)]
                user, at, line = user.caller, user.entered, user.called_at
                continue
            callees = reversed(self._callees.get(id(user), ()))
            result = next((c for c in callees if c.result is value and 0 < c.left < at), None)
            if result is not None:
                user, at, line, name = result, result.left, result.left_at, "return"
                continue
            put = (c for a in user.args.values() for c in reversed(self._tracer.changes(a)))
            held = next(
                (c for c in put if c.value is value and c.key == name and c.clock < at), None
            )
            if held is None or held.maker is user:
                break
            user, at, line, name = held.maker, held.clock, held.line, held.key
        return [Occurrence(value, at, user, line, name)] if user is not None else []

    def _copied(self, value: object, maker: Activation) -> object:
        """Return the argument of ``maker``, or a part of it, with the very elements of ``value``.

        ``MISSING`` if there is none.
        """
        own = _identities(value)
        if len(own) > 1:
            for given in maker.args.values():
                below = contents_of(given) or {}
                for source in (given, *below.values()):
                    if source is not value and _identities(source) == own:
                        return source
        return MISSING

    def arguments(self, maker: Activation) -> Iterator[tuple[str, list[Occurrence]]]:
        """Yield per parameter of ``maker`` who made what it was given."""
        for name, value in maker.args.items():
            if maker.caller is None:
                yield name, []
            else:
                yield name, self.makers(value, maker, maker.entered, name)


def _identities(value: object) -> list[int]:
    """Return what a built-in container holds, by identity; nothing of anything else."""
    if type(value) not in (list, tuple, set, frozenset, dict):
        return []
    return sorted(id(held) for held in (contents_of(value) or {}).values())
