"""An end to waiting, whatever the other side does."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What ``call`` returns or raises, in ``seconds`` at most.

    A client's own time-out is one of each read: a server that sends a byte now and then outlives
    it. The thread that is left behind ends with the process.

    Raises:
        TimeoutError: If it takes longer.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            errors.append(error)

    thread = threading.Thread(target=run, name="bayesloc-endpoint", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return results[0]
