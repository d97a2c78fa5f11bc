from __future__ import annotations

from math import exp
from operator import truediv

import pytest

from pytest_bayesloc.domain.evidence import OUTCOMES, Outcome, StaticOutcome
from pytest_bayesloc.ranking.fitted import CHANCES, LOG_RATIOS
from pytest_bayesloc.ranking.likelihoods import (
    MEASURED,
    REFERENCE,
    Likelihood,
    likelihood,
    repair_likelihood,
)


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


@pytest.mark.parametrize("table", [REFERENCE, MEASURED])
def test_table_has_every_outcome(table: dict[Outcome, Likelihood]) -> None:
    assert set(table) == set(OUTCOMES.values())
    assert all(0 < p <= 1 for row in table.values() for p in row)


def test_an_edit_that_repairs_outweighs_a_name_in_the_test() -> None:
    named = truediv(*likelihood("single-fault", StaticOutcome.NAME_EXACT))

    assert truediv(*repair_likelihood(1 / named)) > named
