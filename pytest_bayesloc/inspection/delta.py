"""Delta debugging: the smallest of several changes without which tests pass.

Reference:
    Zeller, Hildebrandt: Simplifying and isolating failure-inducing input. TSE 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

#: Undoes some changes and returns those of some tests that pass then; none if that can't be tried.
Passing: TypeAlias = Callable[[Sequence[T], Collection[str]], frozenset[str]]

FEW = 8  # changes that are undone one by one before halves are


@dataclass(frozen=True, slots=True)
class Share(Generic[T]):
    """Changes, in their order, and the tests that pass without them.

    Attributes:
        is_smallest: Whether no part of them was found to be enough; else time was up before.
    """

    items: tuple[T, ...]
    tests: frozenset[str]
    is_smallest: bool


def minimal(items: Sequence[T], suffices: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a subset of ``items`` that still suffices, of which no smaller part was found to.

    Reference:
        ddmin of the paper.
    """
    left, n_parts = list(items), 2
    while len(left) > 1:
        size = -(-len(left) // n_parts)
        parts = [left[i : i + size] for i in range(0, len(left), size)]
        # Of two parts, each is what is left without the other.
        rest = parts if len(parts) > 2 else []
        without = [[item for item in left if item not in part] for part in rest]
        smaller = next((part for part in (*parts, *without) if part and suffices(part)), None)
        if smaller is not None:
            n_parts = 2 if smaller in parts else max(n_parts - 1, 2)
            left = smaller
        elif n_parts >= len(left):
            break
        else:
            n_parts = min(len(left), 2 * n_parts)
    return left


def shared_out(
    items: Sequence[T],
    tests: Sequence[str],
    passing: Passing[T],
    is_over: Callable[[], bool] = lambda: False,
) -> list[Share[T]]:
    """Return the smallest sets of ``items`` that repair ``tests``, the one of most tests first.

    Each test belongs to one set.

    Args:
        items: Changes that can be undone.
        tests: Node ids; all of them pass with all changes undone.
        passing: Tries some of them.
        is_over: Whether there is no time left; then a set may be larger than it has to be.
    """
    return _Sharing(items, tests, passing, is_over).shares()


class _Sharing(Generic[T]):
    """Results of subsets: each is tried once, for all tests that need it."""

    def __init__(
        self,
        items: Sequence[T],
        tests: Sequence[str],
        passing: Passing[T],
        is_over: Callable[[], bool],
    ) -> None:
        self._items, self._tests = items, tests
        self._passing, self._is_over = passing, is_over
        every = tuple(range(len(items)))
        self._known: dict[tuple[int, ...], frozenset[str]] = {every: frozenset(tests)}
        self._unfinished: set[str] = set()

    def shares(self) -> list[Share[T]]:
        if len(self._items) <= FEW:
            for n in range(len(self._items)):
                if all(map(self._is_single, self._tests)):
                    break
                self._passed([n])
        for test in self._tests:
            self._search(test)
        chosen: dict[tuple[int, ...], list[str]] = {}
        for test in self._tests:
            chosen.setdefault(self._best(test), []).append(test)
        shares = [
            Share(
                tuple(self._items[n] for n in numbers),
                frozenset(own),
                len(numbers) == 1 or self._unfinished.isdisjoint(own),
            )
            for numbers, own in chosen.items()
        ]
        return sorted(shares, key=lambda share: (-len(share.tests), len(share.items)))

    def _search(self, test: str) -> None:
        """Find the smallest set that repairs ``test``, unless that of another test is one."""
        best = self._best(test)
        if len(best) == 1 or best in map(self._best, self._tests[: self._tests.index(test)]):
            return
        minimal(best, lambda chosen: test in self._passed(chosen))
        if self._is_over():
            self._unfinished.add(test)

    def _best(self, test: str) -> tuple[int, ...]:
        """Return the smallest known set that repairs ``test``, of several that of most tests."""
        found = (chosen for chosen, passed in self._known.items() if test in passed)
        return min(found, key=lambda c: (len(c), -len(self._known[c]), c))

    def _passed(self, chosen: Sequence[int]) -> frozenset[str]:
        numbers = tuple(sorted(chosen))
        if numbers not in self._known:
            if self._is_over():
                return frozenset()
            # Of tests that a single change repairs, other single ones may repair more at once.
            asked = [t for t in self._tests if len(numbers) == 1 or not self._is_single(t)]
            self._known[numbers] = self._passing([self._items[n] for n in numbers], asked)
        return self._known[numbers]

    def _is_single(self, test: str) -> bool:
        return len(self._best(test)) == 1
