"""A whole run with a real server of language models; what its small model says is nonsense."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.conftest import Project, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

DEMO = Path(__file__).resolve().parents[2] / "demo_project"
#: As little as may be: a slow machine with one thread answers in half a minute.
SMALL = (
    "--bayesloc-llm",
    "--bayesloc-llm-model=smollm2",
    "--bayesloc-llm-limits=prompt=2000 answer=200 parallel=1 functions=1 calls=10",
    "--bayesloc-budget=300",
)

TESTS = ("tests/test_bookings.py",)
LATER = "other.arrival < self.departure"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("llm") / "demo"
    shutil.copytree(DEMO, root, ignore=shutil.ignore_patterns(".bayesloc", "__pycache__"))
    return Project(root)


@pytest.fixture(scope="module")
def run(demo: Project, llm_server: str) -> Run:
    """The first red run with a language model."""
    return demo.localize("--bayesloc", *SMALL, *TESTS, env={"OPENAI_BASE_URL": f"{llm_server}/v1"})


def uses(run: Run) -> Mapping[str, int]:
    used: dict[str, Any] = run.document["llm"]
    return {str(name): int(n) for name, n in used["uses"].items()}


def test_every_use_of_a_language_model_happens_within_its_caps(run: Run) -> None:
    used = run.document["llm"]

    assert uses(run).keys() >= {"ranking", "inspection", "reflection", "summary"}, run.output
    assert 4 <= used["calls"] <= 10
    assert 0 < used["tokens"] < 200_000
    assert used["model"] == "smollm2"
    assert "generated" in {inspection["kind"] for inspection in run.inspections}


def test_nonsense_does_not_change_who_is_suspected_first(run: Run) -> None:
    assert run.names()[0] == "guesthouse/stays.py Stay.overlaps"


def test_what_was_said_is_in_the_terminal_once(run: Run) -> None:
    assert run.stdout.count("(llm-sent)") == 1
    assert f"language model: {run.document['llm']['calls']} call" in run.stdout


def test_the_same_run_is_replayed_without_a_call(demo: Project, run: Run) -> None:
    copy = Project(demo.root)
    again = copy.localize(
        "--bayesloc",
        *SMALL,
        "--bayesloc-llm-mode=replay",
        "--bayesloc-memory=off",
        *TESTS,
        env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
    )

    assert again.document["llm"]["calls"] == 0
    assert again.document["llm"]["replayed"] >= 3
    assert again.names()[0] == run.names()[0]


def test_kept_exchanges_hold_what_was_asked(demo: Project, run: Run) -> None:
    kept = [json.loads(path.read_text("utf-8")) for path in llm_folder(demo).glob("*.json")]

    assert {item["use"] for item in kept} >= {"ranking", "inspection", "reflection", "summary"}
    assert all(item["request"]["temperature"] == 0.3 for item in kept)


def test_story_of_a_bug_is_put_in_words(demo: Project, run: Run, llm_server: str) -> None:
    def again(old: str, new: str) -> Run:
        text = demo.read("guesthouse/stays.py")
        assert old in text
        demo.write({"guesthouse/stays.py": text.replace(old, new)})
        options = (*SMALL, "--bayesloc-without=llm", "--bug-advice", *TESTS)
        return demo.localize(*options, env={"OPENAI_BASE_URL": f"{llm_server}/v1"})

    assert run.document["memory"]["records"][0]["state"] == "open"
    first = again(LATER, f"{LATER} or False")
    second = again(f"{LATER} or False", f"{LATER} or False or False")

    assert uses(first) == {"summary": 1}
    assert uses(second) == {"summary": 1, "approaches": 1}, second.output
    (loop,) = second.document["memory"]["loops"]
    assert sum(line.startswith("to try, by the language model: ") for line in loop["said"]) == 3


def llm_folder(project: Project) -> Path:
    return project.root / ".bayesloc" / "llm"
