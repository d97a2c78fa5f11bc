"""Who made the value that a guard refused: the frames of a traceback, read backwards.

A guard is a ``raise`` under an ``if``, or an ``assert``, whose condition speaks of the function's
own parameters. The code that raises is right to; the value's owner is the suspect.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.source import FunctionNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_bayesloc.domain.failure import Failure, Frame
    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.source import SourceMap, Unit

    ReadMap = Callable[[str], SourceMap | None]

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__call__"})
BUILTINS = frozenset(dir(builtins))
MAX_HOPS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A refusal and who has to answer for it.

    Attributes:
        function: The function that raised.
        condition: Source text of what it tests.
        owner: Where the refused value was made.
        line: Line of the owner where the value is handed over.
        value: Source text of the value.
        in_fixture: Whether the owner is a fixture.
    """

    function: Location
    condition: str
    owner: Location
    line: int
    value: str
    in_fixture: bool = False


def refusal(failure: Failure, read: ReadMap) -> Guard | None:
    """The guard that ended ``failure`` and the owner of the refused value, if both are plain."""
    frames = [frame for frame in failure.frames if not frame.file.startswith("<")]
    if not frames or not frames[-1].in_app or frames[-1].is_test:
        return None
    unit = _unit(frames[-1], read)
    if unit is None or not isinstance(unit.node, FunctionNode):
        return None
    condition = _guarding(unit.node, frames[-1].line)
    if condition is None:
        return None
    refused = _parameters_in(condition, unit.node)
    if not refused:
        return None
    owner = _Owner(failure, read).find(frames[:-1], unit, refused)
    if owner is None:
        return None
    where, line, value, in_fixture = owner
    return Guard(
        function=unit.location,
        condition=ast.unparse(condition),
        owner=where,
        line=line,
        value=value,
        in_fixture=in_fixture,
    )


def _unit(frame: Frame, read: ReadMap) -> Unit | None:
    source = read(frame.file)
    return None if source is None else source.unit_of_code(frame.first_line, frame.name)


def _guarding(function: ast.AST, line: int) -> ast.expr | None:
    """The condition of the ``if`` right around the ``raise`` at ``line``, or of the ``assert``."""
    for node in ast.walk(function):
        if isinstance(node, ast.If):
            for statement in (*node.body, *node.orelse):
                if isinstance(statement, ast.Raise) and _spans(statement, line):
                    return node.test
        elif isinstance(node, ast.Assert) and _spans(node, line):
            return node.test
    return None


