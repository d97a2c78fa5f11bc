"""Follows the lines of unchanged functions through edits of their file."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.source import SourceMap, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_bayesloc.domain.source import Unit
    from pytest_bayesloc.spectrum.run_record import Footprint

    # Qualified name, and which of those of that name it is.
    Key = tuple[str, int]
    Own = list[tuple[int, str]]


def match_lines(before: str, after: str, executed: Iterable[int]) -> Mapping[int, int] | None:
    """Map each line of ``before`` in an unchanged function to its line in ``after``.

    A function is the same if the lines of its own are, those of functions inside it left out, and
    blank lines and comments as well.

    Args:
        before: The text of the file as it was.
        after: As it is.
        executed: Lines of ``before`` that were seen to be executed.

    Returns:
        None where the body of a module or of a class differs: what it defines may be used anywhere.
        Also where nobody saw the import, which was over before recording began, so that any
        function may have had a part in it.
    """
    then, now = (SourceMap(text, "one.py") for text in (before, after))
    is_seen = any(then.owner(line) is then.module for line in executed)
    if then.is_broken or now.is_broken or not is_seen:
        return None
    old, new = _own_lines(then), _own_lines(now)
    shared = _is_body(then) | _is_body(now)
    moved: dict[int, int] = {}
    for key in old.keys() | new.keys():
        ours, theirs = old.get(key, []), new.get(key, [])
        if [text for _, text in ours] == [text for _, text in theirs]:
            moved.update(zip((line for line, _ in ours), (line for line, _ in theirs), strict=True))
        elif key in shared:
            return None
    return moved


def move_footprint(footprint: Footprint, moved: Mapping[int, int]) -> Footprint | None:
    """``footprint`` where its lines are now; None if one of them is no longer the same."""
    lines = [moved.get(line, 0) for line in footprint.lines]
    first_line = footprint.first_line
    if footprint.name not in ("", MODULE):
        first_line = moved.get(first_line, 0)
        lines.append(first_line)
    if not all(lines):
        return None
    return footprint._replace(first_line=first_line, lines=tuple(lines[: len(footprint.lines)]))


def _keys(source: SourceMap) -> list[tuple[Key, Unit]]:
    n_seen: Counter[str] = Counter()
    keys = []
    for unit in source.units:
        name = unit.location.qualname
        keys.append(((name, n_seen[name]), unit))
        n_seen[name] += 1
    return keys


def _is_body(source: SourceMap) -> set[Key]:
    """The bodies that an import executes: of the module, and of classes outside of functions."""
    return {
        key
        for key, unit in _keys(source)
        if not unit.is_function and ".<locals>." not in unit.location.qualname
    }


def _own_lines(source: SourceMap) -> dict[Key, Own]:
    """Per unit, the number and the text of each of its lines that says something."""
    keys = {id(unit): key for key, unit in _keys(source)}
    inside = _lines_in_strings(source.module.node)
    own: dict[Key, Own] = defaultdict(list)
    for line, text in enumerate(lines_of(source.text), 1):
        stripped = text.strip()
        if line in inside or (stripped and not stripped.startswith("#")):
            own[keys[id(source.owner(line))]].append((line, text.rstrip("\r\n")))
    return own


def _lines_in_strings(tree: ast.AST) -> set[int]:
    """The lines of texts over several lines, in which a comment is none."""
    texts = (ast.Constant, ast.JoinedStr)
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, texts) and node.end_lineno != node.lineno
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
