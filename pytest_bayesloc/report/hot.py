"""The one line of a suspect that a mark goes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def hot_line(row: Mapping[str, Any], error: Mapping[str, Any]) -> int:
    """The line that raised, else the most suspicious one, else the first.

    Args:
        row: Of a ranking of a ``bayesloc/1`` result.
        error: Of its fault.
    """
    first, last = row["start_line"], row["end_line"]
    if error["file"] == row["file"] and first <= error["line"] <= last:
        return int(error["line"])
    lines = [line for line in row["lines"] if first <= line["line"] <= last]
    hottest = max(lines, key=lambda line: (line["suspiciousness"], -line["line"]), default=None)
    return int(hottest["line"] if hottest else first)
