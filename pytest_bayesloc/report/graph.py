"""The calls of the failing tests around the suspects, laid out in layers from caller to callee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_bayesloc.report.rows import Key, Place, key_of, place
from pytest_bayesloc.report.text import fit, percent

MAX_NODES = 30
WIDTH, HEIGHT = 176.0, 44.0  # of a node
GAP_X, GAP_Y, MARGIN = 24.0, 44.0, 8.0
N_CHARS = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A function in the picture; ``x`` and ``y`` are those of its upper left corner.

    Attributes:
        label: Its name, cut to the room there is.
        belief: Its probability in words; empty if it is in no ranking.
        level: 0 for cold, to 4.
    """

    place: Place
    label: str
    belief: str
    level: int
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The picture; an edge is the data of an SVG path, from caller to callee."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[str, ...]
    n_hidden: int


def drawing(document: Mapping[str, Any]) -> Drawing | None:
    """The calls as a picture; None if there are none, or nothing here that can lay them out.

    Args:
        document: A ``bayesloc/1`` result.
    """
    edges = document["call_graph"]["edges"]
    beliefs = {key_of(row): row["posterior"] for row in document["ranking"]}
    ends = {key_of(edge[end]): edge[end] for edge in edges for end in ("caller", "callee")}
    calls = {(key_of(edge["caller"]), key_of(edge["callee"])) for edge in edges}
    shown = _nearest(list(ends), calls, beliefs)
    links = sorted((a, b) for a, b in calls if a in shown and b in shown and a != b)
    corners = _layout(shown, links)
    if not corners:
        return None
    nodes = tuple(_node(ends[key], beliefs.get(key), corners[key]) for key in shown)
    return Drawing(
        width=max(node.x for node in nodes) + WIDTH + MARGIN,
        height=max(node.y for node in nodes) + HEIGHT + MARGIN,
        nodes=nodes,
        edges=tuple(_path(corners[a], corners[b]) for a, b in links),
        n_hidden=len(ends) - len(shown),
    )


def _nearest(
    keys: Sequence[Key], calls: set[tuple[Key, Key]], beliefs: Mapping[Key, float]
) -> list[Key]:
    """The likeliest, each followed by its callers and callees, until there are enough."""
    beside: dict[Key, list[Key]] = {key: [] for key in keys}
    for a, b in sorted(calls):
        beside[a].append(b)
        beside[b].append(a)
    likeliest = sorted(keys, key=lambda key: (-beliefs.get(key, 0.0), key))
    found: dict[Key, None] = {}
    for key in likeliest:
        if beliefs.get(key, 0.0) > 0.0 or not found:
            found.update(dict.fromkeys([key, *beside[key]]))
    found.update(dict.fromkeys(likeliest))
    return list(islice(found, MAX_NODES))


def _layout(
    keys: Sequence[Key], links: Sequence[tuple[Key, Key]]
) -> dict[Key, tuple[float, float]]:
    try:
        import igraph  # slow to import, and only a report needs it
    except ImportError:
        return {}
    if not links:
        return {}
    number = {key: i for i, key in enumerate(keys)}
    graph = igraph.Graph(
        n=len(keys), edges=[(number[a], number[b]) for a, b in links], directed=True
    )
    layout = graph.layout_sugiyama(hgap=WIDTH + GAP_X, vgap=HEIGHT + GAP_Y)
    spots = [(float(x), float(y)) for x, y, *_ in layout.coords[: len(keys)]]
    left, top = min(x for x, _ in spots), min(y for _, y in spots)
    return {
        key: (round(x - left + MARGIN, 1), round(y - top + MARGIN, 1))
        for key, (x, y) in zip(keys, spots, strict=True)
    }


def _node(location: Mapping[str, Any], belief: float | None, corner: tuple[float, float]) -> Node:
    where = place(location)
    return Node(
        place=where,
        label=fit(where.name, N_CHARS),
        belief="" if belief is None else percent(belief),
        level=0 if not belief else 1 + min(3, int(belief * 4)),
        x=corner[0],
        y=corner[1],
    )


def _path(caller: tuple[float, float], callee: tuple[float, float]) -> str:
    """A curve from the lower edge of the caller to the upper edge of the callee."""
    (x0, y0), (x1, y1) = caller, callee
    down = y1 > y0
    start = (x0 + WIDTH / 2, y0 + (HEIGHT if down else 0))
    end = (x1 + WIDTH / 2, y1 + (0 if down else HEIGHT))
    bend = (end[1] - start[1]) / 2 or GAP_Y
    return (
        f"M{start[0]:g},{start[1]:g} C{start[0]:g},{start[1] + bend:g} "
        f"{end[0]:g},{end[1] - bend:g} {end[0]:g},{end[1]:g}"
    )
