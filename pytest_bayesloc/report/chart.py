"""How the belief moved: the geometry of a small line chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_bayesloc.report.text import one_line, percent

N_SERIES = 5
N_TICKS = 10
WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 604, 12, 204
LABEL_GAP = 18.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One location over the steps.

    Attributes:
        number: From 1, the label at the end of its line.
        name: Qualified name and place.
        points: ``x,y x,y ...`` as SVG wants them.
        dots: The same, one by one, each with its step; 0 is the start.
        label_x: Where its label stands: right of its last point.
        label_y: The same, clear of the others.
        first: Its first known probability.
        last: Its last.
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
class Chart:
    """Lines, ticks of both axes as (position, label), and the line at which the loop stops.

    ``steps`` are the positions of the steps, each with its number, and ``reach`` how far to both
    sides one is meant by a pointer.
    """

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    series: tuple[Series, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    steps: tuple[tuple[float, int], ...]
    reach: float
    threshold: float
    threshold_text: str


def chart(history: Sequence[Sequence[Mapping[str, Any]]], threshold: float) -> Chart | None:
    """The chart of ``history`` (prior first, then each step); None if nothing moved."""
    if len(history) < 2:
        return None
    tracks = _tracks(history)
    last = len(history) - 1
    labels = _labels([steps[-1] for steps in tracks.values()], last)
    series = tuple(
        _series(number, name, steps, label, last)
        for number, ((name, steps), label) in enumerate(zip(tracks.items(), labels, strict=True), 1)
    )
    every = -(-last // N_TICKS)
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=RIGHT,
        top=TOP,
        bottom=BOTTOM,
        series=series,
        x_ticks=tuple((_x(i, last), str(i) if i else "start") for i in range(0, last + 1, every)),
        y_ticks=tuple((_y(p), percent(p)) for p in (0.0, 0.25, 0.5, 0.75, 1.0)),
        steps=tuple((_x(i, last), i) for i in range(1, last + 1)),
        reach=round((RIGHT - LEFT) / last / 2, 2),
        threshold=_y(threshold),
        threshold_text=percent(threshold),
    )


def _tracks(history: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, list[tuple[int, float]]]:
    """Per location its (step, probability), the likeliest at the end first."""
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
    """Heights of the labels of lines that end at (step, probability).

    Those that end at the last step move up until they are ``LABEL_GAP`` apart.
    """
    heights = [_y(p) for _, p in ends]
    floor = BOTTOM + LABEL_GAP
    for i in sorted(range(len(ends)), key=lambda i: (-heights[i], -i)):
        if ends[i][0] == last:
            floor = heights[i] = round(min(heights[i], floor - LABEL_GAP), 1)
    return heights
