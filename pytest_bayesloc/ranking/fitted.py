"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-30: 193 real bugs of 38 repositories, and
340 planted faults of 21 packages, which count 1.5 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 1.01.
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
            "ochiai": 0.73,
            "rank by op2 and ochiai of lines": -0.69,
            "failing tests": 0.37,
            "fewest passing tests of a line": -0.64,
            "module body": -1.32,
            "constructor": -0.74,
            "lines": 0.74,
        },
        Situation.REGRESSION: {
            "ochiai": 1.31,
            "rank by op2 and ochiai of lines": -1.16,
            "failing tests": 1.55,
            "fewest passing tests of a line": -0.15,
            "module body": -1.49,
            "constructor": -0.42,
            "lines": 0.23,
        },
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[Situation, Mapping[str, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            "name in test": 0.81,
            "test in name": 0.77,
            "file in test": 0.64,
            "test file in place": 0.97,
            "body says test": 2.17,
            "literals": 1.17,
            "class body": -1.47,
            "raises": -0.47,
        },
        Situation.REGRESSION: {
            "name in test": 0.32,
            "test in name": 0.62,
            "file in test": 0.43,
            "test file in place": 0.16,
            "body says test": 1.01,
            "literals": 0.20,
            "class body": -1.37,
            "raises": -0.36,
        },
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Situation, Mapping[Role, float]] = MappingProxyType(
    {
        Situation.NEW_TEST: {
            Role.TEST: 1.86,
            Role.FIXTURE: 0.36,
            Role.HELPER: 0.21,
            Role.DATA: -0.10,
            Role.PART: -1.39,
        },
        Situation.REGRESSION: {
            Role.TEST: 1.44,
            Role.FIXTURE: 0.52,
            Role.HELPER: 0.02,
            Role.DATA: -0.12,
            Role.PART: -2.28,
        },
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.50,
        StaticOutcome.NOT_IN_TRACEBACK: -0.50,
        StaticOutcome.CODE_RAISED: -0.18,
        StaticOutcome.TWIN_PASSES: 0.29,
        StaticOutcome.TEST_IN_TRACEBACK: 0.98,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9794, 0.9794),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0206, 0.0206),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.8576, 0.9320),
        InspectionOutcome.EDIT_REPAIRS: (0.0606, 0.0144),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.0818, 0.0536),
    }
)

#: How much less often an edit repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.65
