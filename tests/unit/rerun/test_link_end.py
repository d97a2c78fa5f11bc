from __future__ import annotations

import pytest

from pytest_bayesloc.rerun.link import LinkEnd, Message

MESSAGES: list[Message] = [
    {"start": "test_a.py::test[é\n\u2028]"},
    {"end": "x", "output": "a\x00\ud800\nb"},
    {"calls": [[1, -1, None, True, 0.5]]},
]


class Echo(LinkEnd):
    """Gives back what is sent, in pieces."""

    def __init__(self, size: int = 1000) -> None:
        self.data = b""
        self._size = size

    def _put(self, data: bytes) -> None:
        self.data += data

    def _receive(self, limit_s: float) -> bytes:
        assert limit_s > 0
        piece, self.data = self.data[: self._size], self.data[self._size :]
        return piece


def test_message_is_one_line_of_ascii() -> None:
    for message in MESSAGES:
        line = Echo()
        line.send(message)
        assert line.data.isascii()
        assert line.data.count(b"\n") == 1
        assert line.data.endswith(b"\n")


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_messages_come_out_whole_however_they_arrive(size: int) -> None:
    line = Echo(size)
    for message in MESSAGES:
        line.send(message)

    assert list(line.messages()) == MESSAGES


def test_half_a_message_is_kept_back() -> None:
    line = Echo()
    line.data = b'{"a":'
    assert list(line.messages()) == []

    line.data = b"1}\n"
    assert list(line.messages()) == [{"a": 1}]
