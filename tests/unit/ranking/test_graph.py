"""Neighbours, ways and circles of a graph of calls."""

from __future__ import annotations

import pytest

from pytest_bayesloc.ranking import graph

#: A test calls ``total``, which calls ``net`` by two ways; ``net`` and ``rate`` call each other.
CALLS = {
    ("test", "total"): 1,
    ("total", "each"): 2,
    ("total", "net"): 1,
    ("each", "net"): 7,
    ("net", "rate"): 7,
    ("rate", "net"): 1,
    ("rate", "log"): 1,
}


@pytest.fixture
def calls() -> graph.Graph[str]:
    return graph.call_graph(CALLS)


def test_callers_and_callees_are_told_busiest_first(calls: graph.Graph[str]) -> None:
    assert graph.callers(calls, "net") == [("each", 7), ("rate", 1), ("total", 1)]
    assert graph.callees(calls, "total") == [("each", 2), ("net", 1)]
    assert graph.callers(calls, "unknown") == []


def test_own_calls_of_a_recursion_are_no_neighbours() -> None:
    calls = graph.call_graph({("f", "f"): 3, ("g", "f"): 1})

    assert graph.callers(calls, "f") == [("g", 1)]
    assert graph.callees(calls, "f") == []


def test_all_that_leads_there_and_all_that_it_leads_to(calls: graph.Graph[str]) -> None:
    assert graph.above(calls, "each") == {"test", "total"}
    assert graph.below(calls, "each") == {"net", "rate", "log"}
    assert graph.above(calls, "unknown") == graph.below(calls, "unknown") == set()


def test_near_is_counted_in_calls_up_and_down(calls: graph.Graph[str]) -> None:
    assert graph.near(calls, ["log"], 1) == {"log", "rate"}
    assert graph.near(calls, ["test"], 2) == {"test", "total", "each", "net"}
    assert graph.near(calls, ["unknown"], 2) == set()


def test_shortest_path_begins_at_the_nearest_start(calls: graph.Graph[str]) -> None:
    assert graph.shortest_path(calls, ["test"], "rate") == ("test", "total", "net", "rate")
    assert graph.shortest_path(calls, ["test", "each"], "rate") == ("each", "net", "rate")
    assert graph.shortest_path(calls, ["log"], "rate") == ()
    assert graph.shortest_path(calls, ["test"], "unknown") == ()


def test_simple_paths_are_told_shortest_first(calls: graph.Graph[str]) -> None:
    ways = [("test", "total", "net"), ("test", "total", "each", "net")]

    assert graph.simple_paths(calls, "test", "net", at_most=5) == ways
    assert graph.simple_paths(calls, "test", "net", at_most=1) == ways[:1]
    assert graph.simple_paths(calls, "log", "net", at_most=5) == []
    assert graph.simple_paths(calls, "unknown", "net", at_most=5) == []


def test_dominators_are_what_every_way_passes(calls: graph.Graph[str]) -> None:
    assert graph.dominators(calls, "test", "log") == ("total", "net", "rate", "log")
    assert graph.dominators(calls, "log", "net") == ()
    assert graph.dominators(calls, "test", "unknown") == ()
    assert graph.always_passed(calls, ["test", "each", "log"], "log") == ["net", "rate"]
    assert graph.always_passed(calls, ["log"], "net") == []


def test_circle_holds_what_reaches_each_other(calls: graph.Graph[str]) -> None:
    assert graph.circle_of(calls, "net") == {"net", "rate"}
    assert graph.circle_of(calls, "total") == frozenset()
    assert graph.circle_of(graph.call_graph({("f", "f"): 1}), "f") == {"f"}


def test_layers_stand_below_all_callers_but_those_of_a_recursion(calls: graph.Graph[str]) -> None:
    assert graph.layers(calls) == [["test"], ["total"], ["each"], ["net"], ["rate"], ["log"]]


def test_same_calls_in_another_order_give_the_same_graph(calls: graph.Graph[str]) -> None:
    other = graph.call_graph(dict(reversed(CALLS.items())))

    assert list(other.edges(data=True)) == list(calls.edges(data=True))
