"""The conditions under which code refuses to go on."""

from __future__ import annotations

import ast
from typing import TypeAlias

from pytest_bayesloc.domain.source import FunctionNode

_INVERSE: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.GtE(),
    ast.LtE: ast.Gt(),
    ast.Gt: ast.LtE(),
    ast.GtE: ast.Lt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
Spanned: TypeAlias = ast.stmt | ast.expr


def guarding(
    function: ast.AST, line: int, *, refusing: tuple[type[ast.stmt], ...] = (ast.Raise,)
) -> list[ast.expr]:
    """The condition of the ``if`` right around the ``raise`` at ``line``, or of the ``assert``.

    Behind it those of the statements around it; empty if nothing guards the line directly.

    Args:
        function: Or another scope.
        line: One of its own.
        refusing: The statements that count as a ``raise``.
    """
    around: list[ast.expr] = []
    found: list[ast.expr] = []
    for node in ast.walk(function):  # outer statements come before inner ones
        if isinstance(node, ast.If) and spans(node, line):
            around.insert(0, node.test)
            inside = (*node.body, *node.orelse)
            if any(isinstance(s, refusing) and spans(s, line) for s in inside):
                found = around
        elif isinstance(node, ast.While) and spans(node, line):
            around.insert(0, node.test)
        elif isinstance(node, ast.Assert) and spans(node, line):
            found = [node.test, *around]
    return found


def demanded(function: ast.AST, line: int) -> str:
    """Returns what must hold for the ``raise`` or ``assert`` at ``line`` not to fire, if anything.

    ``if n < 2 * k: raise ...`` demands ``n >= 2 * k``.
    """
    conditions = guarding(function, line)
    if not conditions:
        return ""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) and spans(node, line):
            return ast.unparse(conditions[0])
        if isinstance(node, ast.If) and node.test is conditions[0]:
            refuses = any(spans(statement, line) for statement in node.body)
            return ast.unparse(conditions[0] if not refuses else negated(conditions[0]))
    return ""


def only_raises(function: ast.AST) -> bool:
    """Whether ``function`` never returns: it ends in a ``raise``, and returns and yields nothing.

    An abstract method, say, or a helper that makes the exception. Who calls it decides to raise.
    """
    if not isinstance(function, FunctionNode) or not isinstance(function.body[-1], ast.Raise):
        return False
    return not any(isinstance(node, _RESULTS) for node in ast.walk(function))


_RESULTS = (ast.Return, ast.Yield, ast.YieldFrom)


def negated(condition: ast.expr) -> ast.expr:
    """The opposite of ``condition``, without a ``not`` where there is a plainer way."""
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return condition.operand
    if isinstance(condition, ast.Compare) and len(condition.ops) == 1:
        inverse = _INVERSE[type(condition.ops[0])]
        return ast.Compare(condition.left, [inverse], condition.comparators)
    if isinstance(condition, ast.BoolOp):
        other = ast.And() if isinstance(condition.op, ast.Or) else ast.Or()
        return ast.BoolOp(other, [negated(value) for value in condition.values])
    return ast.UnaryOp(ast.Not(), condition)


def spans(node: Spanned, line: int) -> bool:
    """Whether ``line`` is one of the lines of ``node``."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)
