"""The owner of a value that a guard refused: the frames of a traceback are read backwards.

A guard is a ``raise`` under an ``if``, or an ``assert``, whose condition speaks of the function's
own parameters. The code that raises is right to; the value's owner is the suspect.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import FunctionNode, ReadMap, Unit, unit_of_frame
from pytest_bayesloc.ranking.evidence.provenance import (
    ASKS,
    BUILDS,
    CONSTRUCTORS,
    MAX_HOPS,
    Values,
    argument_names,
    is_immutable,
    is_plain_call,
    is_self,
)
from pytest_bayesloc.syntax.expressions import guarding, only_raises
from pytest_bayesloc.syntax.nodes import (
    BUILT_IN,
    RECEIVERS,
    called_name,
    names_in,
    nodes_of,
    spans,
    walk,
)

#: In the name of what expects an exception: ``pytest.raises``, ``self.assertRaisesRegex``.
_RAISES = "raises"


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
    """Return the guard that ended ``failure``, with its owner, if both are plain.

    None where the test expects an exception at that line: its data are meant to be refused, and
    what it got is another exception than it should.
    """
    if expects_exception(failure, read):
        return None
    frames = [frame for frame in failure.frames if not frame.file.startswith("<")]
    refusing: tuple[type[ast.stmt], ...] = (ast.Raise,)
    while frames and raises_alone(frames[-1], read):
        frames.pop()
        refusing = (ast.Raise, ast.Expr, ast.Return)
    if not frames or not frames[-1].in_app or frames[-1].is_test:
        return None
    unit = unit_of_frame(frames[-1], read)
    if unit is None or not unit.is_function:
        return None
    conditions = guarding(unit.node, frames[-1].line, refusing=refusing)
    values = Values(unit, read)
    # No condition may depend on more than parameters: on state, or on what code computed.
    if not conditions or values.roots_of(conditions, ASKS) is None:
        return None
    refused = (values.roots(conditions[0], ASKS) or set()) - RECEIVERS
    if not refused:
        return None
    follower = _Owner(failure, read, unit.location, ast.unparse(conditions[0]))
    return follower.find(frames[:-1], unit, refused)


def expects_exception(failure: Failure, read: ReadMap) -> bool:
    """Return whether ``failure`` came up where a test says ``pytest.raises`` or the like."""
    for frame in failure.frames:
        unit = unit_of_frame(frame, read) if frame.is_test else None
        expecting: list[ast.expr] = []
        for node in walk(unit.node) if unit is not None else ():
            if isinstance(node, (ast.With, ast.AsyncWith)) and spans(node, frame.line):
                expecting += [item.context_expr for item in node.items]
            elif isinstance(node, ast.Call) and spans(node, frame.line):
                expecting.append(node)
        calls = [node.func for node in expecting if isinstance(node, ast.Call)]
        if any(_RAISES in ast.unparse(function).lower() for function in calls):
            return True
    return False


def raises_alone(frame: Frame, read: ReadMap) -> bool:
    """Return whether ``frame`` is of code that does nothing but raise: its caller decides that."""
    unit = unit_of_frame(frame, read) if frame.in_app and not frame.is_test else None
    return unit is not None and only_raises(unit.node)


def refusals(failures: Sequence[Failure], read: ReadMap) -> dict[str, Guard]:
    """Return per node id the guard that ended it; equal tracebacks are read once."""
    known: dict[tuple[object, object], Guard | None] = {}
    for failure in failures:
        key = (failure.frames, failure.test_locations)
        if key not in known:
            known[key] = refusal(failure, read)
    found = ((f.node_id, known[f.frames, f.test_locations]) for f in failures)
    return {node_id: guard for node_id, guard in found if guard is not None}


class _Owner:
    """Follows refused parameters from frame to frame, outward."""

    def __init__(self, failure: Failure, read: ReadMap, function: Location, condition: str) -> None:
        self._read = read
        self._guard = partial(Guard, function=function, condition=condition)
        self._test = failure.test_locations[:1]
        self._fixtures: dict[str, Unit] = {}
        for where in failure.test_locations[1:]:
            source = read(where.file)
            unit = None if source is None else source.unit(where)
            if unit is None:
                continue
            # Its decorator may give it another name.
            decorators = getattr(unit.node, "decorator_list", [])
            keywords = (k for d in decorators if isinstance(d, ast.Call) for k in d.keywords)
            given = {
                str(k.value.value)
                for k in keywords
                if k.arg == "name" and isinstance(k.value, ast.Constant)
            }
            for name in given or {unit.location.qualname.rpartition(".")[2]}:
                self._fixtures[name] = unit

    def find(self, frames: Sequence[Frame], callee: Unit, refused: set[str]) -> Guard | None:
        """Return the guard with the owner; None if the value can't be followed to its maker."""
        is_shared = False
        for frame in reversed(frames):
            unit = unit_of_frame(frame, self._read) if frame.in_app else None
            if unit is None:
                return None
            call = _call_of(unit, frame.line, callee)
            values = _handed_over(call, callee, refused, self._read) if call is not None else []
            if call is None or not values:
                return None
            known = Values(unit, self._read, own_only=frame.is_test)
            passed_on = known.roots_of(values, BUILDS if frame.is_test else ASKS)
            if passed_on is None:  # code made it; what a test calls, or another method, may have
                parts = (n for v in values for n in nodes_of(v, ast.expr))
                is_unclear = frame.is_test or any(map(is_self, parts))
                guard = self._guard(owner=unit.location, line=frame.line, value=_text(values))
                return None if is_unclear else guard
            is_shared |= _is_shared(unit, call, values)
            ends = frame.is_test and (unit.location in self._test or not self._test)
            if passed_on and not ends and unit not in self._fixtures.values():
                callee, refused = unit, passed_on
                continue
            if is_shared and not all(is_immutable(value, unit) for value in values):
                return None  # other code that was given it may have changed it
            return self._made_by(unit, frame, values, passed_on)
        return None

    def _made_by(
        self, unit: Unit, frame: Frame, values: Sequence[ast.expr], passed_on: set[str]
    ) -> Guard | None:
        fixtures = [self._fixtures[name] for name in sorted(passed_on) if name in self._fixtures]
        where, line, text = unit.location, frame.line, _text(values)
        in_fixture = unit in self._fixtures.values()
        if frame.is_test and fixtures:
            if len(fixtures) > 1 or not self._makes_its_own(fixtures[0], 0):
                return None
            where = fixtures[0].location
            line, text, in_fixture = where.start_line, f"fixture {where.qualname}", True
        return self._guard(owner=where, line=line, value=text, in_fixture=in_fixture)

    def _makes_its_own(self, fixture: Unit, hops: int) -> bool:
        """Return whether no code under test has a hand in what ``fixture`` gives away."""
        node = fixture.node
        if hops > MAX_HOPS or not isinstance(node, FunctionNode):
            return False
        values = Values(fixture, self._read, own_only=True)
        for statement in node.body:
            for child in walk(statement):
                if isinstance(child, ast.Call) and not is_plain_call(child.func, BUILDS):
                    return False
                given = isinstance(child, (ast.Return, ast.Yield, ast.Assign)) and child.value
                if given and values.roots(given, BUILDS) is None:
                    return False
        used = values.arguments & {n for s in node.body for n in names_in(s)} - {"request", "self"}
        return all(
            name in self._fixtures and self._makes_its_own(self._fixtures[name], hops + 1)
            for name in used
        )


