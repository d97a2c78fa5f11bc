"""The record of what tests executed, as collectors give it, and how they ended.

It is of one process or of several.
"""

from __future__ import annotations

import base64
import zlib
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict

from pytest_bayesloc.spectrum.failures import RawFailure  # noqa: TC001 - a shard is checked by it

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Row = array[int]
    Rows = dict[str, list[Row]]
else:
    Row = array  # generic since Python 3.12; a shard is checked by it


#: As the name of code: a child process executed it, so no patch in memory reaches it.
CHILD_PROCESS = "<child process>"


class Footprint(NamedTuple):
    """Lines of one code object that were executed together, in one window or more.

    Attributes:
        filename: Absolute path.
        first_line: ``co_firstlineno`` of the code, or 0 where only the lines are known.
        name: Name of the code; empty, or ``CHILD_PROCESS``, where only the lines are known.
        lines: The lines, ascending.
    """

    filename: str
    first_line: int
    name: str
    lines: tuple[int, ...]


class Collector(Protocol):
    """Notes the lines that are executed in each window.

    A window is a span of the run: a test from setup to teardown, or the import of a test module.

    Attributes:
        name: For the result and the reports.
        early: Whether it may start before conftest files are loaded.
    """

    name: str
    early: bool

    def start(self) -> bool:
        """Begin; False where it can't work here, so that the next collector is tried."""

    def switch(self, window: int | None) -> None:
        """Credit what is executed from now on to ``window``; None: to nothing."""

    def rest(self) -> None:
        """Credit nothing until the next window, as cheaply as possible."""

    def stop(self) -> None:
        """End, and give back what was taken. May be called twice."""

    def hand_over(self, recorded: RunRecord) -> None:
        """Add what was executed to ``recorded``. After ``stop``."""


class Payload(TypedDict):
    """A record as JSON values, by which it travels between processes; verdicts are not in it.

    Attributes:
        windows: As ``Window.payload`` has them.
        rows: Those of all windows, one behind the other.
        files: The files of the project that the process imported, absolute.
    """

    windows: list[dict[str, Any]]
    windows_of: dict[str, list[int]]
    rows: str
    footprints: list[Footprint]
    imported: dict[str, int]
    failures: dict[str, RawFailure]
    is_broken: bool
    collector: str
    partial: list[str]
    files: list[str]


MAX_ROWS = 1 << 30  # bytes
START_UP = 0  # the window of the code that conftest files execute as they are loaded


@dataclass(slots=True, kw_only=True)
class Window:
    """A span of the run whose executed code is recorded as one.

    Attributes:
        node_id: Of the test during which it was opened, or of the test module that is imported;
            empty for conftest files, and for tests of another process.
        is_import: Whether modules are imported in it, before any test runs.
        is_ordered: Of an import: whether all imports before it are recorded, so that it shows who
            imports a file first. Not so if only some test modules were imported.
        cached_name: The name in the cache of its test or test module, where it was not traced since
            the cache knows what it executes; else None.
        is_spoilt: Whether a part is missing: something took the trace function away.
        rows: Numbers of the footprints that were executed.
    """

    node_id: str = ""
    is_import: bool = False
    is_ordered: bool = False
    cached_name: str | None = None
    is_spoilt: bool = False
    rows: list[Row] = field(default_factory=list)

    def payload(self) -> dict[str, Any]:
        """The window as JSON values, with the lengths of its rows alone.

        Defaults are left out, and the node ids of tests, which the record has.
        """
        names = ["is_import", "is_ordered", "cached_name", "is_spoilt"]
        names += ["node_id"] if self.is_import else []
        given = {n: value for n in names if (value := getattr(self, n)) not in (None, False)}
        return {"lengths": [len(row) for row in self.rows], **given}


