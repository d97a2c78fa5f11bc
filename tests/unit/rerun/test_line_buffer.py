from __future__ import annotations

import pytest

from pytest_bayesloc.rerun.link import LineBuffer, Message, encode

MESSAGES: list[Message] = [
    {"start": "test_a.py::test[é\n\u2028]"},
    {"end": "x", "output": "a\x00\ud800\nb"},
    {"calls": [[1, -1, None, True, 0.5]]},
]


def test_message_is_one_line_of_ascii() -> None:
    for message in MESSAGES:
        line = encode(message)
        assert line.isascii()
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_messages_come_out_whole_however_they_arrive(size: int) -> None:
    data = b"".join(map(encode, MESSAGES))
    buffer = LineBuffer()

    pieces = [data[i : i + size] for i in range(0, len(data), size)]

    assert [message for piece in pieces for message in buffer.feed(piece)] == MESSAGES


def test_half_a_message_is_kept_back() -> None:
    buffer = LineBuffer()

    assert buffer.feed(b'{"a":') == []
    assert buffer.feed(b"1}\n\n") == [{"a": 1}]
