"""The values that were wrong when a test failed: of the check that refused, or the comparison."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_bayesloc.domain.source import SourceMap, Unit, guarding, spans
from pytest_bayesloc.domain.texts import as_python_reads
from pytest_bayesloc.rerun.contents import contents_of, is_object
from pytest_bayesloc.rerun.origins import MISSING, Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import CodeType, FrameType, TracebackType

    from pytest_bayesloc.rerun.flow import Activation, FlowTracer

MAX_CHAIN = 5
MAX_ROOTS = 24
TEXT_LIMIT = 80


@dataclass(kw_only=True)
class WrongValues:
    """The failure of a test, with the values that it is about.

    Attributes:
        user: The call of the project's function that raised or was left by foreign code.
        line: Its line.
        condition: What the check tests, or the call that was refused.
        roots: The values.
    """

    user: Activation
    line: int
    condition: str = ""
    roots: list[Root] = field(default_factory=list)


def wrong_values(
    error: BaseException, tracer: FlowTracer, is_ours: Callable[[str], bool]
) -> WrongValues | None:
    """Return the values that were refused; None if none was, or the call was not noted.

    Args:
        error: That a test failed with.
        tracer: Noted the test.
        is_ours: Whether a file belongs to the project or its tests.
    """
    for cause in _deepest_first(error, is_ours):
        frames = list(_frames(cause.__traceback__))
        at = _last_own(frames, is_ours)
        user = tracer.activation(frames[at][0]) if at >= 0 else None
        if user is not None:
            callee = frames[at + 1][0] if at + 1 < len(frames) else None
            failure = _Failure(cause, user, *frames[at], callee)
            return (_own if callee is None else _foreign)(failure, tracer)
    return None


class _Failure(NamedTuple):
    """An exception, the last call of the project on its way, and the foreign one behind that."""

    error: BaseException
    user: Activation
    frame: FrameType
    line: int
    callee: FrameType | None


def _deepest_first(error: BaseException, is_ours: Callable[[str], bool]) -> list[BaseException]:
    """Return the exceptions that ``error`` was raised from, the first one first."""
    chain = [error]
    while len(chain) < MAX_CHAIN:
        inner = _reason(chain[-1], is_ours)
        if inner is None or any(inner is known for known in chain):
            break
        chain.append(inner)
    return chain[::-1]


def _reason(error: BaseException, is_ours: Callable[[str], bool]) -> BaseException | None:
    """Return what ``error`` was raised for: by ``from``, or in the very function that caught it."""
    context = error.__context__
    if error.__cause__ is not None or context is None:
        return error.__cause__
    frames, caught = list(_frames(error.__traceback__)), list(_frames(context.__traceback__))
    at = _last_own(frames, is_ours)
    is_direct = at >= 0 and bool(caught) and frames[at][0] is caught[0][0]
    return context if is_direct else None


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _last_own(frames: Sequence[tuple[FrameType, int]], is_ours: Callable[[str], bool]) -> int:
    """Return the index of the last frame of the project; -1 if there is none."""
    own = (i for i in reversed(range(len(frames))) if is_ours(frames[i][0].f_code.co_filename))
    return next(own, -1)


def _foreign(failure: _Failure, tracer: FlowTracer) -> WrongValues | None:
    """Take what foreign code was called with, if it says that a value is wrong."""
    kind = type(failure.error)
    if not issubclass(kind, ValueError) and "Valid" not in kind.__name__:
        return None
    calls = _calls(_unit(failure.frame.f_code), failure.line)
    roots = _with_parts(
        root for call in calls for root in _paths(call, failure.frame, failure.user, tracer)
    )
    return WrongValues(
        user=failure.user,
        line=failure.line,
        condition=_brief(calls),
        roots=roots[:MAX_ROOTS],
    )


def _own(failure: _Failure, tracer: FlowTracer) -> WrongValues | None:
    """Take what the condition of the check speaks of."""
    frame, user, line = failure.frame, failure.user, failure.line
    unit = _unit(frame.f_code)
    conditions = guarding(unit.node, line) if unit is not None else []
    if not conditions:
        return None
    return WrongValues(
        user=user,
        line=line,
        condition=ast.unparse(conditions[0]),
        roots=_with_parts(_paths(conditions[0], frame, user, tracer))[:MAX_ROOTS],
    )


def _paths(node: ast.AST, frame: FrameType, user: Activation, tracer: FlowTracer) -> Iterator[Root]:
    """Yield the values of the names and attributes that ``node`` speaks of."""
    seen: set[str] = set()
    for chain in _chains(node):
        text = ".".join(chain)
        if text not in seen:
            seen.add(text)
            root = _value_of(chain, frame, user, tracer)
            if root is not None:
                yield root


def _chains(node: ast.AST) -> Iterator[list[str]]:
    """Yield ``self.knots`` as a list of names; of what is called, only what it is called on."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield from _chains(node.func.value)
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from _chains(part)
        return
    names = _chain(node)
    if names:
        yield names
        return
    for child in ast.iter_child_nodes(node):
        yield from _chains(child)


def _chain(node: ast.AST) -> list[str]:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def _value_of(
    chain: list[str], frame: FrameType, user: Activation, tracer: FlowTracer
) -> Root | None:
    """Follow attributes as far as they can be read without running code."""
    name, *attributes = chain
    value: Any = frame.f_locals.get(name, MISSING)
    if value is MISSING:
        return None  # a constant or a function
    holder: object = MISSING
    key, label = "", name
    for attribute in attributes:
        held = contents_of(value) or {}
        if attribute in held:
            holder, key, value = value, attribute, held[attribute]
        else:  # a property
            result = _property(attribute, user, tracer)
            if result is None:
                break
            holder, key, value = MISSING, "", result.result
        label = f"{label}.{attribute}"
    return Root(label=label, value=value, user=user, holder=holder, key=key)


def _with_parts(roots: Iterable[Root]) -> list[Root]:
    """Return ``roots`` with the attributes of objects in their place, also of a list's elements."""
    found: list[Root] = []
    for root in roots:
        if not is_object(root.value):
            found.append(root)
        held = contents_of(root.value) or {}
        parts = held.values() if not is_object(root.value) else (root.value,)
        for part in parts:
            if is_object(part):
                found += [
                    Root(
                        label=f"{root.label}.{key}",
                        value=value,
                        user=root.user,
                        holder=part,
                        key=key,
                        is_part=True,
                    )
                    for key, value in (contents_of(part) or {}).items()
                ]
    return found


def _property(name: str, user: Activation, tracer: FlowTracer) -> Activation | None:
    calls = [a for a in tracer.activations if a.caller is user and a.code.co_name == name]
    return calls[-1] if calls and calls[-1].has_result else None


def _calls(unit: Unit | None, line: int) -> list[ast.Call]:
    """Return the calls at ``line``, the outermost first."""
    nodes = () if unit is None else ast.walk(unit.node)
    return [node for node in nodes if isinstance(node, ast.Call) and spans(node, line)]


def _brief(calls: Sequence[ast.Call]) -> str:
    return ast.unparse(calls[0])[:TEXT_LIMIT] if calls else ""


@lru_cache(maxsize=32)
def _map(filename: str) -> SourceMap | None:
    try:
        return SourceMap(as_python_reads(Path(filename).read_bytes()), filename)
    except (OSError, SyntaxError, ValueError):
        return None


def _unit(code: CodeType) -> Unit | None:
    source = _map(code.co_filename)
    name = getattr(code, "co_qualname", code.co_name)
    return None if source is None else source.unit_of_code(code.co_firstlineno, name)
