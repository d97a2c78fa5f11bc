"""Values that are not usable are refused by name, with what was expected."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from pytest_bayesloc.options.settings import Settings, declarations

ROOT = Path(__file__).parents[2]
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
    "--bayesloc-llm-limits=calls=-1": "each a number of 0 or more",
    "--bayesloc-llm-limits=cost=much": "cost=AMOUNT",
    "--bayesloc-llm-limits=prompt=10": "prompt of 2000",
    "--bayesloc-llm-limits=parallel=0": "parallel of 1 or more",
    "--bayesloc-llm-limits=words=3": "calls=N tokens=N",
    "--bayesloc-llm-model=gpt 0.4": "NAME IN OUT",
    "--bug-memory=shred": "expected one of stats",
    "--bug-memory=forget": "forget:ID",
    "--bayesloc-executor=elsewhere": "expected local, an execnet specification",
    "--bayesloc-executor=docker:": "docker:CONTAINER",
    "--bayesloc-executor=docker:--privileged": "docker:CONTAINER",
    "--bayesloc-executor=0*popen": "several servers by N*SPEC",
    "--bayesloc-executor=1001*popen": "several servers by N*SPEC",
    "--bayesloc-executor=docker-image:web '": "quote it as for a shell",
    "--bayesloc-workspace=app": "an absolute path",
    "--bayesloc-workspace=here:/srv/app": "an absolute path",
    "--bayesloc-report=record": "record needs a path",
    "--bayesloc-source=no_such_package": "neither a folder in",
    "--bayesloc-source=no/such/folder": "neither a folder in",
    "--bayesloc-memory=mysql://...": "postgresql://USER@HOST/NAME",
    "--bayesloc-memory=tests": "is a folder: give the path of a file",
    "--bayesloc-memory=pyproject.toml/bugs.sqlite": "pyproject.toml, which is a file",
    "--bayesloc-report=html:tests": "is a folder: give the path of a file",
    "--bayesloc-report=record:pyproject.toml/a/b": "pyproject.toml, which is a file",
    "--bayesloc-workspace=/no/such/folder:/srv/app": "names /no/such/folder, which is no folder",
    "--bayesloc-merge=no/such/record": "does not exist",
}
REPEATABLE = {option.flag for option in declarations() if option.repeats}
BAD_INI = {
    "bayesloc_budget = soon": "a positive number of seconds",
    "bayesloc_formula = magic": "bayesloc_formula=magic",
}


@pytest.mark.parametrize(("option", "expected"), BAD.items())
def test_bad_value_is_refused_by_name(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, option: str, expected: str
) -> None:
    name, _, value = option.partition("=")
    given = [value] if name in REPEATABLE else value
    typed = dataclasses.replace(pytestconfig.invocation_params, args=(option,), dir=ROOT)
    monkeypatch.setattr(pytestconfig, "invocation_params", typed)
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


def test_misspelt_switch_in_the_ini_file_is_told_the_two_words_that_it_takes(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    def getini(name: str) -> object:
        if name == "bayesloc":
            raise ValueError("invalid truth value 'ture'")
        return real(name)

    real = pytestconfig.getini
    monkeypatch.setattr(pytestconfig, "getini", getini)

    with pytest.raises(pytest.UsageError, match=r"'ture'\): expected true or false\.$"):
        Settings.from_config(pytestconfig)


SSH = "ssh=-p 2222 me@farm//chdir=/srv/app"


@pytest.mark.parametrize(
    ("option", "given", "setting", "expected"),
    [
        ("budget", "20", "budget_s", 20.0),
        ("inspections", "3", "n_inspections", 3),
        ("memory", "off", "memory", "off"),
        ("llm_model", ["l:8b", "fast:s", "embedding:e"], "llm_models", ("l:8b", "s", "e", {})),
        ("workspace", "", "workspace", ("", "")),
        ("workspace", "/srv/app", "workspace", ("", "/srv/app")),
        ("workspace", "/home/me/app:/srv/app", "workspace", ("/home/me/app", "/srv/app")),
        ("executor", ["3*popen//python=python3"], "executors", ("popen//python=python3",) * 3),
        ("executor", ["1000*popen"], "executors", ("popen",) * 1000),
        ("executor", [SSH], "executors", (SSH,)),
        ("executor", ["docker-image:python:3.12"], "executors", ("docker-image:python:3.12",)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_usable_value_is_taken_as_it_is(
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    given: object,
    setting: str,
    expected: object,
) -> None:
    monkeypatch.setattr(pytestconfig.option, f"bayesloc_{option}", given)

    assert getattr(Settings.from_config(pytestconfig), setting) == expected


def test_money_is_capped_only_where_prices_are_known(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_limits", "cost=0.5 calls=7")
    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_model", ["gpt"])

    with pytest.raises(pytest.UsageError, match="the price of gpt is not known"):
        Settings.from_config(pytestconfig)

    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_model", ["gpt 0.4 1.6"])
    settings = Settings.from_config(pytestconfig)
    assert (settings.llm_limits.cost, settings.llm_limits.calls) == (0.5, 7)
    assert settings.llm_models.prices == {"gpt": (0.4, 1.6)}


def test_no_model_is_asked_unless_somebody_says_so(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-here")
    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_model", ["gpt"])
    assert not Settings.from_config(pytestconfig).asks_llm

    monkeypatch.setattr(pytestconfig.option, "bayesloc_llm_mode", "dry-run")
    assert Settings.from_config(pytestconfig).asks_llm


def test_memory_is_asked_by_verbs(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "bug_memory", ["merge:1a2b,3c4d", "stats"])

    actions = Settings.from_config(pytestconfig).memory_actions

    assert actions == (("merge", "1a2b,3c4d"), ("stats", ""))


def test_thirty_options_at_most() -> None:
    assert len(declarations()) <= 30
