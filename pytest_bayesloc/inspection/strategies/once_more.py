"""Runs failing tests once more: what makes the values that a check refused, and what code catches.

A refused value is followed back to where it was made. An exception that code catches and says
nothing of is noted.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from pytest_bayesloc.domain.inspection import Finding
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Maker, ValueFlow, WrongValue
from pytest_bayesloc.domain.source import FunctionNode, ReadMap, Unit, unit_of_frame
from pytest_bayesloc.inspection.strategy import Budget, InspectionStrategy
from pytest_bayesloc.ranking.case import Case
from pytest_bayesloc.ranking.evidence.guards import Guard, expects_exception
from pytest_bayesloc.ranking.evidence.provenance import ASKS, Values, is_self
from pytest_bayesloc.ranking.evidence.swallowed import SOURCE, Handled, catches, noted_handlers
from pytest_bayesloc.ranking.evidence.test_code import supports
from pytest_bayesloc.syntax.nodes import spans, walk

RETURNED = "return"
MAX_HOPS = 4  # functions that made a value of their arguments by built-ins alone


def traced_guard(
    flow: ValueFlow, read: ReadMap, fixtures: Collection[Location] = ()
) -> Guard | None:
    """Return the check that ended the test, with the owner of what it refused, if that is known.

    Where all that was refused was made by test code, the test owns it. Otherwise its owner is the
    function of the code that handed it over, and had it from none of its own arguments.
    """
    checker = unit_of_frame(flow.user, read)
    if checker is None or checker.location.is_test:
        return None
    if supports(checker.location.file, flow.node_id):  # it asserts, as a test does
        return None
    owned = [(value, list(_owners(value, checker, read))) for value in flow.values]
    in_code = [value for value, made in owned if any(not u.location.is_test for u, _ in made)]
    guard = partial(Guard, function=checker.location, condition=flow.condition)
    if in_code:
        return _given_by_code(in_code, checker, read, guard)
    for value, makers in owned:
        for unit, maker in makers:
            return guard(
                owner=unit.location,
                line=maker.frame.line,
                value=f"`{value.label}`",
                in_fixture=unit.location in fixtures,
            )
    return None


def _given_by_code(
    values: Sequence[WrongValue], checker: Unit, read: ReadMap, guard: Callable[..., Guard]
) -> Guard | None:
    """Return the guard with the only function that handed ``values`` over, if it is code."""
    givers: dict[Location, tuple[WrongValue, int]] = {}
    for value in values:
        unit = unit_of_frame(value.giver, read) if value.giver is not None else None
        if unit is not None and value.giver is not None:
            givers.setdefault(unit.location, (value, value.giver.line))
    givers.pop(checker.location, None)
    if len(givers) != 1:
        return None
    ((where, (value, line)),) = givers.items()
    return None if where.is_test else guard(owner=where, line=line, value=f"`{value.label}`")


def _owners(value: WrongValue, checker: Unit, read: ReadMap) -> Iterator[tuple[Unit, Maker]]:
    """Yield who made ``value``; what the check made of its parameters is theirs who gave these."""
    for maker in value.makers:
        unit = unit_of_frame(maker.frame, read)
        if value.is_part and unit is not None and not unit.location.is_test:
            made = _expressions(unit, maker)
            if made and Values(unit, read).roots_of(made, ASKS) == set():
                continue  # what every such object has to begin with
        if unit == checker and not maker.is_held and maker.key == value.label:
            roots = Values(unit, read).roots(ast.Name(value.label), ASKS)
            yield from _of_arguments(maker, unit, roots, read, 0)
        else:
            yield from _resolved(maker, read, 0)


def _resolved(maker: Maker, read: ReadMap, hops: int) -> Iterator[tuple[Unit, Maker]]:
    """Yield ``maker``, or if it only handed its arguments on, those who made them."""
    unit = unit_of_frame(maker.frame, read)
    if unit is None:
        return
    if unit.location.is_test or hops >= MAX_HOPS:
        yield unit, maker
        return
    roots = Values(unit, read).roots_of(_expressions(unit, maker), ASKS)
    yield from _of_arguments(maker, unit, roots, read, hops)


def _of_arguments(
    maker: Maker, unit: Unit, roots: Iterable[str] | None, read: ReadMap, hops: int
) -> Iterator[tuple[Unit, Maker]]:
    given = [m for name in sorted(roots or ()) for m in maker.arguments.get(name, ())]
    if not given:
        yield unit, maker
    for other in given:
        yield from _resolved(other, read, hops + 1)


def _expressions(unit: Unit, maker: Maker) -> list[ast.expr]:
    """Return what ``unit`` assigns to the attribute, or returns."""
    if not isinstance(unit.node, FunctionNode):
        return []
    nodes = walk(unit.node)
    if maker.key == RETURNED and not maker.is_held:
        return [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    if not maker.is_held:
        calls = [n for n in nodes if isinstance(n, ast.Call) and spans(n, maker.frame.line)]
        # Where the call does not name the parameter, any argument may fill it.
        named = [k.value for call in calls for k in call.keywords if k.arg == maker.key]
        return named or [argument for call in calls for argument in call.args]
    return [
        node.value
        for node in nodes
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and is_self(target.value) and target.attr == maker.key
    ]


MAX_TESTS = 2  # failing tests that are followed
MAX_FAILING = 3  # test functions of which is noted what they catch
N_NEAR, MAX_NEAR = 8, 30  # passing tests that are compared with: a place, in all
LEAST_S = 2.0  # what is noted at most takes less
SHARE = 0.05  # of the time that is left: tests that take longer are not run for it
SLOWER = 4.0  # times that they take while they are watched, before Python 3.12 for what they catch


def _limit_s(case: Case, budget: Budget, tests: Sequence[str]) -> float:
    """Return how long a re-run of failing ``tests`` may take; 0 where it would take too long."""
    usual_s = budget.usual_s * len(tests) / max(1, len(case.errors))
    return 0.0 if usual_s > SHARE * budget.left_s() else LEAST_S + SLOWER * usual_s


class FollowValues(InspectionStrategy):
    """Runs one or two failing tests once more, and notes which objects go through which calls."""

    name = "values"

    def __init__(self, read: ReadMap) -> None:
        self._read = read

    def open(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Learn who owns what a check refused. It makes no inspection of a single location."""
        yield from ()
        if case.culprits or not budget.left_s():
            return
        # A check that refuses the data of several tests is more likely to be wrong itself.
        failures = {failure.node_id: failure for failure in case.failures}
        apart: dict[str, str] = {}
        for node_id in case.failing:
            function = node_id.partition("[")[0]
            if function in apart:
                continue
            frame = failures[node_id].raise_frame
            is_of_test = frame is not None and frame.is_test
            if not is_of_test and not expects_exception(failures[node_id], self._read):
                apart[function] = node_id
            if len(apart) == MAX_TESTS:
                break
        chosen = list(apart.values())
        limit_s = _limit_s(case, budget, chosen)
        if not chosen or not limit_s:
            return
        followed = budget.runner.follow(chosen, limit_s=min(budget.limit_s(), limit_s))
        flows = [flow for flow in followed if flow.error == case.errors.get(flow.node_id)]
        fixtures = {where for f in case.failures for where in f.test_locations[1:]}
        guards = [traced_guard(flow, self._read, fixtures) for flow in flows]
        owners = {guard.owner if guard is not None else None for guard in guards}
        if guards and guards[0] is not None and len(owners) == 1:
            case.answer_for(guards[0])


