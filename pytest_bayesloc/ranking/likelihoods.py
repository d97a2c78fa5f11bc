"""Likelihoods: the strength of each outcome as evidence, per belief model.

Reference:
    docs/model.md, section "Likelihoods".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from sys import float_info
from types import MappingProxyType
from typing import TypeAlias

from pytest_bayesloc.domain.evidence import (
    OUTCOMES,
    ChangeOutcome,
    Evidence,
    InspectionOutcome,
    Outcome,
    StaticOutcome,
)
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.ranking.fitted import CHANCES, LOG_RATIOS, REPAIR_NEARNESS

#: P(outcome | faulty) and P(outcome | clean) of a location, each in (0, 1].
Likelihood: TypeAlias = tuple[float, float]


def of_ratio(ratio: float) -> Likelihood:
    """Return the pair with this ratio that sums to 1, as every row of the reference table does."""
    return ratio / (1.0 + ratio), 1.0 / (1.0 + ratio)


NEUTRAL: Likelihood = (0.5, 0.5)

#: Of a fixture that made what a check refused: it starts from a quarter of what a test has.
OF_FIXTURE: Likelihood = of_ratio(60.0)

#: About tests, guards that refuse their data, and attributes left unset. Choices, not
#: measurements: 15 lifts one test that holds a twentieth of the belief (1 to 19) to 0.44. A check
#: may be too strict, which inspections tell: so a refusal is to leave them something to decide.
_TESTS: Mapping[Outcome, Likelihood] = {
    StaticOutcome.GUARD_NAMES_OWNER: of_ratio(15.0),
    # Weaker than of a test: the check itself may be what is wrong. With what a guard loses it takes
    # a caller that has a third of the guard's prior to twice its belief.
    StaticOutcome.GUARD_NAMES_CALLER: of_ratio(3.0),
    StaticOutcome.GUARD_REFUSED: of_ratio(0.5),
    # As strong as a guard that names its owner: only another class that sets it could be meant.
    StaticOutcome.ATTRIBUTE_UNSET: of_ratio(60.0),
    StaticOutcome.ORIGIN_IN_TEST: of_ratio(20.0),
    # A fifth of that: the value that it could not bear may come from the code under test.
    StaticOutcome.HELPER_RAISED: of_ratio(4.0),
    # Of a hundred fixes in packages that ship such helpers, few are in them.
    StaticOutcome.TEST_SUPPORT: of_ratio(0.1),
}

#: The first fix that is shown without doubt changes the place at fault for 24 of 32 real bugs
#: (benchmarks/README.md), of which the ranking had 17 first; the others divide among many places.
#: A change that makes the tests pass when it is reverted is the cause by definition; the rest is
#: for tests that fail for another reason, as far as a run can tell. Choices.
_CHANGES: Mapping[Outcome, Likelihood] = {
    ChangeOutcome.REVERT_REPAIRS: (0.95, 0.001),
    ChangeOutcome.REVERT_CHANGES_NOTHING: (0.05, 0.999),
    # What is not seen to change can break too: by another dependency, data file or machine.
    ChangeOutcome.CHANGED_SINCE_GREEN: (0.99, 0.05),
    ChangeOutcome.FIX_VERIFIED: (0.6, 0.012),
    ChangeOutcome.UNCHANGED_SINCE_GREEN: (0.01, 0.95),
}

#: An exception that code caught in failing tests alone: of the function that caught it, and of the
#: one that raised it, which may be right to. Choices, in nats: of 201 real bugs only ten had such
#: functions, 24 together, of which one was at fault, so that nothing is fitted.
_SWALLOWED: Mapping[Outcome, Likelihood] = {
    StaticOutcome.SWALLOWED_HERE: of_ratio(exp(1.3)),
    StaticOutcome.RAISED_AND_SWALLOWED: of_ratio(exp(0.8)),
}

#: The reference table. It knows no other evidence: that is neutral, but for what concerns tests.
REFERENCE: Mapping[Outcome, Likelihood] = MappingProxyType(
    {
        **dict.fromkeys(OUTCOMES.values(), NEUTRAL),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.95, 0.05),
        InspectionOutcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES: (0.60, 0.40),
        InspectionOutcome.COVERED_AND_PASSED: (0.10, 0.90),
        InspectionOutcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS: (0.70, 0.30),
        InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT: (0.40, 0.60),
        InspectionOutcome.COLLATERAL_FAILURE: (0.60, 0.40),
        **_TESTS,
    }
)

#: What was fitted to planted faults, and choices for the rest.
MEASURED: Mapping[Outcome, Likelihood] = MappingProxyType(
    {
        **dict.fromkeys(OUTCOMES.values(), NEUTRAL),
        # The reference's ratios, until an LLM has been measured.
        InspectionOutcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS: of_ratio(7.0 / 3.0),
        InspectionOutcome.COLLATERAL_FAILURE_LLM_INNOCENT: of_ratio(2.0 / 3.0),
        **_CHANGES,
        **_TESTS,
        **_SWALLOWED,
        **{outcome: of_ratio(exp(x)) for outcome, x in LOG_RATIOS.items()},
        **CHANCES,
    }
)

REFERENCE_MODEL = "independent"
TABLES: Mapping[str, Mapping[Outcome, Likelihood]] = MappingProxyType(
    {REFERENCE_MODEL: REFERENCE, "single-fault": MEASURED}
)


def likelihood(model: str, outcome: Outcome) -> Likelihood:
    """Return how strongly ``outcome`` speaks in the belief model ``model``, one of ``TABLES``."""
    return TABLES[model][outcome]


def repair_likelihood(share: float) -> Likelihood:
    """Return how strongly an edit that repairs speaks in the single-fault model.

    Edits that repair by chance are made where the failing tests' result depends on the code
    anyway, which is where the belief is high: the farther away, the more a repair tells. ``share``
    is the location's belief before any inspection, as a share of the highest one; in (0, 1].
    """
    p_if_faulty, p_if_clean = MEASURED[InspectionOutcome.EDIT_REPAIRS]
    return p_if_faulty, max(p_if_clean * share**REPAIR_NEARNESS, float_info.min)


def weigh(
    model: str,
    outcome: Outcome,
    location: Location,
    *,
    source: str,
    why: str = "",
    learned: Likelihood | None = None,
) -> Evidence:
    """Return ``outcome`` at ``location`` as evidence for the belief model ``model``.

    ``learned`` is what it is worth by experience; the reference model keeps to its table.
    """
    usual = likelihood(model, outcome)
    p_if_faulty, p_if_clean = usual if model == REFERENCE_MODEL else learned or usual
    return Evidence(
        location=location,
        source=source,
        outcome=outcome,
        p_if_faulty=p_if_faulty,
        p_if_clean=p_if_clean,
        why=why,
    )
