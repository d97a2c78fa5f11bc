from __future__ import annotations

import threading

import pytest

from pytest_bayesloc.llm.endpoint import within


def test_answer_in_time_is_returned() -> None:
    assert within(60, lambda: 3) == 3


def test_error_in_time_is_raised() -> None:
    with pytest.raises(KeyError, match="x"):
        within(60, lambda: dict[str, int]()["x"])


def test_call_that_does_not_end_is_left_behind() -> None:
    held = threading.Event()
    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        within(0.01, held.wait)
    held.set()
