"""A language model's words take the place of those of rules, on what this run added alone."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, TypeVar, cast

import pytest

from pytest_bayesloc.llm.answers import HypothesisAnswer, SetbackAnswer, SuccessAnswer
from pytest_bayesloc.memory.ledger import Ledger
from pytest_bayesloc.memory.sightings import PassingSighting
from pytest_bayesloc.memory.store import BugStore
from pytest_bayesloc.pipeline.guide import LlmStage
from tests.integration.memory.conftest import Story, edit, red

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pytest_bayesloc.domain.bug import BugRecord, Symptom
    from pytest_bayesloc.llm.advisor import LlmAdvisor

K = TypeVar("K")
T = TypeVar("T")

ANSWERS = {
    "begun": HypothesisAnswer(hypothesis="a hypothesis"),
    "failed": SetbackAnswer(
        why_failed="failed", failed_strategy_summary="", learned_constraint="f needs n > 0"
    ),
    "succeeded": SuccessAnswer(
        why_worked="worked",
        successful_strategy_summary="",
        key_insight="an insight",
        final_root_cause="a cause",
    ),
}


class Stage(LlmStage):
    """Answers each question at once, and notes its stage with what it is told was tried before."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.advisor = cast("LlmAdvisor", self)

    def answers(self, asked: Iterable[tuple[K, Callable[[], T]]]) -> Iterator[tuple[K, T]]:
        for key, ask in asked:
            yield key, ask()

    def may_send(self, file: str) -> bool:
        return file != "secret.py"

    def ask(self, _use: str, stage: str, _answer: type, **told: object) -> object:
        self.asked.append((stage, told.get("tried")))
        return ANSWERS[stage]


def test_texts_that_a_run_added_are_reworded(tmp_path: Path) -> None:
    stage = Stage()
    with closing(BugStore(tmp_path / "memory", pytest.fail)) as store:

        def run(n_before: int, *reds: Symptom, fixed: int = 0) -> BugRecord:
            with store.transaction() as connection:
                story = Story(Ledger(connection, "shop"))
                story.n_runs = n_before
                passed = PassingSighting(passed=frozenset({"t.py::test_a"}), edit=edit())
                events = story.run(*reds, passing={fixed: passed} if fixed else None)
            stage.reworded(store, "shop", [e for e in events if e.fault >= 0], events, reds)
            with store.transaction(write=False) as connection:
                return Ledger(connection, "shop").bugs([events[0].bug])[events[0].bug]

        begun = run(0, red())
        tried = run(1, red(edit=edit(), state="s1"))
        fixed = run(2, fixed=1)

    assert begun.symptom.hypothesis == "a guess; LLM: a hypothesis"
    assert [(trial.why, trial.lesson) for trial in tried.trials] == [
        ("LLM: failed", "LLM: f needs n > 0")
    ]
    assert [(trial.why, trial.cause) for trial in fixed.trials] == [
        ("LLM: failed", ""),
        ("LLM: worked", "LLM: a cause"),
    ]
    strategy = "knots.py check (+1 -1): `a` -> `b`"
    assert stage.asked == [("begun", None), ("failed", ["nothing"]), ("succeeded", [strategy])]
