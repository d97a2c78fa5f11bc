"""Failing tests that probably share one fault.

Reference:
    docs/model.md, section "Grouping".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from pytest_bayesloc.domain.location import MODULE, Location
from pytest_bayesloc.domain.spectrum import Spectrum, bits
from pytest_bayesloc.ranking.prior import is_candidate


class _Row(NamedTuple):
    """The best line among those that the same failing tests execute; the less, the better.

    Attributes:
        ep: Passing tests that execute it.
        minus_ef: Failing tests that execute it, earlier groups included, times -1.
        location: Where it is.
        failing: Those failing tests.
    """

    ep: int
    minus_ef: int
    location: Location
    failing: int


def groups(spectrum: Spectrum, keys: Mapping[str, Hashable | None]) -> tuple[int, ...]:
    """The failing tests of ``spectrum``, split into bitsets: largest first, then by first test.

    Args:
        spectrum: Which test executed which line.
        keys: Per node id of a failing test, what names its fault outright (the owner of a value
            that a guard refused, the place of a collection error); None or missing where nothing
            does. Tests with equal keys go together, tests without one by what they execute.
    """
    keyed: dict[Hashable, int] = {}
    rest = spectrum.failing
    for i in bits(spectrum.failing):
        key = keys.get(spectrum.tests[i])
        if key is not None:
            keyed[key] = keyed.get(key, 0) | 1 << i
            rest ^= 1 << i
    found = [*keyed.values(), *_by_execution(spectrum, rest)]
    return tuple(sorted(found, key=lambda group: (-group.bit_count(), group & -group)))


def _by_execution(spectrum: Spectrum, rest: int) -> list[int]:
    """``rest`` by the code that its tests execute; what executes nothing is a group of its own."""
    bodies = _bodies(spectrum.lines)
    code = [where for where in spectrum.lines if is_candidate(where)]
    found: list[int] = []
    # What ran at import is credited to every test of a test module, so it would tie them together:
    # it decides only for tests that execute nothing else.
    for at_import in (False, True):
        chosen = [where for where in code if (where in bodies) is at_import]
        covered = _cover(_rows(spectrum, chosen, rest), rest, spectrum.passing.bit_count())
        found += covered
        for group in covered:
            rest &= ~group
    return [*found, rest] if rest else found


def _bodies(locations: Iterable[Location]) -> frozenset[Location]:
    """Module bodies, and the bodies of classes that have a method among ``locations``."""
    where = tuple(locations)
    parents = {(item.file, item.qualname.rpartition(".")[0]) for item in where}
    return frozenset(
        item for item in where if item.qualname == MODULE or (item.file, item.qualname) in parents
    )


def _rows(spectrum: Spectrum, locations: Iterable[Location], rest: int) -> dict[int, _Row]:
    """Per distinct set of failing tests in ``rest``, the line with the fewest passing ones.

    No other line of the same set can rank higher, so this keeps the cover's work small.
    """
    rows: dict[int, _Row] = {}
    for where in locations:
        for executed in spectrum.lines[where].values():
            failing = executed & rest
            if failing:
                ep = (executed & spectrum.passing).bit_count()
                row = _Row(ep, -failing.bit_count(), where, failing)
                rows[failing] = min(row, rows.get(failing, row))
    return rows


def _cover(rows: Mapping[int, _Row], rest: int, n_passing: int) -> list[int]:
    """Greedy cover of ``rest``: the most suspicious line, and what shares a telling line with it.

    Tests whose most suspicious line an earlier group executes as well join that group: nothing
    that is their own explains them.
    """
    found: list[int] = []
    while rows := _restrict(rows, rest):
        core = min(rows, key=lambda failing: _order(failing, rows[failing]))
        group = _widen(core, rows, n_passing)
        shared = (i for i, earlier in enumerate(found) if earlier & rows[core].failing)
        home = next(shared, None)
        if home is None:
            found.append(group)
        else:
            found[home] |= group
        rest &= ~group
    return found


def _restrict(rows: Mapping[int, _Row], rest: int) -> dict[int, _Row]:
    restricted: dict[int, _Row] = {}
    for failing, row in rows.items():
        left = failing & rest
        if left:
            restricted[left] = min(row, restricted.get(left, row))
    return restricted


def _order(failing: int, row: _Row) -> tuple[float, int, _Row]:
    """Falling Ochiai (its square without the constant F), then falling ``ef``, then location."""
    ef = failing.bit_count()
    return -(ef * ef) / (ef + row.ep), -ef, row


def _widen(core: int, rows: Mapping[int, _Row], n_passing: int) -> int:
    """The largest set of tests around ``core`` that one telling line explains.

    A line tells something if at most half of the passing tests execute it. Without this step a
    branch that one failing test takes alone would outrank the fault that all of them share, and
    split it.
    """
    telling = [f for f, row in rows.items() if f & core == core and 2 * row.ep <= n_passing]
    return min(telling, key=lambda f: (-f.bit_count(), rows[f]), default=core)
