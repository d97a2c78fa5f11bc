"""Edits of the constants that a function uses: its own, its defaults, those of class and module.

The failed comparison says what they may have to be.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import isfinite
from typing import TypeAlias

from pytest_bayesloc.domain.source import FunctionNode
from pytest_bayesloc.fixes.syntax import (
    Text,
    TextEdit,
    bound_in,
    brief,
    dotted,
    is_docstring,
    own_nodes,
    targets,
)

Scalar: TypeAlias = "int | float | str"
#: Of a comparison that failed, what was computed and what was expected, where they differ.
Sides: TypeAlias = "tuple[Scalar, Scalar]"

N_OF_FUNCTION = 10  # edits
MAX_DIGITS = 7  # of a number that a person would write
MAX_TEXT = 2_000


def sides_of(left: str, right: str, test: str) -> list[Sides]:
    """Return the numbers and texts in which the sides of a comparison differ, in pairs.

    Args:
        left: One side, as a literal.
        right: The other.
        test: Text of the test: a side that stands there is the expected one.
    """
    if left in test and right not in test:
        left, right = right, left
    if len(left) + len(right) > MAX_TEXT:
        return []
    try:
        return list(_differing(ast.literal_eval(left), ast.literal_eval(right)))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return []


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
    tree: ast.AST, function: FunctionNode, text: Text, sides: Sequence[Sides], test: str
) -> Iterator[TextEdit]:
    """Yield edits of constants that ``function`` uses, the likeliest first.

    Args:
        tree: Syntax of its file.
        function: Its own.
        text: Text of its file.
        sides: In which its failing tests see a difference.
        test: Text of a failing test: entries of tables that it names come first.
    """
    used = [*_own(function), *_of_class(tree, function), *_of_module(tree, function)]
    keys = {id(value): key for node in used for key, value in _entries(node)}
    found = {id(n): n for node in used for n in ast.walk(node) if isinstance(n, ast.Constant)}
    named = [n for n in found.values() if id(n) in keys and _is_named(keys[id(n)], test)]
    others = [n for n in found.values() if id(n) not in keys]
    told = ((n, value) for n in (*named, *others) for value in _solved(n.value, sides))
    near = ((n, value) for n in (*named, *others) for value in _near(n.value))
    made = (_edit(text, n, value) for n, value in chain(told, near))
    yield from islice(filter(None, made), N_OF_FUNCTION)


def _is_named(key: object, test: str) -> bool:
    """Say whether a test writes the key of a table."""
    return re.search(rf"(?<!\w){re.escape(repr(key))}(?!\w)", test.replace('"', "'")) is not None


def _own(function: FunctionNode) -> list[ast.AST]:
    given = function.args
    body = (node for node in own_nodes(function) if not _is_text_alone(node))
    return [*body, *given.defaults, *filter(None, given.kw_defaults)]


def _is_text_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and is_docstring(node)


def _of_class(tree: ast.AST, function: FunctionNode) -> list[ast.AST]:
    """The values of class attributes that it reads."""
    read = {dotted(n) for n in own_nodes(function) if isinstance(n, ast.Attribute)}
    found: list[ast.AST] = []
    for owner in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        names = {owner.name, *(("self", "cls") if function in owner.body else ())}
        attributes = {name.partition(".")[2] for name in read if name.partition(".")[0] in names}
        found += _assigned(owner.body, attributes)
    return found


def _of_module(tree: ast.AST, function: FunctionNode) -> list[ast.AST]:
    """The values of the module's names that it reads."""
    names = {n.id for n in own_nodes(function) if isinstance(n, ast.Name)}
    return _assigned(getattr(tree, "body", ()), names - set(bound_in(function)))


def _assigned(body: Sequence[ast.stmt], names: set[str]) -> list[ast.AST]:
    return [
        statement.value
        for statement in body
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
        if names.intersection(target.id for target in targets(statement))
    ]


def _entries(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
    """Yield the entries of tables in ``node``: keys, and each part of what stands there."""
    for table in ast.walk(node):
        if isinstance(table, ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                if isinstance(key, ast.Constant):
                    yield from ((key.value, n) for n in ast.walk(value) if isinstance(n, ast.expr))


def _edit(text: Text, node: ast.Constant, value: Scalar) -> TextEdit | None:
    own = text.of(node)
    written = _written(value, own)
    if written == own:
        return None
    return text.replace(node, written, f"{brief(own)} to {brief(written)}")


def _near(value: object) -> Iterator[Scalar]:
    """Yield the other truth value; the numbers one more and one less."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)


def _solved(value: object, sides: Sequence[Sides]) -> Iterator[Scalar]:
    """Yield the values with which what was computed may become what is expected, each once."""
    found: dict[Scalar, None] = {}
    for computed, expected in sides:
        if isinstance(value, str) and isinstance(computed, str) and isinstance(expected, str):
            found |= dict.fromkeys(filter(None, _exchanged(value, computed, expected)))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers = _moved(value, computed, expected)
            found |= dict.fromkeys(number for number in numbers if _is_short(number))
    yield from found


def _moved(value: float, computed: Scalar, expected: Scalar) -> Iterator[float]:
    """Yield the numbers that turn one into the other as a factor, and as a summand."""
    if not isinstance(computed, str) and not isinstance(expected, str):
        if computed and value:
            yield _like(value, value * expected / computed)
        yield _like(value, value + expected - computed)


def _like(value: float, other: float) -> float:
    other = round(other, MAX_DIGITS)
    return int(other) if isinstance(value, int) and other == int(other) else other


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
    start = next((i for i, (x, y) in enumerate(zip(shown, wanted, strict=False)) if x != y), None)
    start = min(len(shown), len(wanted)) if start is None else start
    tails = zip(reversed(shown[start:]), reversed(wanted[start:]), strict=False)
    same = next((i for i, (x, y) in enumerate(tails) if x != y), None)
    same = min(len(shown), len(wanted)) - start if same is None else same
    for before, behind in ((0, 0), (1, 0), (0, 1), (1, 1)):  # characters of what surrounds it
        head, tail = start - before, same - behind
        if head >= 0 <= tail:
            old, new = shown[head : len(shown) - tail], wanted[head : len(wanted) - tail]
            if old and value.count(old) == 1:
                yield value.replace(old, new)


def _written(value: object, own: str) -> str:
    if not isinstance(value, str):
        return repr(value) if not isinstance(value, (int, float)) or value >= 0 else f"({value!r})"
    quoted = repr(value)
    is_plain = own.startswith('"') and not own.startswith('"""') and '"' not in value
    return f'"{quoted[1:-1]}"' if is_plain and quoted.startswith("'") else quoted