def _spans(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _argument_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    a = function.args
    return [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


def _parameters_in(
    condition: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> set[str]:
    """The parameters that ``condition`` depends on; empty if it depends on more than them.

    ``self.x`` counts as parameter ``x`` of a constructor, where it was just set from it.
    """
    arguments = set(_argument_names(function))
    made = _assignments(function)
    found: set[str] = set()
    for name in _names(condition) - BUILTINS:
        roots = _roots(name, made, arguments, 0)
        if roots is None:
            return set()
        found |= roots
    if function.name in CONSTRUCTORS and "self" in found:
        found |= {
            node.attr
            for node in ast.walk(condition)
            if isinstance(node, ast.Attribute) and _is_self(node.value)
        }
    return found - {"self", "cls"}


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _assignments(function: ast.AST) -> dict[str, list[ast.expr]]:
    made: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets, value = [node.target], node.value
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            targets, value = [node.target], node.iter
        for target in targets:
            for name in _names(target):
                if value is not None:
                    made.setdefault(name, []).append(value)
    return made


def _roots(
    name: str, made: dict[str, list[ast.expr]], arguments: set[str], hops: int
) -> set[str] | None:
    """The parameters that local ``name`` was made of by built-ins alone; None if by more."""
    if name in arguments:
        return {name}
    if name not in made:
        return set()  # a constant or a type of the module
    if hops > MAX_HOPS:
        return None
    roots: set[str] = set()
    for value in made[name]:
        if not _is_plain(value):
            return None
        for inner in _names(value) - BUILTINS - {name}:
            deeper = _roots(inner, made, arguments, hops + 1)
            if deeper is None:
                return None
            roots |= deeper
    return roots


def _is_plain(value: ast.expr) -> bool:
    """Whether ``value`` calls nothing but built-in functions and types."""
    return all(
        isinstance(node.func, ast.Name) and node.func.id in BUILTINS
        for node in ast.walk(value)
        if isinstance(node, ast.Call)
    )


_Found = tuple["Location", int, str, bool]


class _Owner:
    """Follows refused parameters from frame to frame, outward."""

    def __init__(self, failure: Failure, read: ReadMap) -> None:
        self._fixtures = {w.qualname: w for w in failure.test_locations[1:]}
        self._read = read

    def find(self, frames: Sequence[Frame], callee: Unit, refused: set[str]) -> _Found | None:
        for frame in reversed(frames):
            unit = _unit(frame, self._read) if frame.in_app else None
            if unit is None:
                return None
            values = _handed_over(unit, frame.line, callee, refused)
            if not values:
                return None
            passed_on = self._passed_on(unit, values)
            if passed_on is None:
                return self._made_here(unit, frame, values)
            if passed_on and not frame.is_test:
                callee, refused = unit, passed_on
                continue
            return self._made_in_test(unit, frame, values, passed_on)
        return None

    def _passed_on(self, unit: Unit, values: Sequence[ast.expr]) -> set[str] | None:
        """Parameters of ``unit`` that the values come from; None if code made them."""
        if not isinstance(unit.node, FunctionNode):
            return set()
        arguments, made = set(_argument_names(unit.node)), _assignments(unit.node)
        found: set[str] = set()
        for value in values:
            if not _is_plain(value):
                return None
            for name in _names(value) - BUILTINS:
                roots = _roots(name, made, arguments, 0)
                if roots is None:
                    return None
                found |= roots
        return found - {"self", "cls"}

    def _made_here(self, unit: Unit, frame: Frame, values: Sequence[ast.expr]) -> _Found | None:
        """In code, the maker answers for it; in a test, what it calls may be the maker."""
        if frame.is_test:
            return None
        return unit.location, frame.line, _text(values), False

    def _made_in_test(
        self, unit: Unit, frame: Frame, values: Sequence[ast.expr], passed_on: Iterable[str]
    ) -> _Found | None:
        fixtures = [self._fixtures[name] for name in passed_on if name in self._fixtures]
        if not frame.is_test:
            return unit.location, frame.line, _text(values), False
        if not fixtures:
            return unit.location, frame.line, _text(values), False
        fixture = fixtures[0]
        source = self._read(fixture.file)
        made = source.unit(fixture) if source is not None else None
        if made is None or not all(_is_plain(value) for value in _results(made.node)):
            return None
        return fixture, fixture.start_line, f"fixture {fixture.qualname}", True


def _results(function: ast.AST) -> Iterator[ast.expr]:
    """What a fixture may give away: everything that it returns, yields or assigns."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Return, ast.Yield, ast.Assign)) and node.value is not None:
            yield node.value


def _text(values: Sequence[ast.expr]) -> str:
    return ", ".join(f"`{ast.unparse(value)[:60]}`" for value in values[:2])


def _handed_over(unit: Unit, line: int, callee: Unit, refused: set[str]) -> list[ast.expr]:
    """The argument expressions of the call of ``callee`` at ``line`` that fill ``refused``."""
    calls = [
        node
        for node in ast.walk(unit.node)
        if isinstance(node, ast.Call) and _spans(node, line) and _calls(node, callee)
    ]
    if len(calls) != 1:
        return []
    named = _parameter_order(callee)
    values: list[ast.expr] = []
    for position, value in enumerate(calls[0].args):
        if isinstance(value, ast.Starred):
            return [*values, value.value]
        if position < len(named) and named[position] in refused:
            values.append(value)
    by_name = (k.value for k in calls[0].keywords if k.arg is None or k.arg in refused)
    return [*values, *by_name]


def _calls(call: ast.Call, callee: Unit) -> bool:
    *outer, name = callee.location.qualname.split(".")
    wanted = {name}
    if name in CONSTRUCTORS and outer:
        wanted |= {outer[-1], "cls", "super"}
    function = call.func
    text = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return text in wanted


def _parameter_order(callee: Unit) -> list[str]:
    """Names that positional arguments fill, ``self`` left out."""
    node = callee.node
    if not isinstance(node, FunctionNode):
        return []
    names = _argument_names(node)
    is_method = "." in callee.location.qualname and names[:1] in (["self"], ["cls"])
    return names[1:] if is_method else names
