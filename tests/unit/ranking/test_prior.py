from __future__ import annotations

from math import exp, log, sqrt

import pytest

from pytest_bayesloc.domain.failure import Role, Situation
from pytest_bayesloc.domain.location import MODULE
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking import belief as priors
from pytest_bayesloc.ranking.fitted import PRIOR, TESTS
from tests.fakes.case import location

A, B, C, LAMBDA = (location(name) for name in ("a", "b", "c", "<lambda>"))
TEST = location("test_a", is_test=True)
FIXTURE = location("fixture", is_test=True)
ROLES = {TEST: Role.TEST, FIXTURE: Role.FIXTURE}
TWINS = {TEST: Role.TEST, FIXTURE: Role.TEST}


def test_reference_prior_leaves_tests_and_compiler_made_code_out_of_the_sum() -> None:
    assert priors.reference_prior({A: 0.5, LAMBDA: 1.0, TEST: 1.0}) == {A: 1.0}


def test_reference_prior_of_nothing_is_empty() -> None:
    assert priors.reference_prior({TEST: 1.0}) == {}


# Tests 0 and 1 fail, 2 and 3 pass.
SPECTRUM = Spectrum(
    tests=("t0", "t1", "t2", "t3"),
    failing=0b0011,
    passing=0b1100,
    lines={
        A: {1: 0b1111, 2: 0b0011},  # a line that exactly the failing tests execute
        B: {1: 0b0101},
        C: {1: 0b1100},  # no failing test
        TEST: {1: 0b0001},
        LAMBDA: {1: 0b0011},
    },
)


@pytest.mark.parametrize("situation", Situation)
def test_blend_is_the_documented_softmax(situation: Situation) -> None:
    # Ochiai: function A 2/sqrt(2*4), B 1/sqrt(2*2) = 0.5. By both line maxima A is first, B second.
    # B is executed by one of the two failing tests, and by one of the two passing ones; A has a
    # line that none of these executes, and two lines.
    names = (
        "ochiai",
        "rank by op2 and ochiai of lines",
        "failing tests",
        "fewest passing tests of a line",
        "lines",
    )
    whole, rank, failing, fewest, lines = (PRIOR[situation][name] for name in names)
    a = exp(whole + failing) * (10 / 9) ** lines
    b = exp(whole * 0.5 / (2 / sqrt(8)) + failing / 2) * 2**rank * 2 ** (fewest / log(3))

    found = priors.blend_prior(SPECTRUM, situation=situation)
    assert found == pytest.approx({A: a / (a + b), B: b / (a + b)})


def test_function_of_one_failing_test_alone_does_not_drown_one_that_passing_tests_execute() -> None:
    # The fault is often in code that passing tests execute as well: names and order must be able
    # to put it first.
    spectrum = Spectrum(
        tests=("f", *(f"p{n}" for n in range(30))),
        failing=0b1,
        passing=((1 << 31) - 1) & ~0b1,
        lines={A: {1: 0b1}, B: {1: (1 << 11) - 1}},  # B: ten passing tests
    )

    prior = priors.blend_prior(spectrum)

    assert 1.0 < prior[A] / prior[B] < 10.0


@pytest.mark.parametrize("name", [MODULE, "Cart.__init__"])
def test_body_of_a_module_and_a_constructor_start_lower_than_another_function(name: str) -> None:
    other = location(name)
    spectrum = Spectrum(
        tests=("f", "p"), failing=0b01, passing=0b10, lines={A: {1: 0b01}, other: {2: 0b01}}
    )

    prior = priors.blend_prior(spectrum)

    assert prior[other] < prior[A]


def test_rank_of_the_blend_is_the_harmonic_mean_of_two() -> None:
    # Three failing tests, 30 passing. Op2 prefers A, which all failing tests execute; Ochiai B:
    # A 3/sqrt(3*33) = 0.30, 3 - 30/31 = 2.03; B 1/sqrt(3*1) = 0.58, 1 - 0.
    every = (1 << 33) - 1
    spectrum = Spectrum(
        tests=tuple(f"t{n}" for n in range(33)),
        failing=0b111,
        passing=every & ~0b111,
        lines={A: {1: every}, B: {1: 0b001}},
    )

    features = priors.blend_features(spectrum)

    rank = "rank by op2 and ochiai of lines"
    assert {where: exp(own[rank]) for where, own in features.items()} == pytest.approx(
        {A: 2 / (1 / 1 + 1 / 2), B: 2 / (1 / 2 + 1 / 1)}
    )


def test_midrank_of_a_tie_is_the_mean_of_its_ranks() -> None:
    assert priors.midranks({A: 0.2, B: 0.9, C: 0.2}) == {B: 1.0, A: 2.5, C: 2.5}


def test_prior_by_formula_is_the_reference_prior_of_its_function_scores() -> None:
    # Tarantula: A 0.5, B 0.5/(0.5+0.5) = 0.5, C 0 -> 0.01.
    expected = {A: 0.5 / 1.01, B: 0.5 / 1.01, C: 0.01 / 1.01}

    assert priors.prior(SPECTRUM, "tarantula") == pytest.approx(expected)


@pytest.mark.parametrize(("name", "formula"), [("blend", "ochiai"), ("op2", "op2")])
def test_every_prior_has_scores_to_show_beside_it(name: str, formula: str) -> None:
    assert priors.formula_of(name) == formula


def test_tests_share_a_mass_of_their_own() -> None:
    joined = priors.with_tests({A: 0.6, B: 0.4}, ROLES)

    starts = TESTS[Situation.NEW_TEST]
    share = 1 / (1 + exp(starts[Role.FIXTURE] - starts[Role.TEST]))
    assert joined == pytest.approx(
        {A: 0.57, B: 0.38, TEST: 0.05 * share, FIXTURE: 0.05 * (1 - share)}
    )


def test_tests_outside_the_sum_leave_the_code_as_it_is() -> None:
    joined = priors.with_tests({A: 0.6, B: 0.4}, {TEST: Role.TEST}, outside_sum=True)

    assert joined == pytest.approx({A: 0.6, B: 0.4, TEST: 0.05})


@pytest.mark.parametrize("outside_sum", [False, True])
def test_without_code_the_tests_get_everything(outside_sum: bool) -> None:
    assert priors.with_tests({}, TWINS, outside_sum=outside_sum) == {TEST: 0.5, FIXTURE: 0.5}
