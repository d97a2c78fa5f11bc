from __future__ import annotations

import threading

import pytest

from pytest_bayesloc.domain.ports import Later


def test_answer_in_time_is_returned() -> None:
    assert Later(lambda: 3).result(60) == 3


def test_error_in_time_is_raised() -> None:
    with pytest.raises(KeyError, match="x"):
        Later(lambda: dict[str, int]()["x"]).result(60)


def test_call_that_does_not_end_is_left_behind() -> None:
    held = threading.Event()
    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        Later(held.wait).result(0.01)
    held.set()
