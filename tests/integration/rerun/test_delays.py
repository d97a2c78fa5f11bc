"""Code that takes longer in threads."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun.conditions import apply

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDED = list[str]()


def play(name: str) -> None:
    ENDED.append(name)


@pytest.fixture(autouse=True)
def tracing() -> Iterator[None]:
    before = sys.gettrace(), threading.gettrace()
    yield
    sys.settrace(before[0])
    threading.settrace(before[1])
    ENDED.clear()


def test_threads_that_come_first_are_overtaken_where_delays_are_uneven() -> None:
    apply("delaying", (play.__code__.co_firstlineno, "play", __file__, 1.0, True))
    threads = [threading.Thread(target=play, args=(name,)) for name in "abc"]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ENDED == ["c", "b", "a"]
