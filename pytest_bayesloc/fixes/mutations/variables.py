"""Finds the variable, or the default of a parameter, that holds an edited constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from pytest_bayesloc.domain.inspection import OtherValue
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, SourceMap, Unit, edited
from pytest_bayesloc.fixes.side_effects import PURE, aliases, full_name, is_pure
from pytest_bayesloc.fixes.syntax import functions_in, nodes_of, targets, tree_of


def other_value(source: SourceMap, after: str, line: int) -> tuple[Location, OtherValue] | None:
    """Return the location that holds the constant of an edit, and the value that it gets.

    None if it is held by no variable of a module or class and is no default, or if the value calls
    what may do more than compute.

    Args:
        source: The file.
        after: Its text with another constant.
        line: Of that.
    """
    for unit in source.units:
        held = _default(source, unit, after, line) or _variable(source, unit, after, line)
        if held is not None:
            value, expression = held
            outer = unit.outer if isinstance(unit.node, FunctionNode) else unit
            known = aliases(source.module.node)
            if outer is not None and _only_computes(expression, known):
                return outer.location, value
    return None


def _variable(
    source: SourceMap, unit: Unit, after: str, line: int
) -> tuple[OtherValue, ast.expr] | None:
    if unit.is_function:
        return None
    for node in getattr(unit.node, "body", ()):
        names = [target.id for target in targets(node)]
        if len(names) == 1 and node.lineno <= line <= node.end_lineno:
            place = replace(unit.location, start_line=node.lineno, end_line=node.end_lineno)
            tree = tree_of(edited(source.text, after, place))
            nodes = ast.walk(tree) if tree is not None else ()
            value = next((n.value for n in nodes if isinstance(n, _ASSIGNED)), None)
            owner = "" if unit.outer is None else unit.location.qualname
            if value is not None:
                return OtherValue(owner=owner, name=names[0], text=ast.unparse(value)), value
    return None


_ASSIGNED = ast.Assign | ast.AnnAssign


def _default(
    source: SourceMap, unit: Unit, after: str, line: int
) -> tuple[OtherValue, ast.expr] | None:
    old = unit.node
    if not isinstance(old, FunctionNode) or not unit.first_line <= line < unit.body_line:
        return None
    tree = tree_of(edited(source.text, after, unit.location))
    new = next(iter(functions_in(tree)), None) if tree else None
    if new is None:
        return None
    named = zip([*_defaults(old)], [*_defaults(new)], strict=True)
    for (name, before), (_, value) in named:
        if ast.dump(before) != ast.dump(value):
            qualname, first_line = unit.location.qualname, unit.first_line
            text = ast.unparse(value)
            held = OtherValue(owner=qualname, name=name, text=text, first_line=first_line)
            return held, value
    return None


def _defaults(function: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters that have a default, each with it."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    own = zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True)
    for parameter, value in chain(own, zip(given.kwonlyargs, given.kw_defaults, strict=True)):
        if value is not None:
            yield parameter.arg, value


#: Built-ins that make a value of others.
_MAKES = frozenset(
    {"bool", "bytes", "dict", "float", "frozenset", "int", "list", "range", "set", "str", "tuple"}
)


def _only_computes(value: ast.expr, known: Mapping[str, str]) -> bool:
    """Say whether all that an expression calls is harmless.

    Args:
        value: The expression.
        known: Dotted names of what the file imports.
    """
    for call in nodes_of(value, ast.Call):
        name = full_name(call.func, known)
        is_plain = name in _MAKES or (name.partition(".")[0] in PURE and is_pure(name))
        if not is_plain:
            return False
    return not any(isinstance(node, _SUSPENDS) for node in ast.walk(value))


_SUSPENDS = ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
