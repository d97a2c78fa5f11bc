"""The report as one self-contained HTML page, that works from ``file://`` without a network.

Python source on it has comments, strings, keywords and numbers marked up. It has two drawings: the
belief over the steps, and the calls of the failing tests.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib import resources
from inspect import getmembers, isfunction
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

import jinja2
from markupsafe import Markup, escape

from pytest_bayesloc.report import memory, text, words
from pytest_bayesloc.report.document import BeliefEntry, LocationEntry, ReadSource, ResultDocument
from pytest_bayesloc.report.text import fit, percent, visible
from pytest_bayesloc.report.view import answers, faults_of, sources_of
from pytest_bayesloc.report.words import Key, heat, key_of, name_of, place_of

if TYPE_CHECKING:
    from pytest_bayesloc.ranking.graph import Graph

# Good enough for broken source as well, which the standard tokenizer refuses.
_STRINGS = (
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)',
    r"'''(?:[^\\]|\\.)*?(?:'''|\Z)",
    r'"(?:[^"\\\n]|\\.)*"?',
    r"'(?:[^'\\\n]|\\.)*'?",
)
_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)"
    rf"|(?P<string>(?:\b[rbfutRBFUT]{{1,2}})?(?:{'|'.join(_STRINGS)}))"
    rf"|(?P<keyword>\b(?:{'|'.join(keyword.kwlist)})\b)"
    r"|(?P<number>\b\d[\w.]*)",
    re.DOTALL,
)
_MARKED = Markup('<span class="{}">{}</span>')


def coloured(lines: Sequence[str]) -> list[Markup]:
    """Return lines of Python as markup; tokens are elements with their kind as class."""
    text, at = "\n".join(lines), 0
    pieces: list[Markup] = []
    for match in _TOKEN.finditer(text):
        pieces.append(escape(visible(text[at : match.start()])))
        parts = (_MARKED.format(match.lastgroup, visible(part)) for part in match[0].split("\n"))
        pieces.append(Markup("\n").join(parts))
        at = match.end()
    return Markup("").join([*pieces, escape(visible(text[at:]))]).split("\n")


def with_code(text: str) -> Markup:
    """Return text as markup, in which what stands between backticks is code."""
    shown = visible(text)
    parts = shown.split("`")
    if len(parts) % 2 == 0:  # one of them has no partner
        return escape(shown)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if n % 2 else escape(part)
        for n, part in enumerate(parts)
    )


MAX_PLAIN = 400_000  # characters of long parts


def render(document: ResultDocument, read_source: ReadSource, prompt: str = "") -> str:
    """Return the page of ``document``, which offers ``prompt`` if there is one.

    It can be written as UTF-8, whatever a message holds.
    """
    faults = faults_of(document, read_source)
    style, script = _asset("static/report.css"), _asset("static/report.js")
    policy = (  # nothing but the page's own style and script
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    template = environment().get_template("report.html.j2")
    return template.render(
        document=document,
        faults=faults,
        answers=answers(faults),
        sources=list(sources_of(document.faults, read_source)),
        calls=document.call_graph.edges,
        memory=document.memory,
        drawing=call_graph(document),
        prompt=prompt,
        figures=[name for _, name, _ in memory.FIGURES],
        glyphs=words.GLYPHS,
        pack=_packer(),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=policy,
    )


def _packer() -> Callable[..., Markup]:
    """Return what folds away parts that would make the page slow; the script unfolds them.

    The first ``MAX_PLAIN`` characters stay as they are, so that a page of the usual size can be
    searched and printed as a whole.
    """
    left = MAX_PLAIN

    def pack(markup: Markup, holds: str = "", *, keep: bool = False) -> Markup:
        """Return ``markup``, or, unless to ``keep``, it compressed.

        The names of its anchors begin with what it ``holds``.
        """
        nonlocal left
        if keep or len(markup) <= left:
            left -= len(markup)
            return markup
        data = gzip.compress(markup.encode("utf-8", "backslashreplace"), mtime=0)
        packed = base64.b64encode(data).decode("ascii")
        return Markup(
            '<div class="packed" aria-busy="true" data-holds="{}" data-packed="{}">'
            "<p>This part is unpacked by a script, which did not run.</p></div>"
        ).format(holds, packed)

    return pack


@cache
def environment() -> jinja2.Environment:
    """Return what escapes everything, and spells out unsafe characters (``finalize``)."""
    made = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(lambda name: _asset(f"templates/{name}")),
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    # Templates put parts of the document into words by the functions of these modules, by name.
    for module in (text, words, memory):
        made.filters.update(getmembers(module, isfunction))
    own = (asdict, belief_chart, coloured, with_code)
    made.filters.update({function.__name__: function for function in own})
    return made


def _asset(name: str) -> str:
    """Return a file shipped beside this module."""
    text = resources.files("pytest_bayesloc.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # the policy's hashes hold for Unix line ends only


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


# -- drawings

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

#: What a template draws, by the names that it uses.
Drawing: TypeAlias = Mapping[str, Any]
Point = tuple[float, float]


def belief_chart(history: Sequence[Sequence[BeliefEntry]], threshold: float) -> Drawing | None:
    """Return the chart of ``history`` (prior first, then each step); None if nothing moved.

    It has the lines, the ticks of both axes as (position, label), and the height of the line at
    which the loop stops. ``steps`` are the positions of the steps, each with its number, and
    ``reach`` how far to both sides one is meant by a pointer.
    """
    tracks = _tracks(history)
    if not any(abs(track[-1][1] - track[0][1]) >= LEAST_MOVE for track in tracks.values()):
        return None
    last = len(history) - 1
    labels = _labels([steps[-1] for steps in tracks.values()], last)
    every = -(-last // N_TICKS)
    return {
        "box": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "size": (WIDTH, HEIGHT),
        "series": [
            _series(name, track, label, last)
            for (name, track), label in zip(tracks.items(), labels, strict=True)
        ],
        "x_ticks": [(_x(i, last), str(i) if i else "start") for i in range(0, last + 1, every)],
        "y_ticks": [(_y(p), percent(p)) for p in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "steps": [(_x(i, last), i) for i in range(1, last + 1)],
        "reach": round((RIGHT - LEFT) / last / 2, 2),
        "threshold": _y(threshold),
        "threshold_text": percent(threshold),
    }


def _tracks(history: Sequence[Sequence[BeliefEntry]]) -> dict[str, list[tuple[int, float]]]:
    """Return (step, probability) of each location, the likeliest at the end first."""
    tracks: dict[str, list[tuple[int, float]]] = {}
    for i, step in enumerate(history):
        for entry in step:
            tracks.setdefault(place_of(entry), []).append((i, entry.posterior))
    # One that dropped out of the list of the likeliest comes after those that are still in it.
    order = sorted(tracks, key=lambda name: (-tracks[name][-1][0], -tracks[name][-1][1]))
    return {name: tracks[name] for name in order[:N_SERIES]}


def _series(name: str, track: list[tuple[int, float]], label: float, last: int) -> Drawing:
    """Return the line of one location, and where its label stands: clear of the others."""
    dots = [(_x(i, last), _y(p)) for i, p in track]
    return {
        "name": name,
        "points": " ".join(f"{x:g},{y:g}" for x, y in dots),  # as SVG wants them
        "dots": dots,
        "label_x": dots[-1][0] + 12,
        "label_y": label,
        "first": percent(track[0][1]),
        "last": percent(track[-1][1]),
    }


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


def call_graph(document: ResultDocument) -> Drawing | None:
    """Return the calls around the suspects, callers above callees; None if there are none.

    An edge is the data of an SVG path, from caller to callee.
    """
    edges = document.call_graph.edges
    if not edges:
        return None
    from pytest_bayesloc.ranking import graph

    beliefs = {key_of(row): row.posterior for row in document.ranking}
    ends = {key_of(place): place for edge in edges for place in (edge.caller, edge.callee)}
    calls = sorted({(key_of(edge.caller), key_of(edge.callee)) for edge in edges})
    shown = _nearest(graph.graph_of(calls, ends), beliefs)
    drawn = graph.graph_of(
        ((a, b) for a, b in calls if a != b and {a, b} <= set(shown)), nodes=shown
    )
    if not drawn.edges:
        return None
    corners = _corners(drawn)
    return {
        "width": max(x for x, _ in corners.values()) + NODE_WIDTH + MARGIN,
        "height": max(y for _, y in corners.values()) + NODE_HEIGHT + MARGIN,
        "nodes": [_node(ends[key], beliefs.get(key), corners[key]) for key in shown],
        "edges": [_path(corners[a], corners[b]) for a, b in sorted(drawn.edges)],
        "n_hidden": len(ends) - len(shown),
    }


def _nearest(called: Graph[Key], beliefs: Mapping[Key, float]) -> list[Key]:
    """Return the likeliest, each followed by its callers and callees, until there are enough."""
    from pytest_bayesloc.ranking import graph

    likeliest = sorted(called, key=lambda key: (-beliefs.get(key, 0.0), key))
    near: dict[Key, None] = {}
    for key in likeliest:
        if beliefs.get(key, 0.0) > 0.0 or not near:
            near.update(dict.fromkeys([key, *graph.beside(called, key)]))
    near.update(dict.fromkeys(likeliest))
    return list(islice(near, MAX_NODES))


def _corners(drawn: Graph[Key]) -> dict[Key, Point]:
    """Return the upper left corner of each function, centred in its layer.

    A layer is ordered by the mean position of callers and callees, downward and upward in turn,
    which leaves few lines that cross.
    """
    from pytest_bayesloc.ranking import graph

    layers = graph.layers(drawn)
    beside = {key: graph.beside(drawn, key) for key in drawn}
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


def _node(location: LocationEntry, belief: float | None, corner: Point) -> Drawing:
    """Return a function in the picture; it stands with its upper left corner at ``corner``."""
    return {
        "place": location,
        "label": fit(name_of(location), N_CHARS),
        "belief": "" if belief is None else percent(belief),  # empty if it is in no ranking
        "level": heat(belief or 0.0),
        "x": corner[0],
        "y": corner[1],
    }


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
