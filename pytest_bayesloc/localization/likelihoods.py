"""How strongly each outcome speaks, per belief model.

Reference:
    docs/model.md, section "Likelihoods".
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.evidence import Evidence, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_bayesloc.domain.location import Location

#: Measured ratios are raised to this power, because sources of evidence are not independent: at
#: power 1 a posterior of 0.9 or more was right 73 times in a hundred, at 0.6 86 times.
TEMPER = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """P(outcome | faulty) and P(outcome | clean) of a location, each in (0, 1]."""

    p_if_faulty: float
    p_if_clean: float

    @property
    def ratio(self) -> float:
        """Above 1 speaks against the location, 1 says nothing."""
        return self.p_if_faulty / self.p_if_clean


def of_ratio(ratio: float) -> Likelihood:
    """The pair with this ratio that sums to 1, as every row of the reference table does."""
    return Likelihood(p_if_faulty=ratio / (1.0 + ratio), p_if_clean=1.0 / (1.0 + ratio))


def measured(ratio: float) -> Likelihood:
    """The pair of a measured ratio, tempered."""
    return of_ratio(ratio**TEMPER)


NEUTRAL = Likelihood(p_if_faulty=0.5, p_if_clean=0.5)

#: About tests and the guards that refuse their data. Choices, not measurements, hence untempered:
#: 60 lifts one test that holds a twentieth of the belief (1 to 19) to 0.76.
_TESTS = {
    Outcome.GUARD_NAMES_OWNER: of_ratio(60.0),
    Outcome.GUARD_REFUSED: of_ratio(0.5),
    Outcome.ORIGIN_IN_TEST: of_ratio(20.0),
}

#: A change that makes the tests pass when it is taken back is the cause by definition; the rest is
#: for tests that fail for another reason, as far as a run can tell. Choices, untempered.
_CHANGES = {
    Outcome.REVERT_REPAIRS: Likelihood(p_if_faulty=0.95, p_if_clean=0.001),
    Outcome.REVERT_CHANGES_NOTHING: Likelihood(p_if_faulty=0.05, p_if_clean=0.999),
    Outcome.CHANGED_SINCE_GREEN: Likelihood(p_if_faulty=0.95, p_if_clean=0.10),
    Outcome.UNCHANGED_SINCE_GREEN: Likelihood(p_if_faulty=0.05, p_if_clean=0.90),
}

#: The reference table. It knows no evidence from tracebacks: neutral.
REFERENCE: Mapping[Outcome, Likelihood] = MappingProxyType(
    {
        Outcome.TARGET_ASSERTION_FAILED: Likelihood(p_if_faulty=0.95, p_if_clean=0.05),
        Outcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES: Likelihood(
            p_if_faulty=0.60, p_if_clean=0.40
        ),
        Outcome.COVERED_AND_PASSED: Likelihood(p_if_faulty=0.10, p_if_clean=0.90),
        Outcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS: Likelihood(p_if_faulty=0.70, p_if_clean=0.30),
        Outcome.COLLATERAL_FAILURE_LLM_INNOCENT: Likelihood(p_if_faulty=0.40, p_if_clean=0.60),
        Outcome.COLLATERAL_FAILURE: Likelihood(p_if_faulty=0.60, p_if_clean=0.40),
        Outcome.NO_COVERAGE: NEUTRAL,
        Outcome.INCONCLUSIVE: NEUTRAL,
        Outcome.MUTANT_REPAIRS: NEUTRAL,
        Outcome.MUTANT_BREAKS_OTHERS: NEUTRAL,
        Outcome.NO_MUTANT_FLIPS: NEUTRAL,
        Outcome.REVERT_REPAIRS: NEUTRAL,
        Outcome.REVERT_CHANGES_NOTHING: NEUTRAL,
        Outcome.CHANGED_SINCE_GREEN: NEUTRAL,
        Outcome.UNCHANGED_SINCE_GREEN: NEUTRAL,
        Outcome.NAME_EXACT: NEUTRAL,
        Outcome.NAME_PART: NEUTRAL,
        Outcome.NAME_ABSENT: NEUTRAL,
        Outcome.RETURNED_LAST: NEUTRAL,
        Outcome.RETURNED_EARLIER: NEUTRAL,
        Outcome.RAISE_FRAME: NEUTRAL,
        Outcome.NOT_IN_TRACEBACK: NEUTRAL,
        **_TESTS,
    }
)

#: Ratios of faults against the other candidates among the first 15, on 148 bugs of 12 packages.
MEASURED: Mapping[Outcome, Likelihood] = MappingProxyType(
    {
        Outcome.TARGET_ASSERTION_FAILED: measured(4.0),
        # A callee broke its invariant first, or only the target's input was off: 0.97.
        Outcome.TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES: NEUTRAL,
        # Assertions repair nothing: that all tests pass under them says nothing of the target.
        Outcome.COVERED_AND_PASSED: NEUTRAL,
        # The reference's ratios, until an LLM has been measured.
        Outcome.COLLATERAL_FAILURE_LLM_SUSPICIOUS: of_ratio(7.0 / 3.0),
        Outcome.COLLATERAL_FAILURE_LLM_INNOCENT: of_ratio(2.0 / 3.0),
        # Assertions were in place and none fired.
        Outcome.COLLATERAL_FAILURE: measured(0.90),
        Outcome.NO_COVERAGE: NEUTRAL,
        Outcome.INCONCLUSIVE: NEUTRAL,
        Outcome.MUTANT_REPAIRS: measured(2.8),
        Outcome.MUTANT_BREAKS_OTHERS: NEUTRAL,
        Outcome.NO_MUTANT_FLIPS: measured(0.7),
        Outcome.NAME_EXACT: measured(7.8),
        Outcome.NAME_PART: measured(2.0),
        Outcome.NAME_ABSENT: measured(0.71),
        Outcome.RETURNED_LAST: measured(3.2),
        Outcome.RETURNED_EARLIER: measured(0.32),
        **_CHANGES,
        Outcome.RAISE_FRAME: measured(9.4),
        Outcome.NOT_IN_TRACEBACK: measured(0.83),
        **_TESTS,
    }
)

TABLES: Mapping[str, Mapping[Outcome, Likelihood]] = MappingProxyType(
    {"independent": REFERENCE, "single-fault": MEASURED}
)


def likelihood(model: str, outcome: Outcome) -> Likelihood:
    """How strongly ``outcome`` speaks in the belief model ``model``.

    Raises:
        KeyError: If ``model`` is not one of ``TABLES``.
    """
    return TABLES[model][outcome]


def strongest(model: str, outcomes: Iterable[Outcome]) -> float:
    """The highest likelihood ratio that one of ``outcomes`` can bring.

    Raises:
        KeyError: If ``model`` is not one of ``TABLES``.
    """
    return max(likelihood(model, outcome).ratio for outcome in outcomes)


def weigh(
    model: str, outcome: Outcome, location: Location, *, source: str, why: str = ""
) -> Evidence:
    """``outcome`` at ``location`` as evidence for the belief model ``model``.

    Raises:
        KeyError: If ``model`` is not one of ``TABLES``.
    """
    pair = likelihood(model, outcome)
    return Evidence(
        location=location,
        source=source,
        outcome=outcome,
        p_if_faulty=pair.p_if_faulty,
        p_if_clean=pair.p_if_clean,
        why=why,
    )
