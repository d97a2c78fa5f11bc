"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-28: 146 real bugs of 38 repositories, and
340 planted faults of 21 packages, which count 0.25 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 0.88.
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
soupsieve, sqlparse, toolz, webob, wtforms.

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
        "ochiai": 1.41,
        "rank by op2 and ochiai of lines": -0.76,
        "failing tests": 0.16,
        "fewest passing tests of a line": -0.44,
        "module body": -0.97,
        "constructor": -0.72,
        "lines": 0.65,
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[str, float] = MappingProxyType(
    {
        "name in test": 0.95,
        "test in name": 1.37,
        "file in test": 0.87,
        "test file in place": 1.35,
        "body says test": 3.02,
        "literals": 1.59,
        "class body": -1.09,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 0.49,
        Role.FIXTURE: -0.18,
        Role.HELPER: -0.17,
        Role.DATA: -0.16,
        Role.PART: -1.03,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.97,
        StaticOutcome.NOT_IN_TRACEBACK: -0.25,
        StaticOutcome.CODE_RAISED: -0.33,
        StaticOutcome.TWIN_PASSES: -0.32,
        StaticOutcome.TEST_IN_TRACEBACK: -0.12,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9779, 0.9779),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0221, 0.0221),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.7338, 0.9454),
        InspectionOutcome.EDIT_REPAIRS: (0.1416, 0.0095),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.1246, 0.0451),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.6903, 0.9023),
        InspectionOutcome.RETURN_REPAIRS: (0.2204, 0.0512),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0893, 0.0465),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.66
