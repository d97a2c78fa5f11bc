"""Coroutines that are made and never awaited, by the warning that Python gives of them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.cause import Cause, CauseKind
from pytest_bayesloc.domain.source import nodes_inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_bayesloc.domain.source import Unit

_NEVER_AWAITED = re.compile(r"coroutine '([\w.<>]+)' was never awaited")


def never_awaited(warned: str, executed: Iterable[Unit]) -> Cause | None:
    """Return the cause by what Python ``warned`` of in a test: the call that lacks an ``await``.

    It is looked for in the functions that the test ``executed``; None if it is in none of them.
    """
    found = _NEVER_AWAITED.search(warned)
    name = found[1].rpartition(".")[2] if found else ""
    calls = (
        [(unit, call) for unit in executed for call in _dropped(unit.node, name)] if name else []
    )
    if not calls:
        return None
    unit, call = min(calls, key=lambda pair: pair[0].location.is_test)
    where = unit.location
    return Cause(
        kind=CauseKind.NEVER_AWAITED,
        text=f"{name}(...) is called and never awaited in {where.qualname} "
        f"({where.file}:{call.lineno}), so its code does not run",
        advice=f"await it in line {call.lineno}",
        location=where,
        line=call.lineno,
        state=name,
    )


def _dropped(scope: ast.AST, name: str) -> Iterator[ast.Call]:
    """Yield the calls of ``name`` that are neither awaited nor handed on."""
    for node in nodes_inside(scope):
        value = getattr(node, "value", None) if isinstance(node, (ast.Expr, ast.Assign)) else None
        if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == name:
            yield value
