"""Numbers and foreign text, made fit for people."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType

# Control characters (tab and newline apart), bidirectional overrides, lone surrogates: they
# would steer a terminal, disguise source text, or could not be written at all.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
    "\ud800-\udfff]"
)

MAX_TEXT = 2_000
MAX_TESTS = 10  # in a command
LEAST_WORD = 12  # columns of a word that lost its middle
HEAD: Mapping[str, bool] = MappingProxyType({"bold": True})
WARNING: Mapping[str, bool] = MappingProxyType({"yellow": True})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output; ``markup`` as ``TerminalReporter.write_line`` takes it.

    A line that ``is_whole`` is never cut: a terminal wraps it.
    """

    text: str
    markup: Mapping[str, bool] = field(default_factory=dict)
    is_whole: bool = False


def clip(text: str, limit: int = MAX_TEXT) -> str:
    """Return ``text``, or its beginning and how much was left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} ... [{len(text) - limit} characters left out]"


def percent(p: float) -> str:
    """Return a probability in words; ``0 %`` and ``100 %`` only where it is exactly that."""
    if 0.0 < p < 0.01:
        return "<1 %"
    if 0.99 < p < 1.0:
        return ">99 %"
    return f"{p * 100:.0f} %"


def score(value: float) -> str:
    """Return a suspiciousness in two digits; 0.00 and 1.00 only where it is exactly that."""
    return f"{value if value in {0.0, 1.0} else min(0.99, max(0.01, value)):.2f}"


def ratio(p_if_faulty: float, p_if_clean: float) -> str:
    """Return a likelihood ratio in two digits: ``x9.4``."""
    if p_if_clean <= 0.0:
        return "x?"
    value = p_if_faulty / p_if_clean
    if value < 0.01:
        return "x<0.01"
    return f"x{value:.0f}" if value >= 10 else f"x{value:.2g}"


def seconds(value: float) -> str:
    """Return a duration in words."""
    if 0.0 < value < 0.01:
        return "<0.01 s"
    if value < 10:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def visible(text: str) -> str:
    """Return ``text`` with unsafe characters spelled out: an escape character as its number."""
    return _UNSAFE.sub(_spell, text)


def one_line(text: str) -> str:
    """Return ``text`` on one line, safe to show."""
    return visible(" ".join(text.split()))


def fenced(text: str, language: str = "") -> list[str]:
    """Return ``text`` between Markdown fences that are longer than any in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text.rstrip("\n"), fence]


def tests_to_run(tests: Sequence[str]) -> str:
    """Return the command that runs some tests, of many the first ones."""
    return shlex.join(["pytest", *map(one_line, tests[:MAX_TESTS])])


def columns(text: str) -> int:
    """Return the terminal columns that ``text`` takes."""
    return sum(_columns(char) for char in text)


def fit(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` columns, long words in their middle."""
    texts = _shortened(text, width)
    cut = f"{_cut(texts[2], width - 3)}..."
    return next((short for short in texts if columns(short) <= width), cut)


def _shortened(text: str, width: int) -> list[str]:
    """Return ``text``, then with ever shorter words: both ends of a name tell it from others."""
    words = text.split(" ")
    rooms = (max(LEAST_WORD, width // part) for part in (1, 2, 3))
    return [text, *(" ".join(_without_middle(word, room) for word in words) for room in rooms)]


def _without_middle(word: str, room: int) -> str:
    if columns(word) <= room:
        return word
    return f"{_cut(word, (room - 3) // 2)}...{_cut(word[::-1], (room - 2) // 2)[::-1]}"


def _cut(text: str, width: int) -> str:
    """Return the beginning of ``text`` that fits."""
    return text[: sum(end <= width for end in accumulate(map(_columns, text)))]


def padded(text: str, width: int) -> str:
    """Return ``text`` with or cut to exactly ``width`` columns."""
    cut = fit(text, width)
    return cut + " " * (width - columns(cut))


def wrap(text: str, width: int, n_lines: int) -> list[str]:
    """Return ``text`` broken at blanks into at most ``n_lines`` lines of ``width`` columns.

    A number and its ``%`` stay together. Long words lose their middle where they don't fit.
    """
    ways = [_broken(short, width) for short in _shortened(text, width)]
    fits = (w for w in ways if len(w) <= n_lines and max(map(columns, w)) <= width)
    lines = next(fits, ways[2])
    last = " ".join(lines[n_lines - 1 :])
    return [fit(line, width) for line in (*lines[: n_lines - 1], *([last] if last else ()))]


def _broken(text: str, width: int) -> list[str]:
    """Return the words of ``text`` in lines of ``width`` columns, wider ones alone."""
    lines = [""]
    for word in re.split(r" (?!%)", text):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if columns(joined) <= width or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _spell(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
