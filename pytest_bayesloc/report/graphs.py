"""The call graph of a result as text for other tools: GraphML, DOT and node-link JSON.

A node is a function with its place, its probability where it is ranked, and whether it is a test.
An edge has the number of calls.

Reference:
    Brandes, Eiglsperger, Lerner: GraphML Primer. The Graphviz documentation, "DOT Language".
"""

from __future__ import annotations

import re
from typing import TypedDict

from pytest_bayesloc.ranking import graph
from pytest_bayesloc.report.document import ResultDocument
from pytest_bayesloc.report.encoding import dumps
from pytest_bayesloc.report.text import one_line, percent
from pytest_bayesloc.report.words import heat, key_of, name_of, place_of, where_of

#: Fill colours by heat, from a function that is not suspected to the likeliest.
COLOURS = ("white", "#fef0d9", "#fdcc8a", "#fc8d59", "#d7301f")


class FunctionAttributes(TypedDict, total=False):
    """The attributes of a node.

    Attributes:
        label: The qualified name.
        rank: In the ranking of all faults; absent where it is not ranked.
        probability: That it is at fault; absent likewise.
    """

    label: str
    file: str
    line: int
    end_line: int
    is_test: bool
    rank: int
    probability: float


def call_graph(document: ResultDocument) -> graph.Graph[str]:
    """Return the recorded calls of the failing tests; nodes are named by file, line and name."""
    edges = document.call_graph.edges
    called = graph.call_graph(
        {(place_of(edge.caller), place_of(edge.callee)): edge.calls for edge in edges}
    )
    rows = {key_of(row): row for row in document.ranking}
    for edge in edges:
        for place in (edge.caller, edge.callee):
            attributes = FunctionAttributes(
                label=name_of(place),
                file=one_line(place.file),
                line=place.start_line,
                end_line=place.end_line,
                is_test=place.is_test,
            )
            if row := rows.get(key_of(place)):
                attributes["rank"] = row.rank
                attributes["probability"] = row.posterior
            called.add_node(place_of(place), **attributes)
    return called


def to_graphml(document: ResultDocument) -> str:
    """Return the call graph as GraphML, which Gephi, yEd and Cytoscape open."""
    return graph.graphml(call_graph(document))


def to_node_link(document: ResultDocument) -> str:
    """Return the call graph as JSON with lists of ``nodes`` and ``edges``."""
    return dumps(graph.node_link(call_graph(document)))


def to_dot(document: ResultDocument) -> str:
    """Return the call graph as Graphviz reads it, callers above what they call."""
    called = call_graph(document)
    lines = ["digraph calls {", '  node [shape=box, style=filled, fillcolor="white"];']
    places = {
        place_of(place): place
        for edge in document.call_graph.edges
        for place in (edge.caller, edge.callee)
    }
    for node, told in called.nodes(data=True):
        belief = told.get("probability")
        known = [] if belief is None else [percent(belief)]
        words = [told["label"], where_of(places[node]), *known]
        label = "\\n".join(map(_escaped, words))
        colour = COLOURS[heat(belief or 0.0)]
        lines.append(f'  "{_escaped(node)}" [label="{label}", fillcolor="{colour}"];')
    for caller, callee in called.edges:
        calls = called.edges[caller, callee]["calls"]
        lines.append(f'  "{_escaped(caller)}" -> "{_escaped(callee)}" [label="{calls}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", text)
