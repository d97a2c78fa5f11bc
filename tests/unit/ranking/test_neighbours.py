from __future__ import annotations

import pytest

from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.case import Neighbourhood
from tests.fakes.case import location

A, B, C, D = (location(name) for name in "abcd")
TESTS = ("f0", "p0", "p1", "f1", "p2", "skipped")


@pytest.fixture
def near() -> Neighbourhood:
    """The failing tests execute a, b (f0) and a (f1)."""
    executed = {A: "f0 f1 p0 p1 p2 skipped", B: "f0 p1", C: "p0 p2", D: "p2"}
    return Neighbourhood(
        Spectrum(
            tests=TESTS,
            failing=0b001001,
            passing=0b010110,
            lines={
                where: {1: sum(1 << TESTS.index(name) for name in names.split())}
                for where, names in executed.items()
            },
        )
    )


def test_nearest_tests_share_the_most_with_the_failing_ones(near: Neighbourhood) -> None:
    # Shared over all executed: p1 a b of a b, p0 a of a b c, p2 a of a b c d.
    assert near.nearest(A, 9) == ("p1", "p0", "p2")
    assert near.nearest(A, 2) == ("p1", "p0")


def test_only_passing_tests_that_execute_the_location_are_near_it(near: Neighbourhood) -> None:
    assert near.nearest(C, 9) == ("p0", "p2")
    assert near.nearest(location("never"), 9) == ()


def test_failing_tests_are_those_that_execute_the_location(near: Neighbourhood) -> None:
    assert near.failing(B, 9) == ("f0",)
    assert near.failing(A, 1) == ("f0",)


def test_location_that_no_failing_test_executes_gets_them_all(near: Neighbourhood) -> None:
    assert near.failing(D, 9) == ("f0", "f1")


def test_union_takes_the_first_locations_first_and_each_test_once(near: Neighbourhood) -> None:
    assert near.union([D, A], each=1, at_most=9) == ("p2", "p1")
    assert near.union([A, C], each=2, at_most=9) == ("p1", "p0", "p2")
    assert near.union([A, C], each=2, at_most=2) == ("p1", "p0")
    assert near.union([], each=2, at_most=2) == ()
