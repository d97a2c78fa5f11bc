"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-22: 206 faults of 9 packages, penalties 1 and 10,
tests lowered by 0.76, temperature 0.99.
Packages:
beautifulsoup4, jinja2, mako, markdown, oauthlib, pydash, toolz, webob, wtforms.

Reference:
    docs/model.md, sections "Prior" and "Likelihoods".
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.evidence import Outcome
from pytest_bayesloc.domain.failure import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Weights of the blend's terms, in nats.
PRIOR: Mapping[str, float] = MappingProxyType(
    {
        "ochiai of lines": 0.68,
        "ochiai": 1.10,
        "rank by op2 of lines": -1.22,
        "module body": -0.90,
        "class body": 0.05,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 0.94,
        Role.FIXTURE: 0.20,
        Role.HELPER: -0.99,
        Role.DATA: -1.49,
        Role.PART: -4.51,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        Outcome.RAISE_FRAME: 1.02,
        Outcome.NOT_IN_TRACEBACK: -0.29,
        Outcome.CODE_RAISED: -0.41,
        Outcome.TWIN_PASSES: 0.12,
        Outcome.TEST_IN_TRACEBACK: 0.25,
        Outcome.NAME_EXACT: 0.96,
        Outcome.NAME_PART: 0.55,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        Outcome.RETURNED_EARLIER: (0.9495, 0.9597),
        Outcome.RETURNED_LAST: (0.0505, 0.0403),
        Outcome.COLLATERAL_FAILURE: (0.9733, 0.9744),
        Outcome.TARGET_ASSERTION_FAILED: (0.0267, 0.0256),
        Outcome.NO_MUTANT_FLIPS: (0.8079, 0.8239),
        Outcome.MUTANT_REPAIRS: (0.0116, 0.0122),
        Outcome.MUTANT_BREAKS_OTHERS: (0.0670, 0.0365),
        Outcome.NO_MUTANT_MATTERS: (0.1136, 0.1274),
    }
)
