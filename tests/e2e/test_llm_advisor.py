"""What a language model is asked, use by use, and what is made of its answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pydantic", reason="pip install openai")

from pytest_bayesloc.domain.bug import (
    BugRecord,
    BugState,
    Category,
    CodeEdit,
    Run,
    Symptom,
)
from pytest_bayesloc.domain.evidence import Decision
from pytest_bayesloc.domain.location import Location
from pytest_bayesloc.domain.ports import (
    Code,
    FailingTest,
    FaultContext,
    ProposedCode,
    TargetContext,
)
from pytest_bayesloc.llm.advisor import LlmAdvisor, LlmSummarizer
from pytest_bayesloc.llm.agent import LlmAgent
from pytest_bayesloc.llm.answers import Applicability
from pytest_bayesloc.llm.budget import CallBudget, Exchanges
from pytest_bayesloc.llm.privacy import Privacy
from pytest_bayesloc.memory.episodes import failed_trial, fixing_trial
from pytest_bayesloc.memory.symptoms import hypothesis_of
from tests.fakes.clock import Clock
from tests.fakes.endpoint import FakeEndpoint, as_port

if TYPE_CHECKING:
    from pathlib import Path


ADD, HALF = (
    Code(
        location=Location(file="calc.py", qualname=name, start_line=n, end_line=n + 1),
        text=f"def {name}(a):\n    return a\n",
    )
    for n, name in ((1, "add"), (5, "half"))
)
TEST = FailingTest(node_id="t.py::test_add", error="AssertionError: 1 != 2", code=HALF)
TARGET = TargetContext(target=ADD, test=TEST)


class Scene:
    """A model behind a fake endpoint, with all that it needs.

    Args:
        folder: Where exchanges are kept.
        answers: What the endpoint says, in turn.
    """

    def __init__(self, folder: Path, *answers: object) -> None:
        self.notes: list[str] = []
        self.endpoint = FakeEndpoint(list(answers))
        self.agent = LlmAgent(
            as_port(self.endpoint),
            CallBudget(Clock(), n_calls=20, n_tokens=100_000),
            Exchanges(folder, "live", lambda _path, _text: None),
            Privacy(),
            self.notes.append,
        )
        self.model = LlmAdvisor(self.agent, "big", "small", max_prompt=4_000, max_answer=8_000)

    def summarizer(self) -> LlmSummarizer:
        return LlmSummarizer(self.model, lambda file: "secret" not in file)


def test_ranking_names_candidates_by_number_whatever_their_order(tmp_path: Path) -> None:
    answer = {"suspects": [{"candidate": 2, "reason": "halves"}, {"candidate": 9, "reason": ""}]}
    prompts = []
    for n, order in enumerate(((ADD, HALF), (HALF, ADD))):
        scene = Scene(tmp_path / str(n), answer)
        found = scene.model.suspect(FaultContext(tests=(TEST,), candidates=order))
        assert found == {HALF.location: "halves"}
        prompts.append(scene.endpoint.prompt)
    assert prompts[0] == prompts[1]


def test_inspection_is_the_function_with_a_reason(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"code": "def add(a): ...", "why": "because"})

    assert scene.model.propose(TARGET) == ProposedCode(text="def add(a): ...", why="because")
    assert scene.model.uses == {"inspection": 1}


def test_reflection_is_told_the_golden_rule_and_what_came_out(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"decision": "CONFIRMED_NOT_BUGGY", "reason": "its callee is"})
    seen = replace(TARGET, diff="+ assert a", runs=("t.py::test_add: fail",))

    assert scene.model.reflect(seen) == (Decision.CONFIRMED_NOT_BUGGY, "its callee is")
    assert "Golden rule" in scene.endpoint.prompt
    assert "t.py::test_add: fail" in scene.endpoint.prompt


def test_fix_is_judged_coolly_by_the_cheaper_model_on_the_start_of_the_code(tmp_path: Path) -> None:
    answer = {"applicable": True, "confidence": 0.7, "reasoning": "it adds the guard"}
    scene = Scene(tmp_path, answer)

    judged = scene.model.is_applicable("KeyError: 'x'", "y" * 501, "use get")

    assert judged == Applicability(applicable=True, confidence=0.7, reasoning="it adds the guard")
    (asked,) = scene.endpoint.asked
    assert (asked["model"], asked["temperature"]) == ("small", 0.1)
    assert "y" * 500 in scene.endpoint.prompt
    assert "y" * 501 not in scene.endpoint.prompt


def test_fix_is_not_judged_by_a_confidence_that_is_none(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"applicable": True, "confidence": 7, "reasoning": ""})

    assert scene.model.is_applicable("KeyError", "", "use get") is None
    assert len(scene.notes) == 1
    assert "(llm-answer)" in scene.notes[0]


def test_three_different_things_to_try_are_named(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"approaches": ["a", "b", "c"]})

    named = scene.model.approaches(error="E", tried=["x"], known=())

    assert named == ("a", "b", "c")


def test_prompts_are_no_longer_than_was_said(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"code": "x", "why": ""}, {"suspects": []})
    long = replace(ADD, text="x = 1\n" * 10_000)
    test = replace(TEST, error="e" * 50_000, trace=("t" * 9_000,) * 40, code=long)

    scene.model.propose(
        TargetContext(target=long, test=test, callers=(long,) * 3, callees=(long,) * 3)
    )
    first = len(scene.endpoint.prompt)
    scene.model.suspect(FaultContext(tests=(test, test), candidates=(long,) * 15))

    assert max(first, len(scene.endpoint.prompt)) < 8_000  # with what is always said


# -- the stages of a bug

NOW = datetime(2026, 11, 23, tzinfo=timezone.utc)
SYMPTOM = Symptom(
    failing={"t.py::test_add": "1:a"},
    signatures={"1:a": "E: 1"},
    signature="E: 1",
    category=Category.OTHER,
    hypothesis="",
    tags=frozenset(),
    error="E: 1",
    code="def add(a): ...",
    suspects=("calc.py add",),
    p_first=0.5,
)
RUN = Run(id="r", workspace="w", made_at=NOW, revision="", n_passed=0, n_failed=1)
RECORD = BugRecord(id="b", symptom=SYMPTOM, state=BugState.OPEN, created_at=NOW, seen_at=NOW)
EDIT = CodeEdit(functions=("calc.py add",), diff="-a\n+b\n", n_added=1, n_removed=1)


def test_hypothesis_follows_the_likeliest_place_and_is_marked(tmp_path: Path) -> None:
    rules = hypothesis_of(SYMPTOM, raised_at="")

    said = Scene(tmp_path, {"hypothesis": "h" * 500}).summarizer().begun(SYMPTOM, rules)

    assert said.startswith("most likely: calc.py add (50%); LLM: hhh")
    assert len(said) == 300


def test_failed_trial_says_why_and_keeps_no_place_to_avoid(tmp_path: Path) -> None:
    answer = {"why_failed": "w", "failed_strategy_summary": "s", "learned_constraint": "c"}

    rules = failed_trial(RUN, RECORD, EDIT, SYMPTOM, 0.0)

    setback = Scene(tmp_path, answer).summarizer().failed(RECORD, SYMPTOM, rules)

    assert setback.why == "LLM: w"
    assert setback.strategy == "calc.py add (+1 -1): `a` -> `b`"
    assert setback.lesson == "LLM: c"


def test_success_says_the_root_cause_within_its_length(tmp_path: Path) -> None:
    answer = {
        "why_worked": "w" * 400,
        "successful_strategy_summary": "s",
        "key_insight": "k" * 400,
        "final_root_cause": "r",
    }

    rules = fixing_trial(RUN, RECORD, EDIT)

    success = Scene(tmp_path, answer).summarizer().succeeded(RECORD, rules)

    assert (len(success.why), len(success.lesson), success.cause) == (250, 200, "LLM: r")


def test_where_a_model_says_nothing_rules_have_the_word(tmp_path: Path) -> None:
    summarizer = Scene(tmp_path, "no").summarizer()

    begun = hypothesis_of(SYMPTOM, raised_at="")
    failed = failed_trial(RUN, RECORD, EDIT, SYMPTOM, 0.0)
    succeeded = fixing_trial(RUN, RECORD, EDIT)
    assert summarizer.begun(SYMPTOM, begun) == begun
    assert summarizer.failed(RECORD, SYMPTOM, failed) == failed
    assert summarizer.succeeded(RECORD, succeeded) == succeeded


def test_diffs_of_files_that_may_not_be_sent_are_not_told(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {})
    edit = replace(EDIT, functions=("secret.py add",), diff="+hunter2\n")

    scene.summarizer().failed(RECORD, SYMPTOM, failed_trial(RUN, RECORD, edit, SYMPTOM, 0.0))

    assert "secret.py add" in scene.endpoint.prompt
    assert not any("hunter2" in str(body) for body in scene.endpoint.asked)