@dataclass(kw_only=True)
class RunRecord:
    """The record of a run.

    Attributes:
        windows: By their numbers; the first is ``START_UP``.
        windows_of: Per node id of a test, the windows that belong to it, its own one first.
        verdicts: Per node id, whether it passed; tests that are no evidence are absent.
        remembered: Node ids of tests that did not run, and would pass as they did before.
        reruns: Per node id, how often it failed and was rerun by another plugin.
        excused: Per node id of a test that is no evidence, ``skipped`` or ``xfailed``.
        order: Per worker of pytest-xdist (empty: this process), its tests as they ran.
        failures: Per node id of a failing test or of a file that could not be collected.
        unawaited: Per node id of a test that never awaited a coroutine of its, Python's warning.
        footprints: Executed lines, by the numbers in the rows of windows.
        imported: Per node id of a test file that could be collected, the window of its import.
        is_broken: Whether recording had to be given up.
        collector: Name of the collector, empty if nothing was collected.
        partial: Texts that say which part is missing, and why.
        environments: Per node id of a failing test of another process, what ran it.
        files: Of workers: the files of the project that were imported, absolute.
    """

    windows: list[Window] = field(default_factory=lambda: [Window(is_import=True)])
    windows_of: dict[str, list[int]] = field(default_factory=dict)
    verdicts: dict[str, bool] = field(default_factory=dict)
    remembered: list[str] = field(default_factory=list)
    reruns: Counter[str] = field(default_factory=Counter)
    excused: dict[str, str] = field(default_factory=dict)
    order: dict[str, dict[str, None]] = field(default_factory=dict)
    failures: dict[str, RawFailure] = field(default_factory=dict)
    unawaited: dict[str, str] = field(default_factory=dict)
    footprints: list[Footprint] = field(default_factory=list)
    imported: dict[str, int] = field(default_factory=dict)
    is_broken: bool = False
    collector: str = ""
    partial: list[str] = field(default_factory=list)
    environments: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    @property
    def n_traced(self) -> int:
        """Tests that were traced in this run."""
        owns = (self.windows[windows[0]] for windows in self.windows_of.values())
        return sum(own.cached_name is None for own in owns)

    def earlier_tests(self, node_id: str) -> list[str]:
        """List the tests that ran before ``node_id`` in the same process, in their order."""
        ran = next((list(tests) for tests in self.order.values() if node_id in tests), [node_id])
        return ran[: ran.index(node_id)]

    def open(self, window: Window) -> int:
        """Add ``window`` and return its number."""
        self.windows.append(window)
        return len(self.windows) - 1

    def imports(self) -> Iterator[tuple[int, Window]]:
        """The windows of imports with their numbers, in their order."""
        return ((n, window) for n, window in enumerate(self.windows) if window.is_import)

    def blocked_tests(self, collected: Iterable[str]) -> list[str]:
        """List the tests without an outcome, if a file could not be collected."""
        if not any(raw["phase"] == "collect" for raw in self.failures.values()):
            return []
        known = {*self.verdicts, *self.remembered, *self.excused}
        return [node_id for node_id in collected if node_id not in known]

    def spoilt_tests(self) -> list[str]:
        """The tests of which a part is missing."""
        spoilt = {number for number, window in enumerate(self.windows) if window.is_spoilt}
        return [n for n, windows in self.windows_of.items() if not spoilt.isdisjoint(windows)]

    def remember(self, node_ids: Iterable[str]) -> None:
        """Let tests of the cache count as passed beside those that ran."""
        for node_id in node_ids:
            window = self.open(Window(node_id=node_id, cached_name=node_id))
            self.windows_of[node_id] = [window, START_UP]
            self.remembered.append(node_id)

    def add(
        self, footprints: Iterable[Footprint], rows: Iterable[tuple[int, Iterable[int]]]
    ) -> None:
        """Add what windows of this record executed; tests repeat most of what others did.

        Args:
            footprints: Each once.
            rows: The number of a window with those of the footprints that it executed, in the
                order in which windows were closed; a window may have several rows.
        """
        numbers = self._numbers(footprints)
        for window, row in rows:
            self.windows[window].rows.append(array("I", map(numbers.__getitem__, row)))

    def _numbers(self, footprints: Iterable[Footprint]) -> list[int]:
        """The number of each footprint, which is new for those that are not known yet."""
        known = {footprint: number for number, footprint in enumerate(self.footprints)}
        numbers = [known.setdefault(footprint, len(known)) for footprint in footprints]
        self.footprints = list(known)
        return numbers

    # -- between processes

    def payload(self, files: Iterable[str] = ()) -> Payload:
        """The record for ``merge``, with the ``files`` that were imported, absolute."""
        rows = array("I")
        for window in self.windows:
            for row in window.rows:
                rows.extend(row)
        return {
            "windows": [window.payload() for window in self.windows],
            "windows_of": self.windows_of,
            "rows": base64.b85encode(zlib.compress(rows.tobytes(), level=1)).decode("ascii"),
            "footprints": self.footprints,
            "imported": self.imported,
            "failures": {n: raw for n, raw in self.failures.items() if raw["phase"] == "collect"},
            "is_broken": self.is_broken,
            "collector": self.collector,
            "partial": self.partial,
            "files": list(files),
        }

    def merge(self, payload: Payload) -> None:
        """Add the record of another process; its windows get new numbers."""
        offset = len(self.windows)
        numbers = self._numbers(
            Footprint(filename, first_line, name, tuple(lines))
            for filename, first_line, name, lines in payload["footprints"]
        )
        packed = zlib.decompressobj()
        unpacked = packed.decompress(base64.b85decode(payload["rows"]), MAX_ROWS)
        if packed.unconsumed_tail:
            raise ValueError(f"its rows are larger than {MAX_ROWS >> 20} MiB")
        rows = array("I", unpacked)
        start = 0
        for entry in payload["windows"]:
            window = Window(**{name: entry[name] for name in entry if name != "lengths"})
            for length in entry["lengths"]:
                row = rows[start : start + length]
                if len(row) < length:
                    raise ValueError("a window lacks rows")
                window.rows.append(array("I", map(numbers.__getitem__, row)))
                start += length
            self.windows.append(window)
        for node_id, windows in payload["windows_of"].items():
            self.windows_of[node_id] = [window + offset for window in windows]
        for node_id, number in payload["imported"].items():
            self.imported.setdefault(node_id, number + offset)
        for node_id, raw in payload["failures"].items():
            self.failures.setdefault(node_id, raw)
            self.verdicts[node_id] = False
        self.is_broken |= payload["is_broken"]
        self.collector = payload["collector"] or self.collector
        self.files = sorted({*self.files, *payload["files"]})
        self.partial.extend(note for note in payload["partial"] if note not in self.partial)


# -- for the cache

CONFTESTS = ""  # the name of the import of conftest files


def select_traced(recorded: RunRecord) -> tuple[Rows, Rows]:
    """Select the rows of the tests and those of the imports that were traced to their end.

    Returns:
        Per node id of a test, its rows, and per node id of a test module, or ``CONFTESTS``.
    """
    tests: Rows = {}
    for node_id, numbers in recorded.windows_of.items():
        windows = [recorded.windows[number] for number in numbers]
        has_ended = node_id in recorded.verdicts or node_id in recorded.excused
        is_whole = not any(window.is_spoilt for window in windows)
        if has_ended and is_whole and windows[0].cached_name is None:
            tests[node_id] = [row for w in windows if not w.is_import for row in w.rows]
    imports: Rows = defaultdict(list)
    for _, window in recorded.imports():
        name = window.node_id
        is_known = window.cached_name is not None or not window.is_ordered
        if not is_known and (name == CONFTESTS or name in recorded.imported):
            imports[name] += window.rows
    return tests, imports


def modules_in(windows: Iterable[Window]) -> list[str]:
    """The test modules that were imported in ``windows``, in their order, each once."""
    names = dict.fromkeys(window.node_id for window in windows)
    return [name for name in names if name != CONFTESTS]
