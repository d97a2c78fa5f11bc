"""The part of the JSON result that says how each test failed."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_bayesloc.domain.failure import Failure, Frame
from pytest_bayesloc.domain.masking import masked
from pytest_bayesloc.domain.result import Fault
from pytest_bayesloc.report.text import clip

PHASES = frozenset({"setup", "call", "teardown", "collect"})
MAX_FAILURES = 50  # of a fault
MAX_FRAMES = 40  # of a traceback: its two ends
MAX_CAUSES = 5


def failures_to_json(fault: Fault) -> list[dict[str, object]]:
    """``failures`` of a fault of ``bayesloc/1``."""
    reached = (*fault.reached, *((),) * len(fault.failures))
    return [
        _failure(failure, rows)
        for failure, rows in zip(fault.failures[:MAX_FAILURES], reached, strict=False)
    ]


def _failure(failure: Failure, rows: Sequence[int]) -> dict[str, object]:
    return {
        "node_id": clip(failure.node_id),
        # What a crashed worker left behind has none.
        "phase": failure.phase if failure.phase in PHASES else "call",
        "type": clip(failure.exc_type),
        "message": clip(failure.message),
        "masked": clip(masked(failure.message)),
        "frames": _frames(failure.frames),
        "causes": [_frames(frames) for frames in failure.cause_frames[:MAX_CAUSES]],
        "executed": list(rows),
    }


def _frames(frames: Sequence[Frame]) -> list[dict[str, object]]:
    half = MAX_FRAMES // 2
    shown = frames if len(frames) <= MAX_FRAMES else (*frames[:half], *frames[-half:])
    return [
        {
            "file": clip(frame.file),
            "line": frame.line,
            "name": clip(frame.name),
            "in_app": frame.in_app,
            "is_test": frame.is_test,
        }
        for frame in shown
    ]
