"""The call graph of a result as text for other tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from pytest_bayesloc.report.graphs import to_dot, to_graphml, to_node_link
from tests.unit.report.surfaces import HOSTILE

if TYPE_CHECKING:
    from pytest_bayesloc.report.document import ResultDocument

_GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def test_graphml_holds_functions_and_calls(document: ResultDocument) -> None:
    root = ET.fromstring(to_graphml(document))

    nodes = {node.attrib["id"]: node for node in root.iter(f"{_GRAPHML}node")}
    told = {data.attrib["key"]: data.text for data in nodes["calc.py:1 add"]}
    assert (told["label"], told["file"], told["line"]) == ("add", "calc.py", "1")
    assert float(told["probability"] or 0) > 0.9
    calls = {
        (edge.attrib["source"], edge.attrib["target"]): edge[0].text
        for edge in root.iter(f"{_GRAPHML}edge")
    }
    assert calls["calc.py:5 total", "calc.py:1 add"] == "2"


def test_node_link_holds_the_same(document: ResultDocument) -> None:
    told = json.loads(to_node_link(document))

    add = next(node for node in told["nodes"] if node["id"] == "calc.py:1 add")
    assert (add["rank"], add["is_test"], add["end_line"]) == (1, False, 2)
    edge = {"source": "calc.py:5 total", "target": "calc.py:1 add", "calls": 2}
    assert edge in told["edges"]
    assert told["directed"]


def test_dot_draws_the_likeliest_in_the_strongest_colour(document: ResultDocument) -> None:
    lines = to_dot(document).splitlines()

    node = next(line for line in lines if line.startswith('  "calc.py:1 add" ['))
    assert 'label="add\\ncalc.py:1\\n>99 %"' in node
    assert "#d7301f" in node
    assert '  "calc.py:5 total" -> "calc.py:1 add" [label="2"];' in lines


def test_run_without_calls_has_an_empty_graph(document: ResultDocument) -> None:
    document.call_graph.edges = []

    assert not list(ET.fromstring(to_graphml(document)).iter(f"{_GRAPHML}node"))
    assert json.loads(to_node_link(document))["nodes"] == []
    assert to_dot(document).endswith("}\n")


def test_names_that_are_hard_to_write_break_no_format(document: ResultDocument) -> None:
    for edge in document.call_graph.edges:
        edge.callee.qualname = HOSTILE + '"]; "evil" -> "x'

    assert len(ET.fromstring(to_graphml(document).encode()))
    assert json.loads(to_node_link(document))
    assert '"evil"' not in to_dot(document).replace('\\"', "")
