from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from pytest_bayesloc.domain.evidence import Evidence, StaticOutcome
from pytest_bayesloc.domain.result import RankedLine
from pytest_bayesloc.domain.spectrum import Counts, Spectrum
from pytest_bayesloc.ranking.faults import calls_near, listed, rank
from pytest_bayesloc.ranking.likelihoods import weigh
from tests.fakes.case import case_of, location

A, B, C, D = (location(name) for name in "abcd")
TEST = location("test_a", is_test=True)

# Tests 0 and 1 fail, 2 and 3 pass.
SPECTRUM = Spectrum(
    tests=("t0", "t1", "t2", "t3"),
    failing=0b0011,
    passing=0b1100,
    lines={A: {7: 0b0001, 3: 0b0111}, B: {1: 0b1000}, TEST: {1: 0b0001}},
)

CASE = case_of(SPECTRUM, {})


def test_equal_posteriors_share_the_smallest_rank_ordered_by_suspiciousness_then_location() -> None:
    posterior = {D: 0.2, C: 0.2 + 1e-14, B: 0.2, A: 0.4}
    suspicious = replace(SPECTRUM, lines={D: {1: 0b0011}})

    rows = rank(case_of(suspicious, {}), posterior)

    assert [(row.rank, row.tied, row.location) for row in rows] == [
        (1, 1, A),
        (2, 3, D),
        (2, 3, B),
        (2, 3, C),
    ]


def test_row_carries_its_numbers() -> None:
    case = case_of(SPECTRUM, {A: 0.3})
    case.values = {A: {"x": ("1", "2")}}

    (row,) = rank(case, {A: 0.6})

    assert (row.posterior, row.prior, row.suspiciousness) == (0.6, 0.3, 2 / sqrt(6))
    assert row.counts == Counts(ef=2, ep=1, nf=0, np=1)
    assert row.values == {"x": ("1", "2")}


def test_lines_ascend_with_their_ochiai_scores() -> None:
    (row,) = rank(CASE, {A: 1.0})

    assert row.lines == (
        RankedLine(line=3, ef=2, ep=1, suspiciousness=2 / sqrt(6)),
        RankedLine(line=7, ef=1, ep=0, suspiciousness=1 / sqrt(2)),
    )


def test_evidence_is_strongest_first_whichever_way_it_points() -> None:
    weak, against, strong = (
        Evidence(
            location=A,
            source=source,
            outcome=StaticOutcome.RAISE_FRAME,
            p_if_faulty=faulty,
            p_if_clean=clean,
        )
        for source, faulty, clean in [("w", 0.6, 0.4), ("a", 0.1, 0.9), ("s", 0.99, 0.01)]
    )

    (row,) = rank(case_of(SPECTRUM, {A: 1.0}, evidence=(weak, against, strong)), {A: 1.0})

    assert row.evidence == (strong, against, weak)


def test_limit_cuts_rows_but_not_the_size_of_a_tie() -> None:
    posterior = {A: 0.4, B: 0.2, C: 0.2, D: 0.2}

    rows = rank(case_of(SPECTRUM, {}), posterior, limit=2)

    assert [(row.rank, row.tied, row.location) for row in rows] == [(1, 1, A), (2, 3, B)]


def test_only_calls_near_a_suspect_are_shown() -> None:
    edges = {(C, D): 1, (B, C): 2, (A, B): 3}

    assert calls_near(edges, {A}) == ((A, B, 3), (B, C, 2))
    assert calls_near(edges, {D}) == ((B, C, 2), (C, D, 1))
    assert calls_near(edges, {TEST}) == ()
    assert calls_near(edges, {D}, [A, B]) == ((A, B, 3), (B, C, 2), (C, D, 1))
    assert calls_near({}, {A}) == ()


def test_silent_test_is_left_out_of_the_list_and_its_share_told() -> None:
    case = case_of(SPECTRUM, {A: 0.6, B: 0.1, TEST: 0.3})

    shown, test_share = listed(case)

    assert set(shown) == {A, B}
    assert test_share == pytest.approx(0.3)


def test_test_that_something_of_its_own_speaks_against_is_listed() -> None:
    case = case_of(SPECTRUM, {A: 0.6, TEST: 0.4})
    case.learn([weigh(case.model, StaticOutcome.ORIGIN_IN_TEST, TEST, source="origin")])

    assert TEST in listed(case)[0]


def test_test_that_holds_half_of_the_belief_is_listed() -> None:
    assert listed(case_of(SPECTRUM, {A: 0.4, TEST: 0.6})) == ({A: 0.4, TEST: 0.6}, 0.0)


def test_where_there_is_no_code_the_tests_are_listed() -> None:
    tests = [location(f"test_{n}", is_test=True) for n in range(3)]

    assert listed(case_of(SPECTRUM, dict.fromkeys(tests, 1 / 3)))[1] == 0.0
