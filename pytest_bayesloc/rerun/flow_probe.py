"""The pytest plugin that follows the wrong value of a failing test, in the child of a server.

The value is that of the check that refused, or of the comparison.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.domain.location import code_name
from pytest_bayesloc.domain.source import SourceMap, Unit
from pytest_bayesloc.domain.texts import as_python_reads
from pytest_bayesloc.rerun.contents import contents_of, is_object
from pytest_bayesloc.rerun.fence import Real
from pytest_bayesloc.rerun.flow import ARGUMENT_LEVELS, MISSING, FlowTracer, Origins, Root
from pytest_bayesloc.syntax.expressions import guarding
from pytest_bayesloc.syntax.nodes import spans

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from types import CodeType, FrameType

    from pytest_bayesloc.rerun.flow import Activation, Occurrence
    from pytest_bayesloc.rerun.link import Message


MAX_CHAIN = 5
MAX_ROOTS = 24
TEXT_LIMIT = 80


@dataclass(kw_only=True)
class WrongValues:
    """The failure of a test, with the values that it is about.

    Attributes:
        user: The call of the project's function that raised or was left by foreign code.
        condition: What the check tests, or the call that was refused.
    """

    user: Activation
    line: int
    condition: str = ""
    roots: list[Root] = field(default_factory=list)


def wrong_values(error: BaseException, tracer: FlowTracer) -> WrongValues | None:
    """Return the values that ``error`` refused; None if it refused none, or nothing was noted."""
    for cause in _deepest_first(error, tracer.is_ours):
        frames = list(walk_tb(cause.__traceback__))
        at = _last_own(frames, tracer.is_ours)
        user = tracer.activation(frames[at][0]) if at >= 0 else None
        if user is not None:
            frame, line = frames[at]
            is_foreign = at + 1 < len(frames)
            unit = _unit(frame.f_code)
            if is_foreign:
                nodes = _refused_calls(cause, unit, line)
            else:  # the condition of the check
                nodes = (guarding(unit.node, line)[:1] if unit is not None else []) or None
            if nodes is None:
                return None
            roots = (root for node in nodes for root in _paths(node, frame, user, tracer))
            text = ast.unparse(nodes[0]) if nodes else ""
            return WrongValues(
                user=user,
                line=line,
                condition=text[:TEXT_LIMIT] if is_foreign else text,
                roots=_with_parts(roots)[:MAX_ROOTS],
            )
    return None


def _deepest_first(error: BaseException, is_ours: Callable[[str], bool]) -> list[BaseException]:
    """Return the exceptions that ``error`` was raised from, the first one first.

    One was raised for another by ``from``, or in the very function that caught the other.
    """
    chain = [error]
    while len(chain) < MAX_CHAIN:
        inner, context = chain[-1].__cause__, chain[-1].__context__
        if inner is None and context is not None:
            frames = list(walk_tb(chain[-1].__traceback__))
            caught = list(walk_tb(context.__traceback__))
            at = _last_own(frames, is_ours)
            is_direct = at >= 0 and bool(caught) and frames[at][0] is caught[0][0]
            inner = context if is_direct else None
        if inner is None or any(inner is known for known in chain):
            break
        chain.append(inner)
    return chain[::-1]


def _last_own(frames: Sequence[tuple[FrameType, int]], is_ours: Callable[[str], bool]) -> int:
    """Return the index of the last frame of the project; -1 if there is none."""
    own = (i for i in reversed(range(len(frames))) if is_ours(frames[i][0].f_code.co_filename))
    return next(own, -1)


def _refused_calls(error: BaseException, unit: Unit | None, line: int) -> Sequence[ast.expr] | None:
    """Return the calls of foreign code at ``line``, the outermost first.

    None if the error does not say that a value is wrong.
    """
    kind = type(error)
    if not issubclass(kind, ValueError) and "Valid" not in kind.__name__:
        return None
    nodes = () if unit is None else ast.walk(unit.node)
    return [node for node in nodes if isinstance(node, ast.Call) and spans(node, line)]


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
    names: list[str] = []
    owner = node
    while isinstance(owner, ast.Attribute):
        names.insert(0, owner.attr)
        owner = owner.value
    if isinstance(owner, ast.Name):
        yield [owner.id, *names]
        return
    for child in ast.iter_child_nodes(node):
        yield from _chains(child)


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
            own = (a for a in tracer.activations if a.caller is user)
            calls = [a for a in own if a.code.co_name == attribute]
            if not calls or calls[-1].result is MISSING:
                break
            holder, key, value = MISSING, "", calls[-1].result
        label = f"{label}.{attribute}"
    return Root(label, value, user, holder=holder, key=key)


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
                for key, value in (contents_of(part) or {}).items():
                    label = f"{root.label}.{key}"
                    found.append(Root(label, value, root.user, holder=part, key=key, is_part=True))
    return found


@lru_cache(maxsize=32)
def _map(filename: str) -> SourceMap | None:
    try:
        return SourceMap(as_python_reads(Path(filename).read_bytes()), filename)
    except (OSError, SyntaxError, ValueError):
        return None


def _unit(code: CodeType) -> Unit | None:
    source = _map(code.co_filename)
    if source is None:
        return None
    return source.unit_of_code(code.co_firstlineno, code_name(code))


MAX_MAKERS = 300  # that a message speaks of
_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules"})


class FileNames:
    """Names the project's files; ``files`` has names, relative to the main run's root, by paths."""

    def __init__(self, root: str, files: Mapping[str, str]) -> None:
        self._root = Real.realpath(root)
        self._files = {Real.realpath(path): file for path, file in files.items()}
        self._names: dict[str, str] = {}

    def name(self, filename: str) -> str:
        """The name of a file of the project, relative to its root; empty if it is none."""
        known = self._names.get(filename)
        if known is not None:
            return known
        name, is_code = "", Real.isabs(filename) and filename.endswith(".py")
        path = Real.realpath(filename) if is_code else ""
        if path in self._files:
            name = self._files[path]
        elif is_code:
            parts = PurePath(Real.relpath(path, self._root)).parts
            is_foreign = ".." in parts or any(p.startswith(".") or p in _FOREIGN for p in parts)
            name = "" if is_foreign else "/".join(parts)
        self._names[filename] = name
        return name


class FlowProbe:
    """Follows one test at a time, and says what came of it; files that have no name are foreign."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name
        self._tracer = FlowTracer(lambda filename: bool(name(filename)))
        self._found: Message = {}
        self._n_makers = 0

    def start(self) -> None:
        """Begin a test."""
        self._found, self._n_makers = {}, 0
        self._tracer.start()

    def stop(self) -> Message:
        """End the test; empty if it did not fail, or its wrong value can't be followed."""
        self._tracer.stop()
        return self._found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Look at the exception once other plugins have it from their own runners."""
        self._tracer.stop()
        report = yield
        if call.excinfo is not None and call.when != "teardown" and not self._found:
            wrong = None if self._tracer.is_cut else wrong_values(call.excinfo.value, self._tracer)
            self._found = self._message(wrong) if wrong is not None else {}
        elif call.when != "teardown":
            self._tracer.resume()
        return report

    def _message(self, wrong: WrongValues) -> Message:
        """Return the fields of ``domain.recording.ValueFlow`` that are known here."""
        origins = Origins(self._tracer)
        return {
            "user": self._frame(wrong.user, wrong.line),
            "condition": wrong.condition,
            "values": [
                {
                    "label": root.label,
                    "makers": self._makers(origins, origins.of_root(root), ARGUMENT_LEVELS),
                    "giver": self._frame(*origins.giver(root)),
                    "is_part": root.is_part,
                }
                for root in wrong.roots
            ],
        }

    def _makers(
        self, origins: Origins, occurrences: Sequence[Occurrence], levels: int
    ) -> list[Message]:
        found: list[Message] = []
        for occurrence in occurrences:
            maker = occurrence.maker
            self._n_makers += 1
            if self._n_makers > MAX_MAKERS:
                continue
            given = origins.arguments(maker) if levels else ()
            found.append(
                {
                    "frame": self._frame(maker, occurrence.line),
                    "key": str(occurrence.key),
                    "is_held": occurrence.is_held,
                    "arguments": {n: self._makers(origins, own, levels - 1) for n, own in given},
                }
            )
        return found

    def _frame(self, call: Activation | None, line: int) -> Message | None:
        """Return the fields of ``domain.failure.Frame`` for a line of ``call``."""
        if call is None:
            return None
        code = call.code
        return {
            "file": self._name(code.co_filename),
            "line": line or code.co_firstlineno,
            "name": code_name(code),
            "first_line": code.co_firstlineno,
            "in_app": True,
        }
