"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-24: 336 faults of 21 packages, penalties 1 and 2,
tests lowered by 0.00, temperature 1.01.
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
        "ochiai": 1.71,
        "rank by op2 and ochiai of lines": -1.36,
        "failing tests": 2.03,
        "module body": -1.24,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 1.29,
        Role.FIXTURE: 0.21,
        Role.HELPER: -0.36,
        Role.DATA: -0.31,
        Role.PART: -2.75,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 0.91,
        StaticOutcome.NOT_IN_TRACEBACK: -0.89,
        StaticOutcome.CODE_RAISED: -0.62,
        StaticOutcome.TWIN_PASSES: 0.11,
        StaticOutcome.TEST_IN_TRACEBACK: 0.15,
        StaticOutcome.NAME_EXACT: 0.91,
        StaticOutcome.NAME_PART: 0.62,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9735, 0.9782),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0265, 0.0218),
        InspectionOutcome.NO_MUTANT_FLIPS: (0.8119, 0.8245),
        InspectionOutcome.MUTANT_REPAIRS: (0.0427, 0.0123),
        InspectionOutcome.MUTANT_BREAKS_OTHERS: (0.0952, 0.0471),
        InspectionOutcome.NO_MUTANT_MATTERS: (0.0501, 0.1161),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.8138, 0.9195),
        InspectionOutcome.EDIT_REPAIRS: (0.1107, 0.0236),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.0754, 0.0569),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.7843, 0.9101),
        InspectionOutcome.RETURN_REPAIRS: (0.1737, 0.0562),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0421, 0.0337),
    }
)
