"""Questions and answers are kept by content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.llm.budget import Exchanges
from pytest_bayesloc.llm.endpoint import CallError, ChatReply

if TYPE_CHECKING:
    from pathlib import Path

BODY = {"model": "m", "messages": [{"role": "user", "content": "é"}]}
REPLY = ChatReply(text="yes", refusal="", is_cut=True, tokens=(3, 4), n_calls=2)


def exchanges(folder: Path, mode: str = "live") -> Exchanges:
    def write(path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")

    return Exchanges(folder, mode, write)


def test_answer_is_found_by_what_was_asked(tmp_path: Path) -> None:
    exchanges(tmp_path).keep("ranking", BODY, REPLY)

    found = exchanges(tmp_path).find("ranking", dict(reversed(BODY.items())))
    assert found == ChatReply(text="yes", is_cut=True, tokens=(3, 4), n_calls=0)
    assert exchanges(tmp_path).find("ranking", {**BODY, "seed": 1}) is None


def test_record_asks_anew(tmp_path: Path) -> None:
    exchanges(tmp_path).keep("ranking", BODY, REPLY)

    assert exchanges(tmp_path, "record").find("ranking", BODY) is None


def test_replay_never_asks(tmp_path: Path) -> None:
    found = exchanges(tmp_path, "replay").find("ranking", BODY)

    assert isinstance(found, CallError)
    assert "nothing is kept" in str(found)
    assert found.n_calls == 0


def test_failure_is_kept_for_replays_alone(tmp_path: Path) -> None:
    exchanges(tmp_path).keep("ranking", BODY, CallError("HTTP 500", status=500))

    assert exchanges(tmp_path).find("ranking", BODY) is None
    found = exchanges(tmp_path, "replay").find("ranking", BODY)
    assert isinstance(found, CallError)
    assert (found.status, found.n_calls) == (500, 0)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1, "reply": 3}', '{"format": 99}'])
def test_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    exchanges(tmp_path).keep("ranking", BODY, REPLY)
    (path,) = tmp_path.iterdir()
    path.write_text(text, encoding="utf-8")

    assert exchanges(tmp_path).find("ranking", BODY) is None


def test_folder_that_can_not_be_written_costs_nothing(tmp_path: Path) -> None:
    nowhere = tmp_path / "missing"
    exchanges(nowhere).keep("ranking", BODY, REPLY)

    assert exchanges(nowhere).find("ranking", BODY) is None
