from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.inspection.strategy import InspectionStrategy, likeliest
from pytest_bayesloc.ranking.belief import MODELS, Belief, IndependentBelief, SingleFaultBelief

pytestmark = pytest.mark.one_python

LOCATIONS = [
    Location(file="m.py", start_line=i + 1, end_line=20, qualname=name, is_test=name == "test_a")
    for i, name in enumerate(("a", "b", "c", "d", "test_a"))
]
LIKELIHOODS = st.floats(min_value=1e-6, max_value=1.0)


def evidence_at(where: Location, p_if_faulty: float, p_if_clean: float) -> Evidence:
    return Evidence(
        location=where,
        source="assertions",
        outcome=InspectionOutcome.COLLATERAL_FAILURE,
        p_if_faulty=p_if_faulty,
        p_if_clean=p_if_clean,
    )


@st.composite
def priors(draw: st.DrawFn) -> dict[Location, float]:
    weights = draw(st.lists(st.floats(1e-9, 1.0), min_size=len(LOCATIONS), max_size=len(LOCATIONS)))
    return {where: w / sum(weights) for where, w in zip(LOCATIONS, weights, strict=True)}


EXTREME = st.builds(
    evidence_at,
    st.sampled_from(LOCATIONS),
    st.floats(0, 1, exclude_min=True),
    st.floats(0, 1, exclude_min=True),
)


@given(prior=priors(), evidence=st.lists(EXTREME, max_size=20))
def test_single_fault_update_returns_a_distribution(
    prior: dict[Location, float], evidence: list[Evidence]
) -> None:
    after = SingleFaultBelief(prior).update_all(evidence).probabilities

    assert after.keys() == prior.keys()
    assert all(isfinite(p) and 0.0 <= p <= 1.0 for p in after.values())
    assert sum(after.values()) == pytest.approx(1.0)


@given(prior=priors(), where=st.sampled_from(LOCATIONS), p=LIKELIHOODS)
def test_ratio_1_changes_nothing(prior: dict[Location, float], where: Location, p: float) -> None:
    after = SingleFaultBelief(prior).update(evidence_at(where, p, p))

    assert after.probabilities == pytest.approx(prior, rel=1e-9)


@given(prior=priors(), evidence=st.lists(EXTREME, max_size=8))
def test_order_of_evidence_is_irrelevant(
    prior: dict[Location, float], evidence: list[Evidence]
) -> None:
    one_by_one: Belief = SingleFaultBelief(prior)
    for item in reversed(evidence):
        one_by_one = one_by_one.update(item)

    at_once = SingleFaultBelief(prior).update_all(evidence)

    assert one_by_one.probabilities == pytest.approx(at_once.probabilities, rel=1e-6)


@given(prior=priors(), item=EXTREME)
def test_independent_update_stays_in_its_bounds_and_moves_one_location(
    prior: dict[Location, float], item: Evidence
) -> None:
    after = IndependentBelief(prior).update(item)

    assert 0.01 <= after.p(item.location) <= 0.99
    for where, p in prior.items():
        if where != item.location:
            assert after.p(where) == p


@pytest.mark.parametrize("model", MODELS)
@given(prior=priors(), n=st.integers(0, 7))
def test_top_is_the_head_of_the_sorted_belief(
    model: str, prior: dict[Location, float], n: int
) -> None:
    belief = MODELS[model](prior)

    ordered = sorted(belief.probabilities.items(), key=lambda item: (-item[1], item[0]))
    assert belief.top(n) == tuple(ordered[:n])


@given(prior=priors(), data=st.data())
def test_likeliest_choice_is_an_open_action_that_none_exceeds(
    prior: dict[Location, float], data: st.DataObject
) -> None:
    left = [where for where in prior if data.draw(st.booleans())]
    chosen = likeliest(IndependentBelief(prior), [(w, InspectionStrategy()) for w in left])

    if chosen is None:
        assert left == []
    else:
        assert chosen[0] in left
        assert prior[chosen[0]] >= max(prior[where] for where in left) - 1e-12
