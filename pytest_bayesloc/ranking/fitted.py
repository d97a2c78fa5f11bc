"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-28: 131 real bugs of 39 repositories, and
340 planted faults of 21 packages, which count 0.5 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 1.04.
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
from pytest_bayesloc.domain.failure import Role

#: Weights of the blend's terms, in nats.
PRIOR: Mapping[str, float] = MappingProxyType(
    {
        "ochiai": 1.16,
        "rank by op2 and ochiai of lines": -0.75,
        "failing tests": 0.06,
        "fewest passing tests of a line": -0.66,
        "module body": -0.84,
        "constructor": -0.73,
        "lines": 0.69,
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[str, float] = MappingProxyType(
    {
        "name in test": 0.65,
        "test in name": 1.07,
        "file in test": 0.51,
        "test file in place": 0.99,
        "body says test": 2.89,
        "literals": 1.32,
        "class body": -1.03,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 1.63,
        Role.FIXTURE: 0.29,
        Role.HELPER: 0.17,
        Role.DATA: -0.07,
        Role.PART: -1.41,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.58,
        StaticOutcome.NOT_IN_TRACEBACK: -0.48,
        StaticOutcome.CODE_RAISED: -0.07,
        StaticOutcome.TWIN_PASSES: 0.28,
        StaticOutcome.TEST_IN_TRACEBACK: 0.81,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9776, 0.9776),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0224, 0.0224),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.8000, 0.9394),
        InspectionOutcome.EDIT_REPAIRS: (0.0910, 0.0112),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.1090, 0.0493),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.7649, 0.9014),
        InspectionOutcome.RETURN_REPAIRS: (0.1607, 0.0516),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0744, 0.0469),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.66
