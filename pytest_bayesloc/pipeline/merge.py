"""Merges the records of several machines; no test is run here except by inspections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import ShardError
from pytest_bayesloc.domain.texts import digest_of
from pytest_bayesloc.history.git import head
from pytest_bayesloc.pipeline.place import replace_text
from pytest_bayesloc.spectrum.shards import MAX_CHARACTERS, SCHEMA, dump, environment, load, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_bayesloc.spectrum.recorder import Recorder
    from pytest_bayesloc.spectrum.run_record import Payload


class RecordMerger:
    """Reads records instead of running tests.

    Args:
        recorder: Of this run, which records nothing itself.
        paths: Files that ``--bayesloc-report=record:PATH`` wrote, or folders of them.
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
        """Merge the records, and run nothing."""
        recorded = self._recorder.recorded
        recorded.verdicts.clear()
        records = dict(filter(None, map(self._read, record_files(self._paths, self._note))))
        refuse_other_code({**records, Path("this checkout"): self._state_here(records.values())})
        for record in records.values():
            load(recorded, record, self._recorder.files)
        order = {item.nodeid: number for number, item in enumerate(session.items)}
        known = sorted(recorded.verdicts, key=lambda node_id: order.get(node_id, len(order)))
        recorded.verdicts = {node_id: recorded.verdicts[node_id] for node_id in known}
        session.testsfailed = sum(not passed for passed in recorded.verdicts.values())
        return True

    def _state_here(self, records: Iterable[Payload]) -> Payload:
        """The digests of the same files here, which inspections would be about."""
        files = dict.fromkeys(file for record in records for file in record["digests"])
        here = {file: digest_of(Path(self._recorder.files.absolute(file))) for file in files}
        return {
            "revision": "",
            "digests": {file: digest for file, digest in here.items() if digest},
        }

    def _read(self, path: Path) -> tuple[Path, Payload] | None:
        """Read a record; note if it can't be used."""
        try:
            with path.open(encoding="utf-8") as stream:
                text = stream.read(MAX_CHARACTERS)
            return path, parse(text, path, self._recorder.files)
        except (OSError, UnicodeError, ShardError) as error:
            self._note(str(error))
            self._recorder.recorded.partial.append(f"What {path.name} holds is missing")
            return None


def refuse_other_code(records: Mapping[Path, Payload]) -> None:
    """End the run if records are not all about the same code.

    Args:
        records: Each with its ``revision``, empty if unknown, and the ``digests`` of files.

    Raises:
        pytest.UsageError: If two differ; the text names them, and a file.
    """
    first: dict[str, Path] = {}  # per file, the first record that names it
    known = [(path, record["revision"]) for path, record in records.items() if record["revision"]]
    for path, revision in known[1:]:
        if revision != known[0][1]:
            raise pytest.UsageError(
                f"{path} is of commit {revision[:12]}, and {known[0][0]} of {known[0][1][:12]}: "
                "what tests execute at two commits is not merged. Give records of one commit. "
                "(other-code)"
            )
    for path, record in records.items():
        for file, digest in record["digests"].items():
            other = first.setdefault(file, path)
            if records[other]["digests"][file] != digest:
                raise pytest.UsageError(
                    f"{file} was another one for {path} than for {other}: what tests execute in "
                    "two versions of the code is not merged. Give records of one version. "
                    "(other-code)"
                )


def foreign_environment(tests: Sequence[str], environments: Mapping[str, str]) -> str:
    """Name the environment where ``tests`` failed; empty if any failed in one like this."""
    met = {environments[test] for test in tests if test in environments}
    return "" if not met or environment() in met else min(met)


def record_files(paths: Sequence[Path], note: Callable[[str], None]) -> list[Path]:
    """List the record files among ``paths``; of folders, those in them at any depth."""
    files: dict[Path, None] = {}
    for path in paths:
        inside = sorted(filter(_is_record, path.rglob("*.json"))) if path.is_dir() else [path]
        if not inside:
            note(
                f"{path} holds no record of a run: expected what --bayesloc-report=record:PATH "
                "writes. (unreadable-record)"
            )
        files.update(dict.fromkeys(inside))
    return list(files)


def _is_record(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as stream:
            return SCHEMA in stream.read(100)
    except (OSError, UnicodeError):
        return False


def keep_record(
    recorder: Recorder,
    rootdir: Path,
    path: Path,
    note: Callable[[str], None],
    clean: Callable[[str], str],
) -> None:
    """Write the record of this run.

    Args:
        rootdir: Of the project.
        recorder: With all that is known of tests that were not traced.
        path: Where to.
        note: Told if it can't be written.
        clean: Takes secrets out.
    """
    digests = {file: digest_of(where) for file, where in recorder.files_in_use().items()}
    text = dump(recorder.recorded, recorder.files, head(rootdir)[0], digests, clean)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
    except OSError as error:
        note(
            f"The record of this run can't be written to {path}: {error}. Give a path that can, "
            "as --bayesloc-report=record:PATH. (report-not-written)"
        )
