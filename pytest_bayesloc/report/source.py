"""Source text of a suspect, line by line, with its heat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_bayesloc.report.hot import hot_line
from pytest_bayesloc.report.text import one_line, score

MAX_SHOWN = 80
GLYPHS = ("", "\N{LIGHT SHADE}", "\N{MEDIUM SHADE}", "\N{DARK SHADE}", "\N{FULL BLOCK}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """One line of source.

    Attributes:
        number: 1-based.
        text: Without its line ending.
        anchor: ``file:line``, empty where an earlier listing has it.
        level: 0 for cold, to 4: the index of ``glyph``.
        glyph: The heat, for those who don't see colour.
        suspiciousness: Two digits, empty for a line that no test executed.
        ef: Failing tests that executed it.
        ep: Passing tests that executed it.
        said: The same in words; empty for a line that no test executed.
    """

    number: int
    text: str
    anchor: str
    level: int = 0
    glyph: str = ""
    suspiciousness: str = ""
    ef: str = ""
    ep: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """The one line to look at first, and why that one."""

    number: int
    text: str
    label: str


def source_text(row: Mapping[str, Any], read_source: Callable[[str], str | None]) -> list[str]:
    """The lines of the row's file; none where it can't be read."""
    text = read_source(row["file"]) or ""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if text else []


def snippet(row: Mapping[str, Any], error: Mapping[str, Any], lines: list[str]) -> Snippet | None:
    """The line of ``row`` that raised, else its most suspicious one, else its first."""
    number, label = hot_line(row, error), "its first line"
    heat = [line["suspiciousness"] for line in row["lines"]]
    if error["file"] == row["file"] and error["line"] == number:
        label = "the failing line"
    elif heat:
        ties = heat.count(max(heat))
        label = (
            f"first of its {ties} most suspicious lines" if ties > 1 else "its most suspicious line"
        )
    if not 1 <= number <= len(lines):
        return None
    return Snippet(number=number, text=lines[number - 1].strip(), label=label)


def source_of(
    row: Mapping[str, Any], read_source: Callable[[str], str | None], anchored: set[str]
) -> tuple[Heat, ...] | None:
    """The lines of ``row``, about ``MAX_SHOWN`` around the hottest; None if there are none.

    Args:
        row: A row of a ranking.
        read_source: Text of a file, None if it can't be read.
        anchored: Anchors already given; those given here are added.
    """
    text = source_text(row, read_source)
    first, last = _window(row)
    executed = {line["line"]: line for line in row["lines"]}
    heats = []
    for number, line in enumerate(text[first - 1 : last], first):
        anchor = one_line(f"{row['file']}:{number}")
        known = anchor in anchored
        anchored.add(anchor)
        heats.append(_heat(number, line, "" if known else anchor, executed.get(number)))
    return tuple(heats) or None


def _window(row: Mapping[str, Any]) -> tuple[int, int]:
    first, last = row["start_line"], row["end_line"]
    if last - first < MAX_SHOWN:
        return first, last
    hottest = max(
        row["lines"], key=lambda line: (line["suspiciousness"], -line["line"]), default=None
    )
    middle = hottest["line"] if hottest else first
    start = max(first, min(middle - MAX_SHOWN // 2, last - MAX_SHOWN + 1))
    return start, start + MAX_SHOWN - 1


def _heat(number: int, text: str, anchor: str, line: Mapping[str, Any] | None) -> Heat:
    if line is None:
        return Heat(number=number, text=text, anchor=anchor)
    value = line["suspiciousness"]
    level = 0 if value <= 0 else 1 + min(3, int(value * 4))
    return Heat(
        number=number,
        text=text,
        anchor=anchor,
        level=level,
        glyph=GLYPHS[level],
        suspiciousness=score(value),
        ef=str(line["ef"]),
        ep=str(line["ep"]),
        said=(
            f"line {number}: executed by {line['ef']} failing and {line['ep']} passing tests, "
            f"suspiciousness {score(value)}"
        ),
    )
