"""Edits of the constants that a function uses: its own, its defaults, those of class and module.

The failed comparison says what they may have to be.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import islice
from math import isfinite
from typing import TypeAlias, TypeVar

from pytest_bayesloc.domain.inspection import OtherValue
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FORMATTED, FunctionNode, SourceMap, Unit, tree_of
from pytest_bayesloc.domain.texts import common_ends
from pytest_bayesloc.fixes.side_effects import PURE, aliases, full_name, is_pure
from pytest_bayesloc.fixes.soundness import NUMBER
from pytest_bayesloc.syntax.nodes import (
    bound_in,
    bound_name,
    defaults,
    dotted,
    functions_in,
    nodes_of,
    own_nodes,
    targets,
    walk,
)
from pytest_bayesloc.syntax.text import Text, TextEdit, brief, edited

Scalar: TypeAlias = "int | float | str"
#: Of a comparison that failed, what was computed and what was expected, where they differ.
Sides: TypeAlias = "tuple[Scalar, Scalar]"
PairT = TypeVar("PairT")

N_OF_FUNCTION = 24  # edits
PROBE = 2  # is added to a whole number: one more and one less are tried anyway
MAX_DIGITS = 7  # of a number that a person would write
MAX_TEXT = 2_000
SEPARATORS = (",", ";", "\t", "|", ":")
_APPROXIMATELY = " ± "
#: What a template is filled with.
_FIELD = re.compile(r"%(?:\(\w+\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]|\{[^{}]*\}")


def sides_of(left: str, right: str, test: str) -> list[Sides]:
    """Return the numbers and texts in which the sides of a comparison differ, in pairs.

    Args:
        left: One side, as a literal.
        right: The other.
        test: Text of the test: a side that stands there is the expected one.
    """
    left, right = (side.partition(_APPROXIMATELY)[0] for side in (left, right))
    return _compared(left, right, test, lambda a, b: _differing(_value(a), _value(b)))


def differences(left: str, right: str, test: str) -> list[tuple[object, object]]:
    """Return in what the sides of a comparison differ, as a whole and inside, the expected second.

    The arguments are those of `sides_of`.
    """
    evaluate = ast.literal_eval
    return _compared(left, right, test, lambda a, b: _unequal(evaluate(a), evaluate(b)))


def _compared(
    left: str, right: str, test: str, unlike: Callable[[str, str], Iterator[PairT]]
) -> list[PairT]:
    """Return what ``unlike`` yields of the computed and the expected side, if they can be read."""
    if left in test and right not in test:
        left, right = right, left
    if len(left) + len(right) > MAX_TEXT:
        return []
    try:
        return list(unlike(left, right))
    except (ValueError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError):
        return []


def _unequal(left: object, right: object) -> Iterator[tuple[object, object]]:
    if type(left) is type(right) and left == right:
        return
    yield left, right
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        if len(left) == len(right):
            for a, b in zip(left, right, strict=True):
                yield from _unequal(a, b)
    elif isinstance(left, dict) and isinstance(right, dict):
        for key in left.keys() & right.keys():
            yield from _unequal(left[key], right[key])


def _value(text: str) -> object:
    """Return the value of a literal, in which decimal numbers and dates are plain numbers."""
    return ast.literal_eval(_AsNumbers().visit(ast.parse(text, mode="eval")))


class _AsNumbers(ast.NodeTransformer):
    """Makes numbers of decimal numbers, and numbers of days of dates and spans of time."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return the number of a call whose arguments are plain, as it stands in a message."""
        given = [ast.literal_eval(argument) for argument in node.args]
        named = {part.arg or "": ast.literal_eval(part.value) for part in node.keywords}
        match dotted(node.func).rpartition(".")[2]:
            case "Decimal":
                number = float(*given)
            case "date":
                number = date(*given).toordinal()
            case "datetime":
                number = (datetime(*given) - datetime(1, 1, 1)) / _DAY
            case "timedelta":
                number = timedelta(*given, **named) / _DAY
            case _:
                return node
        return ast.Constant(number)


_DAY = timedelta(days=1)


