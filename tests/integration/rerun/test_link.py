"""The line between the main run and a server."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun.link import CallingSocket, ListeningSocket, Pipes, open_link

if TYPE_CHECKING:
    from collections.abc import Iterator

Ends = tuple[Pipes | ListeningSocket, Pipes | CallingSocket]

BIG = bytes(range(256)) * 4096


def pipes() -> Ends:
    read, requests = os.pipe()
    replies, write = os.pipe()
    return Pipes(replies, requests), open_link({"read": read, "write": write})


def sockets() -> Ends:
    near = ListeningSocket(lambda: True)
    return near, open_link(near.address())


@pytest.fixture(params=[pipes, sockets])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    near, far = request.param()
    yield near, far
    near.close()
    far.close()


def test_what_is_sent_arrives_both_ways(ends: Ends) -> None:
    near, far = ends

    far.send(b"ready")
    assert near.receive(5) == b"ready"
    near.send(b"request")
    assert far.receive() == b"request"


def test_silence_ends_in_time(ends: Ends) -> None:
    near, _ = ends

    assert near.receive(0.01) is None


def test_end_of_the_other_side_is_noticed(ends: Ends) -> None:
    near, far = ends
    far.send(b"last")
    assert near.receive(5) == b"last"

    near.hang_up()
    assert far.receive() == b""
    far.close()
    assert near.receive(5) == b""


def test_much_arrives_in_pieces() -> None:
    near, far = sockets()
    far.send(BIG[: 1 << 16])
    arrived = b""
    while len(arrived) < 1 << 16:
        arrived += near.receive(5) or b""

    assert arrived == BIG[: 1 << 16]
    near.close()
    far.close()


def test_who_does_not_know_the_word_is_not_heard() -> None:
    near = ListeningSocket(lambda: True)
    told = near.address()
    with socket.create_connection(("127.0.0.1", told["port"])) as stranger:
        stranger.sendall(b"x" * len(told["token"]) + b"a lie")
        far = CallingSocket(told["port"], told["token"])
        far.send(b"the truth")

        assert near.receive(5) == b"the truth"
    near.close()
    far.close()


def test_server_that_dies_before_it_calls_is_not_waited_for() -> None:
    near = ListeningSocket(lambda: False)

    assert near.receive(60) == b""
    with pytest.raises(BrokenPipeError):
        near.send(b"request")
    near.close()
