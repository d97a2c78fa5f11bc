"""Values that are not usable are refused by name, with what was expected."""

from __future__ import annotations

import re

import pytest

from pytest_bayesloc.options import Settings

BAD = {
    "--bayesloc-budget=0": "a positive number of seconds",
    "--bayesloc-budget=soon": "a positive number of seconds",
    "--bayesloc-budget=nan": "a positive number of seconds",
    "--bayesloc-inspections=-1": "a number of inspections",
    "--bayesloc-inspections=1.5": "a number of inspections",
    "--bayesloc-threshold=90": "a probability between 0 and 1",
    "--bayesloc-formula=magic": "tarantula",
    "--bayesloc-model=two-faults": "single-fault, independent",
    "--bayesloc-report=pdf": "KIND is one of html, json",
    "--bayesloc-report=json:": "KIND is one of html, json",
}
BAD_INI = {
    "bayesloc_budget = soon": "a positive number of seconds",
    "bayesloc_inspections = many": "a number of inspections",
    "bayesloc_threshold = 2": "bayesloc_threshold=2",
    "bayesloc_formula = magic": "bayesloc_formula=magic",
    "bayesloc_model = two-faults": "bayesloc_model=two-faults",
}


@pytest.mark.parametrize(("option", "expected"), BAD.items())
def test_bad_value_is_refused_by_name(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, option: str, expected: str
) -> None:
    name, _, value = option.partition("=")
    given = [value] if name == "--bayesloc-report" else value
    monkeypatch.setattr(pytestconfig.option, name.strip("-").replace("-", "_"), given)

    with pytest.raises(pytest.UsageError, match=f"{re.escape(option)}.*{re.escape(expected)}"):
        Settings.from_config(pytestconfig)


@pytest.mark.parametrize(("entry", "expected"), BAD_INI.items())
def test_bad_ini_value_is_refused_by_name(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, entry: str, expected: str
) -> None:
    name, _, value = entry.partition(" = ")
    getini = pytestconfig.getini
    monkeypatch.setattr(pytestconfig, "getini", lambda n: value if n == name else getini(n))

    with pytest.raises(pytest.UsageError, match=re.escape(expected)) as raised:
        Settings.from_config(pytestconfig)

    assert name in str(raised.value)
