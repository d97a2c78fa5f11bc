"""From windows to tests: who executed which footprint, of the files that matter."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from pytest_bayesloc.domain.spectrum import bits, bitset_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_bayesloc.spectrum.collectors.base import Footprint
    from pytest_bayesloc.spectrum.recorded import Recorded
    from pytest_bayesloc.spectrum.sources import Sources

#: Files of which failing tests execute nothing, but that they have imported: each is parsed.
MAX_IMPORTED = 200


class Execution(NamedTuple):
    """Who executed a footprint.

    Attributes:
        footprint: The lines.
        tests: Bitset of the tests that executed them.
        importers: Bitset of the tests whose modules executed them as they were imported; None if
            no import did.
    """

    footprint: Footprint
    tests: int
    importers: int | None


class Executed:
    """What tests executed, row by row; the time grows linearly with what all rows hold.

    Args:
        recorded: What was seen.
        windows_of: Per test, the windows that belong to it.
        failing: Bitset of the tests that fail.
        sources: The project's files.
    """

    def __init__(
        self,
        recorded: Recorded,
        windows_of: Sequence[Sequence[int]],
        failing: int,
        sources: Sources,
    ) -> None:
        self._footprints = recorded.footprints
        self._rows = recorded.rows
        self._imports = frozenset(recorded.imports)
        self._failing = {window for i in bits(failing) for window in windows_of[i]}
        relative = sources.files.relative
        self._files = [relative(footprint.filename) for footprint in recorded.footprints]
        self._test_of, self._tests_of = _owners(windows_of)

    def found(self) -> Iterator[Execution]:
        """Each footprint that matters, in the order in which they were first seen."""
        wanted = self._wanted()
        tests: dict[int, list[int]] = defaultdict(list)
        together: dict[int, list[int]] = defaultdict(list)
        importers: dict[int, list[int]] = defaultdict(list)
        for window, row in self._rows:
            test = self._test_of.get(window)
            if window in self._imports:
                kind, value = importers, window
            elif test is not None:
                kind, value = tests, test
            else:
                kind, value = together, window
            for number in wanted.intersection(row):
                kind[number].append(value)

        @cache
        def union(*windows: int) -> int:
            return reduce(or_, (self._bitset(window) for window in windows), 0)

        for number in sorted(wanted):
            imported = importers.get(number)
            yield Execution(
                self._footprints[number],
                bitset_of(tests.get(number, ())) | union(*together.get(number, ())),
                None if imported is None else union(*imported),
            )

    def _bitset(self, window: int) -> int:
        test = self._test_of.get(window)
        return self._tests_of.get(window, 0) if test is None else 1 << test

    def _wanted(self) -> frozenset[int]:
        """The numbers of the footprints in files that failing tests have to do with."""
        by_anybody, by_failing = set[int](), set[int]()
        at_import, at_failing_import = set[int](), set[int]()
        for window, row in self._rows:
            everybody, failing = (
                (at_import, at_failing_import)
                if window in self._imports
                else (by_anybody, by_failing)
            )
            everybody.update(row)
            if window in self._failing:
                failing.update(row)
        executed = self._named(by_failing)
        by_nobody = self._named(at_import) - self._named(by_anybody)
        others = [*sorted(by_nobody), *sorted(self._named(at_failing_import) - by_nobody)]
        files = executed.union(others[:MAX_IMPORTED])
        return frozenset(i for i, file in enumerate(self._files) if file in files)

    def _named(self, numbers: set[int]) -> set[str]:
        return {self._files[number] for number in numbers}


def _owners(windows_of: Sequence[Sequence[int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Per window of one test that test, and per window of several their bitset."""
    members: dict[int, list[int]] = defaultdict(list)
    for test, windows in enumerate(windows_of):
        for window in windows:
            members[window].append(test)
    single = {window: tests[0] for window, tests in members.items() if len(tests) == 1}
    return single, {w: bitset_of(tests) for w, tests in members.items() if len(tests) > 1}
