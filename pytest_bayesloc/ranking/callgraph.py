"""The call graph of the failing tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.result import Fault
from pytest_bayesloc.ranking.case import Case

if TYPE_CHECKING:
    import networkx as nx

N_SUSPECTS = 5  # of each fault, whose calls are shown


def call_graph(edges: Mapping[tuple[Location, Location], int]) -> nx.DiGraph[Location]:
    """Build a directed graph from caller to callee; edges count their ``calls``."""
    import networkx as nx  # it costs 100 ms, and a ranking needs none of it

    graph: nx.DiGraph[Location] = nx.DiGraph()
    graph.add_edges_from(
        (caller, callee, {"calls": calls}) for (caller, callee), calls in sorted(edges.items())
    )
    return graph


def around(
    graph: nx.DiGraph[Location], centres: Iterable[Location], hops: int = 2
) -> nx.DiGraph[Location]:
    """Return the part of ``graph`` within ``hops`` calls, up or down, of any of ``centres``."""
    import networkx as nx

    both_ways = graph.to_undirected(as_view=True)
    near: set[Location] = set()
    for centre in centres:
        if centre in graph:
            near.update(nx.single_source_shortest_path_length(both_ways, centre, cutoff=hops))
    return graph.subgraph(near)


def calls_around(
    faults: Sequence[Fault], cases: Sequence[Case]
) -> tuple[tuple[Location, Location, int], ...]:
    """Return the recorded calls near the top suspects: caller, callee, number of calls."""
    edges = {edge: n for case in cases for edge, n in case.recording.edges.items()}
    if not edges:
        return ()
    suspects = [row.location for fault in faults for row in fault.ranking[:N_SUSPECTS]]
    graph = around(call_graph(edges), suspects)
    return tuple(sorted(graph.edges(data="calls")))
