"""Coroutines that are made and never awaited, by the warning that Python gives of them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.cause import Cause, CauseKind
from pytest_bayesloc.domain.source import called_name, nodes_inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_bayesloc.domain.source import Unit

_NEVER_AWAITED = re.compile(r"coroutine (?:object |')([\w.<>]+)'?(?: was never awaited| at 0x)")


def never_awaited(
    warned: str, executed: Iterable[Unit], own_file: Iterable[Unit] = ()
) -> Cause | None:
    """Return the cause by what Python ``warned`` of in a test: the call that lacks an ``await``.

    An error that shows a coroutine in the place of a value tells it as well. The call is looked for
    in the functions that the test ``executed``; if it is in none of them, what pytest itself calls
    is looked for in the test's ``own_file``.
    """
    found = _NEVER_AWAITED.search(warned)
    name = found[1].rpartition(".")[2] if found else ""
    calls = [
        (unit, call)
        for unit in (executed if name else ())
        for call in _dropped(unit.node, name, is_test=unit.location.is_test)
    ]
    if not calls:
        return _called_by_others(found[1], own_file) if found else None
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


def _called_by_others(qualname: str, own_file: Iterable[Unit]) -> Cause | None:
    """Return the cause for a coroutine function of the tests that pytest or unittest calls."""
    for unit in own_file:
        where = unit.location
        if where.qualname == qualname:
            return Cause(
                kind=CauseKind.NEVER_AWAITED,
                text=f"{qualname} ({where.file}:{where.start_line}) is a coroutine function, and "
                "what calls it does not await it",
                advice="make it a plain function, or one that is awaited (asyncSetUp)",
                location=where,
                line=where.start_line,
                state=qualname,
            )
    return None


def _dropped(scope: ast.AST, name: str, *, is_test: bool) -> Iterator[ast.Call]:
    """Yield the calls of ``name`` that are neither awaited, nor handed on, nor returned.

    Tests hold their coroutines within them.
    """
    inside = [*(ast.walk(scope) if is_test else nodes_inside(scope))]
    kept = {
        id(part)
        for node in inside
        if isinstance(node, (ast.Await, ast.Return, ast.Yield))
        or (isinstance(node, ast.Call) and called_name(node) != name)
        for part in ast.walk(node)
    }
    for node in inside:
        if isinstance(node, ast.Call) and called_name(node) == name and id(node) not in kept:
            yield node
