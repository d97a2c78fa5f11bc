"""The call graph of the failing tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import Location

if TYPE_CHECKING:
    import networkx as nx


def call_graph(edges: Mapping[tuple[Location, Location], int]) -> nx.DiGraph[Location]:
    """A directed graph from caller to callee; the edge attribute ``calls`` counts the calls."""
    import networkx as nx  # it costs 100 ms, and a ranking needs none of it

    graph: nx.DiGraph[Location] = nx.DiGraph()
    graph.add_edges_from(
        (caller, callee, {"calls": calls}) for (caller, callee), calls in sorted(edges.items())
    )
    return graph


def around(
    graph: nx.DiGraph[Location], centres: Iterable[Location], hops: int = 2
) -> nx.DiGraph[Location]:
    """The part of ``graph`` within ``hops`` calls, up or down, of any of ``centres``."""
    import networkx as nx

    both_ways = graph.to_undirected(as_view=True)
    near: set[Location] = set()
    for centre in centres:
        if centre in graph:
            near.update(nx.single_source_shortest_path_length(both_ways, centre, cutoff=hops))
    return graph.subgraph(near)
