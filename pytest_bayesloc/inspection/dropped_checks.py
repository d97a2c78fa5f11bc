"""Edits that make a test pass since the check that refused its data is gone repair nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_bayesloc.domain.inspection import InspectionPatch
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, SourceMap
from pytest_bayesloc.ranking.evidence.guards import Guard


def drops_check(patch: InspectionPatch, guard: Guard) -> bool:
    """Say whether ``patch`` drops ``guard``, turns it round, or no longer calls it.

    Another limit or constant in its condition is a repair of the check, and counts.
    """
    before = _function(patch.original, patch.target)
    after = _function(patch.patched, patch.target)
    if before is None or after is None:
        return False
    name = guard.function.qualname.rpartition(".")[2]
    if patch.target != guard.function:
        return _n_calls(after, name) < _n_calls(before, name)
    old = [test for test in _checks(before) if ast.unparse(test) == guard.condition]
    if not old:  # code of a library refused
        return guard.condition in ast.unparse(before) and guard.condition not in ast.unparse(after)
    kept = [_shape(test) for test in _checks(after)]
    return _shape(old[0]) not in kept


def _function(text: str, target: Location) -> ast.AST | None:
    source = SourceMap(text, target.file)
    named = (u.node for u in source.units if u.location.qualname == target.qualname)
    return next((node for node in named if isinstance(node, FunctionNode)), None)


def _n_calls(function: ast.AST, name: str) -> int:
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    named = (f.id if isinstance(f, ast.Name) else getattr(f, "attr", "") for f in calls)
    return sum(called == name for called in named)


def _checks(function: ast.AST) -> Iterator[ast.expr]:
    """Yield the conditions under which ``function`` refuses to go on."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) or (
            isinstance(node, ast.If)
            and any(isinstance(statement, ast.Raise) for statement in (*node.body, *node.orelse))
        ):
            yield node.test


_LIMITS = {"LtE": "Lt", "GtE": "Gt"}


def _shape(test: ast.expr) -> tuple[str, ...]:
    """Return the parts of a condition, its names and constants left out."""
    kinds = (type(node).__name__ for node in ast.walk(test) if not isinstance(node, ast.Constant))
    return tuple(_LIMITS.get(kind, kind) for kind in kinds)