def _differing(left: object, right: object) -> Iterator[Sides]:
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        for a, b in zip(left, right, strict=False):
            yield from _differing(a, b)
    elif isinstance(left, dict) and isinstance(right, dict):
        for key in left.keys() & right.keys():
            yield from _differing(left[key], right[key])
    elif left != right and not isinstance(left, bool) and not isinstance(right, bool):
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        if numbers or (isinstance(left, str) and isinstance(right, str)):
            yield left, right  # type: ignore[misc]  # of one kind


def constant_edits(
    places: Sequence[tuple[Text, Sequence[ast.AST]]],
    sides: Sequence[Sides],
    test: str,
    seen: Callable[[], Sequence[Sides]],
) -> Iterator[tuple[int, TextEdit]]:
    """Yield edits of constants that a function uses, the likeliest first, with their place.

    Args:
        places: Files with the code in them that the function uses: its own comes first.
        sides: In which its failing tests see a difference.
        test: Text of a failing test: entries of tables that it names come first.
        seen: Returns the differences that were seen with the last edit.
    """
    used = [(i, part) for i, (_, parts) in enumerate(places) for part in parts]
    keys = {id(value): key for _, part in used for key, value in _entries(part)}
    # Docstrings, and text around what is filled in: a test says as little of either.
    kinds = (ast.Expr, *FORMATTED)
    apart = (n for _, part in used for n in nodes_of(part, kinds))
    idle = {id(e) for n in apart for e in ([n.value] if isinstance(n, ast.Expr) else n.values)}
    constants = ((i, n) for i, p in used for n in nodes_of(p, ast.Constant))
    found = {id(n): (i, n) for i, n in constants if id(n) not in idle}
    written = test.replace('"', "'")
    words = {n: rf"(?<!\w){re.escape(repr(key))}(?!\w)" for n, key in keys.items()}
    named = [found[n] for n in found if n in keys and re.search(words[n], written)]
    unnamed = (found[n] for n in found if n in keys and found[n] not in named)
    chosen = [*named, *(found[n] for n in found if n not in keys), *unnamed]
    numbers = partial(_other_numbers, sides, seen)
    edits = (
        (i, edit)
        for i, node in chosen
        for value in _others(node.value, sides, numbers)
        if (edit := _edit(places[i][0], node, value)) is not None
    )
    yield from islice(edits, N_OF_FUNCTION)


def used_by(tree: ast.AST, function: FunctionNode) -> list[ast.AST]:
    """Return the code of a file that decides what constants ``function`` uses.

    That is its own body, its defaults, and the values of names of its class and module.
    """
    names = {n.id for n in own_nodes(function) if isinstance(n, ast.Name)}
    of_module = values_of(tree, names - set(bound_in(function)))
    own = (*own_nodes(function), *(value for _, value in defaults(function.args)))
    read = {dotted(n) for n in own_nodes(function) if isinstance(n, ast.Attribute)}
    of_classes: list[ast.AST] = []
    for owner in nodes_of(tree, ast.ClassDef):
        roots = {owner.name, *(("self", "cls") if function in owner.body else ())}
        attributes = {name.partition(".")[2] for name in read if name.partition(".")[0] in roots}
        of_classes += values_of(owner, attributes)
    return [*of_classes, *of_module, *own]


def imported_by(tree: ast.AST, function: FunctionNode) -> dict[str, set[str]]:
    """Return the names that ``function`` uses of other modules, by the last part of theirs."""
    read = {n.id for n in own_nodes(function) if isinstance(n, ast.Name)}
    dots = [dotted(n).split(".") for n in own_nodes(function) if isinstance(n, ast.Attribute)]
    found: dict[str, set[str]] = {}
    for node in getattr(tree, "body", ()):
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            bound, last = bound_name(alias), alias.name.rpartition(".")[2]
            if isinstance(node, ast.ImportFrom) and node.module and bound in read:
                found.setdefault(node.module.rpartition(".")[2], set()).add(alias.name)
            found.setdefault(last, set()).update(d[1] for d in dots if d[0] == bound and d[1:])
    return {module: names for module, names in found.items() if names}


