"""The program spectrum: the lines that each test executed, and the verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from pytest_bayesloc.domain.location import Location


def bits(bitset: int) -> Iterator[int]:
    """The positions set in ``bitset``, ascending."""
    digits = bin(bitset)[:1:-1]
    position = digits.find("1")
    while position >= 0:
        yield position
        position = digits.find("1", position + 1)


def tally(bitsets: Iterable[int]) -> dict[int, int]:
    """Per position that is set in any of ``bitsets``, in how many it is.

    All positions are counted at once: each sum of bitsets holds one binary digit of every count.
    """
    sums: list[int] = []
    for bitset in bitsets:
        carry = bitset
        for n, digit in enumerate(sums):
            sums[n], carry = digit ^ carry, digit & carry
            if not carry:
                break
        if carry:
            sums.append(carry)
    found: dict[int, int] = {}
    for n, digit in enumerate(sums):
        for position in bits(digit):
            found[position] = found.get(position, 0) + (1 << n)
    return found


def bitset_of(positions: Iterable[int]) -> int:
    """The bitset with ``positions`` set, in time linear in their number and the highest one."""
    known = list(positions)
    if not known:
        return 0
    octets = bytearray((max(known) >> 3) + 1)
    for position in known:
        octets[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(octets, "little")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of tests that executed (``e``) a location or not (``n``), and failed or passed.

    Attributes:
        ef: Failing tests that executed it.
        ep: Passing tests that executed it.
        nf: Failing tests that did not.
        np: Passing tests that did not.
    """

    ef: int
    ep: int
    nf: int
    np: int

    def __post_init__(self) -> None:
        if min(self.ef, self.ep, self.nf, self.np) < 0:
            raise ValueError(f"{self} has a negative count: expected four counts of tests.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectrum:
    """T tests x L locations, with verdicts. Bit i of a bitset stands for ``tests[i]``.

    Attributes:
        tests: Node ids, T of them. Tests that are no evidence (skipped, xfailed) have no verdict
            bit.
        failing: Bitset of the failing tests.
        passing: Bitset of the passing tests; disjoint from ``failing``.
        lines: Per location, per line, the bitset of the tests that executed it.
        remote: Locations that child processes alone executed: patches in memory don't reach them.
        executed: Per location, the bitset of the tests that executed any of its lines.
    """

    tests: tuple[str, ...]
    failing: int
    passing: int
    lines: Mapping[Location, Mapping[int, int]]
    remote: frozenset[Location] = frozenset()
    executed: Mapping[Location, int] = field(init=False)

    def __post_init__(self) -> None:
        if self.failing & self.passing:
            both = [self.tests[i] for i in bits(self.failing & self.passing)]
            raise ValueError(f"{both} both failed and passed: expected one verdict a test.")
        unions = {where: reduce(or_, rows.values(), 0) for where, rows in self.lines.items()}
        object.__setattr__(self, "executed", unions)

    def count(self, executed: int) -> Counts:
        """The counts of the bitset of tests ``executed``."""
        ef = (executed & self.failing).bit_count()
        ep = (executed & self.passing).bit_count()
        return Counts(
            ef=ef,
            ep=ep,
            nf=self.failing.bit_count() - ef,
            np=self.passing.bit_count() - ep,
        )

    def counts(self, location: Location) -> Counts:
        """The counts of ``location``; of one that is not in the spectrum, those of unexecuted."""
        return self.count(self.executed.get(location, 0))

    def reached(self) -> list[Location]:
        """The locations that a failing test executes."""
        return [where for where, tests in self.executed.items() if tests & self.failing]

    def node_ids(self, bitset: int) -> tuple[str, ...]:
        """The node ids whose bit is set."""
        return tuple(self.tests[i] for i in bits(bitset))

    def bitset(self, node_ids: Collection[str]) -> int:
        """The bitset of those of ``node_ids`` that are among its tests."""
        return bitset_of(i for i, node_id in enumerate(self.tests) if node_id in node_ids)
