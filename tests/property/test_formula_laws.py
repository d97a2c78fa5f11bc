from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_bayesloc.domain.spectrum import Counts
from pytest_bayesloc.ranking.formulas import FORMULAS, suspiciousness

pytestmark = pytest.mark.one_python

SIZES = st.integers(0, 40)
COUNTS = st.builds(Counts, ef=SIZES, ep=SIZES, nf=SIZES, np=SIZES)

every_formula = pytest.mark.parametrize("name", FORMULAS)


@every_formula
@given(counts=COUNTS)
def test_suspiciousness_lies_between_0_and_1(name: str, counts: Counts) -> None:
    assert 0.0 <= suspiciousness(name, counts) <= 1.0


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Counts, Counts]:
    """Two counts of one spectrum."""
    n_failing, n_passing = draw(SIZES), draw(SIZES)
    ef, ef2 = draw(st.integers(0, n_failing)), draw(st.integers(0, n_failing))
    ep, ep2 = draw(st.integers(0, n_passing)), draw(st.integers(0, n_passing))
    return (
        Counts(ef=ef, ep=ep, nf=n_failing - ef, np=n_passing - ep),
        Counts(ef=ef2, ep=ep2, nf=n_failing - ef2, np=n_passing - ep2),
    )


@every_formula
@given(pair=pairs())
def test_suspiciousness_keeps_the_order_of_the_formula(
    name: str, pair: tuple[Counts, Counts]
) -> None:
    one, two = pair
    formula = FORMULAS[name]

    assert (formula(one) > formula(two)) == (suspiciousness(name, one) > suspiciousness(name, two))


@every_formula
@given(counts=COUNTS)
def test_one_more_failing_test_that_executes_it_never_lowers_a_score(
    name: str, counts: Counts
) -> None:
    assume(counts.nf)
    more = replace(counts, ef=counts.ef + 1, nf=counts.nf - 1)

    assert suspiciousness(name, more) >= suspiciousness(name, counts)


@every_formula
@given(counts=COUNTS)
def test_one_more_passing_test_that_executes_it_never_raises_a_score(
    name: str, counts: Counts
) -> None:
    assume(counts.np)
    more = replace(counts, ep=counts.ep + 1, np=counts.np - 1)

    assert suspiciousness(name, more) <= suspiciousness(name, counts)
