"""The story of a bug with a language model: from its beginning to what its word is worth."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("openai", reason="pip install openai")

from tests.e2e.scripted import Request, completion, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.conftest import Project, Projects

ANSWERS: dict[str, dict[str, Any]] = {
    "Which function holds the fault?": {"suspects": [{"candidate": 1, "reason": "guessed"}]},
    "A test began to fail.": {"hypothesis": "add takes away"},
    "and it fails still": {
        "why_failed": "total only calls add",
        "failed_strategy_summary": "edited total",
        "learned_constraint": "leave total alone",
    },
    "A change fixed a failing test.": {
        "why_worked": "add adds now",
        "successful_strategy_summary": "a plus",
        "key_insight": "look at operators",
        "final_root_cause": "a minus for a plus",
    },
    "Somebody goes in circles": {"approaches": ["read add", "print net", "bisect"]},
}


def answered(request: Request) -> None:
    """By what the prompt asks."""
    said = next(said for words, said in ANSWERS.items() if words in request.prompt)
    request.send(completion(said))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The base URL of a server that answers as scripted."""
    with serving(answered) as script:
        yield script.url


def run(project: Project, endpoint: str) -> str:
    options = ("-q", "--tb=no", "--bayesloc-llm", "--bug-advice")
    return project.run(*options, env={"OPENAI_BASE_URL": endpoint}).stdout


def edit(project: Project, old: str, new: str) -> None:
    text = project.read("calc.py")
    assert old in text
    project.write({"calc.py": text.replace(old, new)})


def rows(project: Project, asked: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(project.root / ".bayesloc" / "memory.sqlite")) as db:
        return db.execute(asked).fetchall()


def test_each_stage_is_put_in_words_and_the_record_grows(
    projects: Projects,
    endpoint: str,
) -> None:
    project = projects.buggy()
    run(project, endpoint)
    edit(project, "net = 0", "net = 0 + 0")
    run(project, endpoint)
    edit(project, "net = 0 + 0", "net = 0 + 0 + 0")
    looped = run(project, endpoint)
    edit(project, "a - b", "a + b")
    mended = run(project, endpoint)

    assert "to try, by the language model: print net" in looped
    assert "is fixed after 2 failed trials: calc.py add" in mended
    ((hypothesis,),) = rows(project, "SELECT hypothesis FROM bug")
    assert hypothesis.endswith("LLM: add takes away")
    failed, _, passed = rows(project, "SELECT why, lesson, cause FROM trial ORDER BY number")
    assert failed[0] == "LLM: total only calls add"
    assert failed[1] == "LLM: leave total alone"
    assert passed == ("LLM: add adds now", "LLM: look at operators", "LLM: a minus for a plus")
    judged = {
        where: (said, bool(was_faulty))
        for where, said, was_faulty in rows(
            project, "SELECT location, verdict, was_faulty FROM judged WHERE use = 'ranking'"
        )
    }
    assert judged["calc.py add"][1]
    assert sum(was_faulty for _, was_faulty in judged.values()) == 1
    assert [said for said, _ in judged.values()].count("LLM_FIRST") == 1


def test_word_of_a_model_with_a_good_record_moves_the_ranking(
    projects: Projects,
    endpoint: str,
) -> None:
    project = projects.buggy()
    before = project.localize("--bayesloc-llm", env={"OPENAI_BASE_URL": endpoint})
    first = next(
        row["qualname"]
        for row in before.document["ranking"]
        if any(item["outcome"] == "LLM_FIRST" for item in row["evidence"])
    )
    with closing(sqlite3.connect(project.root / ".bayesloc" / "memory.sqlite")) as db, db:
        for n in range(40):
            said, was_faulty = ("LLM_FIRST", 1) if n < 8 else ("LLM_PASSED_OVER", 0)
            db.execute(
                "INSERT INTO judged VALUES (1, 'gpt-4.1-mini', 'ranking', ?, ?, ?)",
                (f"x.py f{n}", said, was_faulty),
            )

    after = project.localize("--bayesloc-llm", env={"OPENAI_BASE_URL": endpoint})

    assert after.row(first)["posterior"] > before.row(first)["posterior"]
    assert after.names()[0] == f"calc.py {first}"
