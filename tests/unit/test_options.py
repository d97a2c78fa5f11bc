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
    "--bayesloc-llm-mode=later": "live, replay, record",
    "--bayesloc-llm-max-calls=-1": "a number: give a whole number of 0 or more",
    "--bayesloc-llm-max-cost=much": "an amount of money",
    "--bayesloc-llm-max-prompt=10": "a whole number of 2000 or more",
    "--bayesloc-llm-parallel=0": "a whole number of 1 or more",
    "--bayesloc-executor=elsewhere": "expected local, an execnet specification",
    "--bayesloc-executor=docker:": "docker:CONTAINER",
    "--bayesloc-executor=docker:--privileged": "docker:CONTAINER",
    "--bayesloc-executor=0*popen": "several by N*SPEC",
    "--bayesloc-workers=0": "a number of servers, or auto",
    "--bayesloc-container-workspace=app": "an absolute path",
    "--bayesloc-docker-run='": "quote it as for a shell",
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
    given = [value] if name in {"--bayesloc-report", "--bayesloc-executor"} else value
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


def test_prices_that_are_none_are_refused(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    getini = pytestconfig.getini
    prices = {"bayesloc_llm_price": ["gpt 0.4"]}
    monkeypatch.setattr(pytestconfig, "getini", lambda n: prices.get(n) or getini(n))

    with pytest.raises(pytest.UsageError, match=r"bayesloc_llm_price=gpt 0\.4 is not NAME IN OUT"):
        Settings.from_config(pytestconfig)


def test_money_is_capped_only_where_prices_are_known(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    getini = pytestconfig.getini
    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_max_cost", "0.5")
    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_model", "gpt")
    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm", True)

    with pytest.raises(pytest.UsageError, match="the price of gpt is not known"):
        Settings.from_config(pytestconfig)

    prices = {"bayesloc_llm_price": ["gpt 0.4 1.6"]}
    monkeypatch.setattr(pytestconfig, "getini", lambda n: prices.get(n) or getini(n))
    llm = Settings.from_config(pytestconfig).llm
    assert llm is not None
    assert (llm.cost, llm.prices) == (0.5, {"gpt": (0.4, 1.6)})


def test_no_model_is_asked_unless_somebody_says_so(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-here")
    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_model", "gpt")

    assert Settings.from_config(pytestconfig).llm is None


@pytest.mark.parametrize(
    ("entry", "specs"),
    [
        ("local", ("local",)),
        ("3*popen//python=python3", ("popen//python=python3",) * 3),
        ("ssh=-p 2222 me@farm//chdir=/srv/app", ("ssh=-p 2222 me@farm//chdir=/srv/app",)),
        ("docker-image:python:3.12", ("docker-image:python:3.12",)),
        ("dask:tcp://farm:8786", ("dask:tcp://farm:8786",)),
    ],
)
def test_executor_is_a_specification_or_several(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, entry: str, specs: tuple[str, ...]
) -> None:
    monkeypatch.setattr(pytestconfig.option, "bayesloc_executor", [entry])

    assert Settings.from_config(pytestconfig).executor.specs == specs


def test_suite_that_one_process_ran_is_run_again_by_one(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "numprocesses", None, raising=False)
    assert Settings.from_config(pytestconfig).executor.n_workers == 1

    monkeypatch.setattr(pytestconfig.option, "numprocesses", 2, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert Settings.from_config(pytestconfig).executor.n_workers == 2
