"""Stand-ins for compiled patterns: they note what they are asked, and can be given another pattern.

Objects of ``re`` can't be changed, and one pattern is held by names, tables and bound methods. So a
process that is to watch patterns gets stand-ins in the place of those that the project's modules
and classes hold, and by ``re.compile`` itself from then on.
"""

from __future__ import annotations

import re
from contextlib import suppress
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.contents import ATOMS, attributes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_bayesloc.rerun.shared import Place

MAX_DEPTH = 6  # of what a variable holds
MAX_OBJECTS = 50_000  # that are looked into
MAX_ITEMS = 10_000  # of one that is
MAX_CALLS = 300  # of one pattern in one test; those behind them are told by the first ones
MAX_PATTERNS = 400  # of one test
MAX_NOTED = 20_000  # calls of one test
MAX_SUBJECT = 2_000  # characters
_NOTED = ("match", "search", "fullmatch", "split", "findall", "finditer", "sub", "subn")
_SUBSTITUTIONS = frozenset({"sub", "subn"})
_WRAPPED = (staticmethod, classmethod)
_pattern_type = re.Pattern


class WatchedPattern:
    """Does what a compiled pattern does, by one that can be exchanged.

    Attributes:
        real: The compiled pattern.
    """

    def __init__(self, real: re.Pattern[Any], watch: PatternWatch) -> None:
        self.real = real
        self._hash = hash(real)  # a table may hold it when it is exchanged
        self._watch = watch

    @property  # type: ignore[misc]  # ``isinstance`` reads it
    def __class__(self) -> type:
        return _pattern_type

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        return getattr(self.real, name)

    def __eq__(self, other: object) -> bool:
        return self.real == (other.real if type(other) is WatchedPattern else other)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return repr(self.real)

    def __copy__(self) -> WatchedPattern:
        return self

    def __deepcopy__(self, _: object) -> WatchedPattern:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return re.compile, (self.real.pattern, self.real.flags)

    def note(self, method: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Note a call of a method."""
        self._watch.note(self.real, method, args, named)


def _method(name: str) -> Callable[..., Any]:
    def method(self: WatchedPattern, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
        self.note(name, args, named)
        return getattr(self.real, name)(*args, **named)

    method.__name__ = name
    return method


for _name in _NOTED:
    setattr(WatchedPattern, _name, _method(_name))


class PatternWatch:
    """Makes the stand-ins of a process, and notes what they are asked in one test at a time."""

    def __init__(self) -> None:
        self._compile: Callable[[Any, int], Any] = re._compile  # type: ignore[attr-defined]  # noqa: SLF001 - all functions of ``re`` call it
        self._made: dict[re.Pattern[Any], WatchedPattern] = {}
        self._others: dict[str, str] = {}
        self._asked: dict[tuple[str, int], dict[tuple[Any, ...], None]] | None = None
        self._n_noted = 0
        self._seen: dict[int, tuple[Any, Any]] = {}  # per object, itself and what stands for it

    def install(self) -> None:
        """Have ``re`` give stand-ins from now on."""
        re.purge()
        re._compile = self.compile  # type: ignore[attr-defined]  # noqa: SLF001 - likewise

    def put_in_place(self, variables: Iterable[Place]) -> None:
        """Put stand-ins in the place of patterns that variables hold already."""
        for place in variables:
            made = self._renewed(place.value, MAX_DEPTH)
            if made is not place.value:
                place.put(made)

    def _renewed(self, value: Any, depth: int) -> Any:  # noqa: ANN401 - any object
        """Return what stands for a pattern, a method of one, or a tuple with one; else ``value``.

        What it holds is exchanged in place, without code of the project.
        """
        kind: Any = type(value)
        if kind is _pattern_type and type(value.pattern) is str:
            return self._stand_in(value)
        if issubclass(kind, BuiltinFunctionType) and type(value.__self__) is _pattern_type:
            return getattr(self._renewed(value.__self__, depth), value.__name__)
        if kind in ATOMS or issubclass(kind, (type, ModuleType)) or not depth:
            return value
        if id(value) not in self._seen and len(self._seen) < MAX_OBJECTS:
            self._seen[id(value)] = value, value
            self._seen[id(value)] = value, self._refilled(value, kind, depth)
        return self._seen.get(id(value), (value, value))[1]

    def _refilled(self, value: Any, kind: Any, depth: int) -> Any:  # noqa: ANN401
        if issubclass(kind, (tuple, list, dict)):
            base: Any = next(base for base in (tuple, list, dict) if issubclass(kind, base))
            is_long = base.__len__(value) > MAX_ITEMS
            return value if is_long else self._refilled_container(value, base, depth - 1)
        if kind is FunctionType:
            value.__defaults__ = self._renewed(value.__defaults__, depth)
            for cell in value.__closure__ or ():
                with suppress(ValueError):  # it is empty
                    cell.cell_contents = self._renewed(cell.cell_contents, depth - 1)
        elif kind in _WRAPPED:
            self._renewed(value.__func__, depth)
        for old, put in attributes_of(value):
            if (new := self._renewed(old, depth - 1)) is not old:
                with suppress(AttributeError, TypeError):  # it can't be set
                    put(new)
        return value

    def _refilled_container(self, value: Any, base: Any, depth: int) -> Any:  # noqa: ANN401
        if base is tuple:
            parts = [*tuple.__iter__(value)]
            made = [self._renewed(part, depth) for part in parts]
            # One with attributes, as a member of an enumeration, can't be made again.
            is_plain = not any(attributes_of(value))
            is_other = any(new is not old for new, old in zip(made, parts, strict=True))
            return tuple.__new__(type(value), made) if is_other and is_plain else value
        for key, old in [*(enumerate(list.__iter__(value)) if base is list else base.items(value))]:
            if (new := self._renewed(old, depth)) is not old:
                base.__setitem__(value, key, new)
        if base is dict and any(type(key) is _pattern_type for key in base.keys(value)):
            pairs = [(self._renewed(key, depth), child) for key, child in base.items(value)]
            base.clear(value)
            for key, child in pairs:
                base.__setitem__(value, key, child)
        return value

    def compile(self, pattern: Any, flags: int) -> Any:  # noqa: ANN401 - as ``re`` does
        """Return the stand-in for a pattern."""
        if type(pattern) is WatchedPattern:
            if flags:
                raise ValueError("cannot process flags argument with a compiled pattern")
            return pattern
        if type(pattern) is str:
            pattern = self._others.get(pattern, pattern)
        real = self._compile(pattern, flags)
        return self._stand_in(real) if type(real) is _pattern_type else real

    def _stand_in(self, real: re.Pattern[Any]) -> WatchedPattern:
        return self._made.setdefault(real, WatchedPattern(real, self))

    def exchange(self, others: Sequence[Sequence[str]]) -> int:
        """Give stand-ins, those of later calls as well, other patterns, by the texts of both.

        Returns:
            The number of patterns.

        Raises:
            re.error: If one does not compile.
        """
        self._others = {str(old): str(new) for old, new in others}
        for real, watched in self._made.items():
            other = self._others.get(real.pattern) if isinstance(real.pattern, str) else None
            if other is not None:
                # Texts have UNICODE without being told; ``(?a)`` bears no word of it.
                watched.real = self._compile(other, real.flags & ~(re.DEBUG | re.UNICODE))
        return len(self._others)

    # -- what is asked in a test

    def start(self) -> None:
        """Begin a test."""
        self._asked, self._n_noted = {}, 0

    def stop(self) -> list[Any]:
        """End it and return the patterns that were asked: text, flags, calls."""
        asked, self._asked = self._asked or {}, None
        return [
            [text, flags, [list(call) for call in calls]] for (text, flags), calls in asked.items()
        ]

    def note(
        self, real: re.Pattern[Any], method: str, args: tuple[Any, ...], named: dict[str, Any]
    ) -> None:
        """Note a call on a text, if plain values tell it."""
        is_full = self._n_noted >= MAX_NOTED
        if self._asked is None or is_full or type(real.pattern) is not str or not args:
            return
        if method in _SUBSTITUTIONS and type(args[0]) is not str:  # a function: what does it get?
            method, args, named = "finditer", args[1:2], {}
        subject = args[1:2] if method in _SUBSTITUTIONS else args[:1]
        if named or not all(isinstance(value, (str, int)) for value in args):
            return
        if not subject or not isinstance(subject[0], str) or str.__len__(subject[0]) > MAX_SUBJECT:
            return
        # Plain values: a class of the project may do anything when it is asked.
        args = tuple(
            int.__int__(value) if isinstance(value, int) else str.__str__(value) for value in args
        )
        key = real.pattern, real.flags
        if key in self._asked or len(self._asked) < MAX_PATTERNS:
            calls = self._asked.setdefault(key, {})
            if len(calls) < MAX_CALLS:
                calls[method, args] = None
                self._n_noted += 1
