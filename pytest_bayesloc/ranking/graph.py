"""The graphs of a failed run: which function called which, and which module imports which.

No other module knows networkx. Importing it takes an eighth of a second, so whoever needs a graph
imports this module where the need is certain: inside a function that only runs after a failure.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeAlias, TypedDict, TypeVar

import networkx as nx

T = TypeVar("T", bound=Hashable)

#: Nodes are whatever names a function or a module in the place that asks.
Graph: TypeAlias = "nx.DiGraph[T]"


class CallAttributes(TypedDict):
    """The attributes of an edge from a caller to a callee.

    Attributes:
        calls: How often the calls were seen.
    """

    calls: int


def call_graph(calls: Mapping[tuple[T, T], int]) -> Graph[T]:
    """Return the graph with an edge from each caller to each callee.

    Edges are added in the order of their ends, so that every walk gives the same on every run.
    """
    graph: Graph[T] = nx.DiGraph()
    for caller, callee in sorted(calls):
        graph.add_edge(caller, callee, **CallAttributes(calls=calls[caller, callee]))
    return graph


def graph_of(edges: Iterable[tuple[T, T]], nodes: Iterable[T] = ()) -> Graph[T]:
    """Return a graph of ``nodes`` and ``edges`` without attributes, in the order given."""
    graph: Graph[T] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return graph


# -- neighbours


def callers(graph: Graph[T], where: T) -> list[tuple[T, int]]:
    """Return who calls ``where``, other than itself, with the number of calls, busiest first."""
    return _busiest(graph.pred[where], where) if where in graph else []


def callees(graph: Graph[T], where: T) -> list[tuple[T, int]]:
    """Return what ``where`` calls, other than itself, with the number of calls, busiest first."""
    return _busiest(graph.succ[where], where) if where in graph else []


def _busiest(beside: Mapping[T, Mapping[str, Any]], where: T) -> list[tuple[T, int]]:
    # The sort is stable, and neighbours come in the order in which their edges were added.
    calls = ((other, told["calls"]) for other, told in beside.items() if other != where)
    return sorted(calls, key=lambda item: -item[1])


def above(graph: Graph[T], where: T) -> set[T]:
    """Return whatever calls ``where``, directly or through others; itself is not in it."""
    return set(nx.ancestors(graph, where)) if where in graph else set()


def below(graph: Graph[T], where: T) -> set[T]:
    """Return whatever ``where`` calls, directly or through others; itself is not in it."""
    return set(nx.descendants(graph, where)) if where in graph else set()


def beside(graph: Graph[T], where: T) -> list[T]:
    """Return the direct callers of ``where``, then what it calls."""
    return list(nx.all_neighbors(graph, where))


def near(graph: Graph[T], centres: Iterable[T], n_hops: int) -> set[T]:
    """Return what lies within ``n_hops`` edges, up or down, of any of ``centres``."""
    starts = {where for where in centres if where in graph}
    if not starts:
        return set()
    both_ways = graph.to_undirected(as_view=True)
    # Without weights every edge is one hop long.
    return set(nx.multi_source_dijkstra_path_length(both_ways, starts, n_hops, weight=None))


# -- ways


def shortest_path(graph: Graph[T], starts: Iterable[T], goal: T) -> tuple[T, ...]:
    """Return the shortest way from one of ``starts`` to ``goal``, with both; empty if none leads.

    Of ways of the same length it is that of the first start.
    """
    ways = nx.single_target_shortest_path(graph, goal) if goal in graph else {}
    found = [tuple(ways[start]) for start in starts if start in ways]
    return min(found, key=len, default=())


def simple_paths(graph: Graph[T], start: T, goal: T, at_most: int) -> list[tuple[T, ...]]:
    """Return ways from ``start`` to ``goal`` that pass nothing twice, the shortest first."""
    if start not in graph or goal not in graph or not nx.has_path(graph, start, goal):
        return []
    return [tuple(way) for way in islice(nx.shortest_simple_paths(graph, start, goal), at_most)]


def dominators(graph: Graph[T], start: T, goal: T) -> tuple[T, ...]:
    """Return what every way from ``start`` to ``goal`` passes, from the first to ``goal`` itself.

    ``start`` is not in it. It is empty if no way leads to ``goal``.

    Reference:
        Cooper, Harvey, Kennedy: A simple, fast dominance algorithm. 2006.
    """
    if start not in graph or goal not in graph:
        return ()
    nearest = nx.immediate_dominators(graph, start)
    chain = []
    while goal != start and goal in nearest:
        chain.append(goal)
        goal = nearest[goal]
    return tuple(reversed(chain))


def always_passed(graph: Graph[T], starts: Iterable[T], goal: T) -> list[T]:
    """Return what every way from ``starts`` to ``goal`` passes, without ``goal`` itself."""
    chains = [chain for start in starts if (chain := dominators(graph, start, goal))]
    return [node for node in chains[0][:-1] if all(node in c for c in chains)] if chains else []


# -- circles


def circles(graph: Graph[T]) -> list[frozenset[T]]:
    """Return the nodes that reach each other; a node alone only if it leads to itself."""
    parts = map(frozenset, nx.strongly_connected_components(graph))
    return [part for part in parts if len(part) > 1 or any(graph.has_edge(n, n) for n in part)]


def circle_of(graph: Graph[T], where: T) -> frozenset[T]:
    """Return the circle that ``where`` is part of; empty if it is part of none."""
    return next((circle for circle in circles(graph) if where in circle), frozenset())


def layers(graph: Graph[T]) -> list[list[T]]:
    """Return the nodes in layers, each node below all of its callers but those of a recursion.

    A layer keeps the order of the nodes in ``graph``.
    """
    forward = graph_of(graph.edges, graph)
    way: set[T] = set()
    closing = []
    for a, b, kind in nx.dfs_labeled_edges(graph):
        if kind == "forward":
            way.add(b)
        elif kind == "reverse":
            way.discard(b)
        elif b in way:
            closing.append((a, b))
    forward.remove_edges_from(closing)
    order = {node: n for n, node in enumerate(graph)}
    return [sorted(layer, key=order.__getitem__) for layer in nx.topological_generations(forward)]


# -- texts and values for other tools


def graphml(graph: Graph[str]) -> str:
    """Return ``graph`` as GraphML, with its attributes named as they are."""
    lines = nx.generate_graphml(graph, named_key_ids=True)
    return "\n".join(lines) + "\n"


def node_link(graph: Graph[str]) -> dict[str, Any]:
    """Return ``graph`` as JSON values, with lists of ``nodes`` and ``edges``."""
    with warnings.catch_warnings():
        # networkx 3.4 warns that "edges" is going to be the name of what was "links" until then.
        warnings.simplefilter("ignore", FutureWarning)
        told: dict[str, Any] = nx.node_link_data(graph)
    return {**told, "edges": told.pop("links", None) or told.get("edges", [])}
