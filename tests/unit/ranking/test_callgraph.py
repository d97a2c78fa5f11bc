from __future__ import annotations

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.callgraph import around, call_graph


def location(name: str) -> Location:
    return Location(file="m.py", start_line=1, end_line=2, qualname=name)


OUTER, MIDDLE, INNER, OTHER = (location(name) for name in ("outer", "middle", "inner", "other"))


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
