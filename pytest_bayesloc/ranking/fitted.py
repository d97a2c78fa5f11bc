"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-28: 131 real bugs of 39 repositories, and
340 planted faults of 21 packages, which count 1 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 0.92.
Packages:
Delgan/loguru, PyCQA/isort, PyCQA/pyflakes, Pylons/colander, Pylons/webob,
Python-Markdown/markdown, Textualize/rich, aio-libs/yarl, andialbrecht/sqlparse,
asottile/pyupgrade, beautifulsoup4, boltons, colander, collective/icalendar, dateutil/dateutil,
davidhalter/jedi, davidhalter/parso, dgilland/pydash, dynaconf/dynaconf, eliben/pycparser,
executablebooks/markdown-it-py, facelessuser/soupsieve, falconry/falcon, getsentry/responses,
h11, jaraco/inflect, jazzband/prettytable, jinja2, keleshev/schema, mahmoud/boltons, mako,
markdown, marshmallow, marshmallow-code/apispec, marshmallow-code/marshmallow, mozilla/bleach,
oauthlib, oauthlib/oauthlib, pallets/flask, pallets/jinja, parsel, parso, petl, prettytable,
pycparser, pydash, pyeve/cerberus, pyflakes, pylint-dev/astroid, pypa/packaging,
python-attrs/attrs, python-babel/babel, python-hyper/h2, python-jsonschema/jsonschema,
scrapy/parsel, soupsieve, sqlparse, toolz, webob, wtforms.

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
            "ochiai": 0.17,
            "rank by op2 and ochiai of lines": -0.51,
            "failing tests": -0.70,
            "fewest passing tests of a line": -1.34,
            "module body": -0.99,
            "constructor": -1.14,
            "nested function": 0.00,
            "lines": 0.86,
        },
        Situation.REGRESSION: {
            "ochiai": 1.49,
            "rank by op2 and ochiai of lines": -1.28,
            "failing tests": 1.57,
            "fewest passing tests of a line": -0.15,
            "module body": -1.43,
            "constructor": -0.43,
            "nested function": 0.00,
            "lines": 0.26,
        },
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[Situation, Mapping[str, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            "name in test": 1.16,
            "test in name": 0.89,
            "file in test": 0.54,
            "test file in place": 1.49,
            "body says test": 2.93,
            "literals": 1.40,
            "class body": -1.46,
            "raises": 0.00,
        },
        Situation.REGRESSION: {
            "name in test": 0.34,
            "test in name": 0.69,
            "file in test": 0.48,
            "test file in place": 0.17,
            "body says test": 1.01,
            "literals": 0.23,
            "class body": -1.37,
            "raises": 0.00,
        },
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Situation, Mapping[Role, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            Role.TEST: 1.39,
            Role.FIXTURE: 0.08,
            Role.HELPER: 0.19,
            Role.DATA: -0.06,
            Role.PART: -0.60,
        },
        Situation.REGRESSION: {
            Role.TEST: 1.32,
            Role.FIXTURE: 0.30,
            Role.HELPER: -0.03,
            Role.DATA: -0.09,
            Role.PART: -2.14,
        },
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.51,
        StaticOutcome.NOT_IN_TRACEBACK: -0.45,
        StaticOutcome.CODE_RAISED: -0.19,
        StaticOutcome.TWIN_PASSES: 0.14,
        StaticOutcome.TEST_IN_TRACEBACK: 0.89,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9793, 0.9793),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0207, 0.0207),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.8403, 0.9357),
        InspectionOutcome.EDIT_REPAIRS: (0.0647, 0.0105),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.0951, 0.0538),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.7562, 0.8785),
        InspectionOutcome.RETURN_REPAIRS: (0.1564, 0.0607),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0874, 0.0607),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.73
