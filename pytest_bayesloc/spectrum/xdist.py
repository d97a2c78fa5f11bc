"""What pytest-xdist's workers saw, brought together in the controller.

It travels as JSON text: a path object or a lone surrogate in ``workeroutput`` would lose all that
a worker has to say, without a word.
"""

from __future__ import annotations

import base64
import json
import zlib
from array import array
from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.spectrum.collectors.base import Footprint, Row, Seen
from pytest_bayesloc.spectrum.recorded import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_bayesloc.spectrum.recorded import Recorded
    from pytest_bayesloc.spectrum.recorder import Recorder

KEY = "bayesloc"


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker."""
    return hasattr(config, "workerinput")


def is_controller(config: pytest.Config) -> bool:
    """Whether this process hands its tests to workers."""
    distributes = getattr(config.option, "dist", "no") != "no"
    return distributes and bool(getattr(config.option, "tx", None)) and not is_worker(config)


def encode(recorded: Recorded, files: Iterable[str] = ()) -> str:
    """What a worker sends at its end; verdicts went with the reports.

    Args:
        recorded: What it saw.
        files: The files of the project that it imported, absolute.
    """
    return json.dumps(
        {
            "windows_of": recorded.windows_of,
            "imported": recorded.imported,
            "imports": list(recorded.imports.items()),
            "unordered": sorted(recorded.unordered),
            "cached": list(recorded.cached.items()),
            "failures": {n: raw for n, raw in recorded.failures.items() if _is_collection(raw)},
            "footprints": recorded.footprints,
            "lengths": [[row.window, len(row.footprints)] for row in recorded.rows],
            "rows": _packed(recorded.rows),
            "spoilt": sorted(recorded.spoilt),
            "is_broken": recorded.is_broken,
            "collector": recorded.collector,
            "partial": recorded.partial,
            "files": list(files),
        }
    )


def merge(recorded: Recorded, text: str) -> None:
    """Add what one worker sent; its windows get numbers of their own."""
    data: dict[str, Any] = json.loads(text)
    offset = recorded.n_windows
    highest = offset + max((window for window, _ in data["imports"]), default=0)
    for node_id, windows in data["windows_of"].items():
        recorded.windows_of[node_id] = [window + offset for window in windows]
        highest = max(highest, *recorded.windows_of[node_id])
    footprints = [
        Footprint(filename, first_line, name, tuple(lines))
        for filename, first_line, name, lines in data["footprints"]
    ]
    rows = list(_unpacked(data["rows"], data["lengths"]))
    recorded.add(Seen(footprints, [Row(row.window + offset, row.footprints) for row in rows]))
    highest = max([highest, *(row.window + offset for row in rows)])
    for node_id, raw in data["failures"].items():
        recorded.failures.setdefault(node_id, raw)
        recorded.verdicts[node_id] = False
    for node_id, window in data["imported"].items():
        recorded.imported.setdefault(node_id, window + offset)
    recorded.imports.update((window + offset, name) for window, name in data["imports"])
    recorded.unordered.update(window + offset for window in data.get("unordered", ()))
    recorded.cached.update((window + offset, name) for window, name in data["cached"])
    recorded.n_windows = highest + 1
    recorded.spoilt.update(window + offset for window in data["spoilt"])
    recorded.is_broken |= data["is_broken"]
    recorded.collector = data["collector"] or recorded.collector
    recorded.files = sorted({*recorded.files, *data["files"]})
    recorded.partial.extend(note for note in data["partial"] if note not in recorded.partial)


def _packed(rows: Iterable[Row]) -> str:
    """The numbers in ``rows``, one after the other."""
    numbers = array("I")
    for row in rows:
        numbers.extend(row.footprints)
    return base64.b85encode(zlib.compress(numbers.tobytes(), level=1)).decode("ascii")


def _unpacked(packed: str, lengths: Sequence[tuple[int, int]]) -> Iterator[Row]:
    numbers = array("I", zlib.decompress(base64.b85decode(packed)))
    start = 0
    for window, length in lengths:
        yield Row(window, numbers[start : start + length])
        start += length


def _is_collection(raw: dict[str, Any]) -> bool:
    return bool(raw["phase"] == "collect")


class Worker:
    """The plugin of a worker: hands over at the end of its session."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Any:  # noqa: ANN401 - a generator hook
        """Stop recording before outer plugins stop measuring."""
        try:
            return (yield)
        finally:
            self._recorder.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what was seen."""
        self._recorder.stop()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            self._recorder.take_seen()
            files = map(str, self._recorder.files_in_use().values())
            output[KEY] = encode(self._recorder.recorded, files)


class WorkerReporter:
    """Reports, as the plugin of a process that re-runs tests, which code they execute."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def payload(self) -> str:
        """Stop recording; return all that was recorded, for ``merge``."""
        self._recorder.stop()
        self._recorder.take_seen()
        return encode(self._recorder.recorded)


class Controller:
    """The plugin of the controller: takes what the workers send."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._has_lost = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401 - xdist's
        """A worker ended: merge its part, or say that it is missing."""
        text = (getattr(node, "workeroutput", None) or {}).get(KEY)
        recorded = self._recorder.recorded
        if text is not None:
            merge(recorded, text)
            return
        name = getattr(getattr(node, "gateway", None), "id", "?")
        reason = f": {error}" if error else ""
        recorded.partial.append(f"Worker {name} sent no coverage{reason}")
        self._has_lost = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Bring the verdicts into an order that does not depend on who was faster."""
        recorded = self._recorder.recorded
        missing = sorted(recorded.verdicts.keys() - recorded.windows_of.keys())
        if self._has_lost and missing:
            recorded.partial.append(f"What {named(missing)} executed was lost with it")
        recorded.verdicts = dict(sorted(recorded.verdicts.items()))
        recorded.failures = dict(sorted(recorded.failures.items()))
