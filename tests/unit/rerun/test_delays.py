from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun import conditions

if TYPE_CHECKING:
    from collections.abc import Iterator


def play() -> None:
    pass


@pytest.fixture(autouse=True)
def traced() -> Iterator[None]:
    before = sys.gettrace(), threading.gettrace()
    yield
    sys.settrace(before[0])
    threading.settrace(before[1])


@pytest.mark.parametrize(
    ("more", "delays"), [((), [1, 1, 1, 1, 1, 1]), ((1.0, True), [5, 4, 3, 2, 1, 1])]
)
def test_threads_that_come_first_take_longest_where_delays_are_uneven(
    monkeypatch: pytest.MonkeyPatch, more: tuple[object, ...], delays: list[int]
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(conditions, "_sleep", slept.append)
    first_line = play.__code__.co_firstlineno
    conditions.apply("delaying", (first_line, "play", __file__, *more))
    goes = threading.Event()  # one that ended would give its number to the next

    def play_and_wait() -> None:
        play()
        is_done.set()
        goes.wait()

    threads = []
    for _ in delays:
        is_done = threading.Event()
        threads.append(threading.Thread(target=play_and_wait))
        threads[-1].start()
        is_done.wait()
    goes.set()
    for thread in threads:
        thread.join()

    assert slept == pytest.approx([n * conditions.DELAY_S for n in delays])
