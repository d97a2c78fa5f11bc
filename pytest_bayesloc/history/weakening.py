"""Checks that an edit took out of tests, or made weaker."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pytest_bayesloc.history.changes import name_of, named

if TYPE_CHECKING:
    from pytest_bayesloc.history.changes import Changes

# How much is checked: the exact value, a relation, or that something is there.
EXACT, RELATION, TRUTH = 3, 2, 1
ANY_ERROR = frozenset({"Exception", "BaseException"})


def weakened(changes: Changes) -> frozenset[str]:
    """Return the tests, as ``file qualname``, that check less than they did."""
    found = set()
    for change in changes.files.values():
        before = named(change.before)
        for name, unit in named(change.now).items():
            old = before.get(name)
            is_changed = unit.location in change.changed and unit.location.is_test
            if old is not None and is_changed and _total(unit.node) < _total(old.node):
                found.add(name_of(unit.location))
    return frozenset(found)


def _total(function: ast.AST) -> int:
    return sum(map(_strength, ast.walk(function)))


def _strength(node: ast.AST) -> int:
    """Return how much one statement or call of a test checks; 0 if it checks nothing."""
    if isinstance(node, ast.Assert):
        return _of_condition(node.test)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return 0
    name = node.func.attr
    if name == "raises":
        is_any = any(isinstance(arg, ast.Name) and arg.id in ANY_ERROR for arg in node.args)
        return TRUTH if is_any else RELATION
    if name.startswith("assert"):
        return {"assertEqual": EXACT, "assertTrue": TRUTH}.get(name, RELATION)
    return 0


def _of_condition(test: ast.expr) -> int:
    if isinstance(test, ast.Constant):
        return 0
    if isinstance(test, ast.BoolOp):
        parts = [_of_condition(value) for value in test.values]
        return sum(parts) if isinstance(test.op, ast.And) else min(parts)
    if not isinstance(test, ast.Compare) or isinstance(test.ops[0], ast.IsNot):
        return TRUTH
    return EXACT if isinstance(test.ops[0], (ast.Eq, ast.Is)) else RELATION
