from __future__ import annotations

from math import sqrt

import pytest

from pytest_bayesloc.domain.spectrum import Counts, Spectrum
from pytest_bayesloc.ranking import formulas
from tests.fakes.case import location

A, B = location("a"), location("b")


def counts(ef: int, ep: int, nf: int, np: int) -> Counts:
    return Counts(ef=ef, ep=ep, nf=nf, np=np)


# F = 4, P = 12; ef/F = 3/4, ep/P = 1/4.
SEEN = counts(3, 3, 1, 9)


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("tarantula", 0.75),  # (3/4) / (1/4 + 3/4)
        ("ochiai", 3 / sqrt(24)),  # 3 / sqrt(4 * 6)
        ("dstar2", 2.25),  # 9 / (3 + 1)
        ("op2", 3 - 3 / 13),
        ("barinel", 0.5),  # 1 - 3 / 6
    ],
)
def test_formula_gives_the_paper_value(name: str, score: float) -> None:
    assert formulas.FORMULAS[name](SEEN) == pytest.approx(score)


@pytest.mark.parametrize("name", ["tarantula", "ochiai", "dstar2", "barinel"])
@pytest.mark.parametrize("unexecuted", [counts(0, 0, 0, 0), counts(0, 5, 2, 0)])
def test_what_no_failing_test_executed_scores_0(name: str, unexecuted: Counts) -> None:
    assert formulas.FORMULAS[name](unexecuted) == 0.0
    assert formulas.suspiciousness(name, unexecuted) == 0.0


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("tarantula", 1.0),  # the term of the passing tests is left out
        ("ochiai", 0.5),
        ("dstar2", 1 / 3),
        ("op2", 1.0),
        ("barinel", 1.0),
    ],
)
def test_formula_is_defined_without_passing_tests(name: str, score: float) -> None:
    assert formulas.FORMULAS[name](counts(1, 0, 3, 0)) == pytest.approx(score)


@pytest.mark.parametrize(
    ("name", "of", "shown"),
    [
        ("dstar2", counts(2, 0, 0, 5), 1.0),  # the formula gives infinity
        ("dstar2", SEEN, 2.25 / 3.25),
        ("op2", counts(4, 0, 0, 9), 1.0),
        ("op2", counts(0, 3, 0, 0), 0.01 * (1 - 3 / 4)),
    ],
    ids=["infinity", "share", "perfect", "no failing test"],
)
def test_score_without_a_bound_is_shown_between_0_and_1(
    name: str, of: Counts, shown: float
) -> None:
    assert formulas.suspiciousness(name, of) == pytest.approx(shown)


# Test 0 fails, tests 1 and 2 pass, test 3 was skipped.
SPECTRUM = Spectrum(
    tests=("t0", "t1", "t2", "t3"),
    failing=0b0001,
    passing=0b0110,
    lines={A: {2: 0b0111, 3: 0b1001}, B: {}},
)


def test_function_scores_count_a_function_as_executed_by_any_of_its_lines() -> None:
    # ef = 1 of 1, ep = 2 of 2; the skipped test is no evidence.
    assert formulas.function_scores(SPECTRUM, "tarantula") == {A: 0.5, B: 0.0}


def test_line_maximum_is_the_best_line_and_of_no_line_the_unexecuted_score() -> None:
    assert formulas.line_maximum(SPECTRUM, "tarantula") == {A: 1.0, B: 0.0}
    assert formulas.line_maximum(SPECTRUM, "op2") == {A: 1.0, B: 0.01}
