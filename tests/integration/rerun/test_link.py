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

REQUEST, READY = {"tests": ["a"]}, {"ready": True}


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

    far.send(READY)
    assert next(near.messages(5)) == READY
    near.send(REQUEST)
    assert next(far.messages()) == REQUEST


def test_silence_ends_in_time(ends: Ends) -> None:
    near, _ = ends

    assert list(near.messages(0.01)) == []


def test_end_of_the_other_side_is_noticed(ends: Ends) -> None:
    near, far = ends
    far.send(READY)
    assert next(near.messages(5)) == READY

    near.hang_up()
    assert list(far.messages()) == []
    far.close()
    assert list(near.messages()) == []


def test_much_arrives_in_pieces(ends: Ends) -> None:
    near, far = ends
    big = {"output": "x" * (1 << 15)}
    far.send(big)

    assert next(near.messages(5)) == big


def test_who_does_not_know_the_word_is_not_heard() -> None:
    near = ListeningSocket(lambda: True)
    told = near.address()
    with socket.create_connection(("127.0.0.1", told["port"])) as stranger:
        stranger.sendall(b"x" * len(told["token"]) + b"a lie")
        far = CallingSocket(told["port"], told["token"])
        far.send(READY)

        assert next(near.messages(5)) == READY
    near.close()
    far.close()


def test_server_that_dies_before_it_calls_is_not_waited_for() -> None:
    near = ListeningSocket(lambda: False)

    assert list(near.messages(60)) == []
    with pytest.raises(BrokenPipeError):
        near.send(REQUEST)
    near.close()
