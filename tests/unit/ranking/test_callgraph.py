from __future__ import annotations

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call
from pytest_bayesloc.ranking.callgraph import around, call_graph, golden_rule


def location(name: str) -> Location:
    return Location(file="m.py", start_line=1, end_line=2, qualname=name)


OUTER, MIDDLE, INNER, OTHER = (location(name) for name in ("outer", "middle", "inner", "other"))


def call(where: Location, caller: int, entered: int, left: int) -> Call:
    return Call(location=where, caller=caller, entered=entered, left=left)


# outer( middle( inner() ) other() )
NESTED = (
    call(OUTER, -1, 0, 7),
    call(MIDDLE, 0, 1, 4),
    call(INNER, 1, 2, 3),
    call(OTHER, 0, 5, 6),
)


def test_call_graph_counts_calls_from_caller_to_callee() -> None:
    graph = call_graph({(OUTER, MIDDLE): 3, (MIDDLE, INNER): 1})

    assert list(graph.successors(OUTER)) == [MIDDLE]
    assert graph.edges[OUTER, MIDDLE]["calls"] == 3
    assert set(graph) == {OUTER, MIDDLE, INNER}


def test_call_graph_of_no_edges_is_empty() -> None:
    assert len(call_graph({})) == 0


def test_only_what_is_near_a_centre_is_kept() -> None:
    graph = call_graph({(OUTER, MIDDLE): 1, (MIDDLE, INNER): 1, (INNER, OTHER): 1})

    assert set(around(graph, [OUTER], hops=2)) == {OUTER, MIDDLE, INNER}
    assert set(around(graph, [OTHER], hops=1)) == {INNER, OTHER}
    assert set(around(graph, [location("stranger")])) == set()


def test_callee_that_broke_its_invariant_excuses_all_callers_of_it() -> None:
    assert golden_rule(NESTED, {2}) == {OUTER, MIDDLE}


def test_callers_that_break_theirs_afterwards_are_excused_as_well() -> None:
    assert golden_rule(NESTED, {0, 1, 2}) == {OUTER, MIDDLE}


def test_caller_is_excused_by_a_callee_but_not_by_its_sibling() -> None:
    assert golden_rule(NESTED, {3}) == {OUTER}


def test_without_a_violation_nobody_is_excused() -> None:
    assert golden_rule(NESTED, ()) == frozenset()
    assert golden_rule((), ()) == frozenset()


def test_violation_of_its_own_takes_the_excuse_away() -> None:
    # outer(inner()) with a wrong inner, then outer() that is wrong by itself.
    calls = (call(OUTER, -1, 0, 3), call(INNER, 0, 1, 2), call(OUTER, -1, 4, 5))

    assert golden_rule(calls, {0, 1}) == {OUTER}
    assert golden_rule(calls, {0, 1, 2}) == frozenset()


def test_recursion_does_not_excuse_itself() -> None:
    calls = (call(OUTER, -1, 0, 5), call(INNER, 0, 1, 4), call(INNER, 1, 2, 3))

    assert golden_rule(calls, {1, 2}) == {OUTER}


def test_callee_that_outlives_its_caller_does_not_excuse_it() -> None:
    # A generator that middle made, and outer exhausted after middle had returned.
    calls = (call(OUTER, -1, 0, 5), call(MIDDLE, 0, 1, 3), call(INNER, 1, 2, 4))

    assert golden_rule(calls, {2}) == {OUTER}


def test_call_that_was_never_left_is_excused_and_never_excuses() -> None:
    calls = (call(OUTER, -1, 0, -1), call(MIDDLE, 0, 1, 4), call(INNER, 1, 2, -1))

    assert golden_rule(calls, {1}) == {OUTER}
    assert golden_rule(calls, {2}) == frozenset()
