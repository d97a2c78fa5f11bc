"""The code on which tests pass, kept beside the project for later runs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import StoreError
from pytest_bayesloc.history.runs import PastRuns
from pytest_bayesloc.report.files import FOLDER, own_folder

if TYPE_CHECKING:
    from pytest_bayesloc.pipeline.context import Context


def past_runs(context: Context) -> PastRuns:
    """Open the snapshots of the project."""
    settings, recorder = context.settings, context.recorder
    return PastRuns(
        context.rootdir,
        context.rootdir / FOLDER / "green.sqlite",
        context.sources,
        lambda: recorder.files_in_use().keys(),
        context.note,
        settings.green or ("" if settings.remembers else None),
    )


def keep_run(context: Context, past: PastRuns) -> str:
    """Keep the code on which this run's tests passed and failed.

    Returns:
        Why that failed; empty if it did not.
    """
    recorder = context.recorder
    verdicts = recorder.recorded.verdicts
    files = recorder.files_in_use() if verdicts and context.settings.remembers else {}
    if not files:
        return ""
    try:
        with suppress(OSError):  # the store says below what can't be made
            own_folder(context.rootdir)
        past.remember(verdicts, files)
    except StoreError as error:
        return str(error)
    return ""
