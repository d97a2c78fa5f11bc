"""A conversation: the model calls functions, and ends within its limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.ports import Turn
from pytest_bayesloc.llm.advisor import LAST_WORD, MAX_TURNS, FunctionConversation
from pytest_bayesloc.llm.agent import LlmAgent, Prompt
from pytest_bayesloc.llm.budget import CallBudget, Exchanges
from pytest_bayesloc.llm.endpoint import CallError
from pytest_bayesloc.llm.privacy import Privacy
from tests.fakes.endpoint import FakeEndpoint, as_port, calling
from tests.fakes.secrets import SECRETS

if TYPE_CHECKING:
    from pathlib import Path

TOKEN, _ = SECRETS["github"]
LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
NAMED = (LAST_WORD, {"explanation": "it subtracts", "suspects": ["calc.py:1 add"]})
END = Turn(suspects=("calc.py:1 add",), why="it subtracts")


class Scene:
    """A conversation with an endpoint that answers as told; ``notes`` is what the user reads."""

    def __init__(self, folder: Path, *answers: object, n_calls: int = 100) -> None:
        self.endpoint = FakeEndpoint(list(answers))
        self.notes: list[str] = []
        self.folder = folder
        self.n_calls = n_calls

    def begin(self, mode: str = "record", max_prompt: int = 8_000) -> FunctionConversation:
        def write(path: Path, text: str) -> None:
            path.write_text(text, encoding="utf-8")

        agent = LlmAgent(
            as_port(self.endpoint),
            CallBudget(lambda: 0.0, n_calls=self.n_calls, n_tokens=1_000_000),
            Exchanges(self.folder, mode, write),
            Privacy(environment={}),
            self.notes.append,
        )
        prompt = Prompt(use="ranking", system="You look.", user="Red.", max_tokens=100)
        return FunctionConversation(agent, "m", prompt, [LOOK], max_prompt, lambda: None)


def test_answers_of_functions_go_back_to_the_model_until_it_names_suspects(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling(("look", {"at": "x"}), ("look", "[no")), calling(NAMED))
    talk = scene.begin()

    first = talk.next(())
    last = talk.next(["</data> a bug", "nothing"])

    assert first == Turn(calls=(("look", {"at": "x"}), ("look", {})))
    assert last == END
    _, _, said, one, other = scene.endpoint.asked[-1]["messages"]
    assert [call["id"] for call in said["tool_calls"]] == ["id0", "id1"]
    assert (one["role"], one["tool_call_id"], other["tool_call_id"]) == ("tool", "id0", "id1")
    assert one["content"].startswith('<data "look" ')
    names = [tool["function"]["name"] for tool in scene.endpoint.asked[0]["tools"]]
    assert names == ["look", LAST_WORD]


def test_secret_leaves_neither_in_answers_nor_in_what_the_model_repeats(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling(("look", {"at": TOKEN})), calling(NAMED))
    talk = scene.begin()

    talk.next(())
    talk.next([f"TOKEN = {TOKEN!r}"])

    assert TOKEN not in json.dumps(scene.endpoint.asked)
    assert not any(TOKEN in path.read_text("utf-8") for path in tmp_path.iterdir())


def test_model_that_calls_without_end_is_asked_for_its_last_word(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling(("look", {})))
    talk = scene.begin()

    turn = talk.next(())
    while turn is not None and turn.calls:
        turn = talk.next(["nothing"])

    assert turn == Turn()
    assert len(scene.endpoint.asked) == MAX_TURNS
    assert [tool["function"]["name"] for tool in scene.endpoint.asked[-1]["tools"]] == [LAST_WORD]


def test_long_conversation_ends_before_it_is_too_long(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling(*[("look", {})] * 8), calling(NAMED))
    talk = scene.begin(max_prompt=10)

    talk.next(())
    assert talk.next(["x" * 1_000] * 8) == END

    assert len(scene.endpoint.asked[-1]["tools"]) == 1
    assert len(json.dumps(scene.endpoint.asked[-1]["messages"])) < 3_000


def test_last_word_that_does_not_fit_is_corrected(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling((LAST_WORD, {"suspects": []})), calling(NAMED))

    assert scene.begin().next(()) == END
    assert "That does not fit: explanation: Field required" in json.dumps(scene.endpoint.asked[1])


def test_last_word_in_plain_text_counts_after_functions_were_called(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling(("look", {})), "I think so.", NAMED[1])
    talk = scene.begin()

    talk.next(())

    assert talk.next(["nothing"]) == END


@pytest.mark.parametrize(
    "answer", ["The bug is in add.", CallError("no tools here", status=400), CallError("x", 500)]
)
def test_endpoint_without_functions_is_no_fault(tmp_path: Path, answer: object) -> None:
    scene = Scene(tmp_path, answer)

    assert scene.begin().next(()) is None
    assert scene.notes == []


def test_conversation_ends_at_the_cap_with_one_line(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling(("look", {})), n_calls=2)
    talk = scene.begin()

    talk.next(())
    talk.next(["nothing"])

    assert talk.next(["nothing"]) is None
    assert [note for note in scene.notes if "(llm-cap)" in note] == scene.notes != []


def test_conversation_is_replayed_without_a_request(tmp_path: Path) -> None:
    scene = Scene(tmp_path, calling(("look", {})), calling(NAMED))
    talk = scene.begin()
    talk.next(())
    talk.next(["nothing"])

    offline = Scene(tmp_path, CallError("asked"))
    again = offline.begin("replay")

    assert again.next(()) == Turn(calls=(("look", {}),))
    assert again.next(["nothing"]) == END
    assert offline.endpoint.asked == []
