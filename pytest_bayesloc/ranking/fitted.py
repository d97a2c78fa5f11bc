"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-28: 193 real bugs of 38 repositories, and
340 planted faults of 21 packages, which count 1.5 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 0.96.
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
            "ochiai": 0.77,
            "rank by op2 and ochiai of lines": -0.73,
            "failing tests": 0.39,
            "fewest passing tests of a line": -0.67,
            "module body": -1.39,
            "constructor": -0.78,
            "lines": 0.78,
        },
        Situation.REGRESSION: {
            "ochiai": 1.37,
            "rank by op2 and ochiai of lines": -1.22,
            "failing tests": 1.63,
            "fewest passing tests of a line": -0.16,
            "module body": -1.56,
            "constructor": -0.44,
            "lines": 0.24,
        },
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[Situation, Mapping[str, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            "name in test": 0.85,
            "test in name": 0.81,
            "file in test": 0.67,
            "test file in place": 1.02,
            "body says test": 2.28,
            "literals": 1.23,
            "class body": -1.55,
            "raises": -0.49,
        },
        Situation.REGRESSION: {
            "name in test": 0.33,
            "test in name": 0.65,
            "file in test": 0.45,
            "test file in place": 0.16,
            "body says test": 1.07,
            "literals": 0.21,
            "class body": -1.44,
            "raises": -0.38,
        },
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Situation, Mapping[Role, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            Role.TEST: 1.96,
            Role.FIXTURE: 0.37,
            Role.HELPER: 0.22,
            Role.DATA: -0.10,
            Role.PART: -1.46,
        },
        Situation.REGRESSION: {
            Role.TEST: 1.52,
            Role.FIXTURE: 0.54,
            Role.HELPER: 0.02,
            Role.DATA: -0.13,
            Role.PART: -2.40,
        },
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.58,
        StaticOutcome.NOT_IN_TRACEBACK: -0.52,
        StaticOutcome.CODE_RAISED: -0.19,
        StaticOutcome.TWIN_PASSES: 0.31,
        StaticOutcome.TEST_IN_TRACEBACK: 1.03,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9774, 0.9774),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0226, 0.0226),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.8684, 0.9387),
        InspectionOutcome.EDIT_REPAIRS: (0.0521, 0.0114),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.0795, 0.0499),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.8253, 0.9000),
        InspectionOutcome.RETURN_REPAIRS: (0.1132, 0.0524),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0614, 0.0476),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.76
