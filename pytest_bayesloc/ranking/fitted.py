"""The model's numbers. Written by ``python -m benchmarks.faults fit``, not by hand.

Fitted on 2026-11-28: 131 real bugs of 39 repositories, and
340 planted faults of 21 packages, which count 0.5 times as much together;
penalties 1 and 2, tests lowered by 0.00, temperature 1.05.
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
        "ochiai": 1.11,
        "rank by op2 and ochiai of lines": -0.71,
        "failing tests": 0.02,
        "fewest passing tests of a line": -0.75,
        "module body": -0.88,
        "constructor": -0.72,
        "lines": 0.68,
    }
)

#: Weights of what a candidate's text says of what the failing tests say, in nats.
TEXT: Mapping[str, float] = MappingProxyType(
    {
        "name in test": 0.67,
        "test in name": 0.98,
        "file in test": 0.45,
        "test file in place": 1.06,
        "body says test": 2.72,
        "literals": 1.33,
        "class body": -1.09,
    }
)

#: What a piece of test code starts from, in nats, in the same sum.
TESTS: Mapping[Role, float] = MappingProxyType(
    {
        Role.TEST: 1.58,
        Role.FIXTURE: 0.27,
        Role.HELPER: 0.15,
        Role.DATA: -0.08,
        Role.PART: -1.40,
    }
)

#: Of what is at hand before any inspection: the log likelihood ratio, in nats.
LOG_RATIOS: Mapping[Outcome, float] = MappingProxyType(
    {
        StaticOutcome.RAISE_FRAME: 1.52,
        StaticOutcome.NOT_IN_TRACEBACK: -0.46,
        StaticOutcome.CODE_RAISED: -0.08,
        StaticOutcome.TWIN_PASSES: 0.24,
        StaticOutcome.TEST_IN_TRACEBACK: 0.77,
    }
)

#: Of what inspections show: P(outcome | faulty) and P(outcome | clean), of each kind summing to 1.
CHANCES: Mapping[Outcome, tuple[float, float]] = MappingProxyType(
    {
        InspectionOutcome.COLLATERAL_FAILURE: (0.9776, 0.9776),
        InspectionOutcome.TARGET_ASSERTION_FAILED: (0.0224, 0.0224),
        InspectionOutcome.NO_EDIT_REPAIRS: (0.7987, 0.9394),
        InspectionOutcome.EDIT_REPAIRS: (0.0912, 0.0112),
        InspectionOutcome.EDIT_BREAKS_OTHERS: (0.1101, 0.0493),
        InspectionOutcome.NO_RETURN_REPAIRS: (0.7632, 0.9014),
        InspectionOutcome.RETURN_REPAIRS: (0.1616, 0.0516),
        InspectionOutcome.RETURN_REPAIRS_BY_CALLEE: (0.0752, 0.0469),
    }
)

#: How much less often a change repairs by chance at a location of less belief: the power of its
#: share of the highest belief before any inspection.
REPAIR_NEARNESS = 0.66
