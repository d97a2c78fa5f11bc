"""Whose histories are mined, and which part of the set each repository belongs to.

Repositories, not bugs, are split, by a hash of their names. Those of packages with planted faults
keep the part that they have there. ``SEALED`` ones are run by nobody until all is chosen.
"""

from __future__ import annotations

from hashlib import sha256

from benchmarks.faults.split import FIT, TEST, VALIDATE, all_packages, part_of

SEALED = "sealed"
PARTS = (FIT, VALIDATE, TEST, SEALED)
#: Of all repositories without planted faults; the rest is divided evenly.
N_SEALED = 10

NAMES = (
    "Delgan/loguru",
    "PyCQA/bandit",
    "PyCQA/isort",
    "PyCQA/pycodestyle",
    "PyCQA/pyflakes",
    "Pylons/colander",
    "Pylons/pyramid",
    "Pylons/waitress",
    "Pylons/webob",
    "Python-Markdown/markdown",
    "Textualize/rich",
    "agronholm/apscheduler",
    "agronholm/typeguard",
    "aio-libs/yarl",
    "andialbrecht/sqlparse",
    "arrow-py/arrow",
    "asottile/pyupgrade",
    "asottile/reorder_python_imports",
    "beancount/beancount",
    "bottlepy/bottle",
    "cdgriffith/Box",
    "coleifer/peewee",
    "collective/icalendar",
    "dateutil/dateutil",
    "davidhalter/jedi",
    "davidhalter/parso",
    "dbader/schedule",
    "dgilland/pydash",
    "dynaconf/dynaconf",
    "eliben/pycparser",
    "encode/httpx",
    "encode/starlette",
    "executablebooks/markdown-it-py",
    "facelessuser/soupsieve",
    "falconry/falcon",
    "fastapi/typer",
    "getsentry/responses",
    "google/python-fire",
    "graphql-python/graphene",
    "graphql-python/graphql-core",
    "hgrecco/pint",
    "hynek/structlog",
    "jaraco/inflect",
    "jazzband/prettytable",
    "jazzband/tablib",
    "jmespath/jmespath.py",
    "jpadilla/pyjwt",
    "jsonpickle/jsonpickle",
    "kayak/pypika",
    "keleshev/schema",
    "lark-parser/lark",
    "mahmoud/boltons",
    "marshmallow-code/apispec",
    "marshmallow-code/marshmallow",
    "marshmallow-code/webargs",
    "mkdocs/mkdocs",
    "more-itertools/more-itertools",
    "mozilla/bleach",
    "oauthlib/oauthlib",
    "omry/omegaconf",
    "pallets/click",
    "pallets/flask",
    "pallets/jinja",
    "pallets/werkzeug",
    "prompt-toolkit/python-prompt-toolkit",
    "psf/requests",
    "py-pdf/pypdf",
    "pydantic/pydantic",
    "pyeve/cerberus",
    "pyinvoke/invoke",
    "pylint-dev/astroid",
    "pypa/packaging",
    "pyparsing/pyparsing",
    "python-attrs/attrs",
    "python-attrs/cattrs",
    "python-babel/babel",
    "python-hyper/h2",
    "python-jsonschema/jsonschema",
    "python-openxml/python-docx",
    "scrapy/parsel",
    "scrapy/w3lib",
    "seperman/deepdiff",
    "simonw/datasette",
    "simonw/sqlite-utils",
    "spulec/freezegun",
    "theskumar/python-dotenv",
    "tobymao/sqlglot",
    "tox-dev/filelock",
    "trentm/python-markdown2",
    "un33k/python-slugify",
    "urllib3/urllib3",
    "wtforms/wtforms",
)


def part_of_repository(name: str) -> str:
    """The part of the set that the bugs of ``name``, as ``owner/name``, belong to."""
    return _SPLIT[name]


def is_sealed(name: str) -> bool:
    """Whether its bugs are left alone until all is chosen."""
    return _SPLIT[name] == SEALED


def _split() -> dict[str, str]:
    planted = set(all_packages())
    known = {name: package for name in NAMES if (package := name.split("/")[1]) in planted}
    others = sorted((name for name in NAMES if name not in known), key=_hashed)
    parts = {name: part_of(package) for name, package in known.items()}
    parts |= dict.fromkeys(others[:N_SEALED], SEALED)
    rest = others[N_SEALED:]
    # Two fifths to fit on, as many to judge with as to choose by.
    shares = (FIT, VALIDATE, TEST, FIT, TEST)
    parts |= {name: shares[n % len(shares)] for n, name in enumerate(rest)}
    return dict(sorted(parts.items()))


def _hashed(name: str) -> str:
    return sha256(f"bugs {name}".encode()).hexdigest()


_SPLIT = _split()
