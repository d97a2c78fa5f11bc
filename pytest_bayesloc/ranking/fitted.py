"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-26: 340 faults of 21 packages, penalties 1 and 2,
tests lowered by 0.00, temperature 0.99.
Packages:
beautifulsoup4, boltons, colander, h11, jinja2, mako, markdown, marshmallow, oauthlib, parsel,
parso, petl, prettytable, pycparser, pydash, pyflakes, soupsieve, sqlparse, toolz, webob,
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
        "ochiai": 1.76,
        "rank by op2 and ochiai of lines": -1.38,
        "failing tests": 2.07,
        "module body": -1.26,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 1.36,
        Role.FIXTURE: 0.21,
        Role.HELPER: -0.37,
        Role.DATA: -0.30,
        Role.PART: -2.81,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 0.90,
        StaticOutcome.NOT_IN_TRACEBACK: -0.92,
        StaticOutcome.CODE_RAISED: -0.58,
        StaticOutcome.TWIN_PASSES: 0.09,
        StaticOutcome.TEST_IN_TRACEBACK: 0.16,
        StaticOutcome.NAME_EXACT: 0.98,
        StaticOutcome.NAME_PART: 0.61,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9784, 0.9784),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0216, 0.0216),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.8796, 0.9480),
        InspectionOutcome.EDIT_REPAIRS: (0.0467, 0.0086),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.0737, 0.0435),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.8112, 0.8973),
        InspectionOutcome.RETURN_REPAIRS: (0.1276, 0.0595),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0611, 0.0432),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.77