def _is_shared(unit: Unit, handing: ast.Call, values: Sequence[ast.expr]) -> bool:
    """Return whether ``unit`` gave a name in ``values`` to code that may have changed it."""
    names = {name for value in values for name in names_in(value)} - BUILT_IN
    for node in walk(unit.node):
        if not isinstance(node, ast.Call) or node.lineno > handing.lineno:
            continue
        if is_plain_call(node.func, BUILDS) or any(n is handing for n in walk(node)):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node.func, ast.Attribute):
            given.append(node.func.value)
        if names & {name for value in given for name in names_in(value)}:
            return True
    return False


def _text(values: Sequence[ast.expr]) -> str:
    return ", ".join(f"`{ast.unparse(value)[:60]}`" for value in values[:2])


def _call_of(unit: Unit, line: int, callee: Unit) -> ast.Call | None:
    """Return the only call of ``callee`` at ``line``."""
    *outer, name = callee.location.qualname.split(".")
    names = {name, outer[-1], "cls"} if name in CONSTRUCTORS and outer else {name}
    calls = [n for n in nodes_of(unit.node, ast.Call) if spans(n, line)]
    own = [call for call in calls if called_name(call) in names]
    return own[0] if len(own) == 1 else None


def _handed_over(call: ast.Call, callee: Unit, refused: set[str], read: ReadMap) -> list[ast.expr]:
    """Return the argument expressions of ``call`` that fill the parameters ``refused``."""
    named = _parameter_order(callee, read)
    outer, function = callee.location.qualname.split(".")[:-1], call.func
    # A method may be called by its class, with the object as first argument.
    names_self = (
        _first_arguments(callee) == ["self"]
        and isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == outer[-1]
        and function.attr != outer[-1]
    )
    arguments = call.args[1:] if names_self else call.args
    values: list[ast.expr] = []
    for position, value in enumerate(arguments):
        if isinstance(value, ast.Starred):
            return [*values, value.value]
        if position < len(named) and named[position] in refused:
            values.append(value)
    by_name = (k.value for k in call.keywords if k.arg is None or k.arg in refused)
    return [*values, *by_name]


def _first_arguments(callee: Unit) -> list[str]:
    if not isinstance(callee.node, FunctionNode) or "." not in callee.location.qualname:
        return []
    return argument_names(callee.node)[:1]


def _parameter_order(callee: Unit, read: ReadMap) -> list[str]:
    """Return names that positional arguments fill, ``self`` left out."""
    node = callee.node
    if not isinstance(node, FunctionNode):
        return []
    if node.name != "__post_init__":
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        return names[1:] if _first_arguments(callee) in (["self"], ["cls"]) else names
    # The fields of the dataclass that it finishes; none if that inherits.
    source, owner = read(callee.location.file), callee.location.qualname.rpartition(".")[0]
    classes = [u.node for u in source.units if u.location.qualname == owner] if source else []
    if not all(isinstance(node, ast.ClassDef) and not node.bases for node in classes):
        return []
    body = (
        s for node in classes for s in getattr(node, "body", ()) if isinstance(s, ast.AnnAssign)
    )
    fields = ((s.target.id, ast.unparse(s)) for s in body if isinstance(s.target, ast.Name))
    return [name for name, text in fields if "ClassVar" not in text and "init=False" not in text]
