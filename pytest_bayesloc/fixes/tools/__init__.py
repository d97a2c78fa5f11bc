"""The fix tools of the package itself."""

from __future__ import annotations

from pytest_bayesloc.fixes.tools.arguments import missing_self, wrong_arguments, wrong_keyword
from pytest_bayesloc.fixes.tools.circular_import import circular_import
from pytest_bayesloc.fixes.tools.data import json_syntax, stale_expectation, stale_snapshot
from pytest_bayesloc.fixes.tools.foreign_name import foreign_name
from pytest_bayesloc.fixes.tools.indentation import indentation
from pytest_bayesloc.fixes.tools.missing_guard import missing_guard
from pytest_bayesloc.fixes.tools.misspelt import missing_import, misspelt_attribute, misspelt_name
from pytest_bayesloc.fixes.tools.misspelt_import import misspelt_import
from pytest_bayesloc.fixes.tools.normal_form import normal_form
from pytest_bayesloc.fixes.tools.results import missing_await, missing_return
from pytest_bayesloc.fixes.tools.shared_value import mutable_default, shared_value
from pytest_bayesloc.fixes.tools.syntax_slip import syntax_slip
from pytest_bayesloc.fixes.tools.text_encoding import text_encoding
from pytest_bayesloc.fixes.tools.type_mismatch import type_mismatch
from pytest_bayesloc.fixes.tools.wrong_key import wrong_key

#: All of them, by name.
PACKAGE_TOOLS = (
    circular_import,
    foreign_name,
    indentation,
    json_syntax,
    missing_await,
    missing_guard,
    missing_import,
    missing_return,
    missing_self,
    misspelt_attribute,
    misspelt_import,
    misspelt_name,
    mutable_default,
    normal_form,
    shared_value,
    stale_expectation,
    stale_snapshot,
    syntax_slip,
    text_encoding,
    type_mismatch,
    wrong_arguments,
    wrong_key,
    wrong_keyword,
)
