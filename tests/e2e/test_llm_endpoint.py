"""What becomes of each way in which an endpoint fails: one line, and no more than was allowed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("openai", reason="pip install openai")

from pytest_bayesloc.llm.agent import LlmAgent, Prompt
from pytest_bayesloc.llm.answers import VerdictAnswer
from pytest_bayesloc.llm.budget import CallBudget, Exchanges
from pytest_bayesloc.llm.endpoint import OpenAIEndpoint
from pytest_bayesloc.llm.privacy import Privacy
from tests.e2e.scripted import (
    Request,
    completion,
    cut_off,
    drips,
    fails,
    raw,
    says,
    serving,
)
from tests.fakes.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.scripted import Script

    Answer = Callable[[Request], None]

KEY = "sk-planted-0123456789abcdef"
GOOD = {"decision": "NEUTRAL", "reason": "who knows"}
PROMPT = Prompt(use="reflection", system="s", user="u", max_tokens=50)


class Asked:
    """One question to a scripted server, and what came of it."""

    def __init__(
        self,
        folder: Path,
        *answers: Answer,
        n_calls: int = 20,
        deadline_s: float = 20.0,
        n_times: int = 1,
    ) -> None:
        self.notes: list[str] = []
        self.budget = CallBudget(Clock(), n_calls=n_calls, n_tokens=100_000, seconds=deadline_s)
        with serving(*answers) as script, pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_BASE_URL", script.url)
            patch.setenv("OPENAI_API_KEY", KEY)
            made = LlmAgent(
                OpenAIEndpoint(),
                self.budget,
                Exchanges(folder, "live", _write),
                Privacy(environment={"OPENAI_API_KEY": KEY}),
                self.notes.append,
            )
            found = [made.ask(PROMPT, VerdictAnswer, "m") for _ in range(n_times)]
        self.answer = found[-1]
        self.script: Script = script
        self.kept = "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.json")))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client waits hardly at all before it tries again, unless it is told how long."""
    import openai._base_client as client

    monkeypatch.setattr(client, "INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr(client, "MAX_RETRY_DELAY", 0.02)


def test_answer_is_taken_and_booked(tmp_path: Path) -> None:
    asked = Asked(tmp_path, says(GOOD))

    assert asked.answer == VerdictAnswer(decision="NEUTRAL", reason="who knows")
    assert (asked.budget.calls, asked.budget.tokens_in, asked.budget.tokens_out) == (1, 11, 3)
    assert asked.notes == []


@pytest.mark.parametrize(
    ("answer", "n_calls", "said"),
    [
        (fails(401, f"Incorrect API key provided: {KEY}"), 1, "See OPENAI_API_KEY."),
        (fails(403), 1, "See OPENAI_API_KEY."),
        (fails(404, "no model m"), 1, "Does the endpoint know m?"),
        (fails(429), 3, "Try again later"),
        (fails(429, retry_after="0"), 3, "Try again later"),
        (fails(500), 6, "HTTP 500"),
        (cut_off, 1, "peer closed connection"),
        (raw(b'{"choices": [{"mess'), 1, "no chat completion"),
        (raw(b'{"choices": []}'), 1, "no chat completion"),
        (raw(b"[" * 100_000), 1, "no chat completion"),
        (raw(completion("x" * (2 << 20))), 1, "an answer of more than 1048576 bytes"),
        (says("", refusal="I can't help with that"), 1, "refused: I can't help with that"),
        (says(""), 5, "it is empty"),
        (says({"decision": "PERHAPS", "reason": ""}), 2, "decision: Input should be"),
        (says('{"decision": "NEUTRAL", "reason": "and then'), 5, "there is no JSON object"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_failure_costs_one_line_and_no_key(
    tmp_path: Path, answer: Answer, n_calls: int, said: str
) -> None:
    asked = Asked(tmp_path, answer)

    assert asked.answer is None
    (note,) = asked.notes
    assert said in note
    assert note.endswith((" (llm-failed)", " (llm-answer)"))
    assert "\n" not in note
    assert KEY not in note + asked.kept
    assert len(asked.script.asked) == asked.budget.calls == n_calls


def test_server_that_drips_is_left_at_the_deadline(tmp_path: Path) -> None:
    asked = Asked(tmp_path, drips, deadline_s=0.5)

    assert asked.answer is None
    assert "no answer within 0.5 s" in asked.notes[0]


def test_no_endpoint_costs_one_line(tmp_path: Path) -> None:
    with serving() as gone:
        pass
    notes: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", gone.url)
        budget = CallBudget(Clock(), n_calls=9, n_tokens=9_999)
        exchanges = Exchanges(tmp_path, "live", lambda _path, _text: None)
        made = LlmAgent(OpenAIEndpoint(), budget, exchanges, Privacy(), notes.append)

        assert made.ask(PROMPT, VerdictAnswer, "m") is None
        assert made.ask(PROMPT, VerdictAnswer, "m") is None
    assert len(notes) == 1
    assert "See OPENAI_BASE_URL" in notes[0]


def test_after_a_wrong_key_nothing_is_asked_any_more(tmp_path: Path) -> None:
    asked = Asked(tmp_path, fails(401), says(GOOD), n_times=3)

    assert len(asked.script.asked) == 1


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    asked = Asked(tmp_path, says(GOOD), n_times=3)

    assert asked.answer is not None
    assert len(asked.script.asked) == 1


@pytest.mark.parametrize("way", ["tool", "json_object", "text"])
def test_server_that_does_not_know_a_way_is_asked_the_next(tmp_path: Path, way: str) -> None:
    def answer(request: Request) -> None:
        wanted = request.body.get("response_format", {}).get("type")
        has_tool = "tools" in request.body
        call = {"function": {"name": "answer", "arguments": json.dumps(GOOD)}}
        if way == "tool" and has_tool:
            request.send(completion("", tool_calls=[call]))
        elif way == "json_object" and wanted == "json_object":
            request.send(completion(GOOD))
        elif way == "text" and not wanted and not has_tool:
            request.send(completion(f"Well, {json.dumps(GOOD)} I would say."))
        else:
            fails(500)(request)

    asked = Asked(tmp_path, answer, n_times=2)

    assert asked.answer == VerdictAnswer(decision="NEUTRAL", reason="who knows")
    assert asked.notes == []


def test_prose_where_a_schema_was_given_is_asked_in_other_ways(tmp_path: Path) -> None:
    asked = Asked(tmp_path, says("I think it is neutral."), says(GOOD))

    assert asked.answer is not None
    assert "tools" in json.loads(asked.script.asked[1])


def test_answer_that_does_not_fit_is_sent_back_once_with_what_is_wrong(tmp_path: Path) -> None:
    asked = Asked(tmp_path, says({"decision": "PERHAPS", "reason": ""}), says(GOOD))

    assert asked.answer is not None
    assert "decision: Input should be" in asked.script.asked[1]


@pytest.mark.parametrize(
    ("name", "other"),
    [("temperature", ""), ("seed", ""), ("max_tokens", "max_completion_tokens")],
)
def test_parameter_that_a_model_refuses_is_left_out(tmp_path: Path, name: str, other: str) -> None:
    asked = Asked(tmp_path, fails(400, f"Unsupported parameter: '{name}'"), says(GOOD))

    first, second = map(json.loads, asked.script.asked)
    assert asked.answer is not None
    assert first.keys() - second.keys() == {name}
    assert second.keys() - first.keys() == ({other} if other else set())


def test_retries_end_where_calls_do(tmp_path: Path) -> None:
    asked = Asked(tmp_path, fails(500), n_calls=2)

    assert asked.answer is None
    assert len(asked.script.asked) == asked.budget.calls == 2
    assert "(llm-cap)" in asked.notes[0]