class Swallowed(InspectionStrategy):
    """Runs failing tests once more, and names what was caught in them alone."""

    name = SOURCE

    def __init__(self, read: ReadMap) -> None:
        self._read = read

    def open(self, case: Case, budget: Budget) -> Iterator[Finding]:
        """Weigh what failing tests catch. It makes no inspection of a single location."""
        yield from ()
        first = {node_id.partition("[")[0]: node_id for node_id in reversed(case.failing)}
        failing = list(first.values())[::-1][:MAX_FAILING]  # each of another function
        limit_s = _limit_s(case, budget, failing)
        if case.culprits or not limit_s:
            return
        handled: Handled = budget.runner.caught(failing, limit_s=min(budget.limit_s(), limit_s))
        # Passing tests may catch the same in the same lines.
        places = {c[:2]: None for own in handled.values() for c, _ in catches(own, self._read)}
        known, found = frozenset(case.neighbours()), dict[str, None]()
        for where, line in places:
            near = case.near.nearest(where, len(known), line=line)
            found |= dict.fromkeys([n for n in near if n in known][:N_NEAR])
        if passing := list(found)[:MAX_NEAR]:
            more = budget.runner.caught(passing, limit_s=min(budget.limit_s(), limit_s))
            handled = {**handled, **more}
        at_hand = [e for e in case.evidence if e.source == SOURCE]
        told = noted_handlers(
            handled, failing, at_hand, case.spectrum, self._read, model=case.model
        )
        if told != at_hand:
            case.retell(SOURCE, told)
