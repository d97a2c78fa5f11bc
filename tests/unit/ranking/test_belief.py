from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import EvidenceError
from pytest_bayesloc.domain.evidence import Evidence, InspectionOutcome
from pytest_bayesloc.domain.spectrum import Spectrum
from pytest_bayesloc.ranking.belief import MODELS, IndependentBelief, SingleFaultBelief, prior
from pytest_bayesloc.ranking.likelihoods import weigh
from tests.fakes.case import location

if TYPE_CHECKING:
    from pytest_bayesloc.domain.location import Location

ADD, TAX, TOTAL, OTHER = (location(name) for name in ("add", "tax", "total", "other"))


def evidence(where: Location, p_if_faulty: float, p_if_clean: float) -> Evidence:
    return Evidence(
        location=where,
        source="assertions",
        outcome=InspectionOutcome.TARGET_ASSERTION_FAILED,
        p_if_faulty=p_if_faulty,
        p_if_clean=p_if_clean,
    )


def test_reference_model_worked_by_hand() -> None:
    # Tests:       t0 fails, t1 fails, t2..t5 pass, so F = 2 and P = 4.
    # add:         t0 t1 t2              Tarantula 1 / (1/4 + 1)       = 0.8
    # tax:         t0 t2 t3              Tarantula 1/2 / (2/4 + 1/2)   = 0.5
    # total:       t2 t3 t4 t5           Tarantula 0, lifted to          0.01
    # The sum is 1.31, so the priors are 0.610687, 0.381679 and 0.007634.
    spectrum = Spectrum(
        tests=("t0", "t1", "t2", "t3", "t4", "t5"),
        failing=0b000011,
        passing=0b111100,
        lines={ADD: {1: 0b000111}, TAX: {1: 0b001101}, TOTAL: {1: 0b111100}},
    )
    start = IndependentBelief(prior(spectrum, "tarantula"))
    assert start.probabilities == pytest.approx(
        {ADD: 0.610687, TAX: 0.381679, TOTAL: 0.007634}, abs=1e-6
    )

    # 1. add, covered and passed: 0.1*0.610687 / (0.1*0.610687 + 0.9*0.389313)
    #    = 0.0610687 / 0.4114504 = 0.148423; tax and total stay.
    passed = weigh("independent", InspectionOutcome.COVERED_AND_PASSED, ADD, source="assertions")
    first = start.update(passed)
    assert first.probabilities == pytest.approx(
        {ADD: 0.148423, TAX: 0.381679, TOTAL: 0.007634}, abs=1e-6
    )

    # 2. tax, its assertion failed: 0.95*0.381679 / (0.95*0.381679 + 0.05*0.618321)
    #    = 0.3625954 / 0.3935115 = 0.921435, which is past a threshold of 0.9.
    fired = weigh(
        "independent", InspectionOutcome.TARGET_ASSERTION_FAILED, TAX, source="assertions"
    )
    second = first.update(fired)
    assert second.probabilities == pytest.approx(
        {ADD: 0.148423, TAX: 0.921435, TOTAL: 0.007634}, abs=1e-6
    )
    assert [where for where, _ in second.top(2)] == [TAX, ADD]

    # 3. tax again: 0.95*0.921435 / (0.95*0.921435 + 0.05*0.078565) = 0.995533, clamped to 0.99.
    #    total, covered and passed: 0.1*0.007634 / (...) = 0.000854, clamped to 0.01.
    held = weigh("independent", InspectionOutcome.COVERED_AND_PASSED, TOTAL, source="assertions")
    third = second.update_all([fired, held])
    assert third.probabilities == pytest.approx({ADD: 0.148423, TAX: 0.99, TOTAL: 0.01}, abs=1e-6)


def test_single_fault_model_worked_by_hand() -> None:
    # Weights 0.5, 0.3, 0.2; a ratio of 4 on tax: 0.5, 1.2, 0.2, sum 1.9.
    start = SingleFaultBelief({ADD: 0.5, TAX: 0.3, TOTAL: 0.2})

    after = start.update(evidence(TAX, 0.8, 0.2))

    assert after.probabilities == pytest.approx({ADD: 0.5 / 1.9, TAX: 1.2 / 1.9, TOTAL: 0.2 / 1.9})


def test_single_fault_prior_is_normalised() -> None:
    assert SingleFaultBelief({ADD: 3.0, TAX: 1.0}).probabilities == pytest.approx(
        {ADD: 0.75, TAX: 0.25}
    )


def test_probability_that_underflowed_can_come_back() -> None:
    against = [evidence(ADD, 1e-300, 1.0)] * 3
    start = SingleFaultBelief({ADD: 0.5, TAX: 0.5})

    gone = start.update_all(against)
    back = gone.update_all([evidence(ADD, 1.0, 1e-300)] * 3)

    assert gone.p(ADD) == 0.0
    assert all(isfinite(p) for p in gone.probabilities.values())
    assert back.p(ADD) == pytest.approx(0.5)


def test_likelihoods_at_the_edge_of_floats_give_numbers() -> None:
    after = SingleFaultBelief({ADD: 0.5, TAX: 0.5}).update(evidence(ADD, 1.0, 5e-324))

    assert after.probabilities == pytest.approx({ADD: 1.0, TAX: 0.0})


def test_location_without_prior_weight_stays_out_of_it() -> None:
    after = SingleFaultBelief({ADD: 0.0, TAX: 1.0}).update(evidence(ADD, 1.0, 0.001))

    assert after.probabilities == {ADD: 0.0, TAX: 1.0}


def test_single_fault_belief_without_any_weight_is_refused() -> None:
    with pytest.raises(ValueError, match="All 2 prior weights are 0"):
        SingleFaultBelief({ADD: 0.0, TAX: 0.0})


def test_belief_over_nothing_is_empty() -> None:
    for model in MODELS.values():
        assert model({}).probabilities == {}
        assert model({}).top(3) == ()


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("model", MODELS)
def test_what_is_no_probability_is_refused(model: str, weight: float) -> None:
    with pytest.raises(ValueError, match=r"no belief in m\.py:1 add"):
        MODELS[model]({ADD: weight, TAX: 0.5})


def test_independent_belief_above_1_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1\.5 is no belief"):
        IndependentBelief({ADD: 1.5})


@pytest.mark.parametrize("model", MODELS)
def test_evidence_on_an_unknown_location_is_refused_with_its_name(model: str) -> None:
    belief = MODELS[model]({ADD: 1.0})

    with pytest.raises(EvidenceError, match=r"m\.py:1 other is not among the 1 loc") as caught:
        belief.update(evidence(OTHER, 0.9, 0.1))
    assert caught.value.slug == "unknown-location"
    with pytest.raises(EvidenceError):
        belief.p(OTHER)


@pytest.mark.parametrize("model", MODELS)
def test_update_leaves_the_old_belief_as_it_was(model: str) -> None:
    belief = MODELS[model]({ADD: 0.5, TAX: 0.5})

    belief.update(evidence(ADD, 0.9, 0.1))

    assert belief.probabilities == pytest.approx({ADD: 0.5, TAX: 0.5})


@pytest.mark.parametrize(
    ("model", "rest"),
    [("single-fault", {ADD: 0.675, TAX: 0.225}), ("independent", {ADD: 0.75, TAX: 0.25})],
)
def test_location_that_joins_has_what_it_is_given(model: str, rest: dict[Location, float]) -> None:
    after = MODELS[model]({ADD: 0.75, TAX: 0.25}).joined(OTHER, 0.1)

    assert dict(after.probabilities) == pytest.approx({**rest, OTHER: 0.1})
