"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-22: 256 faults of 11 packages, penalties 1 and 10,
tests lowered by 1.05, temperature 0.98.
Packages:
beautifulsoup4, jinja2, mako, markdown, oauthlib, parso, pycparser, pydash, toolz, webob,
wtforms.

Reference:
    docs/model.md, sections "Prior" and "Likelihoods".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import InspectionOutcome, Outcome, StaticOutcome
from pytest_bayesloc.domain.failure import Role

#: Weights of the blend's terms, in nats.
PRIOR: Mapping[str, float] = MappingProxyType(
    {
        "ochiai": 0.82,
        "rank by op2 and ochiai of lines": -1.40,
        "failing tests": 1.95,
        "module body": -0.91,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 0.83,
        Role.FIXTURE: -0.31,
        Role.HELPER: -1.26,
        Role.DATA: -1.59,
        Role.PART: -4.69,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 0.96,
        StaticOutcome.NOT_IN_TRACEBACK: -0.19,
        StaticOutcome.CODE_RAISED: -0.21,
        StaticOutcome.TWIN_PASSES: 0.37,
        StaticOutcome.TEST_IN_TRACEBACK: 0.69,
        StaticOutcome.NAME_EXACT: 0.83,
        StaticOutcome.NAME_PART: 0.32,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        StaticOutcome.RETURNED_EARLIER: (0.9569, 0.9650),
        StaticOutcome.RETURNED_LAST: (0.0431, 0.0350),
        InspectionOutcome.COLLATERAL_FAILURE: (0.9727, 0.9727),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0273, 0.0273),
        InspectionOutcome.NO_MUTANT_FLIPS: (0.7852, 0.8149),
        InspectionOutcome.MUTANT_REPAIRS: (0.0112, 0.0112),
        InspectionOutcome.MUTANT_BREAKS_OTHERS: (0.0878, 0.0415),
        InspectionOutcome.NO_MUTANT_MATTERS: (0.1159, 0.1324),
    }
)
