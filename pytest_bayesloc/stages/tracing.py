"""What tests execute, from this run and from earlier ones."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_bayesloc.report.files import own_folder

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_bayesloc.collection.recorder import Recorder


def complete(recorder: Recorder) -> None:
    """Add what earlier runs know of the tests that were not traced in this one."""
    recorder.take_seen()
    recorder.cache.recall(recorder.recorded)


def keep(recorder: Recorder, rootdir: Path) -> None:
    """Note what was traced, for later runs; where that can't be, they trace it again."""
    recorder.take_seen()
    with suppress(OSError, sqlite3.Error, ValueError):
        if recorder.cache.has_news(recorder.recorded):
            own_folder(rootdir)
            recorder.cache.keep(recorder.recorded, recorder.files_in_use())
