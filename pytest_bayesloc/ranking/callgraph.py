"""Who called whom, and what that excuses."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.recording import Call

if TYPE_CHECKING:
    import networkx as nx


def call_graph(edges: Mapping[tuple[Location, Location], int]) -> nx.DiGraph[Location]:
    """A directed graph from caller to callee; the edge attribute ``calls`` counts the calls."""
    import networkx as nx  # the golden rule needs none of it, and it costs 100 ms

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


def golden_rule(calls: Sequence[Call], violating: Container[int]) -> frozenset[Location]:
    """The locations that a callee excuses.

    A call is excused if something that it called, directly or through others, returned a value
    that breaks one of the callee's own invariants before the call itself was left: it may have
    used a wrong value correctly. A location is innocent if one of its calls is excused and none of
    them broke an invariant without that excuse; so the innermost call of a recursion is not
    excused by itself.

    Args:
        calls: Of one failing test, in the order of entry, so that callers precede their callees.
        violating: Indexes of the calls whose own output violates an invariant.

    Reference:
        docs/model.md, section "Golden rule of callees".
    """
    excused = _excused(calls, violating)
    unexcused = {call.location for i, call in enumerate(calls) if i in violating and not excused[i]}
    return frozenset(
        call.location
        for i, call in enumerate(calls)
        if excused[i] and call.location not in unexcused
    )


def _excused(calls: Sequence[Call], violating: Container[int]) -> list[bool]:
    """Per call, whether a callee of it broke an invariant before it was left."""
    # Per call, the earliest exit of a violating call below it. Backwards, callees come before
    # their callers, so one pass reaches callees of callees.
    below = [inf] * len(calls)
    for i in reversed(range(len(calls))):
        call = calls[i]
        if call.caller >= 0:
            own = _exit(call) if i in violating else inf
            below[call.caller] = min(below[call.caller], below[i], own)
    return [below[i] < _exit(call) for i, call in enumerate(calls)]


def _exit(call: Call) -> float:
    return inf if call.left < 0 else call.left
