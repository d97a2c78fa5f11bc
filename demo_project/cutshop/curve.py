"""Plane B-spline curves, the outlines of what is cut."""

from __future__ import annotations

from collections.abc import Sequence
from math import dist, hypot

from cutshop.basis import greville, nonzero_basis
from cutshop.knots import check_knots, clamped_knots, domain, find_span, multiplicity

Point = tuple[float, float]


def blend(p: Point, q: Point, weight: float) -> Point:
    """The point ``weight`` of the way from ``p`` to ``q``."""
    return (p[0] + weight * (q[0] - p[0]), p[1] + weight * (q[1] - p[1]))


class Spline:
    """A B-spline curve of ``degree`` over ``knots``, shaped by ``points``."""

    def __init__(self, degree: int, knots: Sequence[float], points: Sequence[Point]) -> None:
        check_knots(knots, degree)
        if len(points) != len(knots) - degree - 1:
            raise ValueError(
                f"{len(knots)} knots of degree {degree} take {len(knots) - degree - 1} points, "
                f"got {len(points)}"
            )
        self.degree = degree
        self.knots = list(knots)
        self.points = list(points)

    @classmethod
    def through_ends(cls, points: Sequence[Point], degree: int = 3) -> Spline:
        """The evenly spaced curve that starts and ends on the outer points."""
        return cls(degree, clamped_knots(len(points), degree), points)

    def at(self, t: float) -> Point:
        """The point of the curve at parameter ``t``."""
        span = find_span(self.knots, self.degree, t)
        weights = nonzero_basis(self.knots, self.degree, span, t)
        near = self.points[span - self.degree : span + 1]
        x = sum(weight * point[0] for weight, point in zip(weights, near))
        y = sum(weight * point[1] for weight, point in zip(weights, near))
        return (x, y)

    def sample(self, n: int) -> list[Point]:
        """``n`` points, evenly spaced in the parameter, ends included."""
        start, end = domain(self.knots, self.degree)
        return [self.at(start + (end - start) * i / (n - 1)) for i in range(n)]

    def length(self, n: int = 200) -> float:
        """Length of the polyline through ``n`` samples."""
        samples = self.sample(n)
        return sum(dist(p, q) for p, q in zip(samples, samples[1:]))

    def velocity(self, t: float) -> Point:
        """The first derivative at ``t``."""
        p = self.degree
        steps = []
        for i in range(len(self.points) - 1):
            (x0, y0), (x1, y1) = self.points[i], self.points[i + 1]
            gap = self.knots[i + p + 1] - self.knots[i + 1]
            scale = p / gap if gap else 0.0
            steps.append((scale * (x1 - x0), scale * (y1 - y0)))
        inner = self.knots[1:-1]
        span = find_span(inner, p - 1, t)
        weights = nonzero_basis(inner, p - 1, span, t)
        near = steps[span - p + 1 : span + 1]
        x = sum(weight * step[0] for weight, step in zip(weights, near))
        y = sum(weight * step[1] for weight, step in zip(weights, near))
        return (x, y)

    def tangent(self, t: float) -> Point:
        """The direction of travel at ``t``, of length 1."""
        x, y = self.velocity(t)
        speed = hypot(x, y)
        if speed == 0.0:
            raise ValueError(f"the curve stands still at {t}: it has no tangent there")
        return (x / speed, y / speed)

    def insert_knot(self, t: float) -> Spline:
        """The same curve with one more knot, at ``t``, and one more point."""
        p = self.degree
        if multiplicity(self.knots, t) >= p:
            raise ValueError(f"knot {t} is there {p} times already")
        span = find_span(self.knots, p, t)
        points = self.points[: span - p + 1]
        for i in range(span - p + 1, span + 1):
            weight = (t - self.knots[i]) / (self.knots[i + p] - self.knots[i])
            points.append(blend(self.points[i - 1], self.points[i], weight))
        points += self.points[span:]
        knots = self.knots[: span + 1] + [t] + self.knots[span + 1 :]
        return Spline(p, knots, points)

    def bounds(self) -> tuple[Point, Point]:
        """Lower left and upper right corner of a box that holds the curve."""
        xs, ys = zip(*self.points)
        return (min(xs), min(ys)), (max(xs), max(ys))

    def is_closed(self, tolerance: float = 1e-9) -> bool:
        """Whether the curve ends where it starts."""
        start, end = domain(self.knots, self.degree)
        return dist(self.at(start), self.at(end)) <= tolerance


def segment(p: Point, q: Point, degree: int = 3) -> Spline:
    """The straight line from ``p`` to ``q``, travelled at an even pace."""
    knots = clamped_knots(degree + 1, degree)
    return Spline(degree, knots, [blend(p, q, at) for at in greville(knots, degree)])
