"""Changes since the tests passed, and the text with some of them reverted."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeAlias

from pytest_bayesloc.domain.bug import DIFF_LENGTH, CodeEdit
from pytest_bayesloc.domain.location import DATA, MODULE, Location
from pytest_bayesloc.domain.source import (
    ScopeNode,
    SourceMap,
    Unit,
    ended_lines,
    lines_of,
    parse,
)
from pytest_bayesloc.domain.texts import text_digest
from pytest_bayesloc.syntax.nodes import header, shape

DIGEST = 16
MAX_DATA = 5  # files that are suspects
# Qualified name, and how many of that name stand before it: a getter and its setter share one.
Name: TypeAlias = tuple[str, int]


class FileChange:
    """One file, then and now.

    Args:
        before: As it was when the tests passed.
        now: As it is.

    Attributes:
        units: The functions, classes and the module of ``now`` whose own code differs or is new,
            each behind what it was, if anything. What was removed counts as a change of the scope
            that held it. Comments, layout and annotations don't count.
        changed: Their locations.
        fresh: Those of them that only an import can take back: their signature, decorators or
            defaults changed, or they are the body of a class or a module.
    """

    def __init__(self, *, before: SourceMap, now: SourceMap) -> None:
        self.before, self.now = before, now
        then = named(before)
        # The changes between two texts that don't parse are unknown.
        is_broken = before.is_broken and now.is_broken
        self.units = tuple(
            (old, unit)
            for name, unit in named(now).items()
            if (old := then.get(name)) is None or is_broken or shape(old.node) != shape(unit.node)
        )
        self.changed = tuple(unit.location for _, unit in self.units)
        self.fresh = frozenset(
            unit.location
            for old, unit in self.units
            if old is None or not unit.is_function or header(old.node) != header(unit.node)
        )

    def reverted(self, chosen: Collection[Location]) -> str | None:
        """Return the present text without the changes of ``chosen``; None if it can't be made."""
        if set(self.changed) <= set(chosen):
            return self.before.text
        mixture = _Mixture(self.before, self.now, chosen)
        try:
            text = "".join(mixture.lines((MODULE, 0), 0))
            parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return None
        return text if mixture.placed.issuperset(set(self.changed).difference(chosen)) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataChange:
    """A file that is no code, then and now.

    Attributes:
        file: Its path relative to rootdir.
        before: As it was when the tests passed; None if that is not known.
        now: As it is; empty if it is gone.
        is_named: Whether the code names it.
    """

    file: str
    before: str | None
    now: str
    is_named: bool = False

    @property
    def location(self) -> Location:
        """All of its lines."""
        n_lines = max(1, len(lines_of(self.now)))
        return Location(file=self.file, start_line=1, end_line=n_lines, qualname=DATA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes in the project since some tests passed.

    Attributes:
        files: Per file whose code changed, its changes.
        known: The files whose old text is known.
        commit: With whose code they pass; empty if a run in which they passed is remembered.
        moved: Dotted names that modules had whose files lie elsewhere now, as far as that was
            looked at; ``files`` has them under their new paths.
        data: Files beside the code that are no code and differ from then, those first that the code
            names.
    """

    files: Mapping[str, FileChange] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    commit: str = ""
    moved: frozenset[str] = frozenset()
    data: tuple[DataChange, ...] = ()

    @property
    def every(self) -> list[Location]:
        """All changed locations."""
        return [where for change in self.files.values() for where in change.changed]

    @property
    def code(self) -> list[Location]:
        """Those that are not test code."""
        return [where for where in self.every if not where.is_test]

    @property
    def tests(self) -> list[Location]:
        """Those that are test code."""
        return [where for where in self.every if where.is_test]

    @property
    def data_suspects(self) -> list[Location]:
        """The data that may have broken the tests: what the code names, if it names any."""
        named = [change for change in self.data if change.is_named]
        return [change.location for change in (named or self.data)[:MAX_DATA]]

    def data_change(self, where: Location) -> DataChange | None:
        """The change of the data at ``where``; None if it is no such place."""
        return next((change for change in self.data if change.location == where), None)

    @property
    def since(self) -> str:
        """The start of the changes, in words that follow "since"."""
        return self.commit or "the tests last passed"

    @property
    def then(self) -> str:
        """The time when the tests passed, in words."""
        return f"at {self.commit}" if self.commit else "when they last passed"


def changes_since(
    greens: Sequence[Mapping[str, str]],
    text_of: Callable[[str], str | None],
    map_of: Callable[[str], SourceMap | None],
) -> list[Changes]:
    """Return the changes since the files held each of ``greens``; no text is compared twice.

    Args:
        greens: Texts per file, when some tests passed.
        text_of: Of a file as it is now; None if there is none.
        map_of: The same with its locations, asked for where the text differs.
    """

    @cache
    def change_of(file: str, text: str) -> FileChange | None:
        now = None if text_of(file) in {None, text} else map_of(file)
        if now is None:
            return None
        change = FileChange(before=SourceMap(text, file, is_test=now.is_test), now=now)
        return change if change.changed else None

    def changes(green: Mapping[str, str]) -> Changes:
        found = ((file, change_of(file, text)) for file, text in green.items())
        files = {file: change for file, change in found if change is not None}
        return Changes(files=files, known=frozenset(green))

    return list(map(changes, greens))


def narrowed(changes: Changes, own: Changes) -> Changes:
    """Return those of ``changes`` whose locations are among ``own``.

    All of them if none is, unless there is none in ``own``: they were moved or renamed since.
    """
    names = {name_of(where) for where in own.every}
    files: dict[str, FileChange] = {}
    for file, change in changes.files.items():
        if chosen := [where for where in change.changed if name_of(where) in names]:
            text = change.reverted(chosen)
            files[file] = change
            if text is not None:  # else they can't be told from the rest
                before = SourceMap(text, file, is_test=change.now.is_test)
                files[file] = FileChange(before=before, now=change.now)
    return replace(changes, files=files) if files or not names else changes


def named(source: SourceMap) -> dict[Name, Unit]:
    """Return the units of ``source`` by their names, outer ones first."""
    n_seen: Counter[str] = Counter()
    found: dict[Name, Unit] = {}
    for unit in source.units:
        qualname = unit.location.qualname
        found[qualname, n_seen[qualname]] = unit
        n_seen[qualname] += 1
    return found


class _Side:
    """The lines of a file, and the units directly in each of its scopes."""

    def __init__(self, source: SourceMap) -> None:
        self.units = named(source)
        self.lines = ended_lines(source.text)
        self.inner: dict[Name, list[Name]] = {name: [] for name in self.units}
        names = {id(unit): name for name, unit in self.units.items()}
        for name, unit in self.units.items():
            if unit.outer is not None:
                self.inner[names[id(unit.outer)]].append(name)


class _Mixture:
    """The text of now in which some units are as they were; ``placed`` are others of now in it."""

    def __init__(self, green: SourceMap, now: SourceMap, chosen: Collection[Location]) -> None:
        self._green, self._now, self._chosen = _Side(green), _Side(now), chosen
        self.placed: set[Location] = set()

    def lines(self, name: Name, column: int) -> Iterator[str]:
        """Yield the lines of the present unit ``name``, or of the old one in its place.

        Raises:
            ValueError: If a unit does not stand as deep as it did.
        """
        unit, side = self._now.units[name], self._now
        if unit.location not in self._chosen:
            self.placed.add(unit.location)
        elif name in self._green.units:
            side = self._green
            unit = side.units[name]
        else:
            yield f"{' ' * column}pass\n"
            return
        if _column(unit) != column:
            raise ValueError(name)
        at = unit.first_line - 1
        for inner_name in side.inner[name]:
            inner = side.units[inner_name]
            yield from side.lines[at : inner.first_line - 1]
            at = inner.location.end_line
            if inner_name in self._now.units:
                yield from self.lines(inner_name, _column(inner))
            else:
                yield from side.lines[inner.first_line - 1 : at]
        yield from side.lines[at : unit.location.end_line]


def _column(unit: Unit) -> int:
    return unit.node.col_offset if isinstance(unit.node, ScopeNode) else 0


# -- as the memory keeps changes


def name_of(where: Location) -> str:
    """Return ``file qualname``, the memory's name of a location: a line would move."""
    return f"{where.file} {where.qualname}"


def edit_of(changes: Changes) -> CodeEdit:
    """Return ``changes`` as the memory keeps them."""
    if not changes.every:
        return CodeEdit()
    diff: list[str] = []
    for file in sorted(changes.files):
        before, now = changes.files[file].before.text, changes.files[file].now.text
        diff += difflib.unified_diff(lines_of(before), lines_of(now), f"a/{file}", f"b/{file}", n=2)
    changed = [line for line in diff if not line.startswith(("+++", "---"))]
    ended = (line if line.endswith("\n") else f"{line}\n" for line in diff)
    return CodeEdit(
        functions=tuple(dict.fromkeys(name_of(where) for where in changes.every)),
        diff="".join(ended)[:DIFF_LENGTH],
        n_added=sum(line.startswith("+") for line in changed),
        n_removed=sum(line.startswith("-") for line in changed),
        in_tests=all(where.is_test for where in changes.every),
    )


def state_of(locations: Iterable[Location], read: Callable[[str], SourceMap | None]) -> str:
    """Return a digest of the code of ``locations``, without paths and lines."""
    texts: list[str] = []
    for where in set(locations):
        source = read(where.file)
        if source is not None and (unit := source.unit(where)) is not None:
            parts = [source.text]
            if not source.is_broken:
                parts = [p.__name__ if isinstance(p, type) else repr(p) for p in shape(unit.node)]
            texts.append("\0".join((where.qualname, *parts)))
    return text_digest("\n".join(sorted(texts)), DIGEST)
