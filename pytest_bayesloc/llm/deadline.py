"""An end to waiting, whatever the other side does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """A call under way in a thread of its own.

    The thread that is left behind ends with the process.
    """

    def __init__(self, call: Callable[[], T]) -> None:
        self._results: list[T] = []
        self._errors: list[BaseException] = []
        self._thread = threading.Thread(
            target=self._run, args=(call,), name="bayesloc-endpoint", daemon=True
        )
        self._thread.start()

    def _run(self, call: Callable[[], T]) -> None:
        try:
            self._results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            self._errors.append(error)

    def is_done(self) -> bool:
        """Whether it has ended."""
        return bool(self._results or self._errors)

    def result(self, seconds: float) -> T:
        """What it returns or raises, in ``seconds`` at most.

        Raises:
            TimeoutError: If it takes longer.
        """
        self._thread.join(max(0.0, seconds))
        if self._errors:
            raise self._errors[0]
        if not self._results:
            raise TimeoutError(f"no answer within {seconds:g} s")
        return self._results[0]


def within(seconds: float, call: Callable[[], T]) -> T:
    """What ``call`` returns or raises, in ``seconds`` at most.

    A client's own time-out is one of each read: a server that sends a byte now and then outlives
    it.

    Raises:
        TimeoutError: If it takes longer.
    """
    return Later(call).result(seconds)
