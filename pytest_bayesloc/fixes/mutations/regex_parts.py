"""Reads a regular expression into its parts, with their places in its text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_ANCHORS = frozenset("AZbBz")
_SETS = frozenset("dDwWsS")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})[?+]?")
_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|0[0-7]{0,2}|[1-9]\d?|.)",
    re.DOTALL,
)
_OPENING = re.compile(
    r"\((?:\?(?:P<\w+>|P=\w+|<=|<!|:|=|!|>|\(\w+\)|[aiLmsux]*(?:-[imsx]+)?[:)]|#[^)]*))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One piece of a pattern with its quantifier.

    Attributes:
        kind: ``literal``, ``set`` of digits and the like, ``any``, ``class``, ``anchor``,
            ``group``, ``look`` or ``other``.
        start: Where its text starts.
        end: Where its quantifier starts, or would.
        stop: Where that ends.
        branches: Of a group, its alternatives.
    """

    kind: str
    start: int
    end: int
    stop: int
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One alternative: its parts, and where its text starts and ends."""

    start: int
    end: int
    parts: tuple[Part, ...]


def branches_of(pattern: str, flags: int = 0) -> tuple[Branch, ...]:
    """Return the alternatives of a pattern.

    Raises:
        ValueError: If the pattern can't be read.
    """
    is_verbose = bool(flags & re.VERBOSE) or bool(re.match(r"\(\?[aiLmsu]*x", pattern))
    reader = _Reader(pattern, is_verbose=is_verbose)
    branches = reader.alternatives()
    if reader.at != len(pattern):
        raise ValueError(f"the pattern ends before {pattern[reader.at :]!r}")
    return branches


class _Reader:
    """Reads a pattern that compiles."""

    def __init__(self, text: str, *, is_verbose: bool) -> None:
        self._text = text
        self._is_verbose = is_verbose
        self.at = 0

    def alternatives(self) -> tuple[Branch, ...]:
        """Read to the end of the group, or of the pattern."""
        found = [self._branch()]
        while self._text[self.at : self.at + 1] == "|":
            self.at += 1
            found.append(self._branch())
        return tuple(found)

    def _branch(self) -> Branch:
        start, parts = self.at, []
        self._skip()
        while self.at < len(self._text) and self._text[self.at] not in "|)":
            first = self.at
            kind, branches = self._atom()
            end = self.at
            self._skip()
            match = _QUANTIFIER.match(self._text, self.at)
            self.at = match.end() if match is not None else end
            parts.append(Part(kind=kind, start=first, end=end, stop=self.at, branches=branches))
            self._skip()
        return Branch(start=start, end=self.at, parts=tuple(parts))

    def _skip(self) -> None:
        """Go to the next part: blanks and comments of a verbose pattern are none."""
        while self._is_verbose:
            match = re.compile(r"\s+|#[^\n]*").match(self._text, self.at)
            if match is None:
                break
            self.at = match.end()

    def _atom(self) -> tuple[str, tuple[Branch, ...]]:
        text = self._text
        first = text[self.at]
        if first == "\\":
            match = _ESCAPE.match(text, self.at)
            if match is None:
                raise ValueError("a pattern ends in a backslash")
            self.at, letter = match.end(), match[0][1]
            kind = "other" if letter in "123456789" else "literal"
            return ("set" if letter in _SETS else "anchor" if letter in _ANCHORS else kind), ()
        if first == "[":
            self.at += 2 if text[self.at + 1 : self.at + 2] == "^" else 1
            start = self.at  # a bracket there is a member
            while self.at < len(text) and (text[self.at] != "]" or self.at == start):
                self.at += 2 if text[self.at] == "\\" else 1
            self.at += 1
            return "class", ()
        if first == "(":
            return self._group()
        self.at += 1
        return {".": "any", "^": "anchor", "$": "anchor"}.get(first, "literal"), ()

    def _group(self) -> tuple[str, tuple[Branch, ...]]:
        match = _OPENING.match(self._text, self.at)
        opening = match[0] if match is not None else "("
        self.at += len(opening)
        if opening.startswith(("(?#", "(?P=")):
            self._close()
            return "other", ()
        if opening.endswith(")") and not opening.startswith("(?("):  # flags
            return "other", ()
        branches = self.alternatives()
        self._close()
        is_look = opening in {"(?=", "(?!", "(?<=", "(?<!"}
        return ("look" if is_look else "group"), branches

    def _close(self) -> None:
        if self._text[self.at : self.at + 1] != ")":
            raise ValueError("a group has no end")
        self.at += 1


def parts_in(branches: Iterable[Branch]) -> Iterator[Part]:
    """Yield all parts, those of groups behind the group."""
    for branch in branches:
        for part in branch.parts:
            yield part
            yield from parts_in(part.branches)


def literals_of(pattern: str, branches: Sequence[Branch]) -> Iterator[str]:
    """Yield the texts of literal parts that follow each other without a quantifier."""
    for branch in branches:
        run = ""
        for part in branch.parts:
            is_plain = part.kind == "literal" and part.end == part.stop
            if run and not is_plain:
                yield run
            run = run + pattern[part.end - 1 : part.end] if is_plain else ""
            yield from literals_of(pattern, part.branches)
        if run:
            yield run


def prefixes_of(pattern: str, branches: Sequence[Branch], depth: int = 0) -> Iterator[str]:
    """Yield the pattern up to each of its parts, with open groups closed."""
    for branch in branches:
        for part in branch.parts:
            yield from prefixes_of(pattern, part.branches, depth + 1)
            yield f"{pattern[: part.stop]}{')' * depth}"


def all_branches(branches: Sequence[Branch]) -> Iterator[Sequence[Branch]]:
    """Yield the alternatives of the pattern, then those of each group in it."""
    yield branches
    for part in parts_in(branches):
        if part.branches:
            yield part.branches


def items_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield the members of a class by their places: characters, escapes, ranges."""
    at = 2 if text.startswith("[^") else 1
    end = len(text) - 1
    while at < end:
        start, at = at, _behind(text, at)
        if text[at : at + 1] == "-" and at + 1 < end:
            at = _behind(text, at + 1)
        yield start, at


def _behind(text: str, at: int) -> int:
    match = _ESCAPE.match(text, at)
    return match.end() if match is not None else at + 1


def compiled(pattern: str, flags: int) -> re.Pattern[str] | None:
    """Return the compiled pattern; None if it does not compile, or not without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return re.compile(pattern, flags & ~re.UNICODE)  # texts have it, but for ``(?a)``
        except (re.error, ValueError, OverflowError, RecursionError, Warning):
            return None
