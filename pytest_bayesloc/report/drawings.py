"""The two drawings of the page: the belief over the steps, and the calls of the failing tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import islice
from statistics import fmean

from pytest_bayesloc.report.document import Document
from pytest_bayesloc.report.rows import Key, LocationView, heat, key_of, location_view
from pytest_bayesloc.report.text import fit, one_line, percent

N_SERIES = 5
N_TICKS = 10
LEAST_MOVE = 0.01  # of a probability, for a chart to be worth its room
WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 604, 12, 204
LABEL_GAP = 18.0

MAX_NODES = 30
NODE_WIDTH, NODE_HEIGHT = 176.0, 44.0
GAP_X, GAP_Y, MARGIN = 24.0, 44.0, 8.0
N_CHARS = 22
N_SWEEPS = 4  # over the layers, to bring callers and callees close to each other

Call = tuple[Key, Key]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One location over the steps.

    Attributes:
        number: From 1, the label at the end of its line.
        name: Qualified name and place.
        points: ``x,y x,y ...`` as SVG wants them.
        dots: The same, one by one, each with its step; 0 is the start.
        label_x: Position of its label, right of its last point.
        label_y: The same, clear of the others.
        first: Its first known probability.
    """

    number: int
    name: str
    points: str
    dots: tuple[tuple[float, float, int], ...]
    label_x: float
    label_y: float
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefChart:
    """Lines, ticks of both axes as (position, label), and the line at which the loop stops.

    ``steps`` are the positions of the steps, each with its number, and ``reach`` how far to both
    sides one is meant by a pointer.
    """

    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = BOTTOM
    series: tuple[Series, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    steps: tuple[tuple[float, int], ...]
    reach: float
    threshold: float
    threshold_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A function in the picture; ``x`` and ``y`` are those of its upper left corner.

    Attributes:
        label: Its name, cut to the room there is.
        belief: Its probability in words; empty if it is in no ranking.
        level: 0 for cold, to 4.
    """

    place: LocationView
    label: str
    belief: str
    level: int
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGraphView:
    """The picture; an edge is the data of an SVG path, from caller to callee."""

    width: float
    height: float
    nodes: tuple[GraphNode, ...]
    edges: tuple[str, ...]
    n_hidden: int


def belief_chart(history: Sequence[Sequence[Document]], threshold: float) -> BeliefChart | None:
    """Return the chart of ``history`` (prior first, then each step); None if nothing moved."""
    tracks = _tracks(history)
    if not any(abs(track[-1][1] - track[0][1]) >= LEAST_MOVE for track in tracks.values()):
        return None
    last = len(history) - 1
    labels = _labels([steps[-1] for steps in tracks.values()], last)
    every = -(-last // N_TICKS)
    return BeliefChart(
        series=tuple(
            _series(number, name, steps, label, last)
            for number, ((name, steps), label) in enumerate(
                zip(tracks.items(), labels, strict=True), 1
            )
        ),
        x_ticks=tuple((_x(i, last), str(i) if i else "start") for i in range(0, last + 1, every)),
        y_ticks=tuple((_y(p), percent(p)) for p in (0.0, 0.25, 0.5, 0.75, 1.0)),
        steps=tuple((_x(i, last), i) for i in range(1, last + 1)),
        reach=round((RIGHT - LEFT) / last / 2, 2),
        threshold=_y(threshold),
        threshold_text=percent(threshold),
    )


def _tracks(history: Sequence[Sequence[Document]]) -> dict[str, list[tuple[int, float]]]:
    """Return (step, probability) of each location, the likeliest at the end first."""
    tracks: dict[str, list[tuple[int, float]]] = {}
    for i, step in enumerate(history):
        for entry in step:
            name = one_line(f"{entry['file']}:{entry['start_line']} {entry['qualname']}")
            tracks.setdefault(name, []).append((i, entry["posterior"]))
    # One that dropped out of the list of the likeliest comes after those that are still in it.
    order = sorted(tracks, key=lambda name: (-tracks[name][-1][0], -tracks[name][-1][1]))
    return {name: tracks[name] for name in order[:N_SERIES]}


def _series(
    number: int, name: str, track: list[tuple[int, float]], label: float, last: int
) -> Series:
    dots = tuple((_x(i, last), _y(p), i) for i, p in track)
    return Series(
        number=number,
        name=name,
        points=" ".join(f"{x:g},{y:g}" for x, y, _ in dots),
        dots=dots,
        label_x=dots[-1][0] + 12,
        label_y=label,
        first=percent(track[0][1]),
        last=percent(track[-1][1]),
    )


def _x(step: int, last: int) -> float:
    return round(LEFT + (RIGHT - LEFT) * step / last, 1)


def _y(p: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * p, 1)


def _labels(ends: Sequence[tuple[int, float]], last: int) -> list[float]:
    """Return heights of the labels of lines that end at (step, probability).

    Those that end at the last step move up until they are ``LABEL_GAP`` apart.
    """
    heights = [_y(p) for _, p in ends]
    floor = BOTTOM + LABEL_GAP
    for i in sorted(range(len(ends)), key=lambda i: (-heights[i], -i)):
        if ends[i][0] == last:
            floor = heights[i] = round(min(heights[i], floor - LABEL_GAP), 1)
    return heights


def call_graph(document: Document) -> CallGraphView | None:
    """Return the calls around the suspects, callers above callees; None if there are none."""
    edges = document["call_graph"]["edges"]
    beliefs = {key_of(row): row["posterior"] for row in document["ranking"]}
    ends = {key_of(edge[end]): edge[end] for edge in edges for end in ("caller", "callee")}
    calls = {(key_of(edge["caller"]), key_of(edge["callee"])) for edge in edges}
    shown = _nearest(list(ends), calls, beliefs)
    links = sorted((a, b) for a, b in calls if a in shown and b in shown and a != b)
    if not links:
        return None
    corners = _corners(_layers(shown, links), links)
    nodes = tuple(_node(ends[key], beliefs.get(key), corners[key]) for key in shown)
    return CallGraphView(
        width=max(node.x for node in nodes) + NODE_WIDTH + MARGIN,
        height=max(node.y for node in nodes) + NODE_HEIGHT + MARGIN,
        nodes=nodes,
        edges=tuple(_path(corners[a], corners[b]) for a, b in links),
        n_hidden=len(ends) - len(shown),
    )


def _nearest(keys: Sequence[Key], calls: set[Call], beliefs: Mapping[Key, float]) -> list[Key]:
    """Return the likeliest, each followed by its callers and callees, until there are enough."""
    beside: dict[Key, list[Key]] = {key: [] for key in keys}
    for a, b in sorted(calls):
        beside[a].append(b)
        beside[b].append(a)
    likeliest = sorted(keys, key=lambda key: (-beliefs.get(key, 0.0), key))
    near: dict[Key, None] = {}
    for key in likeliest:
        if beliefs.get(key, 0.0) > 0.0 or not near:
            near.update(dict.fromkeys([key, *beside[key]]))
    near.update(dict.fromkeys(likeliest))
    return list(islice(near, MAX_NODES))


def _layers(keys: Sequence[Key], links: Sequence[Call]) -> list[list[Key]]:
    """Return the functions in layers, each below all of its callers but those of a recursion."""
    callers: dict[Key, list[Key]] = {key: [] for key in keys}
    for a, b in _forward(keys, links):
        callers[b].append(a)
    depths: dict[Key, int] = {}
    for key in TopologicalSorter(callers).static_order():
        depths[key] = 1 + max((depths[caller] for caller in callers[key]), default=-1)
    layers: list[list[Key]] = [[] for _ in range(1 + max(depths.values()))]
    for key in keys:
        layers[depths[key]].append(key)
    return layers


def _forward(keys: Iterable[Key], links: Sequence[Call]) -> list[Call]:
    """Return ``links`` without those that close a circle."""
    callees: dict[Key, list[Key]] = {}
    for a, b in links:
        callees.setdefault(a, []).append(b)
    kept: list[Call] = []
    done: set[Key] = set()

    def visit(key: Key, path: frozenset[Key]) -> None:
        done.add(key)
        for callee in callees.get(key, ()):
            if callee not in path:
                kept.append((key, callee))
                if callee not in done:
                    visit(callee, path | {callee})

    for key in keys:
        if key not in done:
            visit(key, frozenset([key]))
    return kept


def _corners(layers: list[list[Key]], links: Sequence[Call]) -> dict[Key, Point]:
    """Return the upper left corner of each function, centred in its layer.

    A layer is ordered by the mean position of callers and callees, downward and upward in turn,
    which leaves few lines that cross.
    """
    beside: dict[Key, list[Key]] = {key: [] for layer in layers for key in layer}
    for a, b in links:
        beside[a].append(b)
        beside[b].append(a)
    xs = {key: x for layer in layers for key, x in _centred(layer)}
    for sweep in range(N_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            means = {key: fmean(xs[other] for other in beside[key] or [key]) for key in layer}
            layer.sort(key=means.__getitem__)
            xs.update(_centred(layer))
    left = min(xs.values())
    return {
        key: (round(xs[key] - left + MARGIN, 1), round(i * (NODE_HEIGHT + GAP_Y) + MARGIN, 1))
        for i, layer in enumerate(layers)
        for key in layer
    }


def _centred(layer: Sequence[Key]) -> list[tuple[Key, float]]:
    middle = (len(layer) - 1) / 2
    return [(key, (i - middle) * (NODE_WIDTH + GAP_X)) for i, key in enumerate(layer)]


def _node(location: Document, belief: float | None, corner: Point) -> GraphNode:
    place = location_view(location)
    return GraphNode(
        place=place,
        label=fit(place.name, N_CHARS),
        belief="" if belief is None else percent(belief),
        level=heat(belief or 0.0),
        x=corner[0],
        y=corner[1],
    )


def _path(caller: Point, callee: Point) -> str:
    """Return a curve from the lower edge of the caller to the upper edge of the callee."""
    (x0, y0), (x1, y1) = caller, callee
    down = y1 > y0
    start = (x0 + NODE_WIDTH / 2, y0 + (NODE_HEIGHT if down else 0))
    end = (x1 + NODE_WIDTH / 2, y1 + (0 if down else NODE_HEIGHT))
    bend = (end[1] - start[1]) / 2 or GAP_Y
    return (
        f"M{start[0]:g},{start[1]:g} C{start[0]:g},{start[1] + bend:g} "
        f"{end[0]:g},{end[1] - bend:g} {end[0]:g},{end[1]:g}"
    )
