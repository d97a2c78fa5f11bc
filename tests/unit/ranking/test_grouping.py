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


def test_tests_with_nothing_in_common_are_groups_of_their_own() -> None:
    assert split(2, 2, {A: "f0 p0", B: "f1 p1"}) == [["f0"], ["f1"]]


def test_code_that_every_test_executes_does_not_join_two_faults() -> None:
    everything = "f0 f1 " + " ".join(f"p{i}" for i in range(20))

    assert split(2, 20, {A: "f0", B: "f1", C: everything}) == [["f0"], ["f1"]]


def test_private_helpers_do_not_split_the_tests_of_one_fault() -> None:
    # By Ochiai, b and c (1/sqrt(2) each) outrank a (2/sqrt(2*7) = 0.53).
    executed = {A: "f0 f1 p0 p1 p2 p3 p4", B: "f0", C: "f1"}

    assert split(2, 20, executed) == [["f0", "f1"]]


def test_test_that_only_common_code_explains_joins_the_group_that_shares_it() -> None:
    executed = {A: "f0 f1 p0 p1 p2 p3", B: "f0"}

    assert split(2, 4, executed) == [["f0", "f1"]]


def test_without_passing_tests_whatever_is_shared_joins() -> None:
    assert split(3, 0, {A: "f0 f1", B: "f0", C: "f2"}) == [["f0", "f1"], ["f2"]]


def test_import_of_one_module_does_not_join_two_faults() -> None:
    executed = {MODULE: "f0 f1 p0 p1 p2", A: "f0 p0", B: "f1 p1"}

    assert split(2, 9, executed) == [["f0"], ["f1"]]


def test_body_of_a_class_does_not_join_two_faults_in_its_methods() -> None:
    body, add, pop = location("Cart"), location("Cart.add"), location("Cart.pop")

    assert split(2, 9, {body: "f0 f1 p0", add: "f0 p0", pop: "f1 p1"}) == [["f0"], ["f1"]]


def test_import_joins_tests_that_execute_nothing_else() -> None:
    assert split(3, 1, {MODULE: "f0 f1", A: "f2 p0"}) == [["f0", "f1"], ["f2"]]


def test_own_code_of_a_test_says_nothing() -> None:
    tests = {location(f"test_{i}", is_test=True): f"f{i}" for i in range(2)}

    assert split(2, 1, {**tests, A: "f0 f1 p0"}) == [["f0", "f1"]]


def test_tests_that_execute_nothing_are_one_group() -> None:
    assert split(3, 1, {A: "f0 p0"}) == [["f1", "f2"], ["f0"]]


def test_largest_group_comes_first_then_the_earliest() -> None:
    executed = {A: "f0", B: "f1", C: "f2 f3"}

    assert split(4, 0, executed) == [["f2", "f3"], ["f0"], ["f1"]]


def test_equal_suspiciousness_goes_to_the_line_of_more_failing_tests() -> None:
    # Ochiai: a 2/sqrt(2*4), b and c 1/sqrt(2): all equal; a is executed by all passing tests.
    assert split(2, 2, {A: "f0 f1 p0 p1", B: "f0", C: "f1"}) == [["f0", "f1"]]


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


def test_line_that_is_shared_wins_over_an_equal_one_that_is_not() -> None:
    # After a's group, f2 is explained by e, which f0 executes, as well as by b, its own.
    assert split(3, 1, {A: "f0 f1", E: "f0 f2", B: "f2"}) == [["f0", "f1", "f2"]]


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
