"""One task over many packages, several at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING

from benchmarks.suites.subjects import KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def over_packages(names: Sequence[str], task: Callable[[str], str], *, jobs: int) -> int:
    """Carry ``task`` out for each package; what it returns is printed.

    Returns:
        0 if all could be done, 1 if some could not, 130 on Ctrl-C.

    Raises:
        SystemExit: If a name is not in the table.
    """
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: not in the table. Known: {', '.join(KNOWN)}.")
    return over(names, task, jobs=jobs)


def over(names: Sequence[str], task: Callable[[str], str], *, jobs: int) -> int:
    """Carry ``task`` out for each of ``names``; what it returns is printed.

    Returns:
        As ``over_packages`` does.
    """
    context = multiprocessing.get_context("spawn")
    n_failed = 0
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=follow_parent) as pool:
        futures = {pool.submit(task, name): name for name in names}
        try:
            for future in as_completed(futures):
                error = future.exception()
                said = f"FAILED: {error!r}" if error is not None else future.result()
                n_failed += error is not None
                print(f"{futures[future]}: {said}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("\nInterrupted. The same command goes on from here.")
            return 130
    return int(n_failed > 0)


def follow_parent() -> None:
    """Ctrl-C goes to the parent; a worker ends with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
