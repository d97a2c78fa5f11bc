"""Code around ``await``: coroutines that lack it, and values that are stale after it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from pytest_bayesloc.domain.failure import Cause, CauseKind
from pytest_bayesloc.domain.source import Unit
from pytest_bayesloc.syntax.nodes import called_name, names_in, nodes_inside, stored_names, walk

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
                "its caller does not await it",
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
    inside = [*(walk(scope) if is_test else nodes_inside(scope))]
    kept = {
        id(part)
        for node in inside
        if isinstance(node, (ast.Await, ast.Return, ast.Yield))
        or (isinstance(node, ast.Call) and called_name(node) != name)
        for part in walk(node)
    }
    for node in inside:
        if isinstance(node, ast.Call) and called_name(node) == name and id(node) not in kept:
            yield node


class StaleRead(NamedTuple):
    """A value that a coroutine function reads before an ``await``, and writes by afterwards.

    Attributes:
        name: A variable, an attribute, or an object of which methods are called.
        line: Where it is read.
        written: Where it is written.
    """

    name: str
    line: int
    written: int


def stale_read(function: ast.AST) -> StaleRead | None:
    """Return what other tasks may have written while ``function`` waits.

    The write depends on the read by a value, or by a condition that was asked before.
    """
    inside = [*nodes_inside(function)]
    shared = {
        n for node in inside if isinstance(node, (ast.Global, ast.Nonlocal)) for n in node.names
    }
    steps: list[ast.stmt | ast.expr] = [n.test for n in inside if isinstance(n, ast.If)]
    steps += [n for n in inside if isinstance(n, (*_ASSIGNS, ast.Expr, ast.Return))]
    steps.sort(key=lambda step: (step.lineno, step.col_offset))
    for i, read in enumerate(steps):
        taken, has_waited = stored_names(read), False
        for write in steps[i:]:
            is_by_value = write is read or bool(taken & names_in(write))
            if is_by_value or isinstance(read, ast.expr):
                written = _written(write, shared) if is_by_value else _stored(write, shared)
                name = next((name for name in written if name in _touched(read)), "")
                if name and (has_waited or (_waits(write) and isinstance(write, _ASSIGNS))):
                    return StaleRead(name, read.lineno, write.lineno)
            if is_by_value:
                taken |= stored_names(write)
            has_waited = has_waited or _waits(write)
    return None


_ASSIGNS = (ast.Assign, ast.AugAssign, ast.AnnAssign)


def _waits(step: ast.AST) -> bool:
    return any(isinstance(node, ast.Await) for node in walk(step))


def _touched(step: ast.AST) -> set[str]:
    """Return the names and attributes that a step reads, with those whose parts it reads."""
    target = step.target if isinstance(step, ast.AugAssign) else None  # that is read, too
    nodes = (n for n in walk(step) if isinstance(n, (ast.Name, ast.Attribute)))
    return {ast.unparse(n) for n in nodes if isinstance(n.ctx, ast.Load) or n is target}


def _stored(step: ast.AST, shared: Collection[str]) -> list[str]:
    """Return the attributes, objects and ``shared`` names that a step stores to."""
    if not isinstance(step, _ASSIGNS):
        return []
    targets = step.targets if isinstance(step, ast.Assign) else [step.target]
    held = [t.value if isinstance(t, ast.Subscript) else t for t in targets]
    is_own = [isinstance(t, ast.Name) and t.id not in shared for t in targets]
    return [ast.unparse(t) for t, own in zip(held, is_own, strict=True) if not own]


def _written(step: ast.AST, shared: Collection[str]) -> list[str]:
    """Return what a step stores to; of a call for its effect, its object and arguments."""
    value = getattr(step, "value", None) if isinstance(step, (ast.Expr, ast.Return)) else None
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call):
        return _stored(step, shared)
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [ast.unparse(node) for node in (*owner, *call.args)]
