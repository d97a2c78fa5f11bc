"""What one process saw, or several together."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.spectrum.collectors.base import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_bayesloc.spectrum.collectors.base import Footprint, Seen
    from pytest_bayesloc.spectrum.failures import RawFailure

N_NAMED = 10  # tests that a message names at most
START_UP = 0  # the window of what conftest files execute as they are loaded


@dataclass(kw_only=True)
class Recorded:
    """What one process saw.

    Attributes:
        windows_of: Per node id of a test, the windows that belong to it.
        verdicts: Per node id, whether it passed; tests that are no evidence are absent.
        remembered: Node ids of tests that did not run, and would pass as they did before.
        excused: Per node id of those, ``skipped`` or ``xfailed``.
        failures: Per node id of a failing test or of a file that could not be collected.
        footprints: What was executed, by the numbers in ``rows``.
        rows: Which window executed what.
        imported: Node ids of the test files that could be collected, with their window.
        imports: The windows in which modules were imported, before any test ran, with the node id
            of the test module that did; of conftest files, an empty one.
        unordered: Those of them that don't tell who imports first: nobody watched, or only some
            test modules were imported there.
        cached: The windows that were not traced, since it is known what they execute, with what
            their test or test module is known as.
        spoilt: The windows of which a part is missing: something took the trace function away.
        is_broken: Whether recording had to be given up.
        collector: Name of the collector, empty if nothing was collected.
        partial: What is missing, and why.
        environments: Per node id of a failing test of another process, what ran it.
        files: Of workers: the files of the project that were imported, absolute.
        n_windows: Numbers of windows below this are taken.
    """

    windows_of: dict[str, list[int]] = field(default_factory=dict)
    verdicts: dict[str, bool] = field(default_factory=dict)
    remembered: list[str] = field(default_factory=list)
    excused: dict[str, str] = field(default_factory=dict)
    failures: dict[str, RawFailure] = field(default_factory=dict)
    footprints: list[Footprint] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    imported: dict[str, int] = field(default_factory=dict)
    imports: dict[int, str] = field(default_factory=dict)
    unordered: set[int] = field(default_factory=set)
    cached: dict[int, str] = field(default_factory=dict)
    spoilt: set[int] = field(default_factory=set)
    is_broken: bool = False
    collector: str = ""
    partial: list[str] = field(default_factory=list)
    environments: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    n_windows: int = 0

    @property
    def n_traced(self) -> int:
        """Tests that were traced in this run."""
        return sum(windows[0] not in self.cached for windows in self.windows_of.values())

    def kept_from_running(self, collected: Iterable[str]) -> list[str]:
        """Those of ``collected`` of which nothing is known, because a file can't be collected."""
        if not any(raw["phase"] == "collect" for raw in self.failures.values()):
            return []
        known = {*self.verdicts, *self.remembered, *self.excused}
        return [node_id for node_id in collected if node_id not in known]

    def spoilt_tests(self) -> list[str]:
        """The tests of which a part is missing."""
        return [n for n, windows in self.windows_of.items() if not self.spoilt.isdisjoint(windows)]

    def remember(self, node_ids: Iterable[str]) -> None:
        """Let tests stand beside those that ran, with what is known of them."""
        for node_id in node_ids:
            window, self.n_windows = self.n_windows, self.n_windows + 1
            self.cached[window] = node_id
            self.windows_of[node_id] = [window, START_UP]
            self.remembered.append(node_id)

    def add(self, seen: Seen) -> None:
        """Add what another collector saw, in windows of its own."""
        known = {footprint: number for number, footprint in enumerate(self.footprints)}
        numbers = [known.setdefault(footprint, len(known)) for footprint in seen.footprints]
        self.footprints = list(known)
        self.spoilt |= seen.spoilt
        for window, row in seen.rows:
            renumbered = array(row.typecode, map(numbers.__getitem__, row))
            self.rows.append(Row(window, renumbered))


def named(node_ids: Sequence[str]) -> str:
    """Tests as a message names them."""
    some, n_more = ", ".join(node_ids[:N_NAMED]), len(node_ids) - N_NAMED
    return f"{some} and {n_more} more" if n_more > 0 else some
