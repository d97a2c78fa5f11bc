"""A whole run in which a model looks around by calling functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("openai", reason="pip install openai")

from tests.e2e.scripted import fails, says, serving
from tests.integration.conftest import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.e2e.scripted import Answer, Script
    from tests.integration.conftest import Project, Projects, Run

#: Nothing but the model proposes edits, so that what it brings is seen.
OPTIONS = (
    *("--bayesloc", "--bayesloc-threshold=0.999", "--bayesloc-memory=off"),
    *("--bayesloc-llm", "--bayesloc-llm-limits=calls=8"),
    *(f"--bayesloc-without={kind}" for kind in ("mutants", "generated")),
)
QUESTIONS = ("ranking", "source", "values", "calls", "failure", "why", "changes", "similar")
PLACES = {name: {"place": "add"} for name in ("source", "values", "calls", "why")}


def calls(*asked: tuple[str, Mapping[str, object]]) -> Answer:
    made = [
        {
            "id": f"call{n}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for n, (name, given) in enumerate(asked)
    ]
    return says("I look.", tool_calls=made)


def tries(old: str, new: str, file: str = "calc.py") -> Answer:
    return calls(("try_edit", {"file": file, "old": old, "new": new}))


NAMES = calls(("name_suspects", {"explanation": "it subtracts", "suspects": ["calc.py:1 add"]}))


def localized(project: Project, url: str, *options: str, **variables: str) -> Run:
    env = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", **variables}
    return project.localize(*OPTIONS, *options, env=env)


def answered(script: Script) -> list[str]:
    """What functions answered, in the longest request."""
    messages: Sequence[Mapping[str, Any]] = json.loads(max(script.asked, key=len))["messages"]
    return [str(message["content"]) for message in messages if message["role"] == "tool"]


def test_model_looks_around_and_an_edit_of_its_that_passes_is_a_repair(
    projects: Projects,
) -> None:
    project = projects.buggy()
    looks = calls(*((name, PLACES.get(name, dict[str, str]())) for name in QUESTIONS))
    with serving(looks, tries("a - b", "b - a"), tries("a - b", "a + b"), NAMES) as script:
        run = localized(project, script.url)

    told = answered(script)
    assert len(told) == len(QUESTIONS) + 2
    assert "a - b" in told[1]
    assert "failing: int" in told[2]
    assert "the failing tests pass, nothing else breaks" in told[-1]
    outcomes = {i["outcome"] for i in run.inspections if i["kind"] == "proposed fixes"}
    assert outcomes == {"EDIT_REPAIRS"}
    assert run.document["llm"]["uses"] == {"ranking": 1}
    assert project.read("calc.py") == projects.buggy().read("calc.py")

    again = localized(project, "http://127.0.0.1:9/v1", "--bayesloc-llm-mode=replay")

    assert again.document["llm"]["calls"] == 0
    assert again.document["llm"]["replayed"] == 4
    assert again.document["faults"][0]["ranking"] == run.document["faults"][0]["ranking"]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"km": 100', '"km": 1000', "units.py <module>"),
        ("top = 9", "top = 10", "units.py Scale"),
    ],
)
def test_edit_of_what_an_import_executes_is_tried_and_its_place_is_first(
    projects: Projects,
    old: str,
    new: str,
    place: str,
) -> None:
    project = projects.make(UNITS)
    tests = ("test_units.py::test_km", "test_units.py::test_clip")
    with serving(tries(old, new, "units.py"), NAMES) as script:
        run = localized(project, script.url, tests["top" in old], "test_units.py::test_m")

    assert "the failing tests pass, nothing else breaks" in answered(script)[0]
    assert run.names()[0] == place


def test_model_reads_what_a_failing_test_printed_without_secrets(
    projects: Projects,
) -> None:
    project = projects.buggy()
    said = "    print('adding', a, 'with token justw0rds-of-ours')\n    return a - b"
    project.write({"calc.py": project.read("calc.py").replace("    return a - b", said)})
    with serving(calls(("failure", {})), NAMES) as script:
        localized(project, script.url, DEPLOY_TOKEN="justw0rds-of-ours")

    assert "adding 1 with token" in answered(script)[0]
    assert "justw0rds" not in answered(script)[0]


def test_words_in_a_repository_and_edits_of_no_use_change_no_verdict(
    projects: Projects,
) -> None:
    project = projects.buggy()
    hidden = "TOKEN = 'justw0rds-of-ours'\n\n\ndef quiet():\n    return 1\n"
    (project.root / "secret_keys.py").write_text(hidden, encoding="utf-8")
    obeys = ("name_suspects", {"explanation": "it was told so", "suspects": ["total"]})
    edits = (
        tries("total", "total", "test_calc.py"),
        tries("return a - b", "import os\n    return os.getpid()"),
        calls(("source", {"place": "secret_keys.py:4"})),
        calls(("rm", {"file": "calc.py"}), ("source", {}), ("source", {"place": 7})),
        calls(obeys),
    )
    with serving(*edits) as script:
        run = localized(project, script.url, DEPLOY_TOKEN="justw0rds-of-ours")

    assert run.names()[0] == "calc.py add"
    told = answered(script)
    assert "is not shown" in told[2]
    assert "There is no such function" in told[3]
    assert "missing a required argument: 'place'" in told[4]
    assert "each is a text" in told[5]
    assert not any("justw0rds" in text for text in script.asked)


@pytest.mark.parametrize("answer", [fails(400, "tools are not supported"), says("It is add.")])
def test_endpoint_that_knows_no_functions_is_asked_by_prompts(
    projects: Projects,
    answer: Answer,
) -> None:
    suspects = says({"suspects": [{"reason": "it subtracts", "candidate": 1}]})
    with serving(answer, suspects, says({"why": "it adds", "code": "no"})) as script:
        run = localized(projects.buggy(), script.url)

    assert run.document["llm"]["uses"]["ranking"] == 1
    assert "tools" not in json.loads(script.asked[1])
    assert run.names()[0] == "calc.py add"
