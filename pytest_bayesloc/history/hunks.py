"""Changes of a text as blocks of lines that can be put back one by one, down to single entries."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.source import SourceMap, ended_lines, first_line, tree_of
from pytest_bayesloc.syntax.nodes import walk

#: Lines of a text, from 0, the end excluded.
Span: TypeAlias = tuple[int, int]
#: Tells an entry or a statement from its neighbours, by its name or its content.
Key: TypeAlias = tuple[str, ...]

MAX_LINES = 5_000  # of a text whose changes are told apart: the comparison is quadratic
_PYTHON = ".py"
# The name that stands before a value in JSON, TOML, YAML and the like.
_NAMED = re.compile(r"""\s*(?:-\s+)?(["']?[\w.$/-]+["']?)\s*[:=]""")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Hunk:
    """Lines of a file that changed since the tests passed.

    Attributes:
        file: Its path relative to rootdir.
        now: The lines as they are; an empty span where lines are gone.
        then: The lines that stood there.
        at: The place of ``then`` in the text of then.
    """

    file: str
    now: Span
    then: tuple[str, ...]
    at: int

    @property
    def lines(self) -> Span:
        """Its first and last line in the present text, from 1; where lines are gone, the next."""
        start, end = self.now
        return start + 1, max(end, start + 1)

    def lines_in(self, where: Location) -> Span:
        """The same, at most to the end of ``where``, which has no line behind its last."""
        first, last = self.lines
        return min(first, where.end_line), min(last, where.end_line)


def hunks_of(file: str, now: str, then: str) -> list[Hunk]:
    """Return the blocks of lines in which two texts of a file differ.

    What differs in comments and empty lines alone is left out.
    """
    ours, theirs = ended_lines(now), ended_lines(then)
    if max(len(ours), len(theirs)) > MAX_LINES:
        return [Hunk(file=file, now=(0, len(ours)), then=tuple(theirs), at=0)]
    changed = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    hunks = [
        Hunk(file=file, now=(i1, i2), then=tuple(theirs[j1:j2]), at=j1)
        for tag, i1, i2, j1, j2 in changed
        if tag != "equal"
    ]
    return [hunk for hunk in hunks if not _says_nothing(hunk, now)]


def put_back(text: str, hunks: Iterable[Hunk]) -> str:
    """Return ``text`` with the lines of ``hunks``, which are of it, as they were."""
    lines = ended_lines(text)
    for hunk in sorted(hunks, key=lambda hunk: hunk.now, reverse=True):
        lines[slice(*hunk.now)] = hunk.then
    return "".join(lines)


def is_whole(file: str, text: str) -> bool:
    """Return whether ``text`` can stand in ``file``: of Python, whether it parses."""
    return not file.endswith(_PYTHON) or tree_of(text) is not None


def parts_of(hunk: Hunk, now: str, then: str) -> list[Hunk]:
    """Return the changes of single entries and statements within ``hunk``.

    Args:
        hunk: A block of lines.
        now: The present text, of which the block is.
        then: The text that it was compared with.
    """
    cut_now, cut_then = (_cuts(text, is_code=hunk.file.endswith(_PYTHON)) for text in (now, then))
    ours = list(_segments(hunk.now, cut_now))
    theirs = list(_segments((hunk.at, hunk.at + len(hunk.then)), cut_then))
    lines = ended_lines(now)
    parts = []
    for mine, old in _paired(ours, theirs, hunk):
        text = hunk.then[old[0] - hunk.at : old[1] - hunk.at]
        if tuple(lines[slice(*mine)]) != text:
            parts.append(Hunk(file=hunk.file, now=mine, then=text, at=old[0]))
    return parts or [hunk]


def owner_of(hunk: Hunk, source: SourceMap, among: Sequence[Location]) -> Location:
    """Return the innermost of ``among``, locations of ``source``, that the hunk lies in."""
    around = []
    for where in among:
        unit = source.unit(where)
        top = where.start_line if unit is None else unit.first_line
        if top - 1 <= hunk.now[0] and hunk.now[1] <= where.end_line:
            around.append(where)
    return max(around, key=lambda where: where.start_line, default=among[0])


def _says_nothing(hunk: Hunk, text: str) -> bool:
    """Whether it changes comments and empty lines alone, and no text over several lines."""
    lines = [*ended_lines(text)[slice(*hunk.now)], *hunk.then]
    has_code = any(line.strip() and not line.lstrip().startswith("#") for line in lines)
    if has_code or not hunk.file.endswith(_PYTHON):
        return False
    before, now = tree_of(put_back(text, [hunk])), tree_of(text)
    if before is None or now is None:
        return False
    return ast.dump(before) == ast.dump(now)


# -- entries and statements


@lru_cache(maxsize=8)
def _cuts(text: str, *, is_code: bool) -> dict[int, Key]:
    """Return the lines, from 0, with which an entry or a statement begins, and what it is."""
    lines = ended_lines(text)
    if not is_code:
        named = ((n, line, _NAMED.match(line)) for n, line in enumerate(lines) if line.strip())
        return {n: ("entry", name[1]) if name else ("line", line) for n, line, name in named}
    tree = tree_of(text)
    if tree is None:
        return {}
    found: dict[int, Key] = {}
    for line, column, key in _elements(tree):  # outer ones come first
        if 0 < line <= len(lines) and not lines[line - 1].encode()[:column].strip():
            found.setdefault(line - 1, key)
    return found


def _elements(tree: ast.Module) -> Iterator[tuple[int, int, Key]]:
    """Yield the first line, column and key of each statement and entry."""
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            yield first_line(node), node.col_offset, _statement(node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                # Without a key it is another dictionary, behind two stars that have no place.
                at = key or value
                yield at.lineno, at.col_offset - (0 if key else 2), ("entry", ast.dump(at))
        elif isinstance(node, (ast.List, ast.Set, ast.Tuple)):
            yield from ((e.lineno, e.col_offset, _item(e)) for e in node.elts)
        elif isinstance(node, ast.Call):
            yield from ((e.lineno, e.col_offset, _item(e)) for e in node.args)
            yield from ((k.lineno, k.col_offset, ("argument", str(k.arg))) for k in node.keywords)


def _statement(node: ast.stmt) -> Key:
    name = getattr(node, "name", "")
    if isinstance(node, ast.Assign):
        name = ast.dump(node.targets[0])
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        name = ast.dump(node.target)
    elif not name:
        name = ast.dump(node)
    return type(node).__name__, name


def _item(node: ast.expr) -> Key:
    """Of a row such as ``("and", AND)`` the first constant is what it is called."""
    inside = (n for n in walk(node) if isinstance(n, ast.Constant))
    named = next(inside, None) if isinstance(node, (ast.Tuple, ast.List, ast.Call)) else None
    return "item", ast.dump(named or node)


def _segments(span: Span, cuts: dict[int, Key]) -> Iterator[tuple[Span, Key]]:
    """Divide ``span`` at the ``cuts`` in it."""
    start, end = span
    starts = [start, *(n for n in range(start + 1, end) if n in cuts), end]
    for a, b in pairwise(starts):
        if a < b:
            yield (a, b), cuts.get(a, ("", str(a == start)))


def _paired(
    ours: Sequence[tuple[Span, Key]], theirs: Sequence[tuple[Span, Key]], hunk: Hunk
) -> Iterator[tuple[Span, Span]]:
    """Yield what belongs together: the same key, else the same place between such.

    What is new, or gone, is by itself.
    """
    keys = [key for _, key in ours], [key for _, key in theirs]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *keys, False).get_opcodes():
        at_now = ours[i1][0][0] if i1 < len(ours) else hunk.now[1]
        at_then = theirs[j1][0][0] if j1 < len(theirs) else hunk.at + len(hunk.then)
        if i2 - i1 == j2 - j1:
            yield from (
                (mine[0], old[0]) for mine, old in zip(ours[i1:i2], theirs[j1:j2], strict=True)
            )
        elif tag == "insert":
            yield from (((at_now, at_now), span) for span, _ in theirs[j1:j2])
        elif tag == "delete":
            yield from ((span, (at_then, at_then)) for span, _ in ours[i1:i2])
        else:
            yield (at_now, ours[i2 - 1][0][1]), (at_then, theirs[j2 - 1][0][1])
