"""Which of a commit's changes make its tests pass: the smallest sets of them.

Reference:
    Zeller, Hildebrandt: Simplifying and isolating failure-inducing input. TSE 2002.
"""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.source import SourceMap, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Place = tuple[str, str]
    Passes = Callable[[Mapping[str, str]], bool]

MAX_ATOMS = 12
MAX_RUNS = 24


@dataclass(slots=True)
class Hunk:
    """Lines of a file that a commit replaces.

    Attributes:
        file: Its path.
        old: Lines of the old text, from 0, the end excluded.
        new: The lines that take their place.
        places: Files and names of the old text's functions and bodies that it changes.
        is_new: Whether it only adds definitions or imports, which change nothing by themselves.
    """

    file: str
    old: tuple[int, int]
    new: tuple[str, ...]
    places: set[Place] = field(default_factory=set)
    is_new: bool = False


class Change:
    """What a commit changes, in pieces that can be applied one by one.

    Args:
        before: Texts of the changed files.
        after: Their texts at the commit.
    """

    def __init__(self, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        self.before, self.after = before, after
        hunks = [hunk for file in before for hunk in _hunks(file, before[file], after[file])]
        self.context = [hunk for hunk in hunks if hunk.is_new]
        self.atoms = _joined([hunk for hunk in hunks if not hunk.is_new])

    def texts(self, atoms: Iterable[int]) -> dict[str, str]:
        """The old texts with the context and some of the pieces applied."""
        chosen = [*self.context, *(hunk for n in atoms for hunk in self.atoms[n])]
        return {file: _applied(file, text, chosen) for file, text in self.before.items()}

    def places(self, atoms: Iterable[int]) -> list[Place]:
        """What some of the pieces change; of none, what the context does."""
        hunks = [hunk for n in atoms for hunk in self.atoms[n]] or self.context
        return sorted({place for hunk in hunks for place in hunk.places})


def smallest(change: Change, passes: Passes) -> list[list[Place]]:
    """The smallest sets of places whose change makes the tests pass; several if there are.

    Args:
        change: Of which all together makes them pass, and none does not.
        passes: Whether the tests pass with these texts.
    """
    n_left = MAX_RUNS

    def works(atoms: Sequence[int]) -> bool:
        nonlocal n_left
        n_left -= 1
        return n_left >= 0 and passes(change.texts(atoms))

    if change.context and works(()):
        return [change.places(())]
    every = list(range(len(change.atoms)))
    first = _minimal(every, works)
    found = [first]
    for atom in first if len(first) < len(every) else ():
        rest = [n for n in every if n != atom]
        if n_left > len(rest) and works(rest):
            other = _minimal(rest, works)
            if sorted(other) not in map(sorted, found):
                found.append(other)
    return [change.places(atoms) for atoms in found]


def _minimal(atoms: Sequence[int], works: Callable[[Sequence[int]], bool]) -> list[int]:
    """Leave out one after the other what is not needed; a single one that suffices comes first."""
    if len(atoms) == 1:
        return list(atoms)
    for atom in atoms:
        if works([atom]):
            return [atom]
    kept = list(atoms)
    for atom in atoms:
        fewer = [n for n in kept if n != atom]
        if len(fewer) > 1 and works(fewer):
            kept = fewer
    return kept


def _hunks(file: str, before: str, after: str) -> list[Hunk]:
    old, new = lines_of(before), lines_of(after)
    maps = SourceMap(before, file), SourceMap(after, file)
    known = {unit.location.qualname for unit in maps[0].units}
    found = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "equal":
            continue
        hunk = Hunk(file=file, old=(i1, i2), new=tuple(new[j1:j2]))
        written = [n + 1 for n in range(j1, j2) if _says(new[n])]
        removed = [n + 1 for n in range(i1, i2) if _says(old[n])]
        hunk.places |= {(file, _name_at(maps[0], n)) for n in removed}
        names = {_name_at(maps[1], n) for n in written}
        hunk.places |= {(file, name if name in known else _around(name, known)) for name in names}
        is_added = not removed and names and not names & known
        is_import = bool(written) and all(
            _is_import(text) for text in (*old[i1:i2], *new[j1:j2]) if _says(text)
        )
        hunk.is_new = bool(is_added or is_import or not (written or removed))
        found.append(hunk)
    return found


def _name_at(source: SourceMap, line: int) -> str:
    """The name of the innermost function or class around ``line``, its header included."""
    around = (u for u in source.units if u.first_line <= line <= u.location.end_line)
    return max(around, key=lambda unit: unit.first_line, default=source.module).location.qualname


def _around(name: str, known: set[str]) -> str:
    """The nearest enclosing body that the old text has."""
    while "." in name:
        name = name.rpartition(".")[0].removesuffix(".<locals>")
        if name in known:
            return name
    return MODULE


def _says(line: str) -> bool:
    """Whether a line is more than space or a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _is_import(line: str) -> bool:
    try:
        tree = ast.parse(line.strip())
    except SyntaxError:
        return line.strip().startswith(("from ", "import "))
    return all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)


def _joined(hunks: Sequence[Hunk]) -> list[list[Hunk]]:
    """Hunks that share a place belong together."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        touching = [g for g in groups if any(hunk.places & other.places for other in g)]
        groups = [g for g in groups if g not in touching]
        groups.append([*(other for g in touching for other in g), hunk])
    return groups


def _applied(file: str, text: str, hunks: Iterable[Hunk]) -> str:
    lines = lines_of(text)
    for hunk in sorted((h for h in hunks if h.file == file), key=lambda h: h.old, reverse=True):
        lines[slice(*hunk.old)] = hunk.new
    return "".join(lines)
