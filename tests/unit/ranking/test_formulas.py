from __future__ import annotations

from math import inf, sqrt

import pytest

from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.spectrum import Counts, Spectrum
from pytest_bayesloc.ranking import formulas

A = Location(file="a.py", start_line=1, end_line=3, qualname="a")
B = Location(file="b.py", start_line=1, end_line=3, qualname="b")


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
@pytest.mark.parametrize(
    "unexecuted",
    [
        counts(0, 0, 0, 0),
        counts(0, 5, 2, 0),
    ],
)
def test_what_no_failing_test_executed_scores_0(name: str, unexecuted: Counts) -> None:
    assert formulas.FORMULAS[name](unexecuted) == 0.0
    assert formulas.suspiciousness(name, unexecuted) == 0.0


def test_without_passing_tests_tarantula_drops_the_passed_term() -> None:
    assert formulas.tarantula(counts(1, 0, 3, 0)) == 1.0


def test_without_passing_tests_the_other_formulas_are_defined() -> None:
    alone = counts(1, 0, 3, 0)

    assert formulas.ochiai(alone) == 0.5
    assert formulas.dstar2(alone) == pytest.approx(1 / 3)
    assert formulas.op2(alone) == 1.0
    assert formulas.barinel(alone) == 1.0


def test_dstar_is_infinite_where_only_all_failing_tests_execute_and_shows_as_1() -> None:
    perfect = counts(2, 0, 0, 5)

    assert formulas.dstar2(perfect) == inf
    assert formulas.suspiciousness("dstar2", perfect) == 1.0


def test_dstar_shows_as_its_share() -> None:
    assert formulas.suspiciousness("dstar2", SEEN) == pytest.approx(2.25 / 3.25)


def test_op2_shows_as_1_for_the_perfect_location() -> None:
    assert formulas.suspiciousness("op2", counts(4, 0, 0, 9)) == 1.0


def test_op2_keeps_its_order_below_the_knee() -> None:
    unexecuted = formulas.suspiciousness("op2", counts(0, 0, 2, 8))
    passing_only = formulas.suspiciousness("op2", counts(0, 8, 2, 0))
    barely = formulas.suspiciousness("op2", counts(1, 8, 1, 0))

    assert 0 < passing_only < unexecuted == 0.01 < barely


def test_op2_is_defined_without_failing_tests() -> None:
    assert formulas.suspiciousness("op2", counts(0, 3, 0, 0)) == pytest.approx(0.01 * (1 - 3 / 4))


def test_unknown_formula_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="tarentula"):
        formulas.suspiciousness("tarentula", SEEN)


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
