from __future__ import annotations

import ast

import pytest

from pytest_bayesloc.causes.order import changes_at_import


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("from shop import settings\nsettings.DEBUG = True", "settings.DEBUG"),
        ("import os\nos.environ['TZ'] = 'UTC'", "os.environ['TZ']"),
        ("import decimal\ndecimal.getcontext().prec = 5", "decimal.getcontext().prec"),
        ("import logging\nlogging.disable()", "logging.disable()"),
        ("from a import register\n@register('x')\ndef f(): ...", "register('x')"),
        ("from a import COUNTS\ndel COUNTS['x']", "COUNTS['x']"),
        ("from a import b\nb.n += 1", "b.n"),
    ],
)
def test_statement_of_a_module_that_changes_what_it_imported_is_found(code: str, what: str) -> None:
    assert [found for _, found in changes_at_import(ast.parse(code))] == [what]


@pytest.mark.parametrize(
    "code",
    [
        "import pytest\npytest.importorskip('numpy')",
        "import pytest\n@pytest.mark.slow()\ndef test_a(): ...",
        "import sys\nsys.path.insert(0, 'src')",
        "from shop import settings\ndef test_a():\n    settings.DEBUG = True",
        "cases = {}\ncases['a'] = 1",
        "from shop import Shop\nshop = Shop()",
    ],
)
def test_module_that_changes_nothing_of_others_is_none(code: str) -> None:
    assert not [*changes_at_import(ast.parse(code))]
