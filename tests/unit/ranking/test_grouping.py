from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.groups import split_failures
from tests.fakes.case import location

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.location import Location


A, B, C, D, E = (location(name) for name in "abcde")
MODULE = location("<module>")


def split(n_failing: int, n_passing: int, executed: Mapping[Location, str]) -> list[list[str]]:
    """Groups of tests ``f0 f1 ... p0 p1 ...``; one line a location, executed by the tests named."""
    tests = (*(f"f{i}" for i in range(n_failing)), *(f"p{i}" for i in range(n_passing)))
    failing = (1 << n_failing) - 1
    spectrum = Spectrum(
        tests=tests,
        failing=failing,
        passing=((1 << n_passing) - 1) << n_failing,
        lines={
            where: {1: sum(1 << tests.index(test) for test in names.split())}
            for where, names in executed.items()
        },
    )
    found = split_failures(spectrum, {}, lambda where: where.qualname in {"<module>", "Cart"})
    return [list(spectrum.node_ids(group)) for group in found]


ADD, POP = location("Cart.add"), location("Cart.pop")
OWN_0, OWN_1 = (location(f"test_{n}", is_test=True) for n in range(2))
BY_ALL = "f0 f1 " + " ".join(f"p{n}" for n in range(20))
#: Failing and passing tests, which of them execute what, and the groups.
SPLIT: dict[str, tuple[int, int, dict[Location, str], list[list[str]]]] = {
    "tests with nothing in common are groups of their own":
        (2, 2, {A: "f0 p0", B: "f1 p1"}, [["f0"], ["f1"]]),
    "code that every test executes does not join two faults":
        (2, 20, {A: "f0", B: "f1", C: BY_ALL}, [["f0"], ["f1"]]),
    # By Ochiai, b and c (1/sqrt(2) each) outrank a (2/sqrt(2*7) = 0.53).
    "private helpers do not split the tests of one fault":
        (2, 20, {A: "f0 f1 p0 p1 p2 p3 p4", B: "f0", C: "f1"}, [["f0", "f1"]]),
    "a test that only common code explains joins the group that shares it":
        (2, 4, {A: "f0 f1 p0 p1 p2 p3", B: "f0"}, [["f0", "f1"]]),
    "without passing tests whatever is shared joins":
        (3, 0, {A: "f0 f1", B: "f0", C: "f2"}, [["f0", "f1"], ["f2"]]),
    "the import of one module does not join two faults":
        (2, 9, {MODULE: "f0 f1 p0 p1 p2", A: "f0 p0", B: "f1 p1"}, [["f0"], ["f1"]]),
    "the body of a class does not join two faults in its methods":
        (2, 9, {location("Cart"): "f0 f1 p0", ADD: "f0 p0", POP: "f1 p1"}, [["f0"], ["f1"]]),
    "an import joins tests that execute nothing else":
        (3, 1, {MODULE: "f0 f1", A: "f2 p0"}, [["f0", "f1"], ["f2"]]),
    "the own code of a test says nothing":
        (2, 1, {OWN_0: "f0", OWN_1: "f1", A: "f0 f1 p0"}, [["f0", "f1"]]),
    "tests that execute nothing are one group":
        (3, 1, {A: "f0 p0"}, [["f1", "f2"], ["f0"]]),
    "the largest group comes first, then the earliest":
        (4, 0, {A: "f0", B: "f1", C: "f2 f3"}, [["f2", "f3"], ["f0"], ["f1"]]),
    # Ochiai: a 2/sqrt(2*4), b and c 1/sqrt(2): all equal; a is executed by all passing tests.
    "of equally suspicious lines that of more failing tests counts":
        (2, 2, {A: "f0 f1 p0 p1", B: "f0", C: "f1"}, [["f0", "f1"]]),
    # After a's group, f2 is explained by e, which f0 executes, as well as by b, its own.
    "a line that is shared wins over an equal one that is not":
        (3, 1, {A: "f0 f1", E: "f0 f2", B: "f2"}, [["f0", "f1", "f2"]]),
}  # fmt: skip


@pytest.mark.parametrize("why", SPLIT)
def test_failing_tests_are_split_into_groups_by_what_they_execute(why: str) -> None:
    n_failing, n_passing, executed, groups = SPLIT[why]

    assert split(n_failing, n_passing, executed) == groups


@pytest.mark.parametrize(
    "executed",
    [
        {A: "f0 f1 p0", B: "f0 f2 p0", D: "f1", E: "f2"},  # two equal cores
        # One core, c, and two equal lines to widen it by:
        {A: "f0 f1 p0 p1 p2 p3 p4", B: "f0 f2 p0 p1 p2 p3 p4", C: "f0", D: "f1", E: "f2"},
    ],
)
def test_tie_goes_to_the_first_location_whatever_the_order(executed: dict[Location, str]) -> None:
    expected = [["f0", "f1"], ["f2"]]

    assert split(3, 20, executed) == expected
    assert split(3, 20, dict(reversed(executed.items()))) == expected


def test_hundred_faults_in_100_000_lines_are_split_in_seconds() -> None:
    n = 100
    tests = tuple(f"t{i}" for i in range(2 * n))
    lines = {
        location(f"g{i}", f"{i}.py"): dict.fromkeys(range(1, 1001), 1 << i | 1 << n + i)
        for i in range(n)
    }
    spectrum = Spectrum(tests=tests, failing=(1 << n) - 1, passing=((1 << n) - 1) << n, lines=lines)

    start = perf_counter()
    found = split_failures(spectrum, {})

    assert len(found) == n
    assert perf_counter() - start < 5.0
