"""Evidence: one fact about one location, weighed under both hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from pytest_bayesloc.domain.errors import EvidenceError
from pytest_bayesloc.domain.texts import TextEnum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_bayesloc.domain.location import Location


class InspectionOutcome(TextEnum):
    """The result of inspecting one target (docs/model.md, section "Outcomes")."""

    TARGET_ASSERTION_FAILED = "TARGET_ASSERTION_FAILED"
    TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES = "TARGET_ASSERTION_FAILED_BUT_LLM_DISAGREES"
    COVERED_AND_PASSED = "COVERED_AND_PASSED"
    COLLATERAL_FAILURE_LLM_SUSPICIOUS = "COLLATERAL_FAILURE_LLM_SUSPICIOUS"
    COLLATERAL_FAILURE_LLM_INNOCENT = "COLLATERAL_FAILURE_LLM_INNOCENT"
    COLLATERAL_FAILURE = "COLLATERAL_FAILURE"
    NO_COVERAGE = "NO_COVERAGE"
    INCONCLUSIVE = "INCONCLUSIVE"
    # Of edits of the target:
    EDIT_REPAIRS = "EDIT_REPAIRS"
    EDIT_BREAKS_OTHERS = "EDIT_BREAKS_OTHERS"
    NO_EDIT_REPAIRS = "NO_EDIT_REPAIRS"


class ChangeOutcome(TextEnum):
    """A fact about what changed since the tests passed, or what was changed to make them pass."""

    REVERT_REPAIRS = "REVERT_REPAIRS"
    REVERT_CHANGES_NOTHING = "REVERT_CHANGES_NOTHING"
    CHANGED_SINCE_GREEN = "CHANGED_SINCE_GREEN"
    UNCHANGED_SINCE_GREEN = "UNCHANGED_SINCE_GREEN"
    FIX_VERIFIED = "FIX_VERIFIED"


class StaticOutcome(TextEnum):
    """A fact read off the failure, the names and the calls of the failing tests, unpatched."""

    RAISE_FRAME = "RAISE_FRAME"
    NOT_IN_TRACEBACK = "NOT_IN_TRACEBACK"
    GUARD_NAMES_OWNER = "GUARD_NAMES_OWNER"
    GUARD_NAMES_CALLER = "GUARD_NAMES_CALLER"
    GUARD_REFUSED = "GUARD_REFUSED"
    ATTRIBUTE_UNSET = "ATTRIBUTE_UNSET"
    ORIGIN_IN_TEST = "ORIGIN_IN_TEST"
    HELPER_RAISED = "HELPER_RAISED"
    TEST_SUPPORT = "TEST_SUPPORT"
    CODE_RAISED = "CODE_RAISED"
    TWIN_PASSES = "TWIN_PASSES"
    TEST_IN_TRACEBACK = "TEST_IN_TRACEBACK"
    SWALLOWED_HERE = "SWALLOWED_HERE"
    RAISED_AND_SWALLOWED = "RAISED_AND_SWALLOWED"
    NAME_EXACT = "NAME_EXACT"
    NAME_PART = "NAME_PART"
    NAME_ABSENT = "NAME_ABSENT"
    TEXT_SHARED = "TEXT_SHARED"


class Judgement(TextEnum):
    """The place that a language model gives a candidate, shown code and failure."""

    LLM_FIRST = "LLM_FIRST"
    LLM_SUSPECTED = "LLM_SUSPECTED"
    LLM_PASSED_OVER = "LLM_PASSED_OVER"


Outcome: TypeAlias = InspectionOutcome | ChangeOutcome | StaticOutcome | Judgement

#: Every outcome by its value, which results, the memory and benchmark rows hold.
OUTCOMES: Mapping[str, Outcome] = MappingProxyType(
    {
        outcome.value: outcome
        for kind in (InspectionOutcome, ChangeOutcome, StaticOutcome, Judgement)
        for outcome in kind
    }
)


class Decision(TextEnum):
    """The qualitative verdict of a reflection."""

    CONFIRMED_BUGGY = "CONFIRMED_BUGGY"
    CONFIRMED_NOT_BUGGY = "CONFIRMED_NOT_BUGGY"
    NEUTRAL = "NEUTRAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One outcome, weighed under both hypotheses.

    Attributes:
        source: Kind of evidence: ``assertions``, ``traceback``, ``guard``, ...
        outcome: The fact.
        p_if_faulty: P(outcome | location is faulty), in (0, 1].
        p_if_clean: P(outcome | location is clean), in (0, 1].
        why: One line for a person.
    """

    location: Location
    source: str
    outcome: Outcome
    p_if_faulty: float
    p_if_clean: float
    why: str = ""

    def __post_init__(self) -> None:
        for name in ("p_if_faulty", "p_if_clean"):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise EvidenceError(
                    f"{name}={value} is no likelihood: expected a number in (0, 1].",
                    slug="bad-likelihood",
                )

    @property
    def log_ratio(self) -> float:
        """Log likelihood ratio, in nats: above 0 speaks against the location."""
        return log(self.p_if_faulty / self.p_if_clean)
