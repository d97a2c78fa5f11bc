"""How each test failed, in words: alike failures together, tracebacks without foreign frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pytest_bayesloc.report.text import count, one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameView:
    """A frame of the project, or how many foreign ones were left out (``where`` is empty)."""

    where: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureView:
    """One failing test.

    Attributes:
        node_id: Its node id.
        phase: Empty if it failed in its call, as most do.
        error: Type and text, in full.
        parts: Of the traceback, a heading and frames: of the last exception first, then of those
            that it was raised from.
        reaches: Of the likeliest places, those that it executed, and those that it did not.
    """

    node_id: str
    phase: str
    error: str
    parts: tuple[tuple[str, tuple[FrameView, ...]], ...]
    reaches: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Tests that failed with the same error, but for what differs from run to run."""

    error: str
    n_tests: str
    failures: tuple[FailureView, ...]


def alike(fault: Mapping[str, Any], names: Sequence[str]) -> tuple[Alike, ...]:
    """The failing tests of a fault, the most frequent error first.

    Args:
        fault: Of a ``bayesloc/1`` result.
        names: Of the first rows of its ranking.
    """
    groups: dict[str, list[FailureView]] = {}
    for failure in fault["failures"]:
        first = failure["masked"].strip().partition("\n")[0]
        error = one_line(f"{failure['type']}: {first}" if first else failure["type"])
        groups.setdefault(error, []).append(_failure(failure, names))
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return tuple(
        Alike(error=error, n_tests=count(len(failures), "test"), failures=tuple(failures))
        for error, failures in ordered
    )


def _failure(failure: Mapping[str, Any], names: Sequence[str]) -> FailureView:
    executed = set(failure["executed"])
    text = failure["message"]
    return FailureView(
        node_id=one_line(failure["node_id"]),
        phase="" if failure["phase"] == "call" else f"in {failure['phase']}",
        error=f"{failure['type']}: {text}" if text else failure["type"],
        parts=tuple(_parts(failure)),
        reaches=tuple((name, i in executed) for i, name in enumerate(names)),
    )


def _parts(failure: Mapping[str, Any]) -> Iterator[tuple[str, tuple[FrameView, ...]]]:
    tracebacks = [failure["frames"], *failure["causes"]]
    for i, frames in enumerate(tracebacks):
        shown = tuple(_frames(frames))
        if shown:
            yield "raised while handling, or because of, this" if i else "", shown


def _frames(frames: Sequence[Mapping[str, Any]]) -> Iterator[FrameView]:
    for in_app, run in groupby(frames, key=lambda frame: frame["in_app"]):
        found = list(run)
        if not in_app:
            text = f"{count(len(found), 'frame')} outside of the project"
            yield FrameView(where="", name="", text=text)
            continue
        for frame in found:
            where = one_line(f"{frame['file']}:{frame['line']}")
            yield FrameView(where=where, name=one_line(frame["name"]), text="")
