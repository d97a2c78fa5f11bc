"""Which tests to run again: the failing ones, and the passing ones nearest to them."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.spectrum import Spectrum, bits
from pytest_bayesloc.ranking.formulas import scorer


class Neighbourhood:
    """Nearness of passing tests to the failing tests of a group.

    Two tests are near if they execute the same locations (Jaccard).

    Args:
        spectrum: With the group's tests as its failing ones.
    """

    def __init__(self, spectrum: Spectrum) -> None:
        self._spectrum = spectrum
        self._distance: dict[int, float] | None = None

    def _distances(self) -> dict[int, float]:
        """Per passing test, its distance from the failing ones, in [0, 1]."""
        if self._distance is not None:
            return self._distance
        failing, passing = self._spectrum.failing, self._spectrum.passing
        shared: dict[int, int] = {}
        own: dict[int, int] = {}
        n_covered = 0
        for executed in self._spectrum.executed.values():
            covered = bool(executed & failing)
            n_covered += covered
            for test in bits(executed & passing):
                own[test] = own.get(test, 0) + 1
                shared[test] = shared.get(test, 0) + covered
        self._distance = {
            test: 1 - shared[test] / (n_covered + own[test] - shared[test] or 1) for test in own
        }
        return self._distance

    def is_reached(self, location: Location) -> bool:
        """Whether a patch in memory of ``location`` may matter to the failing tests."""
        return location.inspectable and location not in self._spectrum.remote

    def nearest(self, location: Location, n: int, *, line: int = 0) -> tuple[str, ...]:
        """The ``n`` nearest passing tests that execute ``location``, if given: its ``line``."""
        distances = self._distances()
        executed = self._spectrum.executed.get(location, 0) & self._spectrum.passing
        executed &= self._spectrum.lines.get(location, {}).get(line, executed)
        chosen = sorted(bits(executed), key=lambda test: (distances.get(test, 1.0), test))[:n]
        return tuple(self._spectrum.tests[test] for test in chosen)

    def failing(self, location: Location, n: int) -> tuple[str, ...]:
        """The first ``n`` failing tests that execute ``location``; if none does, of all."""
        executed = self._spectrum.executed.get(location, 0) & self._spectrum.failing
        chosen = list(bits(executed or self._spectrum.failing))[:n]
        return tuple(self._spectrum.tests[test] for test in chosen)

    def union(self, locations: Sequence[Location], *, each: int, at_most: int) -> tuple[str, ...]:
        """The passing tests nearest to each location, the first locations' first."""
        chosen: dict[str, None] = {}
        for location in locations:
            for node_id in self.nearest(location, each):
                if len(chosen) < at_most:
                    chosen.setdefault(node_id)
        return tuple(chosen)

    def suspiciousness(self, location: Location) -> dict[int, float]:
        """Per executed line of ``location``, its Ochiai score."""
        score = scorer(self._spectrum, "ochiai")
        rows = self._spectrum.lines.get(location, {})
        return {line: score(executed) for line, executed in rows.items()}
