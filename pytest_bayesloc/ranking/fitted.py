"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-28: 92 real bugs of 24 repositories, and
340 planted faults of 21 packages, which count 0.25 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 0.95.
Packages:
Delgan/loguru, PyCQA/isort, PyCQA/pyflakes, Pylons/colander, Pylons/webob,
Python-Markdown/markdown, Textualize/rich, aio-libs/yarl, andialbrecht/sqlparse,
asottile/pyupgrade, beautifulsoup4, boltons, colander, collective/icalendar, dateutil/dateutil,
davidhalter/jedi, davidhalter/parso, dgilland/pydash, dynaconf/dynaconf, eliben/pycparser,
executablebooks/markdown-it-py, facelessuser/soupsieve, falconry/falcon, getsentry/responses,
h11, jaraco/inflect, jazzband/prettytable, jinja2, keleshev/schema, mako, markdown, marshmallow,
oauthlib, parsel, parso, petl, prettytable, pycparser, pydash, pyflakes, soupsieve, sqlparse,
toolz, webob, wtforms.

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
        "ochiai": 1.26,
        "rank by op2 and ochiai of lines": -0.65,
        "failing tests": 0.31,
        "fewest passing tests of a line": -0.81,
        "module body": -0.36,
        "constructor": -0.83,
        "lines": 0.65,
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[str, float] = MappingProxyType(
    {
        "name in test": 0.78,
        "test in name": 1.35,
        "file in test": 0.99,
        "test file in place": 1.18,
        "body says test": 2.37,
        "literals": 1.16,
        "class body": -1.06,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 0.39,
        Role.FIXTURE: -0.10,
        Role.HELPER: -0.11,
        Role.DATA: -0.10,
        Role.PART: -0.68,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.66,
        StaticOutcome.NOT_IN_TRACEBACK: -0.29,
        StaticOutcome.CODE_RAISED: -0.24,
        StaticOutcome.TWIN_PASSES: -0.21,
        StaticOutcome.TEST_IN_TRACEBACK: -0.03,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9786, 0.9789),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0214, 0.0211),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.9297, 0.9496),
        InspectionOutcome.EDIT_REPAIRS: (0.0190, 0.0083),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.0512, 0.0421),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.8826, 0.8984),
        InspectionOutcome.RETURN_REPAIRS: (0.0730, 0.0588),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0444, 0.0428),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.66
