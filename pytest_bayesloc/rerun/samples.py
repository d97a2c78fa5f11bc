"""Notes the values at chosen lines of functions, just before these are executed.

By ``sys.settrace``, which is left alone where another tool uses it. Only built-in types are looked
into, and no code of the project's objects is run.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.rerun.calls import note, numbering
from pytest_bayesloc.rerun.contents import ATOMS, classes_of, contents_of, is_object
from pytest_bayesloc.rerun.handled import start_tracing, stop_tracing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

    from pytest_bayesloc.rerun.swap import CodeKey

MAX_VISITS = 200  # of one point in a test that are looked at
MAX_SAMPLES = 60  # different ones of one point, over all tests
MAX_NAMES = 30  # variables, and attributes of their objects, of one sample

# The fields of ``domain.recording.Sample``, with the numbers of the function and of the point.
RawSample = list[Any]


class Sampler:
    """Samples one test at a time.

    Args:
        targets: Per real path, per code key, the number of the function.
        points: Per function its points, each a first and a last line. A point is left with the
            next line outside of these.
        is_valued: Whether values are noted; else each point is, once.
    """

    def __init__(
        self,
        targets: Mapping[str, Mapping[CodeKey, int]],
        points: Sequence[Sequence[Sequence[int]]],
        *,
        is_valued: bool = True,
    ) -> None:
        self._number = numbering(targets)
        self._points = [
            {line: n for n, (first, last) in enumerate(own) for line in range(first, last + 1)}
            for own in points
        ]
        self._open: dict[int, RawSample] = {}  # by the id of the frame
        self._visits: Counter[tuple[int, int]] = Counter()
        self._found: list[RawSample] = []
        self._seen: dict[tuple[int, int], set[str]] = {}
        self._is_valued, self._is_on = is_valued, False

    def start(self) -> None:
        """Begin a test, unless a debugger or another tool traces."""
        self._open, self._found = {}, []
        self._visits.clear()
        self._is_on = start_tracing(self._called)

    def stop(self) -> list[RawSample]:
        """End it and return the samples that no test before gave."""
        if self._is_on:
            stop_tracing()
        return self._found

    def _called(self, frame: FrameType, _event: str, _arg: Any) -> Any:  # noqa: ANN401 - as typed there
        if self._number(frame.f_code) < 0:
            return None
        return self._happened if self._is_valued else self._passed

    def _passed(self, frame: FrameType, event: str, _arg: Any) -> Any:  # noqa: ANN401 - likewise
        number = self._number(frame.f_code)
        point = self._points[number].get(frame.f_lineno, -1) if event == "line" else -1
        if point >= 0 and not self._visits[number, point]:
            self._visits[number, point] = 1
            self._found.append([number, point, 0, {}, {}])
        return self._passed

    def _happened(self, frame: FrameType, event: str, _arg: Any) -> Any:  # noqa: ANN401 - likewise
        number = self._number(frame.f_code)
        if event == "line":
            point = self._points[number].get(frame.f_lineno, -1)
            sample = self._open.get(id(frame))
            if sample is None or sample[1] != point:
                self._leave(frame, frame.f_lineno)
                if point >= 0:
                    self._enter(frame, number, point)
        elif event == "return":
            self._leave(frame, 0)
        return self._happened

    def _enter(self, frame: FrameType, number: int, point: int) -> None:
        self._visits[number, point] += 1
        is_full = len(self._seen.get((number, point), ())) >= MAX_SAMPLES
        if is_full or self._visits[number, point] > MAX_VISITS:
            return
        values: dict[str, list[Any]] = {}
        classes: dict[str, list[str]] = {}
        variables = dict(frame.f_locals)
        parts = (
            (f"{name}.{key}", part)
            for name, value in variables.items()
            if is_object(value)
            for key, part in (contents_of(value) or {}).items()
            if str(key).isidentifier()
        )
        named = (pair for pair in variables.items() if pair[0].isidentifier())
        for name, value in (*islice(named, MAX_NAMES), *islice(parts, MAX_NAMES)):
            values[name] = note(value)
            if type(value) not in ATOMS:
                classes[name] = classes_of(value)
        self._open[id(frame)] = [number, point, 0, values, classes]

    def _leave(self, frame: FrameType, line: int) -> None:
        sample = self._open.pop(id(frame), None)
        if sample is None:
            return
        sample[2] = line
        seen = self._seen.setdefault((sample[0], sample[1]), set())
        text = repr(sample)
        if len(seen) < MAX_SAMPLES and text not in seen:
            seen.add(text)
            self._found.append(sample)
