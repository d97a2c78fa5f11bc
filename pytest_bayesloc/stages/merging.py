"""Runs of several machines as one: what each saw is read, and no test is run but by inspections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.collection.shards import SCHEMA, dump, load
from pytest_bayesloc.domain.errors import ShardError
from pytest_bayesloc.report.files import replace_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_bayesloc.collection.recorder import Recorder


class Merging:
    """Takes the place of the tests of this run.

    Args:
        recorder: Of this run, which records nothing itself.
        paths: Files that ``--bayesloc-record`` wrote, or folders of them.
        note: Tells the user.
    """

    def __init__(
        self, recorder: Recorder, paths: Sequence[Path], note: Callable[[str], None]
    ) -> None:
        self._recorder = recorder
        self._paths = paths
        self._note = note

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Read what others ran, and run nothing."""
        recorded = self._recorder.recorded
        recorded.verdicts.clear()
        for path in found(self._paths, self._note):
            try:
                text = path.read_text(encoding="utf-8")
                load(recorded, text, path, self._recorder.files)
            except (OSError, UnicodeError, ShardError) as error:  # noqa: PERF203 - a few files
                self._note(str(error))
                recorded.partial.append(f"What {path.name} holds is missing")
        session.testsfailed = sum(not passed for passed in recorded.verdicts.values())
        return True


def found(paths: Sequence[Path], note: Callable[[str], None]) -> list[Path]:
    """The files that are meant; of folders, the records in them, at any depth."""
    files: dict[Path, None] = {}
    for path in paths:
        inside = sorted(filter(_is_record, path.rglob("*.json"))) if path.is_dir() else [path]
        if not inside:
            note(
                f"{path} holds no record of a run: expected what --bayesloc-record=PATH writes. "
                "(unreadable-record)"
            )
        files.update(dict.fromkeys(inside))
    return list(files)


def _is_record(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as stream:
            return SCHEMA in stream.read(100)
    except (OSError, UnicodeError):
        return False


def keep_record(recorder: Recorder, path: Path, note: Callable[[str], None]) -> None:
    """Write what this run saw.

    Args:
        recorder: With all that is known of tests that were not traced.
        path: Where to.
        note: Told if it can't be written.
    """
    imported = map(str, recorder.files_in_use().values())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, dump(recorder.recorded, recorder.files, imported))
    except OSError as error:
        note(
            f"The record of this run can't be written to {path}: {error}. Give a path that can, "
            "as --bayesloc-record=PATH. (report-not-written)"
        )
