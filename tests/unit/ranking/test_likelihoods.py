from __future__ import annotations

from math import exp
from operator import truediv

import pytest

from pytest_bayesloc.domain.evidence import OUTCOMES, InspectionOutcome, Outcome, StaticOutcome
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.fitted import CHANCES, LOG_RATIOS
from pytest_bayesloc.ranking.likelihoods import (
    MEASURED,
    REFERENCE,
    TABLES,
    Likelihood,
    likelihood,
    repair_likelihood,
    weigh,
)

HERE = Location(file="a.py", start_line=1, end_line=2, qualname="a")


@pytest.mark.parametrize(
    ("outcome", "p_if_faulty", "p_if_clean"),
    [
        ("TARGET_ASSERTION_FAILED", 0.95, 0.05),
        ("TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES", 0.60, 0.40),
        ("COVERED_AND_PASSED", 0.10, 0.90),
        ("COLLATERAL_FAILURE_LLM_SUSPICIOUS", 0.70, 0.30),
        ("COLLATERAL_FAILURE_LLM_INNOCENT", 0.40, 0.60),
        ("COLLATERAL_FAILURE", 0.60, 0.40),
        ("NO_COVERAGE", 0.50, 0.50),
        ("INCONCLUSIVE", 0.50, 0.50),
        ("RAISE_FRAME", 0.50, 0.50),
        ("NOT_IN_TRACEBACK", 0.50, 0.50),
    ],
)
def test_reference_table(outcome: str, p_if_faulty: float, p_if_clean: float) -> None:
    assert likelihood("independent", OUTCOMES[outcome]) == (p_if_faulty, p_if_clean)


def test_single_fault_model_takes_what_was_fitted() -> None:
    fitted = {outcome: exp(log_ratio) for outcome, log_ratio in LOG_RATIOS.items()}
    fitted |= {outcome: faulty / clean for outcome, (faulty, clean) in CHANCES.items()}

    taken = {outcome: truediv(*likelihood("single-fault", outcome)) for outcome in fitted}

    assert taken == pytest.approx(fitted)


@pytest.mark.parametrize(
    ("outcome", "ratio"),
    [
        (InspectionOutcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS, 7 / 3),
        (InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT, 2 / 3),
        (InspectionOutcome.COVERED_AND_PASSED, 1.0),
        (InspectionOutcome.INCONCLUSIVE, 1.0),
        (StaticOutcome.NAME_ABSENT, 1.0),
    ],
)
def test_single_fault_model_takes_choices_for_what_was_not_fitted(
    outcome: Outcome, ratio: float
) -> None:
    assert truediv(*likelihood("single-fault", outcome)) == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("outcome", "ratio"),
    [
        ("GUARD_NAMES_OWNER", 15.0),
        ("GUARD_REFUSED", 0.5),
        ("ORIGIN_IN_TEST", 20.0),
        ("HELPER_RAISED", 4.0),
        ("TEST_SUPPORT", 0.1),
    ],
)
def test_what_speaks_of_tests_is_the_same_in_both_models(outcome: str, ratio: float) -> None:
    ratios = {model: truediv(*likelihood(model, OUTCOMES[outcome])) for model in TABLES}

    assert ratios == pytest.approx(dict.fromkeys(TABLES, ratio))


@pytest.mark.parametrize("table", [REFERENCE, MEASURED])
def test_table_has_every_outcome(table: dict[Outcome, Likelihood]) -> None:
    assert set(table) == set(OUTCOMES.values())
    assert all(0 < p <= 1 for row in table.values() for p in row)


def test_unknown_model_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="double-fault"):
        likelihood("double-fault", InspectionOutcome.INCONCLUSIVE)


def test_weighed_outcome_carries_the_likelihoods_of_its_model() -> None:
    item = weigh(
        "independent", InspectionOutcome.COVERED_AND_PASSED, HERE, source="assertions", why="held"
    )

    assert (item.location, item.source, item.why) == (HERE, "assertions", "held")
    assert (item.outcome, item.p_if_faulty, item.p_if_clean) == ("COVERED_AND_PASSED", 0.1, 0.9)


def test_an_edit_that_repairs_outweighs_a_name_in_the_test() -> None:
    named = truediv(*likelihood("single-fault", StaticOutcome.NAME_EXACT))

    assert truediv(*repair_likelihood(InspectionOutcome.EDIT_REPAIRS, 1 / named)) > named
