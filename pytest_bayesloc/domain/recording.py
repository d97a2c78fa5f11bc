"""Recorded calls and their values, and the way of a wrong value back to where it was made.

No code of the project is run to look at them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - messages are converted by annotations
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.failure import Frame  # noqa: TC001 - likewise

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location


RESULT = "return"  # stands for the result beside the names of parameters


@dataclass(frozen=True, slots=True)  # by position: a message has them as a list
class Value:
    """The noted traits of one value. Only built-in types are looked into.

    Attributes:
        number: The value of an int or float, else None.
        length: Length of a str, bytes, list, tuple, dict, set or frozenset, else None.
        is_sorted: Whether a list or tuple of up to 100 numbers or strings ascends, else None.
        text: ``repr`` of None, a bool, an int, a float or a str of up to 40 characters, else None.
        parts: Of a detailed recording, each path below the value (empty: itself) and its text.
    """

    type_name: str
    number: float | None = None
    length: int | None = None
    is_sorted: bool | None = None
    text: str | None = None
    parts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a function of the source under test.

    Attributes:
        caller: Index of the nearest recorded caller in the same recording, or -1.
        entered: Position of the entry among all recorded entries and exits of the test.
        left: Position of the exit; -1 if it was never left.
        args: Parameter name to value at entry.
        result: What it returned; None if it did not return.
        raised: Whether it was left by an exception.
    """

    location: Location
    caller: int
    entered: int
    left: int
    args: Mapping[str, Value] = field(default_factory=dict)
    result: Value | None = None
    raised: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The values at a point of a function, just before it was executed.

    Attributes:
        point: First and last line of the statement or condition.
        then: The next line outside of these; 0 if the function ended.
        values: By expression: variables, and attributes of what they hold.
        classes: Of what is no plain value, the names of its class and of those that it inherits.
    """

    location: Location
    point: tuple[int, int]
    then: int
    values: Mapping[str, Value]
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)


#: The name of a method of a compiled pattern, and its arguments: texts and numbers.
MatchCall: TypeAlias = "tuple[str, tuple[str | int, ...]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPattern:
    """A regular expression, and what it was asked in a test.

    Attributes:
        text: The pattern.
        flags: With which it was compiled.
        calls: The first of them, each once.
    """

    text: str
    flags: int
    calls: tuple[MatchCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandledError:
    """An exception that code of the project caught, and that did not leave in any form.

    Attributes:
        handler: The function that caught it; ``line`` is where its ``except``, its ``with`` or the
            body of its ``finally`` begins.
        kind: Name of the exception's type.
        text: Its message in one line, cut; empty if there is none without running its code.
        raised: The first function of the project that it was seen in; without a file if a test
            double of ``unittest.mock`` raised it.
        n: How often this type was caught there in the test.
    """

    handler: Frame
    kind: str
    raised: Frame
    text: str = ""
    n: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The calls of several tests.

    Attributes:
        calls: Per node id, its calls in the order of entry; capped a function and test.
        edges: How often a location called another, over all recorded tests, uncapped.
    """

    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    edges: Mapping[tuple[Location, Location], int] = field(default_factory=dict)

    def types_of(self, where: Location) -> Mapping[str, frozenset[str]]:
        """Return the names of types that a function's parameters, and its ``RESULT``, had."""
        found: dict[str, set[str]] = {}
        for call in (c for calls in self.calls.values() for c in calls if c.location == where):
            result = {} if call.result is None else {RESULT: call.result}
            for name, value in (*call.args.items(), *result.items()):
                found.setdefault(name, set()).add(value.type_name)
        return {name: frozenset(types) for name, types in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """A call that made a value, or changed what it holds.

    Attributes:
        frame: Of its function; ``line`` is where it handed the value over, or ended.
        key: The parameter, attribute, index or key that had the value first; ``return`` for a
            result.
        is_held: Whether that was in a container or an attribute.
        arguments: Per parameter of the function, who made what it was given; of a call that pytest
            made, nobody.
    """

    frame: Frame
    key: str
    is_held: bool = False
    arguments: Mapping[str, tuple[Maker, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongValue:
    """A value that was wrong.

    Attributes:
        label: Its name in the source.
        makers: Who made it, or changed what it holds.
        giver: The function nearest to the check that had it from none of its own arguments; None if
            pytest called that one.
        is_part: Whether it is a part of what the check speaks of, and not named by it.
    """

    label: str
    makers: tuple[Maker, ...] = ()
    giver: Frame | None = None
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFlow:
    """The makers of a wrong value, in one failing test.

    Attributes:
        error: First line of the error that the test ended with.
        user: The function of the project that found it wrong, and its line.
        condition: The check, or the call, that refused it; empty if there is none.
        values: What was wrong.
    """

    node_id: str
    error: str
    user: Frame
    condition: str = ""
    values: tuple[WrongValue, ...] = ()