def values_of(tree: ast.AST, names: set[str]) -> list[ast.AST]:
    """Return the values that a module or a class gives to names."""
    return [
        statement.value
        for statement in getattr(tree, "body", ())
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
        if names.intersection(target.id for target in targets(statement))
    ]


def _entries(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
    """Yield the entries of tables in ``node``: keys, and each part of what stands there."""
    for table in nodes_of(node, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant):
                yield from ((key.value, n) for n in nodes_of(value, ast.expr))


def _edit(text: Text, node: ast.Constant, value: Scalar) -> TextEdit | None:
    own, written = text.of(node), repr(value)
    if not isinstance(value, str):
        written = written if value >= 0 else f"({written})"
    elif own.startswith('"') and not own.startswith('"""') and '"' not in value:
        written = f'"{written[1:-1]}"'
    if written == own:
        return None
    return text.replace(node, written, f"{brief(own)} to {brief(written)}")


def _others(
    value: object, sides: Sequence[Sides], numbers: Callable[[float], Iterator[float]]
) -> Iterator[Scalar]:
    """Yield the values with which what was computed may become what is expected.

    Args:
        value: The constant.
        sides: In which its failing tests see a difference.
        numbers: Yields those for a number.
    """
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        texts = [s for s in sides if isinstance(s[0], str) and isinstance(s[1], str)]
        yield from dict.fromkeys(t for s in texts for t in _exchanged(value, *s) if t)  # type: ignore[arg-type]  # texts
        if value in SEPARATORS:
            yield from (other for other in SEPARATORS if other != value)
        if NUMBER.fullmatch(value):  # of a ``Decimal``
            yield from map(str, numbers(float(value) if "." in value else int(value)))
    elif isinstance(value, (int, float)):
        yield from numbers(value)


def _other_numbers(
    sides: Sequence[Sides], seen: Callable[[], Sequence[Sides]], value: float
) -> Iterator[float]:
    if not any(isinstance(expected, (int, float)) for _, expected in sides):
        yield from filter(_is_short, _slips(value))
        return
    step = PROBE if isinstance(value, int) else value or 1.0
    yield value + step
    wanted = list(filter(_is_short, _extrapolated(value, step, sides, seen())))
    if not wanted:
        yield from filter(_is_short, (*_slips(value), value / 100))
    yield from wanted


def _slips(value: float) -> Iterator[float]:
    """Yield the numbers that are easily mistaken for one."""
    if isinstance(value, int):
        yield from (value + 1, value - 1)
        digits = str(abs(value))
        if len(digits) == 2 and digits[0] != digits[1]:
            yield int(digits[::-1])
        yield from (value * 10, value // 10) if value and value % 10 == 0 else ()
    else:
        yield from (_like(value, value * 10), _like(value, value / 10))


def _extrapolated(
    value: float, step: float, before: Sequence[Sides], after: Sequence[Sides]
) -> Iterator[float]:
    """Yield the numbers that give what is expected, if the result moves evenly with them.

    Args:
        value: The constant.
        step: What was added to it.
        before: The differences that the test sees.
        after: Those that it saw with the step.
    """
    moved_to = {expected: computed for computed, expected in after}
    for computed, expected in before:
        moved = moved_to.get(expected, computed)
        if isinstance(computed, str) or isinstance(expected, str) or isinstance(moved, str):
            continue
        if moved != computed:
            yield _like(value, value + step * (expected - computed) / (moved - computed))
            if expected and step * (moved - computed) < 0:  # it may divide
                yield _like(value, value * computed / expected)
            return


def _like(value: float, other: float) -> float:
    other = round(other, MAX_DIGITS)
    return int(other) if isinstance(value, int) and isfinite(other) and other % 1 == 0 else other


def _is_short(number: float) -> bool:
    return isfinite(number) and len(repr(number)) <= MAX_DIGITS


def _exchanged(value: str, shown: str, wanted: str) -> Iterator[str]:
    """Yield texts that stand in ``wanted`` wherever ``value`` stands in ``shown``."""
    if not value:
        return
    first, *rest = map(re.escape, shown.split(value))
    if rest:
        pattern = rf"{first}(?P<other>.*?)" + "(?P=other)".join(rest)
        match = re.fullmatch(pattern, wanted, re.DOTALL)
        if match is not None:
            yield match["other"]
    start, same = common_ends(shown, wanted)
    for before, behind in ((0, 0), (1, 0), (0, 1), (1, 1)):  # characters of what surrounds it
        head, tail = start - before, same - behind
        if head >= 0 <= tail:
            old, new = shown[head : len(shown) - tail], wanted[head : len(wanted) - tail]
            parts = _FIELD.split(value) if old and value.count(old) == 1 else ()
            # The text around it has to be shown, too, up to what is filled in.
            if any(old in part and part in shown for part in parts):
                yield value.replace(old, new)


# -- the variable, or the default of a parameter, that holds an edited constant


def other_value(source: SourceMap, after: str, line: int) -> tuple[Location, OtherValue] | None:
    """Return the location that holds the constant of an edit, and the value that it gets.

    None if it is held by no variable of a module or class and is no default, if the value calls
    what may do more than compute, or if objects of the class have it from elsewhere.

    Args:
        source: The file.
        after: Its text with another constant.
        line: Of that.
    """
    for unit in source.units:
        if _is_copied(unit.node):
            continue
        held = (_default if unit.is_function else _variable)(source, unit, after, line)
        outer = unit.outer if unit.is_function else unit
        if held is not None and outer is not None:
            name, value = held
            if _only_computes(value, aliases(source.module.node)):
                owner = "" if unit.outer is None else unit.location.qualname
                first_line = unit.first_line if unit.is_function else 0
                text = ast.unparse(value)
                made = OtherValue(owner=owner, name=name, text=text, first_line=first_line)
                return outer.location, made
    return None


def _is_copied(node: ast.AST) -> bool:
    """Say whether a class makes other things of its variables, as dataclasses and enums do."""
    if not isinstance(node, ast.ClassDef):
        return False
    bases = {dotted(base).rpartition(".")[2] for base in node.bases}
    return bool(node.decorator_list) or any(map(_MADE_OF.search, bases))


_MADE_OF = re.compile(r"Enum$|Flag$|^NamedTuple$")


def _variable(source: SourceMap, unit: Unit, after: str, line: int) -> tuple[str, ast.expr] | None:
    for node in getattr(unit.node, "body", ()):
        names = [target.id for target in targets(node)]
        if len(names) == 1 and node.lineno <= line <= node.end_lineno:
            place = replace(unit.location, start_line=node.lineno, end_line=node.end_lineno)
            tree = tree_of(edited(source.text, after, place))
            for inner in walk(tree) if tree is not None else ():
                if isinstance(inner, (ast.Assign, ast.AnnAssign)):
                    if inner.value is not None:
                        return names[0], inner.value
                    break
    return None


def _default(source: SourceMap, unit: Unit, after: str, line: int) -> tuple[str, ast.expr] | None:
    if not isinstance(unit.node, FunctionNode) or not unit.first_line <= line < unit.body_line:
        return None
    tree = tree_of(edited(source.text, after, unit.location))
    new = next(iter(functions_in(tree)), None) if tree else None
    if new is None:
        return None
    pairs = zip(defaults(unit.node.args), defaults(new.args), strict=True)
    changed = ((now, value) for (_, old), (now, value) in pairs if ast.dump(old) != ast.dump(value))
    return next(((parameter.arg, value) for parameter, value in changed), None)


#: Built-ins that make a value of others.
_MAKES = frozenset(
    {"bool", "bytes", "dict", "float", "frozenset", "int", "list", "range", "set", "str", "tuple"}
)


def _only_computes(value: ast.expr, known: Mapping[str, str]) -> bool:
    """Say whether all that an expression calls is harmless; ``known`` are the names imported."""
    names = (full_name(call.func, known) for call in nodes_of(value, ast.Call))
    is_plain = (n in _MAKES or (n.partition(".")[0] in PURE and is_pure(n)) for n in names)
    return all(is_plain) and not any(isinstance(node, _SUSPENDS) for node in walk(value))


_SUSPENDS = ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
