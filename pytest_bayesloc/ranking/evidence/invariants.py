"""Invariants: conditions that held in every observed passing call of a function.

The templates are those of Daikon (Ernst et al. 2007) that a handful of calls can support:
types, None-ness, signs, ranges, lengths, sortedness, small sets, and relations between what goes
in and what comes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter, eq, ge, le
from typing import TypeAlias

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call, Recording, Value
from pytest_bayesloc.domain.texts import count

RESULT = "_bayesloc_result"
MIN_SUPPORT = 3
RANGE_SUPPORT = 15
RANGE_DISTINCT = 4
MEMBER_SUPPORT = 8
RELATION_SUPPORT = 4
MAX_TYPES = 3
MAX_MEMBERS = 3
NUMBERS = frozenset({"int", "float"})
SIZED = frozenset({"str", "bytes", "list", "tuple", "dict", "set", "frozenset"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """A condition on the values of one call.

    Attributes:
        at_exit: Whether it speaks of the result.
        condition: Python source over the parameters, their entry values (``_bayesloc_in_NAME``)
            and ``_bayesloc_result``; safe to evaluate for values of any type.
        words: The condition for a person.
        support: How many observed calls it held in.
        holds: Whether it holds in a recorded call.
        at_raise: Whether it says that the function's own ``raise`` statements are not reached.
    """

    at_exit: bool
    condition: str
    words: str
    support: int
    holds: Callable[[Call], bool]
    at_raise: bool = False


def mine(recording: Recording, passing: Iterable[str]) -> dict[Location, tuple[Invariant, ...]]:
    """Return per function what held in all its calls in the tests ``passing``."""
    calls: dict[Location, list[Call]] = {}
    raising: set[Location] = set()
    for node_id in passing:
        for call in recording.calls.get(node_id, ()):
            if call.raised:
                raising.add(call.location)
            else:
                calls.setdefault(call.location, []).append(call)
    mined: dict[Location, tuple[Invariant, ...]] = {}
    for where, seen in calls.items():
        raises_nothing = Invariant(
            at_exit=True,
            at_raise=True,
            condition="False",
            words="it raises nothing",
            support=len(seen),
            holds=lambda call: not call.raised,
        )
        is_told = where not in raising and len(seen) >= MIN_SUPPORT
        mined[where] = (*_invariants(seen), *([raises_nothing] if is_told else ()))
    return mined


def broken(invariants: Sequence[Invariant], call: Call, *, at_exit: bool) -> tuple[Invariant, ...]:
    """Return those of ``invariants`` on the result (or on what went in) that ``call`` breaks."""
    if at_exit and call.result is None:
        return ()
    return tuple(i for i in invariants if i.at_exit is at_exit and not i.holds(call))


def _invariants(calls: Sequence[Call]) -> Iterator[Invariant]:
    if len(calls) < MIN_SUPPORT:
        return
    names = set.intersection(*(set(call.args) for call in calls)) - {"self", "cls"}
    for name in sorted(names):
        seen = [call.args[name] for call in calls]
        yield from _unary(seen, name, name)
    returned = [call for call in calls if call.result is not None]
    if len(returned) < MIN_SUPPORT:
        return
    results = [call.result for call in returned if call.result is not None]
    yield from _unary(results, RESULT, "the result")
    for name in sorted(names):
        yield from _relations(returned, name)


def _unary(seen: Sequence[Value], code: str, words: str) -> Iterator[Invariant]:
    """Yield conditions on one value; ``code`` names it in source, ``words`` in text."""
    at_exit = code == RESULT
    for template in (_type, _sign, _range, _length, _sorted, _members):
        for condition, text, holds, support in template(seen, code, words):

            def check(call: Call, holds: Callable[[Value], bool] = holds) -> bool:
                value = call.result if at_exit else call.args.get(code)
                return value is None or holds(value)

            yield Invariant(
                at_exit=at_exit, condition=condition, words=text, support=support, holds=check
            )


_Template = tuple[str, str, "Callable[[Value], bool]", int]


def _of_type(code: str, types: Iterable[str], condition: str) -> str:
    """Return ``condition`` wherever the value has one of ``types``, true elsewhere."""
    return f"type({code}).__qualname__ not in {tuple(sorted(types))!r} or {condition}"


def _numbers(seen: Sequence[Value]) -> list[float]:
    """Return the numbers among ``seen``; none if some have no bounds (``nan``, ``inf``, huge)."""
    if any(value.type_name in NUMBERS and value.number is None for value in seen):
        return []
    return [value.number for value in seen if value.number is not None]


def _type(seen: Sequence[Value], code: str, words: str) -> Iterator[_Template]:
    names = sorted({value.type_name for value in seen})
    if len(names) <= MAX_TYPES:
        condition = f"type({code}).__qualname__ in {tuple(names)!r}"
        text = f"{words} is {' or '.join(names)}"
        yield condition, text, lambda v: v.type_name in names, len(seen)


def _sign(seen: Sequence[Value], code: str, words: str) -> Iterator[_Template]:
    numbers = _numbers(seen)
    if len(numbers) < MIN_SUPPORT:
        return
    low, high = min(numbers), max(numbers)
    for applies, operator, holds in (
        (low > 0, "> 0", lambda v: v.number is None or v.number > 0),
        (low == 0 and high > 0, ">= 0", lambda v: v.number is None or v.number >= 0),
        (high < 0, "< 0", lambda v: v.number is None or v.number < 0),
    ):
        if applies:
            condition = _of_type(code, NUMBERS, f"{code} {operator}")
            yield condition, f"{words} {operator}", holds, len(numbers)


def _range(seen: Sequence[Value], code: str, words: str) -> Iterator[_Template]:
    """Yield bounds: an extreme that was reached again and again, else the range with some slack."""
    numbers = _numbers(seen)
    low, high = -inf, inf  # where there is no telling
    distinct = set(numbers)
    if len(distinct) >= RANGE_DISTINCT:
        least, most = min(distinct), max(distinct)
        slack = (most - least) / 2 if len(numbers) >= RANGE_SUPPORT else inf
        reached = Counter(numbers)
        low = least if reached[least] >= MIN_SUPPORT else least - slack
        high = most if reached[most] >= MIN_SUPPORT else most + slack

    def holds(value: Value) -> bool:
        return value.number is None or low <= value.number <= high

    texts = [f"{low!r} <= " if low > -inf else "", f" <= {high!r}" if high < inf else ""]
    if any(texts):
        condition = _of_type(code, NUMBERS, code.join(texts))
        words_too = [f"{low:g} <= " if low > -inf else "", f" <= {high:g}" if high < inf else ""]
        yield condition, words.join(words_too), holds, len(numbers)


def _length(seen: Sequence[Value], code: str, words: str) -> Iterator[_Template]:
    lengths = [value.length for value in seen if value.length is not None]
    if len(lengths) < MIN_SUPPORT:
        return
    only = lengths[0]
    if only and len(set(lengths)) == 1 and len(lengths) >= MEMBER_SUPPORT:
        condition, text = f"len({code}) == {only}", f"len({words}) == {only}"
        allowed = (None, only)
        yield _of_type(code, SIZED, condition), text, lambda v: v.length in allowed, len(lengths)
    elif min(lengths) > 0:
        condition, text = f"len({code}) > 0", f"{words} is not empty"
        yield _of_type(code, SIZED, condition), text, lambda v: v.length != 0, len(lengths)


def _sorted(seen: Sequence[Value], code: str, words: str) -> Iterator[_Template]:
    flags = [value.is_sorted for value in seen if value.is_sorted is not None]
    if len(flags) >= MIN_SUPPORT and all(flags):
        condition = _of_type(code, ("list", "tuple"), _ORDERED.format(code))
        yield condition, f"{words} is sorted", lambda v: v.is_sorted is not False, len(flags)


# Of numbers or of strings, and no more than a recording looks into: nothing else is compared.
_ORDERED = (
    "len({0}) > 100 or not all(type(a).__qualname__ in ('float', 'int') for a in {0}) "
    "and not all(type(a).__qualname__ == 'str' for a in {0}) "
    "or all(not (a > b) for a, b in zip({0}, {0}[1:]))"
)


def _members(seen: Sequence[Value], code: str, words: str) -> Iterator[_Template]:
    texts = [value.text for value in seen]
    members = sorted({text for text in texts if text is not None})
    if None in texts or len(texts) < MEMBER_SUPPORT or not 0 < len(members) <= MAX_MEMBERS:
        return
    if len(texts) < MEMBER_SUPPORT * len(members):
        return
    listed = ", ".join(members)

    def holds(value: Value) -> bool:
        return value.text in members

    types = tuple(sorted({value.type_name for value in seen}))
    condition = f"type({code}).__qualname__ in {types!r} and repr({code}) in {tuple(members)!r}"
    yield condition, f"{words} in ({listed})", holds, len(texts)


def _relations(calls: Sequence[Call], name: str) -> Iterator[Invariant]:
    """Yield relations between parameter ``name`` at entry and the result."""
    pairs = [(call.args[name], call.result) for call in calls if call.result is not None]
    if len(pairs) < RELATION_SUPPORT:
        return
    entry = f"_bayesloc_in_{name}"
    varies = len({(a.text, a.length) for a, _ in pairs}) > 1  # else it is no relation
    for words, condition, holds in _RELATIONS if varies else ():
        if all(holds(a, r) for a, r in pairs):

            def check(call: Call, holds: _Relation = holds) -> bool:
                argument, result = call.args.get(name), call.result
                return argument is None or result is None or holds(argument, result) is not False

            yield Invariant(
                at_exit=True,
                condition=condition.format(entry=entry, result=RESULT),
                words=words.format(name=name),
                support=len(pairs),
                holds=check,
            )


#: Says whether an argument and a result are related; None where they can't be.
_Relation: TypeAlias = Callable[[Value, Value], "bool | None"]


def _related(
    of: Callable[[Value], float | None], compare: Callable[[float, float], bool]
) -> _Relation:
    def holds(argument: Value, result: Value) -> bool | None:
        one, other = of(argument), of(result)
        return None if one is None or other is None else compare(other, one)

    return holds


_IS_NUMBER = "type({0}).__qualname__ not in ('int', 'float')"
_GUARD = f"{_IS_NUMBER.format('{entry}')} or {_IS_NUMBER.format('{result}')} or "
_IS_SIZED = f"type({{0}}).__qualname__ not in {tuple(sorted(SIZED))!r}"
_LENGTH_GUARD = f"{_IS_SIZED.format('{entry}')} or {_IS_SIZED.format('{result}')} or "
_number, _size = attrgetter("number"), attrgetter("length")
_RELATIONS: tuple[tuple[str, str, _Relation], ...] = (
    ("the result is no less than {name}", _GUARD + "{result} >= {entry}", _related(_number, ge)),
    ("the result is no more than {name}", _GUARD + "{result} <= {entry}", _related(_number, le)),
    (
        "the result is as long as {name}",
        _LENGTH_GUARD + "len({result}) == len({entry})",
        _related(_size, eq),
    ),
)


def summary(values: Sequence[Value], n_shown: int = 3) -> str:
    """Sum up the values seen in one place: ``int 1 to 7 (12 calls)``."""
    if not values:
        return ""
    types = Counter(value.type_name for value in values)
    parts = [", ".join(name for name, _ in types.most_common(n_shown))]
    numbers = [value.number for value in values if value.number is not None]
    lengths = [value.length for value in values if value.length is not None]
    texts = list(dict.fromkeys(value.text for value in values if value.text is not None))
    if 0 < len(texts) <= n_shown:
        parts.append(" | ".join(texts))
    elif numbers:
        parts.append(f"{min(numbers):g} to {max(numbers):g}")
    if lengths:
        low, high = min(lengths), max(lengths)
        parts.append(f"length {low}" if low == high else f"length {low} to {high}")
    return f"{', '.join(parts)} ({count(len(values), 'call')})"


def seen_values(
    recording: Recording, failing: Iterable[str], passing: Iterable[str]
) -> dict[Location, Mapping[str, tuple[str, str]]]:
    """Return what passing and failing calls had, per function, parameter and ``return``."""
    columns: dict[Location, dict[str, tuple[list[Value], list[Value]]]] = {}
    for side, tests in ((0, passing), (1, failing)):
        for node_id in tests:
            for call in recording.calls.get(node_id, ()):
                rows = columns.setdefault(call.location, {})
                items = [(name, v) for name, v in call.args.items() if name not in ("self", "cls")]
                if call.result is not None:
                    items.append(("return", call.result))
                for name, value in items:
                    rows.setdefault(name, ([], []))[side].append(value)
    return {
        where: {name: (summary(sides[0]), summary(sides[1])) for name, sides in rows.items()}
        for where, rows in columns.items()
    }
