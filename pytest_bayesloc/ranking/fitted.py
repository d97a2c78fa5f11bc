"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-28: 193 real bugs of 38 repositories, and
340 planted faults of 21 packages, which count 1 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 0.94.
Packages:
Delgan/loguru, PyCQA/isort, PyCQA/pyflakes, Pylons/colander, Python-Markdown/markdown,
Textualize/rich, aio-libs/yarl, andialbrecht/sqlparse, asottile/pyupgrade, beautifulsoup4,
boltons, colander, collective/icalendar, dateutil/dateutil, davidhalter/jedi, davidhalter/parso,
dgilland/pydash, dynaconf/dynaconf, eliben/pycparser, executablebooks/markdown-it-py,
facelessuser/soupsieve, falconry/falcon, getsentry/responses, h11, jaraco/inflect,
jazzband/prettytable, jinja2, keleshev/schema, mahmoud/boltons, mako, markdown, marshmallow,
marshmallow-code/apispec, marshmallow-code/marshmallow, mozilla/bleach, oauthlib,
oauthlib/oauthlib, pallets/flask, pallets/jinja, parsel, parso, petl, prettytable, pycparser,
pydash, pyeve/cerberus, pyflakes, pylint-dev/astroid, pypa/packaging, python-attrs/attrs,
python-babel/babel, python-hyper/h2, python-jsonschema/jsonschema, scrapy/parsel, soupsieve,
sqlparse, toolz, webob, wtforms.

Reference:
    docs/model.md, sections "Prior" and "Likelihoods".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_bayesloc.domain.evidence import InspectionOutcome, Outcome, StaticOutcome
from pytest_bayesloc.domain.failure import Role, Situation

#: Weights of the blend's terms, in nats.
PRIOR: Mapping[Situation, Mapping[str, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            "ochiai": 0.07,
            "rank by op2 and ochiai of lines": -0.51,
            "failing tests": -0.45,
            "fewest passing tests of a line": -1.08,
            "module body": -1.24,
            "constructor": -1.02,
            "lines": 0.91,
        },
        Situation.REGRESSION: {
            "ochiai": 1.42,
            "rank by op2 and ochiai of lines": -1.24,
            "failing tests": 1.72,
            "fewest passing tests of a line": -0.14,
            "module body": -1.59,
            "constructor": -0.45,
            "lines": 0.25,
        },
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[Situation, Mapping[str, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            "name in test": 1.08,
            "test in name": 0.85,
            "file in test": 0.70,
            "test file in place": 1.25,
            "body says test": 2.92,
            "literals": 1.49,
            "class body": -1.45,
            "raises": -0.62,
        },
        Situation.REGRESSION: {
            "name in test": 0.34,
            "test in name": 0.67,
            "file in test": 0.45,
            "test file in place": 0.17,
            "body says test": 1.10,
            "literals": 0.21,
            "class body": -1.49,
            "raises": -0.38,
        },
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Situation, Mapping[Role, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            Role.TEST: 1.75,
            Role.FIXTURE: 0.25,
            Role.HELPER: 0.19,
            Role.DATA: -0.08,
            Role.PART: -0.96,
        },
        Situation.REGRESSION: {
            Role.TEST: 1.44,
            Role.FIXTURE: 0.45,
            Role.HELPER: -0.00,
            Role.DATA: -0.11,
            Role.PART: -2.33,
        },
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.63,
        StaticOutcome.NOT_IN_TRACEBACK: -0.47,
        StaticOutcome.CODE_RAISED: -0.13,
        StaticOutcome.TWIN_PASSES: 0.19,
        StaticOutcome.TEST_IN_TRACEBACK: 1.01,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9791, 0.9791),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0209, 0.0209),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.8439, 0.9349),
        InspectionOutcome.EDIT_REPAIRS: (0.0600, 0.0106),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.0961, 0.0544),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.7659, 0.8770),
        InspectionOutcome.RETURN_REPAIRS: (0.1464, 0.0615),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0877, 0.0615),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.74
